//! Files that are cut off or damaged: every item before the damage, then one error that names byte,
//! block and field.

use std::io::{self, Read};

use myriscope_codec::capture::{ByteOrder, CaptureError, INTERFACES_MAX};

use super::bytes::{BIG, LITTLE, PACKET, ReadLog, literal, read, small};

/// Boundaries of the blocks of a well-made little-endian file.
fn boundaries(file: &[u8]) -> Vec<usize> {
    let next = |place: &usize| {
        let len = file.get(place + 4..)?.first_chunk::<4>()?;
        Some(place + u32::from_le_bytes(*len) as usize)
    };
    let places: Vec<usize> = std::iter::successors(Some(0), next).collect();
    assert_eq!(places.last(), Some(&file.len()));
    places
}

/// The small capture's chunks, each with the end of its block: they stand in its last blocks.
fn chunks_with_ends() -> (Vec<u8>, Vec<usize>, Vec<(usize, &'static str)>) {
    let (file, chunks) = small(ByteOrder::Little);
    let places = boundaries(&file);
    let ends = places.iter().copied().rev().take(chunks.len()).rev();
    let with_ends = ends.zip(chunks).collect();
    (file, places, with_ends)
}

/// The chunks that end at a place or before it.
fn before(chunks: &[(usize, &'static str)], place: usize) -> Vec<&'static str> {
    chunks.iter().filter(|(end, _)| *end <= place).map(|(_, line)| *line).collect()
}

#[test]
fn a_file_cut_anywhere_gives_all_before_and_one_error() {
    let (file, places, chunks) = chunks_with_ends();
    for cut in 0..=file.len() {
        let seen = read(&file[..cut]);
        assert_eq!(seen.of("chunk"), before(&chunks, cut), "cut at {cut}");
        let number = places.iter().filter(|place| **place <= cut).count() - 1;
        let start = places[number];
        match seen.error {
            None => assert!(cut > 0 && start == cut, "cut at {cut}"),
            Some(CaptureError::Empty) => assert_eq!(cut, 0),
            // The section header is whole, and no interface follows it.
            Some(CaptureError::NoChannel { .. }) => assert_eq!(cut, places[1]),
            // What kind of file it is shows in its first four bytes.
            Some(CaptureError::NotACapture { .. }) => assert!((1..4).contains(&cut)),
            Some(CaptureError::Damaged(fault)) => {
                assert!(start < cut, "cut at {cut}");
                assert_eq!((fault.offset, fault.number), (start as u64, number as u64));
                let field = if cut - start < 12 { "header" } else { "block total length" };
                assert_eq!(fault.field, field, "cut at {cut}");
                let text = fault.to_string();
                assert!(text.starts_with(&format!("byte {start}: block {number} (")), "{text}");
            }
            Some(error) => panic!("cut at {cut}: {error}"),
        }
    }
}

#[test]
fn any_bit_flipped_leaves_what_stood_before() {
    let (file, places, chunks) = chunks_with_ends();
    for (byte, bit) in (0..file.len()).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
        let mut damaged = file.clone();
        damaged[byte] ^= 1 << bit;
        let seen = read(damaged.as_slice());
        let start = places.iter().copied().rfind(|place| *place <= byte).unwrap();
        let whole = seen.of("chunk");
        assert!(whole.starts_with(&before(&chunks, start)), "byte {byte}, bit {bit}: {whole:?}");
        if let Some(CaptureError::Damaged(fault)) = &seen.error {
            assert!(fault.offset >= start as u64, "byte {byte}, bit {bit}: {fault}");
        }
    }
}

#[test]
fn a_damaged_chunk_costs_no_other() {
    let (file, places, chunks) = chunks_with_ends();
    // The kind of each chunk: 28 bytes of the block before the payload, then the version.
    for (number, start) in places.iter().enumerate().skip(3).take(chunks.len()) {
        let mut damaged = file.clone();
        damaged[start + 29] = 9;
        let seen = read(damaged.as_slice());
        let others: Vec<&str> =
            (3..).zip(&chunks).filter(|(n, _)| *n != number).map(|(_, (_, line))| *line).collect();
        assert_eq!(seen.of("chunk"), others);
        let faults = seen.of("fault");
        let place = format!("fault byte {}: block {number} (enhanced packet): kind ", start + 29);
        assert!(faults.len() == 1 && faults[0].starts_with(&place), "{faults:?}");
        assert!(seen.error.is_none());
    }
}

#[test]
fn nothing_and_garbage_are_no_captures_and_garbage_behind_a_section_header_is_one_error() {
    assert!(matches!(read(io::empty()).error, Some(CaptureError::Empty)));
    let garbage: Vec<u8> = (0..5000_u32).map(|n| (n * n * 7 + n / 3).to_le_bytes()[0]).collect();
    for bytes in [&b"\0"[..], b"GET / HTTP/1.1\r\n", b"\x0a\x0d", &garbage, &[0xff; 100]] {
        let seen = read(bytes);
        assert!(matches!(seen.error, Some(CaptureError::NotACapture { .. })));
        assert!(seen.items.is_empty() && seen.error_text().starts_with("byte 0: "));
    }
    for fill in 0..=u8::MAX {
        let seen = read([LITTLE.section(), vec![fill; 99]].concat().as_slice());
        assert_eq!(seen.items, ["section"]);
        assert!(seen.error_text().starts_with("byte 32: block 1 ("), "{}", seen.error_text());
    }
}

fn named(seen: &ReadLog, place: &str, field: &str) {
    let text = seen.error_text();
    assert!(text.starts_with(place) && text.contains(&format!("): {field} ")), "{text}");
}

/// A block is named as the specification of pcapng calls it.
#[test]
fn absurd_block_lengths_are_refused() {
    let before =
        [LITTLE.section(), LITTLE.channel("a>b", ""), LITTLE.packet(0, &literal(0, &PACKET))]
            .concat();
    for (kind, name) in [
        (0x0a0d_0d0a, "section header"),
        (1, "interface description"),
        (2, "packet"),
        (3, "simple packet"),
        (4, "name resolution"),
        (5, "interface statistics"),
        (6, "enhanced packet"),
        (0x0bad, "other"),
    ] {
        // A block's length stands behind its type.
        let place = format!("byte {}: block 3 ({name})", before.len() + 4);
        for len in [0, 1, 4, 8, 11, 13, 30, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, u32::MAX] {
            let mut block = LITTLE.block(kind, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
            block.splice(4..8, len.to_le_bytes());
            let file = [&before[..], &block, &[0; 64]].concat();
            let seen = read(file.as_slice());
            assert_eq!(seen.of("chunk"), ["chunk 0 at 0: 83 05 92 GAP"], "{kind:#x} {len}");
            named(&seen, &place, "block total length");
        }
    }
}

#[test]
fn errors_of_short_blocks_have_the_needed_length() {
    let cut = |block: &[u8], len: usize| {
        let (start, _) = block.split_at(len);
        read([&LITTLE.section(), start].concat().as_slice()).error_text()
    };
    let text = |name: &str, field: &str, needs: usize, have: usize| {
        let ends = format!("{field} needs {needs} bytes, but the file ends after {have}");
        format!("byte 28: block 1 ({name}): {ends}")
    };
    // Read, and passed over.
    let channel = LITTLE.block(1, &[147, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(cut(&channel, 7), text("block", "header", 12, 7));
    assert_eq!(cut(&channel, 17), text("interface description", "block total length", 20, 17));
    let other = LITTLE.block(5, &[0; 40]);
    for have in [12, 47, 48, 51] {
        let expected = text("interface statistics", "block total length", 52, have);
        assert_eq!(cut(&other, have), expected);
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let mut channel = LITTLE.channel("a>b", "");
    let last = channel.len() - 4;
    channel[last] += 4;
    let mut record = LITTLE.record(&literal(0, &PACKET));
    record.splice(8..12, 262_145_u32.to_le_bytes());
    let description = "byte 28: block 1 (interface description";
    // The length at the end is where a link type would stand; two lengths; behind the file's header and the record's time.
    for (file, place, field) in [
        ([LITTLE.section(), LITTLE.block(1, &[])].concat(), description, "length"),
        ([LITTLE.section(), LITTLE.block(1, &[1, 0, 0, 0])].concat(), description, "length"),
        ([BIG.section(), BIG.block(1, &[])].concat(), description, "length"),
        ([BIG.section(), BIG.block(1, &[1, 0, 0, 0])].concat(), description, "length"),
        ([LITTLE.section(), channel].concat(), description, "block total length"),
        ([LITTLE.pcap(0xa1b2_c3d4, 147), record].concat(), "byte 32: block 0 (", "captured length"),
    ] {
        let seen = read(file.as_slice());
        named(&seen, place, field);
        let whole = if file.starts_with(&LITTLE.u32(0xa1b2_c3d4)) { "channel" } else { "section" };
        assert!(seen.items.len() == 1 && seen.items[0].starts_with(whole) && seen.skipped == 0);
    }
}

/// An endless stream that counts what is taken.
struct EndlessStream<'a> {
    head: &'a [u8],
    taken: &'a mut u64,
}

impl Read for EndlessStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.head.read(buf)?;
        buf.iter_mut().skip(read).for_each(|byte| *byte = 0);
        *self.taken += buf.len() as u64;
        Ok(buf.len())
    }
}

#[test]
fn no_length_makes_a_reader_take_more_than_the_largest_legal_block() {
    let chunk = literal(0, &PACKET);
    let mut huge = LITTLE.packet(0, &chunk);
    huge.splice(20..24, 0x7fff_ffff_u32.to_le_bytes());
    let mut long = LITTLE.packet(0, &chunk);
    long.splice(4..8, 0x7fff_fffc_u32.to_le_bytes());
    let mut wide = LITTLE.packet(0, &chunk);
    wide.splice(32..36, u32::MAX.to_le_bytes());
    for block in [huge, long, wide] {
        let head = [LITTLE.section(), LITTLE.channel("a>b", ""), block].concat();
        let mut taken = 0;
        let seen = read(EndlessStream { head: &head, taken: &mut taken });
        assert!(seen.of("chunk").is_empty() && seen.error.is_some());
        // A payload of 256 KiB with what stands around it, and what is read ahead.
        assert!(taken <= 1 << 20, "{taken} bytes");
    }
}

/// 16 MiB of descriptions.
#[test]
fn so_many_interfaces_of_such_length_are_described_and_no_more() {
    assert_eq!(INTERFACES_MAX, 65_536);
    // Link type 147 in 20 bytes, and a comment that makes the block 64 KiB long.
    let short = LITTLE.block(1, &[147, 0, 0, 0, 0, 0, 0, 0]);
    let long = LITTLE.interface(147, "a>b", &"x".repeat(65_500));
    for (interface, len, most) in [(short, 20, 65_536), (long, 1 << 16, 256)] {
        assert_eq!(interface.len(), len);
        let whole = [LITTLE.section(), interface.repeat(most)].concat();
        let seen = read(whole.as_slice());
        assert_eq!((seen.of("channel").len(), seen.error_text().as_str()), (most, ""));
        let seen = read([whole, LITTLE.interface(1, "", "")].concat().as_slice());
        assert_eq!(seen.of("channel").len(), most);
        named(&seen, &format!("byte {}: block {} (", 28 + len * most, most + 1), "interface");
    }
}

/// A stream that breaks off.
struct FailingStream<'a>(&'a [u8]);

impl Read for FailingStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("no more data")) } else { self.0.read(buf) }
    }
}

