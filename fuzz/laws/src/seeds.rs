//! The seeds of `corpus/`: small inputs in wire format, named for what they show.

mod files;
mod messages;
mod reached;
mod scenarios;
mod schedules;

use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, ChunkContent};
use codec::chars::CharBuf;
use codec::notation::parse;
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::time::Tick;

use crate::capture_input::{self, OwnedChunk};
use crate::reference::crc;

/// Captures from another hand, each of a link, named for what they show.
pub const FIXTURES: [(&str, &[u8]); 6] = [
    ("good-bad-and-runt-packets", include_bytes!("../../../fixtures/link-1/capture.pcapng")),
    ("weakened-stops", include_bytes!("../../../fixtures/link-2/capture.pcapng")),
    ("many-invalid-codes", include_bytes!("../../../fixtures/link-7/capture.pcapng")),
    ("packets-without-an-end", include_bytes!("../../../fixtures/link-8/capture.pcapng")),
    ("silence-and-resets", include_bytes!("../../../fixtures/link-11/capture.pcapng")),
    ("overrun-alarm-beside-fill", include_bytes!("../../../fixtures/link-14/capture.pcapng")),
];

/// Longest fixture that is a seed. *Chosen*: a fuzzer's inputs grow as long as its longest seed.
const SEED_MAX: usize = 1500;

/// Seed: a target or mode, its name, its bytes without a mode byte.
pub(crate) type CorpusSeed = (&'static str, &'static str, Vec<u8>);

/// All seeds as files of the corpus: target, name, input. A seed of another mode than 0 is named after it.
#[must_use]
pub fn all() -> Vec<(&'static str, String, Vec<u8>)> {
    own().into_iter().filter_map(|(name, seed, bytes)| file(name, seed, &bytes)).collect()
}

fn file(name: &str, seed: &str, bytes: &[u8]) -> Option<(&'static str, String, Vec<u8>)> {
    let target = crate::target(name.split('-').next()?)?;
    let mode = target.modes.iter().position(|(mode, _)| *mode == name).unwrap_or_default();
    let own = name.strip_prefix(target.name)?.strip_prefix('-');
    let seed = own.map_or(seed.to_owned(), |own| format!("{own}-{seed}"));
    Some((target.name, seed, target.input(mode, bytes)))
}

fn own() -> Vec<CorpusSeed> {
    let fixtures = FIXTURES.into_iter().filter(|(_, bytes)| bytes.len() <= SEED_MAX);
    let fixtures = fixtures.map(|(name, bytes)| ("capture", name, bytes.to_vec()));
    let chunks = CHUNKS.iter().map(|(name, text, count)| ("chars", *name, chunk(text, *count)));
    let texts = TEXTS.iter().map(|(name, text)| ("notation", *name, text.as_bytes().to_vec()));
    let filters = FILTERS.iter().map(|(name, text)| ("filter", *name, text.as_bytes().to_vec()));
    let last = ("chars", "last-place", chunk_at(u64::MAX - 4, "83 05 92 GAP", None));
    let packets = packets().into_iter().map(|(name, bytes)| ("packet", name, bytes));
    let captures = captures().into_iter().map(|(name, bytes)| ("capture", name, bytes));
    let analyses = ["whole-flow-control", "cut-in-a-chunk", "sections-of-both-orders"];
    let analyses = self::captures().into_iter().filter(move |(name, _)| analyses.contains(name));
    let analyses = analyses.map(|(name, bytes)| ("analyze", name, bytes));
    chunks
        .chain([last])
        .chain(texts)
        .chain(filters)
        .chain(packets)
        .chain(messages::all())
        .chain(fixtures)
        .chain(captures)
        .chain(analyses)
        .chain(scenarios::all())
        .chain(files::all())
        .chain(reached::all())
        .chain(schedules::all())
        .collect()
}

