//! The states of channels, on captures written by hand; every interval is worked out from the rule
//! that it names.

use std::ops::Range;

use codec::CharBuf;
use codec::capture::{Channel, ChannelId};
use codec::notation::parse;
use codec::time::CharacterPeriod;
use myriscope_analyzer::link::interval::ActivityInterval;
use myriscope_analyzer::{AnalysisEvent, AnalysisScope, CaptureAnalysis};
use proptest::prelude::*;

use crate::support::{self, WrittenChunk, capture};

type LinkChunk<'a> = WrittenChunk<&'a str>;

/// The fill of a receiver that has room, which makes what its opposite may do known at once.
const FILL: LinkChunk<'_> = (1, 0, "GO GAP", 1000);

/// The channels of the link a ⇄ b, seen at a.
fn link() -> [Channel; 2] {
    ["a:0>b:0", "b:0>a:0"].map(|name| {
        let mut channel = Channel::named(name);
        channel.tap = Some("a:0".to_owned());
        channel
    })
}

/// All intervals of a capture, as they are told, and the analysis at its end.
fn analysed(capture: &[u8]) -> (Vec<ActivityInterval>, CaptureAnalysis<&[u8]>) {
    let (events, analysis) = support::analysed(capture, AnalysisScope::Intervals);
    let intervals = events.into_iter().map(|event| {
        let AnalysisEvent::Interval(interval) = event else { panic!("{event:?}") };
        interval
    });
    (intervals.collect(), analysis)
}