#[test]
fn an_error_of_the_stream_has_the_place() {
    let (file, chunks) = small(ByteOrder::Little);
    for len in [file.len() - 1, file.len()] {
        let (start, _) = file.split_at(len);
        let seen = read(FailingStream(start));
        assert_eq!(seen.error_text(), format!("byte {len}: read failed: no more data"));
        let whole = chunks.len() + len - file.len();
        assert_eq!(seen.of("chunk").len(), whole);
    }
}

#[test]
fn classic_pcap_cut_anywhere_gives_all_before_and_one_error() {
    let record = LITTLE.record(&literal(0, &PACKET));
    let file = [LITTLE.pcap(0xa1b2_c3d4, 147), record.clone(), LITTLE.record(&literal(4, &PACKET))]
        .concat();
    let places = [0, 24, 24 + record.len(), file.len()];
    for cut in 0..=file.len() {
        let seen = read(&file[..cut]);
        let whole = places.iter().filter(|place| **place <= cut).count();
        assert_eq!(seen.of("chunk").len(), whole.saturating_sub(2), "cut at {cut}");
        assert_eq!(seen.error.is_none(), cut > 0 && places.contains(&cut), "cut at {cut}");
        if cut >= 4
            && let Some(error) = seen.error
        {
            let text = error.to_string();
            // The file's header and the first record are both the first of their kind.
            let number = whole.saturating_sub(2);
            let place = format!("byte {}: block {number} (", places[whole - 1]);
            assert!(text.starts_with(&place), "{text}");
        }
    }
}