const CHUNKS: [(&str, &str, Option<u64>); 15] = [
    ("packets-and-gaps", "GAP GO 83 05 92 GAP GAP 01 07 GAP", None),
    ("symbols-in-a-packet", "83 STOP IDLE 05 GO 92 GAP", None),
    ("weakened-codes", "GAP!04 GO!01 83 STOP!07 05 92 GAP!08 ORUN!10 BRES!1c FRES!13 GAP", None),
    ("invalid-codes", "83 !a6 05 92 !70 GAP", None),
    ("sixteen-silent-periods", "83 05 92 IDLE×15 GO IDLE×16 GAP", None),
    ("packet-ended-by-silence", "83 05 IDLE×17 92 GAP", None),
    ("reset-in-a-packet", "83 05 FRES 92 07 GAP 01 07 GAP", None),
    ("reset-twice", "FRES 01 FRES GAP GAP", None),
    ("probes", "PRB0 REPL5 83 PRB7 05 92 REPL15 GAP", None),
    ("data-over-64", "83×70 05 aa×61 GAP", None),
    ("fill", "GAP GO", Some(40_000_000)),
    ("rounds-of-packets", "83 05 92 GAP IDLE", Some(9)),
    ("one-packet-of-many-rounds", "83 STOP", Some(30)),
    ("silence-over-rounds", "STOP 83 IDLE×11", Some(3)),
    ("rounds-of-go-and-stop", "GO STOP", Some(4)),
];

const TEXTS: [(&str, &str); 9] = [
    ("words", "GAP 83 05 aa PRB3 REPL15 GAP!04 !a6 STOP"),
    ("counts", "IDLE×16 00*64 (GAP GO)×40"),
    ("regression-wide-blanks", "83\u{a0}05\u{2003}92"),
    ("pair-with-half", "GAP GO GAP GO GAP GO GAP"),
    ("nothing", "()×3"),
    ("wrong-correction", "STOP!04"),
    ("wrong-count", "00×0"),
    ("open-group", "GAP (GO"),
    ("all-symbols", "IDLE GAP GO STOP ORUN FRES BRES PRB0 PRB7 REPL0"),
];

const FILTERS: [(&str, &str); 16] = [
    ("comparisons", "packets tag == 5 && crc.bad && length > 1000 || syndrome in {1, 0x10..0x20}"),
    ("places", "packets start in 10us..20us and end < 4096ch or not start >= 12.5us"),
    ("bytes", "packets bytes[0:2] == 83:05 || route contains 83 || bytes[-1] != cc || !route[1:]"),
    ("words", "events event in {open-link, hole} && by != go && event ~ \"*-reset\""),
    ("text", "show left contains \"GAP 83\" and right ~ \"*\\\"\\\\?\""),
    ("members-of-members", "info control.GAP > 1 && control >= 2 && !peer"),
    ("nested", "packets !(((tag)) || !!(crc.good && (tag || length)))"),
    ("columns", "packets channel,start,route,crc"),
    (
        "lists",
        "journeys hops.channel ~ \"s0:*\" && hops > 1 && hops.start in 1..0x100 || latency_ps > 1us",
    ),
    ("messages", "journeys transport.kind.nack && transport.source in {3, 4} && !transport.sync"),
    ("ranges", "packets length in 3..6 || tag in {1, 3..5} || start in 900..1000"),
    ("ranks", "check severity >= warning && finding != hole && at < 1ms"),
    ("unknown-field", "packets lenght > 1000"),
    ("unknown-word", "events event == open-lnk"),
    ("no-end", "packets tag in {1, 2"),
    ("regression-a-control-character", "packets tag == \"\u{1b}[31m\""),
];

/// The payload of a chunk of characters in notation, from place 1000 on.
#[must_use]
pub fn chunk(text: &str, count: Option<u64>) -> Vec<u8> {
    chunk_at(1000, text, count)
}

fn chunk_at(first: u64, text: &str, count: Option<u64>) -> Vec<u8> {
    let chars = parse(text).unwrap_or_default();
    let mut out = Vec::new();
    OwnedChunk { first: Tick(first), chars, count }.chunk().emit(&mut out);
    out
}

