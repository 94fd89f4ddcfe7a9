//! Faults in one block that cost no other: reported, left out, and read past.

use myriscope_codec::capture::{CaptureReader, ReadProgress};

use super::bytes::{BIG, LITTLE, PACKET, literal, read, repeat};

const CHUNK: &str = "chunk 0 at 0: 83 05 92 GAP";

/// Reads a section of one channel and some payloads on it; returns its chunks and, with the number
/// of the payload and the place in it that they name, its faults.
fn payloads(payloads: &[Vec<u8>]) -> (Vec<String>, Vec<String>) {
    let (mut file, mut places) = (section_of_a_channel(), Vec::new());
    for payload in payloads {
        // Behind the block's head: type, length, interface, time, two lengths.
        places.push(file.len() + 28);
        file.extend(LITTLE.packet(0, payload));
    }
    let seen = read(file.as_slice());
    assert_eq!(seen.error_text(), "");
    let chunks = seen.of("chunk").into_iter().map(str::to_owned).collect();
    let faults = seen.of("fault").into_iter().map(|fault| {
        let (number, place) = (0..)
            .zip(&places)
            .find(|(n, _)| fault.contains(&format!("block {} (", n + 2)))
            .unwrap_or((99, &0));
        let offset = fault.split(['e', ' ', ':']).find_map(|word| word.parse::<usize>().ok());
        let field = fault.split("): ").nth(1).unwrap_or_default();
        format!("payload {number}, byte {}: {field}", offset.unwrap_or_default() - place)
    });
    (chunks, faults.collect())
}

fn section_of_a_channel() -> Vec<u8> {
    [LITTLE.section(), LITTLE.channel("a>b", "")].concat()
}

fn good(first: u64) -> Vec<u8> {
    literal(first, &PACKET)
}

fn with(mut payload: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    payload.splice(at..at + bytes.len(), bytes.iter().copied());
    payload
}

#[test]
fn a_chunk_before_its_predecessor_s_end_is_left_out() {
    // Reserved bytes are ignored.
    let reserved = with(good(14), 2, &[0xff, 0xff]);
    let (chunks, faults) = payloads(&[good(10), good(13), good(2), reserved]);
    assert_eq!(chunks, ["chunk 0 at 10: 83 05 92 GAP", "chunk 0 at 14: 83 05 92 GAP"]);
    assert_eq!(faults.len(), 2);
    assert!(faults[0].starts_with("payload 1, byte 8: first is 13, before 14,"), "{faults:?}");
    assert!(faults[1].starts_with("payload 2, byte 8: first is 2"), "{faults:?}");
}

#[test]
fn payloads_that_are_no_chunk_are_left_out() {
    let pattern = [0x00c; 65];
    for (payload, fault) in [
        (vec![], "byte 0: version"),
        (with(good(0), 0, &[2]), "byte 0: version is 2"),
        (with(good(0), 1, &[2]), "byte 1: kind is 2"),
        (vec![1, 0], "byte 2: reserved"),
        (with(good(0), 4, &[0]), "byte 4: length is 0"),
        (with(good(0), 4, &[3]), "byte 4: length is 3"),
        (with(good(0), 4, &[9]), "byte 16: low plane"),
        (with(good(0), 4, &[5]), "byte 21: d plane"),
        (with(good(0), 8, &[0xff; 8]), "byte 8: first is"),
        (repeat(0, &PACKET, 0), "byte 16: count is 0"),
        (repeat(0, &PACKET, u64::MAX), "byte 16: count is"),
        (repeat(1, &PACKET, 1 << 62), "byte 16: count is"),
        (repeat(u64::MAX - 3, &PACKET, 1), "byte 8: first is"),
        (repeat(0, &pattern, 2), "byte 4: length is 65"),
        (vec![0; 262_148], "byte 0: payload"),
    ] {
        let (chunks, faults) = payloads(&[payload, good(0)]);
        assert_eq!(chunks, [CHUNK], "{fault}");
        assert_eq!(faults.len(), 1, "{fault}");
        assert!(faults[0].starts_with(&format!("payload 0, {fault}")), "{fault}: {faults:?}");
    }
}

