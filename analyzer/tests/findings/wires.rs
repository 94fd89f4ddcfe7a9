//! Open wires, which the characters of a channel show: what proves one, and what resembles one.

use codec::CharBuf;
use codec::character::Character;
use codec::crc::crc8;
use myriscope_analyzer::finding::{FactValue, FindingKind};
use myriscope_analyzer::render::check::unseen;
use myriscope_analyzer::rules::rule;

use super::findings;
use super::table::capture;
use crate::support::FixedDraws;

/// Characters of a packet and of the fill behind it.
fn sent(payload: &[u8]) -> Vec<u16> {
    let mut bytes = [&[0x05], payload].concat();
    bytes.push(crc8(&bytes));
    let data = bytes.iter().map(|byte| 0x100 | u16::from(*byte));
    data.chain([0x0c, 0x03, 0x0c, 0x03, 0x0c]).collect()
}

/// Number of the wire that is found open after 400 packets, whose characters arrive as `arrives`
/// says; it gets random numbers.
fn open_wire(
    payload: impl Fn(u64) -> Vec<u8>,
    arrives: impl Fn(u16, u64) -> u16,
) -> Vec<FactValue> {
    let mut dice = FixedDraws::new(1);
    let mut next = || dice.below(1 << 31) as u64;
    let mut characters: CharBuf = [Character::from_bits(0x0c)].into_iter().collect();
    for _ in 0..400 {
        let packet = sent(&payload(next()));
        characters.extend(packet.iter().map(|bits| Character::from_bits(arrives(*bits, next()))));
    }
    let text = characters.chars().to_string();
    let found = findings(capture(&[("a:0>b:0", "")], &[&format!("0: {text}")]).as_slice());
    let found = found.set().found();
    let open = found.filter(|(kind, ..)| *kind == FindingKind::WireOpen);
    open.flat_map(|(_, _, found)| found.facts.iter().map(|fact| fact.value.clone())).collect()
}

/// W-5
#[test]
fn what_legal_traffic_does_not_use_is_not_open() {
    let none: Vec<FactValue> = Vec::new();
    let ascii = |random: u64| format!("packet {random:07} of text").into_bytes();
    // Its CRC byte, 11, has no 1 on wires 5 to 7, and its payload none on 7.
    let same = |_: u64| b"the same text 8".to_vec();
    assert_eq!(sent(&same(0)).get(16), Some(&0x111));
    let sound = |bits: u16, _: u64| bits;
    let half = |wire: u16| move |bits, random: u64| bits & !(((random & 1) as u16) << wire);
    let crosstalk = |bits: u16, random: u64| match random % 3 {
        _ if bits & 0x100 != 0 => 0,
        0 => bits | 0x40,
        _ => bits | 0x80,
    };
    let without = |wire: u16| move |bits: u16, _: u64| bits & !(1 << wire);
    assert_eq!(open_wire(ascii, sound), none);
    assert_eq!(open_wire(same, sound), none);
    // Intermittent contact on another wire, open wires among several unused ones, errors in the fill.
    for wire in 0..9 {
        assert_eq!(open_wire(ascii, half(wire)), none, "{wire}");
        assert_eq!(open_wire(same, half(wire)), none, "{wire}");
    }
    for wire in 4..8 {
        assert_eq!(open_wire(same, without(wire)), none, "{wire}");
    }
    assert_eq!(open_wire(same, crosstalk), none);
    // Any wire of varied packets.
    for wire in 0..9 {
        let number = FactValue::Number(wire.into());
        assert_eq!(open_wire(ascii, without(wire)), [number], "{wire}");
    }
}

/// Verdicts on W-3 and W-6 for a link with these measurements, and whether a skew is said to have been not seen.
fn verdicts(one: &'static str, other: &'static str) -> ([&'static str; 2], bool) {
    let wires = [("a:0>b:0", one), ("b:0>a:0", other)];
    let found = findings(capture(&wires, &["0: GO GAP", "1: GO GAP"]).as_slice());
    let outcome = |id| rule(id).unwrap().verdict(found.set()).outcome.name();
    let not_seen = unseen(found.set()).unwrap_or_default();
    (["W-3", "W-6"].map(outcome), not_seen.contains("the skew of 1 channel"))
}

/// W-3, W-6
#[test]
fn measurements_are_judged_where_they_are_certain() {
    for (words, expected) in [
        ("period_ps=12500", ["not-exercised", "cannot-tell"]),
        // The window is 6.25 ns, nine tenths of it 5.625 ns.
        ("skew_fs=6000000", ["not-exercised", "cannot-tell"]),
        ("skew_fs=4625000 sample_fs=1000000", ["pass", "cannot-tell"]),
        ("skew_fs=4625001 sample_fs=1000000", ["not-exercised", "cannot-tell"]),
        ("skew_fs=6625000 sample_fs=1000000", ["not-exercised", "cannot-tell"]),
        ("skew_fs=6625001 sample_fs=1000000", ["fail", "cannot-tell"]),
        ("skew_fs=5000000 sample_fs=0 window_fs=5500000", ["fail", "cannot-tell"]),
        // 100 ppm are 1250 fs.
        ("period_fs=12501300 nominal_fs=12500000", ["not-exercised", "cannot-tell"]),
        ("period_fs=12501250 nominal_fs=12500000 period_error_fs=0", ["not-exercised", "pass"]),
        ("period_fs=12501260 nominal_fs=12500000 period_error_fs=9", ["not-exercised", "fail"]),
        ("period_fs=12501260 nominal_fs=12500000 period_error_fs=10", ["not-exercised", "pass"]),
        ("period_fs=12498740 nominal_fs=12500000 period_error_fs=9", ["not-exercised", "fail"]),
        // 200 ppm of the opposite channel's 12.5 ns are 2500 fs. Its error is 5 fs.
        ("period_fs=12502510 period_error_fs=4", ["not-exercised", "fail"]),
        ("period_fs=12502510 period_error_fs=5", ["not-exercised", "pass"]),
    ] {
        let described = |words| &*format!("myrinet-channel v=2 {words}").leak();
        let other = if words.contains("nominal") { "" } else { "period_error_fs=5" };
        let known = words.contains("period_error_fs") && !other.is_empty();
        let other = described(if known { other } else { "" });
        let is_open =
            ["skew_fs=4625001 s", "skew_fs=6625000 s"].iter().any(|it| words.starts_with(it));
        assert_eq!(verdicts(described(words), other), (expected, is_open), "{words}");
    }
}
