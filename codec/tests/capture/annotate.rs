//! Comments beside chunks: the characters stay as they were, and so does all else.

use myriscope_codec::capture::{
    AnnotateError, AnnotationCounts, ByteOrder, COMMENT_MAX, COMMENTS_MAX, ChannelId, annotate,
};
use myriscope_codec::time::Tick;

use super::bytes::{BIG, BlockWriter, ByteStream, LITTLE, PACKET, literal, read, repeat, small};

/// A copy with these comments, each for the chunk that begins at a place of a channel.
fn copy(file: &[u8], comments: &[(u32, u64, &str)]) -> (Vec<u8>, AnnotationCounts) {
    let mut out = Vec::new();
    let done = annotate(file, &mut out, |id, chunk| {
        let here = comments.iter().filter(|it| (ChannelId(it.0), Tick(it.1)) == (id, chunk.first));
        here.map(|(_, _, text)| (*text).to_owned()).collect()
    });
    assert!(done.is_ok(), "{done:?}");
    (out, done.unwrap_or_default())
}

fn written(written: u64) -> AnnotationCounts {
    AnnotationCounts { written, ..AnnotationCounts::default() }
}

/// A comment as an option, padded.
fn option(order: BlockWriter, text: &str) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut bytes = [&order.u16(1)[..], &order.u16(len), text.as_bytes()].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// An enhanced packet block with options behind its payload.
fn with_options(order: BlockWriter, payload: &[u8], options: &[u8]) -> Vec<u8> {
    let bare = order.packet(0, payload);
    let body = bare.get(8..bare.len() - 4).unwrap_or_default();
    order.block(6, &[body, options].concat())
}

fn before(order: BlockWriter) -> Vec<u8> {
    [order.section(), order.channel("a:0>b:0", "period_ps=12500")].concat()
}

#[test]
fn comments_are_options_of_the_chunks_block() {
    for order in [LITTLE, BIG] {
        let payload = literal(7, &PACKET);
        let file = [before(order), order.packet(0, &payload)].concat();
        let options = [option(order, "seven"), option(order, "four"), vec![0; 4]].concat();
        let expected = [before(order), with_options(order, &payload, &options)].concat();
        assert_eq!(copy(&file, &[(0, 7, "seven"), (0, 7, "four")]), (expected, written(2)));
    }
}

#[test]
fn options_that_were_there_stay_behind_new_comments() {
    for order in [LITTLE, BIG] {
        let payload = repeat(0, &[0x00c, 0x003, 0x1aa], 9);
        // A comment, flags, an unknown option; with an end and without.
        let known = [option(order, "old"), order.u16(2).into(), order.u16(4).into(), vec![9; 4]];
        let own = [&order.u16(0x7abc)[..], &order.u16(3), &[1, 2, 3, 0]].concat();
        for end in [vec![0; 4], vec![]] {
            let old = [known.concat(), own.clone(), end].concat();
            let file = [before(order), with_options(order, &payload, &old)].concat();
            let new = with_options(order, &payload, &[option(order, "new"), old].concat());
            assert_eq!(
                copy(&file, &[(0, 0, "new")]),
                ([before(order), new].concat(), written(1)),
                "{order:?}"
            );
        }
    }
}

#[test]
fn the_characters_of_a_copy_are_the_same() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let (file, chunks) = small(order);
        let (copied, done) =
            copy(&file, &[(0, 0, "a"), (1, 0, "bc"), (0, 300, "déjà vu"), (0, 4, ""), (1, 9, "x")]);
        assert_eq!(done, written(4));
        assert_ne!(file, copied);
        assert_eq!(read(file.as_slice()).items, read(copied.as_slice()).items);
        assert_eq!(read(copied.as_slice()).of("chunk"), chunks);
        assert_eq!(copy(&copied, &[]), (copied.clone(), written(0)));
    }
}

#[test]
fn what_nobody_comments_on_is_copied_byte_for_byte() {
    let parts = |order: BlockWriter| {
        [
            order.section(),
            order.interface(1, "eth0", "not ours"),
            order.channel("a:0>b:0", "peer=2 more=1"),
            order.channel("b:0>a:0", ""),
            order.block(5, &[7; 40]),
            order.packet(0, &[0xff; 21]),
            order.packet(1, &literal(0, &PACKET)),
            order.packet(1, &literal(2, &PACKET)),
            order.packet(77, &literal(9, &PACKET)),
            order.block(0x8000_0bad, &[1, 2, 3, 4, 5, 6, 7]),
            order.packet(2, &[2, 0, 0]),
        ]
        .concat()
    };
    let file = [parts(BIG), parts(LITTLE), parts(BIG)].concat();
    assert_eq!(copy(&file, &[]), (file.clone(), written(0)));
    let mut out = Vec::new();
    annotate(ByteStream(&file), &mut out, |_, _| Vec::new()).unwrap();
    assert_eq!(out, file);
}