/// The longest payload, 256 KiB: 16 bytes, then nine bits for each of 233 002 characters.
#[test]
fn the_longest_payload_is_read() {
    let payload = literal(0, &[0x1aa; 233_002]);
    assert_eq!(payload.len(), 262_144);
    let blocks = [LITTLE.section(), LITTLE.channel("a>b", ""), LITTLE.packet(0, &payload)];
    let records = [LITTLE.pcap(0xa1b2_c3d4, 147), LITTLE.record(&payload)];
    for file in [blocks.concat(), records.concat()] {
        let seen = read(file.as_slice());
        let chunks = seen.of("chunk");
        assert_eq!(chunks, ["chunk 0 at 0: aa×233002"], "{}", seen.error_text());
    }
}

/// 320 KiB where a block is read, 16 MiB where it is passed over.
#[test]
fn the_longest_blocks_are_taken_and_no_longer_ones() {
    let chunk = literal(0, &PACKET);
    // The head, the payload, which takes 24 bytes, and comments of up to 32 KiB.
    let read_of = |len: usize| {
        let bare = LITTLE.packet(0, &chunk);
        let mut body = bare.get(8..bare.len() - 4).unwrap_or_default().to_vec();
        while body.len() < len - 12 {
            let text = (len - 12 - body.len() - 4).min(32_768);
            let size = u16::try_from(text).unwrap();
            body.extend([&LITTLE.u16(1)[..], &LITTLE.u16(size), &vec![b'x'; text]].concat());
        }
        LITTLE.block(6, &body)
    };
    let passed_of = |len: usize| LITTLE.block(5, &vec![0; len - 12]);
    for (block, taken) in [
        (read_of(320 << 10), true),
        (read_of((320 << 10) + 4), false),
        (passed_of(16 << 20), true),
        (passed_of((16 << 20) + 4), false),
    ] {
        let last = LITTLE.packet(0, &literal(4, &PACKET));
        let file = [LITTLE.section(), LITTLE.channel("a>b", ""), block, last].concat();
        let seen = read(file.as_slice());
        assert_eq!(seen.error.is_none(), taken, "{}", seen.error_text());
        assert_eq!(seen.items.iter().any(|item| item.starts_with("chunk 0 at 4")), taken);
    }
}