fn packets() -> Vec<(&'static str, Vec<u8>)> {
    let emitted = |route: &[u8], tag, payload: &[u8], check| {
        let mut out = CharBuf::new();
        Packet { route, tag: PacketTag::new(tag), payload, check }.emit(&mut out);
        let (frame, _gap) = out.chars().split_at(out.len() - 1);
        frame.low().to_vec()
    };
    vec![
        ("good", emitted(&[0x83, 0x81], 5, b"myrinet", CrcCheck::Good)),
        ("bad", emitted(&[0x83], 5, &[0xaa, 0xbb, 0xcc], CrcCheck::Bad(0x10))),
        ("three-hops", emitted(&[0x80, 0xbf, 0x81], 4, &[0x11; 20], CrcCheck::Good)),
        ("no-tag", emitted(&[0x99, 0x98], 0x80, &[], CrcCheck::Good)),
        ("crc-byte-alike-a-route-byte", vec![0x80, crc(&[0x80])]),
        ("runt", vec![0x82]),
        ("many-blocks-of-16", emitted(&[0x80], 7, &[0x5a; 150], CrcCheck::Good)),
    ]
}

/// Channels of one link and one on its own.
fn channels() -> Vec<Channel> {
    let peered = Channel { peer: Some(1), ..Channel::named("h0:0>s0:3") };
    vec![peered, Channel::named("s0:3>h0:0"), Channel::named("h1:0>s0:4")]
}

type SeedChunk<'a> = (u32, u64, &'a str, Option<u64>);

/// A capture of lines: channel, first, characters, rounds.
fn capture(order: ByteOrder, lines: &[SeedChunk<'_>]) -> Vec<u8> {
    let owned = |(id, first, text, count): &SeedChunk<'_>| {
        let chars = parse(text).unwrap_or_default();
        (ChannelId(*id), OwnedChunk { first: Tick(*first), chars, count: *count })
    };
    let chunks: Vec<_> = lines.iter().map(owned).collect();
    capture_input::write(order, &channels(), &chunks).unwrap_or_default()
}

const FLOW: [SeedChunk<'_>; 6] = [
    (0, 0, "GAP GO 83 05 92 GAP", None),
    (1, 0, "GO STOP GAP GO STOP STOP!07", None),
    (0, 6, "FRES GAP GO", None),
    (1, 6, "IDLE×20 STOP", None),
    (0, 15, "GAP 83 05 01 07 01 GAP IDLE×10", None),
    (1, 40, "GO GAP 01 07", None),
];
/// A repeated GO changes nothing by itself, but it does after the STOP of the iteration before.
const GO_AGAIN: [SeedChunk<'_>; 2] = [(0, 0, "GO", None), (0, 1, "GO STOP", Some(3))];
/// A reset releases a sender that a repeat stops again: in the round that is on its way, and in
/// one that need not be looked at.
const STOP_AGAIN: [SeedChunk<'_>; 4] = [
    (0, 0, "GAP×3 FRES GAP GO GAP×30 FRES GAP", None),
    (1, 0, "STOP", None),
    (1, 1, "IDLE×5 STOP", Some(5)),
    (1, 31, "IDLE STOP", Some(9)),
];
/// A packet that the end cuts off, long before the end.
const CUT_EARLY: [SeedChunk<'_>; 3] =
    [(0, 0, "83", None), (1, 0, "83 05 92 GAP", None), (1, 4, "83 05 92 GAP", None)];
const REPEATS: [SeedChunk<'_>; 5] = [
    (0, 0, "GAP GO", Some(64)),
    (1, 0, "STOP IDLE×3", Some(40)),
    (2, 0, "83 05 92 GAP", Some(12)),
    (0, 128, "83 05 92 GAP FRES GAP", None),
    (1, 160, "GO IDLE×5", Some(8)),
];

fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let flow = capture(ByteOrder::Little, &FLOW);
    let big = capture(ByteOrder::Big, &FLOW);
    let mut cut = flow.clone();
    cut.truncate(flow.len() - 30);
    let sections = [flow.clone(), capture(ByteOrder::Big, &REPEATS)].concat();
    let mut late = flow.clone();
    late.extend(ng_block(1, &[147, 0, 0, 0, 0, 0, 0, 0]));
    late.extend(ng_packet(3, &chunk("83 05 92 GAP", None)));
    let mut odd = ng_header();
    odd.extend(ng_block(1, &[1, 0, 0, 0, 0, 0, 0, 0]));
    odd.extend(ng_block(1, &[147, 0, 0, 0, 0, 0, 0, 0]));
    odd.extend(ng_packet(0, &[0xff; 20]));
    odd.extend(ng_block(5, &[0; 12]));
    odd.extend(ng_packet(1, &chunk("83 05 92 GAP", None)));
    odd.extend(ng_packet(1, &chunk("83 05 92 GAP", None)));
    odd.extend(ng_packet(1, &[1, 0, 0, 0, 4]));
    let mut between = ng_header();
    for link_type in [147, 1, 147] {
        between.extend(ng_block(1, &[link_type, 0, 0, 0, 0, 0, 0, 0]));
    }
    between.extend(ng_packet(2, &chunk("83 05 92 GAP", None)));
    let mut last = ng_header();
    last.extend(ng_block(1, &[147, 0, 0, 0, 0, 0, 0, 0]));
    last.extend(ng_packet(0, &chunk_at(u64::MAX - 8, "83 GO", Some(2))));
    last.extend(ng_packet(0, &chunk_at(u64::MAX - 4, "05 92 GAP 01", None)));
    let endless = capture(
        ByteOrder::Little,
        &[(0, 0, "83 GAP", Some(1 << 40)), (1, 0, "STOP", Some(1 << 62)), (2, 9, "IDLE", Some(7))],
    );
    vec![
        ("whole-flow-control", flow),
        ("whole-big-endian", big),
        ("whole-repeats", capture(ByteOrder::Little, &REPEATS)),
        ("whole-endless-repeats", endless),
        ("regression-go-again", capture(ByteOrder::Little, &GO_AGAIN)),
        ("regression-stop-again-after-a-reset", capture(ByteOrder::Little, &STOP_AGAIN)),
        ("regression-packet-cut-off-early", capture(ByteOrder::Little, &CUT_EARLY)),
        ("cut-in-a-chunk", cut),
        ("sections-of-both-orders", sections),
        ("channel-declared-late", late),
        ("foreign-interface-and-faults", odd),
        ("foreign-interface-between", between),
        ("up-to-the-last-place", last),
        ("pcap-microseconds", pcap([0xd4, 0xc3, 0xb2, 0xa1])),
        ("pcap-nanoseconds-big-endian", pcap([0xa1, 0xb2, 0x3c, 0x4d])),
    ]
}

fn ng_block(kind: u32, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len() + 12).unwrap_or(u32::MAX).to_le_bytes();
    [&kind.to_le_bytes(), &len[..], body, &len].concat()
}

