//! Bounds of slack buffers, on captures written by hand; every one is worked out from the rules.
//!
//! The link a ⇄ b has buffers of 8 cells: GO at 2, STOP at 4. A character is under way for 3 periods,
//! STOP and GO take a period to be generated and one to be obeyed.

use std::fmt::Write as _;

use codec::capture::{Channel, ChannelId};
use codec::notation::parse;
use codec::time::Tick;
use myriscope_analyzer::link::slack::{FillBounds, SlackEvent};
use myriscope_analyzer::link_analysis::LinkAnalysis;
use myriscope_analyzer::{AnalysisEvent, AnalysisScope};

use crate::support::{self, WrittenChunk, analysed};

/// A chunk: channel, first character, characters.
type SlackChunk<'a> = (u32, u64, &'a str);

const PARAMETERS: &str = "kg=2 h=2 ks=4 delay=3 gen=1 int=1";

/// The capture of a link that is tapped at an end, with words about it.
fn capture(tap: &str, words: &str, pieces: &[SlackChunk<'_>]) -> Vec<u8> {
    let channels = ["a:0>b:0", "b:0>a:0"].map(|name| {
        let mut channel = Channel::named(name);
        channel.tap = Some(tap.to_owned());
        let words = words.split_whitespace().filter_map(|word| word.split_once('='));
        channel.more = words.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        channel
    });
    let pieces: Vec<WrittenChunk<&str>> =
        pieces.iter().map(|(channel, first, text)| (*channel, *first, *text, 0)).collect();
    support::capture(&channels, &pieces)
}

/// Events of the buffer that a's channel fills.
fn slack_events(capture: &[u8]) -> impl Iterator<Item = SlackEvent> {
    let (events, _) = analysed(capture, AnalysisScope::Fills);
    let slack = events.into_iter().map(|event| {
        let AnalysisEvent::Slack(slack) = event else { panic!("{event:?}") };
        slack
    });
    slack.filter(|slack| slack.channel() == ChannelId(0))
}

/// Bounds of the buffer that a's channel fills: those of single periods where they are
/// few, else of the first and the last.
fn events(capture: &[u8]) -> String {
    let mut text = String::new();
    for events in slack_events(capture) {
        match events {
            SlackEvent::Fill(fill) => writeln!(text, "{}", line(&fill)),
            SlackEvent::Late { at, by, .. } => writeln!(text, "{} late by {by}", at.0),
            SlackEvent::OverrunRisk { at, by, .. } => writeln!(text, "{} risk of {by}", at.0),
            SlackEvent::Contradiction { at, .. } => writeln!(text, "{} contradiction", at.0),
        }
        .unwrap();
    }
    assert_eq!(totals(capture, AnalysisScope::Fills), totals(capture, AnalysisScope::Findings));
    text
}

/// Totals of the buffers: without rows of bounds, several events are settled at once.
fn totals(capture: &[u8], scope: AnalysisScope) -> Vec<String> {
    let (_, analysis) = analysed(capture, scope);
    let buffers = analysis.links().flat_map(LinkAnalysis::slack);
    buffers.map(|buffer| format!("{:?}", buffer.summary())).collect()
}

fn line(fill: &FillBounds) -> String {
    let bounds = |place: u64| {
        let (lo, hi) = fill.at(Tick(place)).unwrap();
        format!("{lo}..{hi}")
    };
    let (first, last) = (fill.start.0, fill.end.0 - 1);
    if first == last || bounds(first) == bounds(last) {
        format!("{first}..={last}: {}", bounds(first))
    } else {
        format!("{first}..={last}: {} to {}", bounds(first), bounds(last))
    }
}

/// Characters of a: eight bytes that arrive at b in the periods 2 to 9, and a packet's last one.
const SENT: &str = "GAP GO 01×8 (GO)×20 02 GAP (GO GAP)×5";
/// Commands of b: STOP on the wire in the period 6, GO in the period 20.
const COMMANDED: &str = "GO GAP GO GAP GO GAP STOP (GAP STOP)×6 GAP GO (GAP GO)×10";

#[test]
fn a_stop_and_a_go_tell_what_was_before_them() {
    // At 5 there are 4, so with nothing but what entered there were 3 at 4, and 1 at 2 at least. Then
    // as many may be taken out as enter, down to 3. At 19 there are no more than 2, so at 18 no more
    // than 4: one is taken out in a period, and one more at once by a switch.
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &[(0, 0, SENT), (1, 0, COMMANDED)])), @"
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=9: 4..4 to 4..8
    10..=14: 3..8
    15..=18: 3..7 to 3..4
    19..=20: 1..2 to 0..2
    21..=29: 0..2
    30..=31: 1..3
    32..=41: 0..3
    ");
}