/// A chunk of no interface is left out; a foreign interface is no peer.
#[test]
fn one_fault_is_reported_and_what_stands_around_it_is_read() {
    let foreign = LITTLE.interface(1, "b>a", "myrinet-channel v=1 peer=0");
    let [ten, nine] = [(0, 10), (1, 9)].map(|(on, at)| LITTLE.packet(on, &good(at)));
    let no_peer = "peer is 1, which is no channel of this section";
    let other = ["(packet): block type is 2: chunks", "(simple packet): block type is 3: chunks"];
    for (blocks, chunks, fault) in [
        (
            vec![LITTLE.channel("a>b", ""), nine, ten.clone()],
            1,
            "block 2 (enhanced packet): interface id",
        ),
        (vec![LITTLE.channel("a>b", "peer=1"), foreign], 0, no_peer),
        (vec![LITTLE.channel("a>b", ""), LITTLE.block(2, &[0; 20]), ten.clone()], 1, other[0]),
        (vec![LITTLE.channel("a>b", ""), LITTLE.block(3, &[0; 20]), ten], 1, other[1]),
    ] {
        let seen = read([LITTLE.section(), blocks.concat()].concat().as_slice());
        assert_eq!((seen.of("chunk").len(), seen.error_text().as_str()), (chunks, ""), "{fault}");
        let faults = seen.of("fault");
        assert!(faults.len() == 1 && faults[0].contains(fault) && seen.of("link").is_empty());
        assert_eq!(seen.skipped, u64::from(chunks == 0), "{fault}");
    }
}

#[test]
fn a_chunk_earlier_than_a_block_before_it_is_read_and_reported() {
    // At half the rate character 50 begins as 100 does. A block may be late by a 5000th of the time.
    for (period, newest, first, is_early) in [
        (12_500, 10, 9, true),
        (12_500, 10, 10, false),
        (25_000, 100, 49, true),
        (25_000, 100, 50, false),
        (12_500, 8_000_000, 7_998_399, true),
        (12_500, 8_000_000, 7_998_400, false),
    ] {
        let file = [
            section_of_a_channel(),
            LITTLE.channel("c>d", &format!("period_ps={period}")),
            LITTLE.packet(0, &good(newest)),
            LITTLE.packet(1, &good(first)),
            LITTLE.packet(1, &good(first + 4)),
        ]
        .concat();
        let seen = read(file.as_slice());
        assert_eq!(seen.of("chunk").len(), 3);
        let named = format!("block 4 (enhanced packet): first is {first}, earlier");
        let faults: Vec<bool> = seen.of("fault").iter().map(|it| it.contains(&named)).collect();
        assert_eq!(faults, [true].repeat(usize::from(is_early)), "{first}");
        let mut reader = CaptureReader::new(&*file);
        while reader.step(&mut |_| ()).unwrap() == ReadProgress::More {}
        let latest = u128::from(((newest + 4) * 12_500).max((first + 8) * period));
        assert_eq!(reader.extent().latest.map(|it| it.0), Some(latest), "{first}");
    }
}

/// Reads a section of channels of these names and descriptions, with a chunk on the first; returns its faults.
fn described(channels: &[(&str, &str)]) -> Vec<String> {
    let mut file = LITTLE.section();
    let mut places = Vec::new();
    for (name, words) in channels {
        places.push(file.len());
        file.extend(LITTLE.channel(name, words));
    }
    file.extend(LITTLE.packet(0, &good(0)));
    let seen = read(file.as_slice());
    assert_eq!((seen.of("chunk"), seen.error_text().as_str()), (vec![CHUNK], ""));
    assert_eq!(seen.of("channel").len(), channels.len());
    let faults = seen.of("fault").into_iter().map(|fault| {
        let named = |(number, place): &(usize, &usize)| {
            fault.starts_with(&format!("fault byte {place}: block {} (interface", number + 1))
        };
        let number = places.iter().enumerate().find(named).map(|(number, _)| number);
        let field = fault.split("): ").nth(1).unwrap_or_default();
        format!("interface {}: {field}", number.unwrap_or(99))
    });
    faults.collect()
}