#[test]
fn a_section_s_length_becomes_unspecified() {
    for order in [LITTLE, BIG] {
        let mut file = [before(order), order.packet(0, &literal(0, &PACKET))].concat();
        let expected = copy(&file, &[(0, 0, "here")]);
        let len = u32::try_from(file.len() - 28).unwrap();
        let len = match order.0 {
            ByteOrder::Little => u64::from(len).to_le_bytes(),
            ByteOrder::Big => u64::from(len).to_be_bytes(),
        };
        file.splice(16..24, len);
        assert_eq!(copy(&file, &[(0, 0, "here")]), expected);
    }
}

#[test]
fn annotating_again_adds_nothing() {
    let (file, _) = small(ByteOrder::Big);
    let comments = [(0, 0, "one"), (0, 0, "other"), (1, 0, "third")];
    let (once, _) = copy(&file, &comments);
    let present = AnnotationCounts { present: 3, ..AnnotationCounts::default() };
    assert_eq!(copy(&once, &comments), (once, present));
}

#[test]
fn the_comments_of_a_block_are_limited() {
    let file = [before(LITTLE), LITTLE.packet(0, &literal(0, &PACKET))].concat();
    let most = u64::try_from(COMMENTS_MAX).unwrap();
    let texts: Vec<String> = (0..70).map(|number| format!("comment {number}")).collect();
    let many: Vec<_> = texts.iter().map(|text| (0, 0, text.as_str())).collect();
    let (copied, done) = copy(&file, &many);
    assert_eq!(done, AnnotationCounts { written: most, present: 0, left_out: 70 - most });
    assert_eq!(read(copied.as_slice()).of("chunk"), ["chunk 0 at 0: 83 05 92 GAP"]);
    // The longest; one byte more; and six of the longest, which no reader would take in one block.
    let long = ["x", "y", "z", "p", "q", "r"].map(|letter| letter.repeat(COMMENT_MAX));
    let longer = "x".repeat(COMMENT_MAX + 1);
    assert_eq!(copy(&file, &[(0, 0, &longer)]).1, AnnotationCounts { left_out: 1, ..written(0) });
    let (copied, done) = copy(&file, &[0, 1, 2, 3, 4, 5].map(|n| (0, 0, long[n].as_str())));
    assert_eq!(done, AnnotationCounts { left_out: 2, ..written(4) });
    assert_eq!(read(copied.as_slice()).of("chunk"), ["chunk 0 at 0: 83 05 92 GAP"]);
}

/// A block of 320 KiB is the longest that a reader takes.
#[test]
fn a_comment_that_just_fits_is_written() {
    let longest = "x".repeat(COMMENT_MAX);
    // 16 bytes, and nine bits for each character; 32 bytes about it, 65 540 for the comment, and 4
    // for the end of the options.
    for (characters, room) in [(232_967, 1), (232_968, 0)] {
        let file = [before(LITTLE), LITTLE.packet(0, &literal(0, &vec![0x1aa; characters]))];
        let (copied, done) = copy(&file.concat(), &[(0, 0, &longest)]);
        assert_eq!(done, AnnotationCounts { left_out: 1 - room, ..written(room) });
        let seen = read(copied.as_slice());
        assert_eq!((seen.of("chunk").len(), seen.error_text().as_str()), (1, ""));
    }
}

#[test]
fn what_cannot_be_read_or_annotated_is_named() {
    let fault = |file: &[u8]| {
        let mut out = Vec::new();
        let error = annotate(file, &mut out, |_, _| Vec::new()).unwrap_err();
        (out.len(), error.to_string())
    };
    let (file, _) = small(ByteOrder::Little);
    let (copied, text) = fault(&file[..file.len() - 5]);
    let whole = read(file.as_slice()).of("chunk").len();
    assert_eq!(read(&file[..copied]).of("chunk").len(), whole - 1);
    assert!(text.starts_with(&format!("byte {copied}: block 7 (enhanced packet): ")), "{text}");
    assert_eq!(fault(b"").1, "the file is empty");
    let classic = [LITTLE.pcap(0xa1b2_c3d4, 147), LITTLE.record(&literal(0, &PACKET))].concat();
    assert!(matches!(
        annotate(classic.as_slice(), Vec::new(), |_, _| Vec::new()),
        Err(AnnotateError::NoComments)
    ));
}