#[test]
fn at_the_far_end_all_is_as_much_later_or_earlier_as_the_cable_is_long() {
    // What arrives at 5 to 12 was sent 3 earlier; STOP was decided at 12 − 3 − 1 = 8.
    insta::assert_snapshot!(events(&capture("a:0", PARAMETERS, &[(0, 0, SENT), (1, 6, COMMANDED)])), @"
    3..=4: 0..3
    5..=7: 1..3 to 3..3
    8..=12: 4..4 to 4..8
    13..=17: 3..8
    18..=21: 3..7 to 3..4
    22..=23: 1..2 to 0..2
    24..=32: 0..2
    33..=34: 1..3
    35..=44: 0..3
    ");
}

#[test]
fn data_that_goes_on_is_late_and_may_be_lost() {
    // STOP is decided at 5, heard at 9 and obeyed at 10: the last byte arrives at 12. Three more come.
    // Of the ten after the fourth, four find room.
    let sent = "GAP GO 01×14 (GO)×20";
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &[(0, 0, sent), (1, 0, COMMANDED)])), @"
    10 risk of 6
    13 late by 3
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=9: 4..4 to 4..8
    10..=14: 4..8
    15..=16: 4..7 to 3..6
    17..=18: 3..5 to 3..4
    19..=20: 1..2 to 0..2
    21..=35: 0..2
    ");
}

#[test]
fn data_that_stops_in_time_is_not_late() {
    let sent = "GAP GO 01×11 GAP (GO)×20";
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &[(0, 0, sent), (1, 0, COMMANDED)])), @"
    10 risk of 4
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=9: 4..4 to 4..8
    10..=13: 4..8
    14..=18: 3..8 to 3..4
    19..=20: 1..2 to 0..2
    21..=33: 0..2
    ");
}

#[test]
fn a_stop_for_which_too_little_came_is_a_contradiction() {
    // At 19 there are no more than 2, and but one more comes before the STOP of 31.
    let sent = "GAP GO 01×8 (GO)×18 02 (GO)×10";
    let commanded =
        "GO GAP GO GAP GO GAP STOP (GAP STOP)×6 GAP GO (GAP GO)×5 GAP STOP (GAP STOP)×3";
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &[(0, 0, sent), (1, 0, commanded)])), @"
    31 contradiction
    0..=38: 0..8
    ");
}

#[test]
fn fres_empties_the_buffer() {
    // It comes at 12, so that GO is due at once. What comes up to the GAP at 15 is dropped. R-2
    let sent = "GAP GO 01×8 GO GO FRES 01 01 GAP (GO GAP)×10";
    let commanded = "GO GAP GO GAP GO GAP STOP (GAP STOP)×3 GO (GAP GO)×10";
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &[(0, 0, sent), (1, 0, commanded)])), @"
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=9: 4..4 to 4..8
    10..=11: 3..8
    12..=35: 0..0
    ");
}

#[test]
fn a_reset_that_was_not_recorded_may_be_what_a_go_answers() {
    // Seven bytes up to 8 are what STOP at 7 needs: nothing was removed. GO is decided at 9, for which two
    // cannot be removed down to 2; what came at 9 was not recorded.
    let commanded = (1, 0, "(GO GAP)×4 GO STOP GO (GAP GO)×2");
    let pieces = [(0, 0, "GAP GO 01×7"), commanded, (0, 10, "(GO GAP)×2")];
    let words = PARAMETERS.replace("h=2", "h=5");
    let capture = capture("b:0", &words, &pieces);
    assert_eq!([8, 9].map(|place| bounds(&capture, place)), [(7, 7), (0, 3)]);
}

#[test]
fn what_was_not_recorded_may_have_been_anything() {
    // a's channel has a hole from 12 to 15, b's one from 16 to 23.
    let pieces = [
        (0, 0, "GAP GO 01×8 GO GO"),
        (1, 0, "GO GAP GO GAP GO GAP STOP (GAP STOP)×4 GAP"),
        (0, 16, "GO GAP GO GAP 05 06 GAP GO GO GAP GO GAP"),
        (1, 24, "GO GAP GO GAP"),
    ];
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &pieces)), @"
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=9: 4..4 to 4..8
    10..=14: 3..8
    15..=19: 0..8
    20..=22: 1..8
    23..=27: 0..3
    ");
}

#[test]
fn what_a_hole_hides_of_the_commands_is_not_known_from_its_beginning_on() {
    // b's channel has a hole from 16 to 23, a's has none. What was commanded is known up to 15, and what
    // was decided up to 14: from 15 on b may have emptied the buffer, though it said STOP before the hole.
    // It says GO at 24, decided at 23 at the latest: so there are not so many as make it say STOP.
    let commanded = "GO GAP GO GAP GO GAP STOP (GAP STOP)×4 GAP";
    let pieces = [(0, 0, SENT), (1, 0, commanded), (1, 24, "GO GAP (GO GAP)×10")];
    let capture = capture("b:0", PARAMETERS, &pieces);
    assert_eq!([14, 22, 23].map(|place| bounds(&capture, place)), [(3, 8), (0, 8), (0, 3)]);
}