#[test]
fn wrong_words_and_peers_that_do_not_agree_are_left_out() {
    for (channels, faulty, field) in [
        // A peer nowhere, and one that is named by two.
        (&[("a>b", "peer=4294967295")][..], &[0][..], "peer"),
        (&[("a>b", "peer=2"), ("c>d", "peer=2"), ("b>a", "peer=0")], &[1], "peer"),
        (&[("a>b", "peer=1"), ("c>d", "peer=2"), ("e>f", "peer=0")], &[0, 1, 2], "peer"),
        (&[("a>b", "peer=x")], &[0], "peer"),
        (&[("a>b", "peer=4294967296")], &[0], "peer"),
        (&[("a>b", "period_ps=0")], &[0], "period_ps"),
        (&[("a>b", "period_ps=-1")], &[0], "period_ps"),
        (&[("a>b", "period_ps=")], &[0], "period_ps"),
        (&[("a>b", "period_ps=18446744073709551616")], &[0], "period_ps"),
        (&[("a>b", "period_fs=0")], &[0], "period_fs"),
        (&[("a>b", "v=3")], &[0], "v"),
    ] {
        let faults = described(channels);
        assert_eq!(faults.len(), faulty.len(), "{channels:?}: {faults:?}");
        for (fault, number) in faults.iter().zip(faulty) {
            let start = format!("interface {number}: {field} is ");
            assert!(fault.starts_with(&start), "{channels:?}: {fault}");
        }
    }
}

#[test]
fn a_byte_of_a_name_or_comment_that_is_not_utf_8_is_replaced_and_told() {
    for order in [LITTLE, BIG] {
        let channel = order.channel("a>?b", "tap=?");
        // Comments of other blocks are not read.
        let comment = [&order.u16(1)[..], &order.u16(1), b"?\0\0\0"].concat();
        let commented = |block: &[u8]| [&block[8..block.len() - 4], &comment].concat();
        let section = order.block(0x0a0d_0d0a, &commented(&order.section()));
        let packet = order.block(6, &commented(&order.packet(0, &good(0))));
        let mut file = [section, channel, packet].concat();
        let places: Vec<usize> = (0..file.len()).filter(|at| file[*at] == b'?').collect();
        places.iter().for_each(|at| file[*at] = 0xe9);
        let seen = read(file.as_slice());
        let fault = |at: usize, field| {
            let rest = "holds 0xe9, which is not UTF-8: read as U+FFFD";
            format!("fault byte {}: block 1 (interface description): {field} {rest}", places[at])
        };
        let faults = [fault(1, "if_name"), fault(2, "comment")];
        let [name, comment] = faults.each_ref().map(String::as_str);
        assert_eq!(seen.items, ["section", name, comment, "channel 0 a>\u{fffd}b", CHUNK]);
        assert_eq!(seen.error_text(), "");
    }
}

#[test]
fn an_option_that_is_cut_short_costs_no_more_than_itself() {
    let body = [&[147, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0][..], b"a>b\0", &[1, 0, 200, 0]].concat();
    let file = [LITTLE.section(), LITTLE.block(1, &body), LITTLE.packet(0, &good(0))].concat();
    let fault = "fault byte 52: block 1 (interface description): options end inside an option";
    let seen = read(file.as_slice());
    assert_eq!(seen.items, ["section", fault, "channel 0 a>b", CHUNK]);
}

#[test]
fn a_snap_length_and_channels_merged_into_one_classic_pcap_are_named() {
    let cut = |mut block: Vec<u8>, original: usize| {
        block[original..original + 4].copy_from_slice(&LITTLE.u32(21));
        block
    };
    let snapped = "captured length is 20 of 21: snap length 20 cut the chunk; capture again with 0 \
                   or 262144";
    let merged = "first is 0, before 8, where the chunk before it ends: looks like several channels \
                  merged into one classic pcap, which has no interfaces: write pcapng";
    let (pcapng, whole) = (section_of_a_channel(), good(0));
    let records = [4, 0, 8].map(|first| LITTLE.record(&good(first))).concat();
    for (head, block, place, fault) in [
        (pcapng, cut(LITTLE.packet(0, &whole[..20]), 24), (20, "2 (enhanced packet)"), snapped),
        (
            LITTLE.pcap(0xa1b2_c3d4, 147),
            cut(LITTLE.record(&whole[..20]), 12),
            (8, "0 (record)"),
            snapped,
        ),
        (LITTLE.pcap(0xa1b2_c3d4, 147), records, (16 + 21 + 16 + 8, "1 (record)"), merged),
    ] {
        let at = head.len() + place.0;
        let seen = read([head, block].concat().as_slice());
        assert_eq!(seen.of("fault"), [format!("fault byte {at}: block {}: {fault}", place.1)]);
    }
}