/// The intervals of a channel: first and last character, state.
fn states(capture: &[u8], channel: u32) -> String {
    let (intervals, analysis) = analysed(capture);
    let name = &analysis.channel(ChannelId(channel)).unwrap().name;
    let own = intervals.iter().filter(|interval| interval.channel.0 == channel);
    let rows = own.map(|interval| interval.row(name));
    rows.map(|row| format!("{}..={} {}", row.start, row.end, row.state))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The intervals of channel a > b, alone or in its link.
fn there(pieces: &[LinkChunk<'_>]) -> String {
    states(&capture(&link(), pieces), 0)
}

fn back(pieces: &[LinkChunk<'_>]) -> String {
    states(&capture(&link(), pieces), 1)
}

fn alone(text: &str) -> String {
    states(&capture(&[Channel::named("a:0>b:0")], &[(0, 0, text, 0)]), 0)
}

fn row(capture: &[u8], channel: u32) -> serde_json::Value {
    let (_, analysis) = analysed(capture);
    let mut reports =
        analysis.links().flat_map(myriscope_analyzer::link_analysis::LinkAnalysis::reports);
    serde_json::to_value(reports.find(|report| report.id.0 == channel).unwrap().row()).unwrap()
}

#[test]
fn a_channel_is_unknown_until_its_first_gap_reset_or_silence() {
    // P-1: 05 and 92 may be the end of a packet. The GAP is the first character between packets.
    insta::assert_snapshot!(alone("05 92 GAP GO 83 05 92 GAP GO"), @"0..=1 unknown, 2..=3 idle, 4..=6 sending, 7..=8 idle");
    // R-2: the GAP at 4 ends the reset. F-7: characters 1..=16 are silent, the 16th opens the link.
    insta::assert_snapshot!(alone("05 FRES 01 02 GAP GO"), @"0..=0 unknown, 1..=3 reset, 4..=5 idle");
    // A stop is known before: b says STOP at 1, and GO at 3.
    let pieces = [(0, 0, "05 05 05 05 05 GAP", 0), (1, 0, "GAP STOP GAP GO GAP GAP", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=0 unknown, 1..=2 stopped, 3..=4 unknown, 5..=5 idle");
    insta::assert_snapshot!(alone("05 IDLE×18 GO GO"), @"0..=15 unknown, 16..=18 open, 19..=20 idle");
    // FRES at 1; 2..=17 are silent; the GAP at 20 ends the reset. Reading: silence does not.
    insta::assert_snapshot!(alone("GAP FRES IDLE×17 01 GAP"), @"0..=0 idle, 1..=16 reset, 17..=18 open, 19..=19 reset, 20..=20 idle");
}

#[test]
fn what_the_sender_may_do_is_unknown_until_the_opposite_channel_or_its_bytes_say_it() {
    // F-1, F-2: b commands at 3, a at 1. Framing is known from 0 on.
    let pieces = [(0, 0, "GAP GO GAP GO GAP GO", 0), (1, 0, "GAP GAP GAP GO GAP GO", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=2 unknown, 3..=5 idle");
    insta::assert_snapshot!(back(&pieces), @"0..=0 unknown, 1..=5 idle");
    // b says neither STOP nor GO. F-1: what passes first may have left before a STOP that was not recorded took effect.
    let pieces = [(0, 0, "GAP GAP 83 05 GAP", 0), (1, 0, "GAP×5", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=1 unknown, 2..=3 sending, 4..=4 unknown");
    let pieces = [(0, 0, "GAP GAP 83 05×49 GAP", 0), (1, 0, "GAP×53", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=1 unknown, 2..=51 sending, 52..=52 idle");
    insta::assert_snapshot!(there(&[(0, 0, "GAP GO GAP GO", 0)]), @"0..=3 unknown");
    insta::assert_snapshot!(there(&[(0, 0, "GAP GO×4", 0), (1, 2, "GAP GO", 0)]), @"0..=2 unknown, 3..=3 idle, 4..=4 unknown");
    // F-7: b is silent from 0 on, which is known at 15.
    let pieces = [(0, 0, "GAP", 20), (1, 0, "IDLE", 20)];
    insta::assert_snapshot!(there(&pieces), @"0..=14 unknown, 15..=19 idle");
    // b's hole is 3..=7; its GO at 9 says what a may do, and nothing does behind its last character, 10.
    let pieces = [(0, 0, "GAP GO×11", 0), (1, 0, "GO STOP GAP", 0), (1, 8, "GAP GO GAP", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=0 idle, 1..=2 stopped, 3..=8 unknown, 9..=10 idle, 11..=11 unknown");
    let row = row(&capture(&link(), &pieces), 0);
    insta::assert_snapshot!(row["stops"], @r#"{"count":1,"longest":2,"periods":2,"share":0.166667}"#);
}

#[test]
fn the_opposite_channel_stops_and_releases_whatever_else_is_the_matter() {
    // F-2: STOP at 1 and 4, GO at 3. F-7: 5..=20 are silent, so at 20 the link opens and releases.
    let pieces = [(0, 0, "IDLE GAP", 20), (1, 0, "GO STOP STOP GO STOP IDLE×16 GAP", 0)];
    insta::assert_snapshot!(there(&pieces), @"0..=0 unknown, 1..=2 stopped, 3..=3 idle, 4..=19 stopped, 20..=21 idle, 22..=39 unknown");
    // a says neither STOP nor GO: what b's sender may do is never known.
    insta::assert_snapshot!(back(&pieces), @"0..=19 unknown, 20..=20 open, 21..=21 unknown");
    // F-1, R-2: b is in a reset from 2 to 7; a stops it from 3 to 6. The state says reset.
    let pieces = [(0, 0, "GO GAP GO STOP GAP GAP GO GAP", 0), (1, 0, "GO GAP FRES 01×4 GAP", 0)];
    insta::assert_snapshot!(back(&pieces), @"0..=0 unknown, 1..=1 idle, 2..=6 reset, 7..=7 idle");
    let stops = &row(&capture(&link(), &pieces), 1)["stops"];
    insta::assert_snapshot!(stops, @r#"{"count":1,"longest":3,"periods":3,"share":0.375}"#);
}

#[test]
fn bytes_are_awaited_in_a_pause_and_from_the_end_of_a_stop_on() {
    // Symbols at 3..=4 and 6..=21 (16 periods) are within the packet; 23..=39 are 17 periods.
    let text = "GAP GO 83 STOP GO 05 GO×16 07 GO×17 92 GAP";
    insta::assert_snapshot!(there(&[(0, 0, text, 0), FILL]), @"0..=1 idle, 2..=22 sending, 23..=39 starved, 40..=40 sending, 41..=41 idle");
    // F-1: a's STOP at 3 and GO at 4 govern b.
    let lines = back(&[(0, 0, text, 0), FILL]);
    insta::assert_snapshot!(lines, @"0..=0 unknown, 1..=2 idle, 3..=3 stopped, 4..=41 idle, 42..=1999 unknown");
    // b: STOP at 4, GO at 10. Two bytes are under way at 4. Bytes are awaited from 10 on, and come
    // at 27, after 17 periods.
    let pieces = [
        (0, 0, "GAP GO 83 05 01 02 GO×21 03 GAP", 0),
        (1, 0, "GO GAP GO GAP STOP GAP×5 GO GAP×18", 0),
    ];
    insta::assert_snapshot!(there(&pieces), @"0..=1 idle, 2..=3 sending, 4..=9 stopped, 10..=26 starved, 27..=27 sending, 28..=28 idle");
}

#[test]
fn a_hole_belongs_to_no_interval_and_ends_the_packet_that_it_cuts_off() {
    // 4..=9 of a are missing; b stops it at 6, within the hole, and releases it at 11. Framing is
    // known from the GAP at 12 on.
    let pieces = [
        (0, 0, "GAP GO 83 05", 0),
        (1, 0, "GO GAP×5 STOP GAP×4 GO GAP", 0),
        (0, 10, "07 07 GAP GO", 0),
    ];
    insta::assert_snapshot!(there(&pieces), @"0..=1 idle, 2..=3 sending, 10..=10 stopped, 11..=11 unknown, 12..=12 idle, 13..=13 unknown");
    // L: the packet is seen to pass at 2 and 3. 4..=9 are missing, and with them perhaps its end: what
    // passes at 10..=12 is not known until the GAP at 13 says that nothing does.
    let pieces = [(0, 0, "GAP GO 83 05", 0), (0, 10, "GO GO GO GAP GO", 0)];
    let lamp = &row(&capture(&[Channel::named("a:0>b:0")], &pieces), 0)["lamp"];
    let periods = ["unknown", "red", "green", "yellow"].map(|light| &lamp[light]["periods"]);
    assert_eq!(periods, [3, 0, 4, 2]);
}

#[test]
fn what_repeats_is_known_for_a_while_and_costs_nothing() {
    // Fill for 2^41 periods; then the bytes of one packet for 2^40.
    let end = 1_u64 << 41;
    let pieces = [(0, 0, "GAP GO", 1 << 40), (1, 0, "GO GAP", 1 << 50), (0, end, "80", 1 << 40)];
    let [idle, sending] = [end - 1, end + (1 << 40) - 1];
    assert_eq!(there(&pieces), format!("0..={idle} idle, {end}..={sending} sending"));
    // 4096 characters of the repeat are worked out, and its last iteration; GAP ends every packet of one byte.
    let lines = states(&capture(&[Channel::named("a:0>b:0")], &[(0, 0, "07 GAP", 1 << 40)]), 0);
    let [end, byte, gap] = [3, 2, 1].map(|behind| (1_u64 << 41) - behind);
    let last = format!(
        ", 4095..=4095 idle, 4096..={end} unknown, {byte}..={byte} sending, {gap}..={gap} idle"
    );
    assert!(lines.ends_with(&last), "{lines}");
}

#[test]
fn lamps_look_at_both_directions() {
    // L: the port at b is yellow while 2..=4 pass to it and 6..=7 from it, green otherwise: at 0 nothing is known yet of
    // what passes from it.
    let pieces =
        [(0, 0, "GAP GO 83 05 92 GAP GO GAP GO GAP", 0), (1, 0, "GO GAP GO×4 83 05 GAP GO", 0)];
    let row = row(&capture(&link(), &pieces), 0);
    insta::assert_snapshot!(row["lamp"], @r#"{"green":{"periods":4,"share":0.4},"red":{"periods":0,"share":0.0},"unknown":{"periods":1,"share":0.1},"yellow":{"periods":5,"share":0.5}}"#);
}

#[test]
fn stops_pings_and_packets_are_counted() {
    // b: stopped from 2 to 5 by a, pinged by a at 0 and 8; its answers are at 3 and 15.
    let pieces = [
        (0, 0, "PRB0 GAP STOP GAP GAP GO 83 05 PRB0 92 GAP 07 GAP PRB3 GAP PRB0", 0),
        (1, 0, "GO GAP GO REPL2 GAP GO×7 REPL1 GAP GAP REPL1", 0),
    ];
    let file = capture(&link(), &pieces);
    let (a, b) = (row(&file, 0), row(&file, 1));
    // The ping at 8 is answered at 12, after 4 periods; the one at 15 in the same instant.
    insta::assert_snapshot!(a["pings"], @r#"{"answered":3,"max":4,"mean":2.333,"measures":"round-trip","min":0,"sent":3}"#);
    insta::assert_snapshot!(b["stops"], @r#"{"count":1,"longest":3,"periods":3,"share":0.1875}"#);
    insta::assert_snapshot!(a["packets"], @r#"{"count":2,"crc":{"bad":0,"good":1,"partial":0,"runt":1},"ended_by":{"capture_end":0,"gap":2,"hole":0,"open_link":0,"reset":0}}"#);
    insta::assert_snapshot!(a["flow_control"], @r#"{"characters":2,"commands":2,"commands_share":0.125,"share":0.125}"#);
    insta::assert_snapshot!(a["utilisation"], @"0.25");
    // Another probe takes the place of a ping.
    let file = capture(&link(), &[(0, 0, "PRB0 PRB3 GAP GO", 0), (1, 0, "GO GAP REPL1 GAP", 0)]);
    assert_eq!(row(&file, 0)["pings"]["answered"], 0);
    // R-1: one STOP or GO may stand between FRES and the GAP that is made for it.
    for (text, variant) in [("FRES STOP GAP", "own-gap"), ("FRES GO GO GAP", "next-gap")] {
        let file = capture(&link(), &[(0, 0, &*format!("GAP 83 05 {text}"), 0)]);
        assert_eq!(row(&file, 0)["parameters"][7]["variant"], variant);
    }
}

/// A random channel: runs of its characters.
fn characters() -> impl Strategy<Value = Vec<(u8, u64)>> {
    prop::collection::vec((0_u8..10, 1_u64..20), 1..40)
}

fn spelt(runs: &[(u8, u64)]) -> CharBuf {
    const WORDS: [&str; 10] =
        ["83", "05", "GAP", "GO", "STOP", "IDLE", "IDLE", "FRES", "83", "GAP"];
    let text: Vec<String> =
        runs.iter().map(|(word, n)| format!("{}×{n}", WORDS[usize::from(*word)])).collect();
    parse(&text.join(" ")).unwrap()
}

/// The stretches of so many characters between some places, in order.
fn stretches(len: usize, places: &[u16]) -> Vec<Range<usize>> {
    let mut places: Vec<usize> = places.iter().map(|at| usize::from(*at) % len).collect();
    places.extend([0, len]);
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Some stretches of a link's channels as a capture, from character 7 on.
fn recorded(channels: &[CharBuf; 2], stretches: &[Vec<Range<usize>>; 2]) -> Vec<u8> {
    let mut chunks: Vec<WrittenChunk<String>> = Vec::new();
    for (id, ranges) in (0..).zip(stretches) {
        chunks.extend(ranges.iter().cloned().map(|range| {
            let first = 7 + range.start as u64;
            (id, first, channels[id as usize].chars().slice(range).to_string(), 0)
        }));
    }
    chunks.sort_by_key(|(id, first, ..)| (*first, *id));
    capture(&link(), &chunks)
}

/// Asserts that the intervals of a channel cover all that was recorded of it, without gaps.
fn tile(own: &[&ActivityInterval], stretches: &[Range<usize>]) {
    let mut own = own.iter().copied().peekable();
    let mut stretches = stretches.iter().cloned().peekable();
    while let Some(mut stretch) = stretches.next() {
        while let Some(more) = stretches.next_if(|next| next.start == stretch.end) {
            stretch.end = more.end;
        }
        let (mut next, end) = (7 + stretch.start as u64, 7 + stretch.end as u64);
        let mut before = None;
        while next < end {
            let interval = own.next().unwrap();
            assert_eq!(interval.start.0, next);
            assert!(interval.end > interval.start && before != Some(interval.state));
            (next, before) = (interval.end.0, Some(interval.state));
        }
        assert_eq!(next, end);
    }
    assert_eq!(own.next(), None);
}

proptest! {
    #[test]
    fn intervals_tile_what_was_recorded_however_it_is_cut(
        runs in [characters(), characters()],
        places in [prop::collection::vec(any::<u16>(), 0..9), prop::collection::vec(any::<u16>(), 0..9)],
        more in prop::collection::vec(any::<u16>(), 0..9),
        lost in any::<[u16; 2]>(),
    ) {
        let channels = [spelt(&runs[0]), spelt(&runs[1])];
        let [whole, parts] = [&[][..], &more].map(|more| [0, 1].map(|id| {
            let len = channels[id].len();
            let kept: Vec<_> = (0..).zip(stretches(len, &places[id]))
                .filter(|(n, _)| lost[id] >> n & 1 == 0).map(|(_, range)| range).collect();
            let finer = stretches(len, &[&places[id][..], more].concat());
            finer.into_iter()
                .filter(|part| kept.iter().any(|kept| kept.start <= part.start && part.end <= kept.end))
                .collect::<Vec<_>>()
        }));
        let file = recorded(&channels, &whole);
        let (intervals, analysis) = analysed(&file);
        prop_assert_eq!(&intervals, &analysed(&recorded(&channels, &parts)).0);
        let reports: Vec<_> = analysis.links().flat_map(myriscope_analyzer::link_analysis::LinkAnalysis::reports).collect();
        for (id, stretches) in (0..).zip(&whole) {
            let own: Vec<_> = intervals.iter().filter(|interval| interval.channel.0 == id).collect();
            tile(&own, stretches);
            let report = reports.iter().find(|report| report.id.0 == id).unwrap();
            let all: u64 = stretches.iter().map(|range| range.len() as u64).sum();
            prop_assert_eq!(report.totals.times.periods().iter().sum::<u64>(), all);
            prop_assert_eq!(report.leds.periods().iter().sum::<u64>(), all);
        }
    }
}

#[test]
fn an_interval_ends_where_a_hole_begins_before_later_ones_end() {
    // b > a is not recorded from 2 to 19. a > b is idle until 5; what it may do is not known from 2 on.
    let [go, gap] = [(1, 0, "GO GAP", 0), (1, 20, "GAP", 0)];
    let whole = [(0, 0, "GAP×6 83×6", 0), go, gap];
    let cut = [(0, 0, "GAP×6 83 83", 0), go, (0, 8, "83×4", 0), gap];
    for pieces in [&whole[..], &cut] {
        let (intervals, _) = analysed(&capture(&link(), pieces));
        let begun = intervals.iter().map(|it| (it.channel.0, it.start.0));
        assert_eq!(begun.collect::<Vec<_>>(), [(0, 0), (1, 0), (0, 2), (0, 6), (1, 20)]);
    }
}

#[test]
fn channels_of_two_rates_meet_in_time() {
    // b runs at half the rate: its STOP at 3 and GO at 5 fall on 6 and 10 of a.
    let [there, mut back] = link();
    back.period = CharacterPeriod::from_ps(25_000).unwrap();
    let pieces = [(0, 0, "GAP×12", 0), (1, 0, "GO GAP GAP STOP GAP GO", 0)];
    insta::assert_snapshot!(states(&capture(&[there, back], &pieces), 0), @"0..=5 idle, 6..=9 stopped, 10..=11 idle");
    // a runs at half the rate: b's STOP at 4 and GO at 5 both fall on its character 2.
    let [mut there, back] = link();
    there.period = CharacterPeriod::from_ps(25_000).unwrap();
    let pieces = [(0, 0, "GAP×6", 0), (1, 0, "GO GAP GAP GAP STOP GO GAP×6", 0)];
    insta::assert_snapshot!(states(&capture(&[there, back], &pieces), 0), @"0..=5 idle");
}