fn ng_header() -> Vec<u8> {
    let body = [&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat();
    ng_block(0x0a0d_0d0a, &body)
}

fn ng_packet(interface: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
    let mut body = [&interface.to_le_bytes()[..], &[0; 8], &len, &len, payload].concat();
    body.resize(body.len().next_multiple_of(4), 0);
    ng_block(6, &body)
}

/// A classic pcap file of two records.
fn pcap(magic: [u8; 4]) -> Vec<u8> {
    let big = magic[0] == 0xa1;
    let u32 = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let u16 = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut out = [&magic[..], &u16(2), &u16(4), &[0; 8], &u32(262_144), &u32(147)].concat();
    let content =
        |first, chars| Chunk { first: Tick(first), content: ChunkContent::Literal(chars) };
    let text = parse("83 05 92 GAP").unwrap_or_default();
    for first in [0, 9] {
        let mut payload = Vec::new();
        content(first, text.chars()).emit(&mut payload);
        let len = u32(u32::try_from(payload.len()).unwrap_or(u32::MAX));
        out.extend([&[0; 8][..], &len, &len, &payload].concat());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_seed_is_there_and_small_and_named_once() {
        let seeds = all();
        let names: BTreeSet<_> = seeds.iter().map(|(target, name, _)| (target, name)).collect();
        assert_eq!(names.len(), seeds.len());
        for (target, name, bytes) in &seeds {
            assert!((1..=SEED_MAX).contains(&bytes.len()), "{target}/{name}: {}", bytes.len());
        }
        for (name, text, count) in CHUNKS {
            assert!(parse(text).is_ok_and(|chars| count.is_none() || chars.len() <= 64), "{name}");
        }
        assert!(FLOW.iter().chain(&REPEATS).all(|(_, _, text, _)| parse(text).is_ok()));
    }
}
