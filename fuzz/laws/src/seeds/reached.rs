//! Seeds that runs have found to reach code that the others do not, in readable form.

use codec::capture::{ByteOrder, Channel, ChannelId};
use codec::notation::parse;
use codec::time::Tick;

use super::{CorpusSeed, ng_block, ng_header, ng_packet};
use crate::capture_input::{self, OwnedChunk};

const FILTERS: [(&str, &str); 8] = [
    ("a-field-alone", "severity"),
    ("a-view-alone", "check "),
    ("a-word-for-a-number", "destination > five"),
    ("a-word-for-bytes", "packets payload contains hello"),
    ("a-brace-behind-a-list", "journeys transport.source in {4, five} {"),
    ("half-a-byte", "packets bytes[0:2] == 83:e"),
    ("a-place-without-an-end", "packets bytes[0"),
    ("a-part-without-a-whole", ".5\u{b5}s .. \u{b5}s"),
];

const TEXTS: [(&str, &[u8]); 7] = [
    ("no-utf-8", b"\xc7\xdb"),
    ("no-blank-behind-a-count", "83\u{d7}58".as_bytes()),
    ("no-blank-before-a-group", b"GAP GO GAP(GO)GAP"),
    ("correction-of-nothing", b"!"),
    ("group-without-an-end", b"("),
    ("count-of-nothing", "\u{d7}".as_bytes()),
    ("white-space-of-another-kind", b"\r\x00"),
];

const SCENARIOS: [(&str, &[u8]); 10] = [
    ("no-ports", b"duration_us=9\ntopology={kind=\"switch\",ports=0}\n"),
    ("kind-misspelt", b"duration_us=9\ntopology={kind=\"swich\",ports=3}\n"),
    ("number-cut-short", b"duration_us=3-\n"),
    ("key-alone", b"d"),
    ("key-with-a-dot", b"duration.us=6\n"),
    ("blanks-alone", b"\t\t\t\t"),
    ("text-without-an-end", b"t='\xf8"),
    ("text-with-a-control-character", b"duration_us=\"\x19\"\n"),
    (
        "route-of-half-a-byte",
        b"duration_us=9\ntopology={kind=\"switch\",ports=3}\n[[route]]\nfrom=\"h0\"\nto=\"h2\"\nbytes=\"81 b\"\n",
    ),
    (
        "symbol-misspelt",
        b"duration_us=9\ntopology={kind=\"switch\",ports=3}\n[[raw]]\nfrom=\"h1\"\nchars=\"G:P 81\"\n[[tkp]]\nall=true\n",
    ),
];

pub(super) fn all() -> impl Iterator<Item = CorpusSeed> {
    let filters = FILTERS.map(|(name, text)| ("filter", name, text.as_bytes().to_vec()));
    let texts = TEXTS.map(|(name, text)| ("notation", name, text.to_vec()));
    let scenarios = SCENARIOS.map(|(name, text)| ("scenario", name, text.to_vec()));
    let captures = captures().map(|(name, bytes)| ("capture", name, bytes));
    filters.into_iter().chain(texts).chain(scenarios).chain(captures)
}

fn captures() -> [(&'static str, Vec<u8>); 6] {
    let channel = |name: &str, period: u64, peer| Channel {
        period_ps: std::num::NonZeroU64::MIN.saturating_add(period - 1),
        peer: Some(peer),
        ..Channel::named(name)
    };
    let channels = [channel("a:0>b:0", 25_000, 1), channel("b:0>a:0", 12_500, 0)];
    let chunk = |id, first, text| {
        let chars = parse(text).unwrap_or_default();
        (ChannelId(id), OwnedChunk { first: Tick(first), chars, count: None })
    };
    let chunks = [chunk(0, 0, "GAP 83 05 92 GAP"), chunk(1, 0, "GO STOP GO")];
    let slow = capture_input::write(ByteOrder::Big, &channels, &chunks).unwrap_or_default();
    let another = |from: &[u8], to: &[u8]| {
        let at = slow.windows(from.len()).position(|window| window == from).unwrap_or_default();
        let mut bytes = slow.clone();
        bytes.splice(at..at + from.len(), to.iter().copied());
        bytes
    };
    let mut short = ng_header();
    short.iter_mut().skip(4).take(1).for_each(|len| *len = 0x14);
    let mut simple = ng_header();
    simple.extend(ng_block(1, &[147, 0, 0, 0, 0, 0, 0, 0]));
    simple.extend(ng_block(3, &[4, 0, 0, 0, 1, 2, 3, 4]));
    simple.extend(ng_packet(0, &[]));
    let mut wrong = ng_header();
    wrong.extend(ng_block(1, &[147, 0, 0, 0, 0, 0, 0, 0]));
    wrong.extend(ng_block(5, &[0; 12]));
    if let Some(last) = wrong.last_mut() {
        *last = 1;
    }
    [
        ("another-version", another(b" v=1 ", b" v=9 ")),
        ("peer-that-is-not-there", another(b"peer=1", b"peer=7")),
        ("section-header-too-short", short),
        ("simple-packet-and-an-empty-one", simple),
        ("two-lengths-of-a-block", wrong),
        ("directions-of-two-rates", slow),
    ]
}