/// The bounds in a period.
fn bounds(capture: &[u8], place: u64) -> (u32, u32) {
    let fill = |it| if let SlackEvent::Fill(fill) = it { fill.at(Tick(place)) } else { None };
    slack_events(capture).find_map(fill).unwrap()
}

#[test]
fn without_a_tap_nothing_can_be_aligned() {
    insta::assert_snapshot!(events(&capture("c:0", PARAMETERS, &[(0, 0, SENT), (1, 0, COMMANDED)])), @"");
}

#[test]
fn the_delay_of_a_cable_that_nobody_told_is_that_of_the_fastest_ping() {
    // The reply comes 8 periods after the probe, and answers that, not the one before it.
    let pieces = [(0, 0, "PRB0 GO PRB0 (GO GAP)×10"), (1, 0, "(GAP GO)×5 REPL1 (GAP GO)×5")];
    let capture = capture("a:0", "", &pieces);
    let (_, analysis) = analysed(&capture[..], AnalysisScope::Counts);
    let assumed: Vec<_> = analysis
        .links()
        .flat_map(LinkAnalysis::slack)
        .map(|slack| slack.parameters().to_string())
        .collect();
    assert_eq!(
        assumed,
        [
            "delay=4 measured by probes, kg=32 h=16 ks=32 gen=2 int=2 assumed",
            "kg=32 h=16 ks=32 delay=12 gen=2 int=2 assumed"
        ]
    );
}

#[test]
fn what_stood_above_the_lower_threshold_may_fall_by_two_when_it_is_not_seen_any_more() {
    // STOP stands from 5 on, and is seen to up to 8: there are 4 with the cell that comes in. At 9 two
    // may have been taken out at once, GO be decided, and another cell be in. S-3
    let pieces = [(0, 0, "GAP GO 01×11 (GO)×4"), (1, 0, "GO GAP GO GAP GO GAP STOP GAP STOP GAP")];
    insta::assert_snapshot!(events(&capture("b:0", PARAMETERS, &pieces)), @"
    0..=1: 0..3
    2..=4: 1..3 to 3..3
    5..=8: 4..4 to 4..7
    9..=12: 3..8
    13..=15: 2..8 to 0..8
    16..=16: 0..8
    ");
}

/// Divides the characters into chunks of a length.
fn cut(pieces: &[SlackChunk<'_>], len: usize) -> Vec<u8> {
    let mut all = Vec::new();
    for (channel, first, text) in pieces {
        let chars = parse(text).unwrap();
        let count = chars.chars().len();
        all.extend((0..count).step_by(len).map(|from| {
            let part = chars.chars().iter().skip(from).take(len);
            let text: Vec<String> = part.map(|character| character.to_string()).collect();
            (*channel, first + from as u64, text.join(" "))
        }));
    }
    all.sort_by_key(|(channel, from, _)| (*from, *channel));
    let all: Vec<SlackChunk<'_>> =
        all.iter().map(|(channel, from, text)| (*channel, *from, text.as_str())).collect();
    capture("b:0", PARAMETERS, &all)
}

#[test]
fn where_chunks_are_cut_makes_no_difference() {
    let stop = "GO GAP GO GAP GO GAP STOP GAP STOP GAP";
    let captures: [&[SlackChunk<'_>]; 3] = [
        &[(0, 0, SENT), (1, 0, COMMANDED)],
        // The opposite channel is silent from 3 on, of which one knows at 18.
        &[(0, 0, "GAP GO 01×40"), (1, 0, "GO GAP GO IDLE×40")],
        // The opposite channel has a hole from 10 to 19, of which one knows at 20, where a GAP comes.
        &[(0, 0, "GAP GO 01×18"), (1, 0, stop), (0, 20, "GAP GO 02 03"), (1, 20, stop)],
    ];
    for pieces in captures {
        let expected = events(&capture("b:0", PARAMETERS, pieces));
        for len in 1..12 {
            assert_eq!(events(&cut(pieces, len)), expected, "{len}");
        }
    }
}

/// B-1
#[test]
fn the_tap_of_a_handshake_link_is_known_though_its_buffers_are_not() {
    let totals = totals(&capture("a:0", "link=handshake", &[]), AnalysisScope::Fills);
    assert!(totals.iter().all(|row| row.contains(r#"tapped_at: Some("#)), "{totals:?}");
}
