//! Events of a receiver at the tap, on captures written by hand; every expected row is worked
//! out from the rule that it names.

use std::fmt::Write as _;

use codec::capture::Channel;
use codec::notation::parse;
use codec::time::CharacterPeriod;
use myriscope_analyzer::event::ChannelEvent;
use myriscope_analyzer::packet::ByteRetention;
use myriscope_analyzer::timeline::EventFilter;

use crate::support::{self, WrittenChunk};

type RowChunk<'a> = WrittenChunk<&'a str>;

/// The capture of the link a ⇄ b whose channels 0 and 1 have these periods, and carry this.
fn capture(periods: [u64; 2], pieces: &[RowChunk<'_>]) -> Vec<u8> {
    let channels = ["a:0>b:0", "b:0>a:0"].map(Channel::named);
    let [mut there, mut back] = channels;
    there.period = CharacterPeriod::from_ps(periods[0]).unwrap();
    back.period = CharacterPeriod::from_ps(periods[1]).unwrap();
    support::capture(&[there, back], pieces)
}

/// The rows of a capture, one a line: place, channel, what.
fn rows(capture: &[u8], want: EventFilter) -> String {
    let mut text = String::new();
    for (channel, row) in support::rows(capture, want, ByteRetention::Keep) {
        let (name, at) = (&channel[..1], row.at);
        match row.body {
            ChannelEvent::Packet(packet) => {
                let row = packet.row(&channel);
                let syndrome = row.syndrome.map_or("-".to_owned(), |s| format!("{s:02x}"));
                let bytes = row.bytes.unwrap();
                writeln!(
                    text,
                    "{at} {name} {}..={} {bytes} {} {syndrome} {}",
                    row.start, row.end, row.crc, row.ended_by
                )
            }
            ChannelEvent::Link(event) => {
                let row = serde_json::to_value(event.row(&channel, at)).unwrap();
                let more = ["number", "status", "code", "symbol", "missing", "by"]
                    .iter()
                    .filter_map(|key| row.get(key))
                    .fold(String::new(), |more, value| format!("{more} {value}"));
                writeln!(text, "{at} {name} {}{}", event.name(), more.replace('"', ""))
            }
            ChannelEvent::Omitted { rounds, every, .. } => {
                writeln!(text, "{at} {name} {rounds} x {every} omitted")
            }
            event @ (ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Head(_)) => {
                writeln!(text, "{at} {name} {event:?}")
            }
            event @ (ChannelEvent::Data(_) | ChannelEvent::Command(_)) => {
                writeln!(text, "{at} {name} {event:?}")
            }
        }
        .unwrap();
    }
    text
}

const FULL_RATE: [u64; 2] = [12_500, 12_500];

fn events(pieces: &[RowChunk<'_>]) -> String {
    rows(&capture(FULL_RATE, pieces), EventFilter::Events)
}

fn packets(pieces: &[RowChunk<'_>]) -> String {
    rows(&capture(FULL_RATE, pieces), EventFilter::Packets)
}

fn last_number(pieces: &[RowChunk<'_>]) -> u64 {
    let file = capture(FULL_RATE, pieces);
    let rows = support::rows(file.as_slice(), EventFilter::Packets, ByteRetention::Forget);
    rows.iter().rev().find_map(|(_, row)| row.body.packet()).unwrap().number
}

#[test]
fn gaps_end_packets_and_symbols_and_ends_of_chunks_inside_are_no_part() {
    // P-1, P-7, P-8, C-4. The CRC of 83 05 is 92.
    insta::assert_snapshot!(packets(&[(0, 0, "83 STOP 05 IDLE 92 GO GAP GAP 83 05 93 GAP!04 07", 0)]), @"
    6 a 0..=4 830592 good 00 gap
    11 a 8..=10 830593 bad 01 gap
    12 a 12..=12 07 partial - capture-end
    ");
    insta::assert_snapshot!(packets(&[(0, 5, "83", 0), (0, 6, "05", 0), (0, 7, "92 GAP", 0)]), @"8 a 5..=7 830592 good 00 gap");
}

/// C-6
#[test]
fn sixteen_silent_periods_open_the_link_and_end_the_packet() {
    // F-7: characters 3..=18 are silent, the 16th of them is 18.
    let text = "83 05 92 IDLE×16 00 GAP";
    insta::assert_snapshot!(events(&[(0, 0, text, 0)]), @"
    18 a open-link
    19 a link-restored
    ");
    insta::assert_snapshot!(packets(&[(0, 0, text, 0)]), @"
    18 a 0..=2 830592 good 00 open-link
    20 a 19..=19 00 runt - gap
    ");
    // Fifteen are none, however they are cut.
    insta::assert_snapshot!(events(&[(0, 0, "83 IDLE×7", 0), (0, 8, "IDLE", 8), (0, 16, "05", 0)]), @"");
    // A long silence is one event.
    insta::assert_snapshot!(events(&[(0, 0, "IDLE", 1_000_000_000_000)]), @"15 a open-link");
}

#[test]
fn a_forward_reset_drops_data_until_a_gap_whatever_is_silent() {
    // the packet under way ends; 01 and 02 belong to none. A second FRES is one more.
    let text = "83 05 FRES 01 FRES 02 GAP 00";
    insta::assert_snapshot!(events(&[(0, 0, text, 0)]), @"
    2 a forward-reset
    4 a forward-reset
    6 a reset-ended
    ");
    insta::assert_snapshot!(packets(&[(0, 0, text, 0)]), @"
    2 a 0..=1 8305 partial - reset
    7 a 7..=7 00 partial - capture-end
    ");
    // Reading: F-7 adds a GAP only where a packet is being received.
    insta::assert_snapshot!(packets(&[(0, 0, "FRES IDLE×20 01 02 GAP 00 GAP", 0)]), @"25 a 24..=24 00 runt - gap");
}

#[test]
fn symbols_and_bad_codes_are_told() {
    // C-4, C-5, F-9, R-5, R-6. Of one character the correction comes before what the symbol does.
    insta::assert_snapshot!(events(&[(0, 0, "ORUN BRES PRB5 REPL11 !a6 FRES!13 GAP!08", 0)]), @"
    0 a overrun-alarm
    1 a backward-reset
    2 a probe 5
    3 a reply 11
    4 a invalid-code 166
    5 a corrected-code 19 FRES
    5 a forward-reset
    6 a corrected-code 8 GAP
    6 a reset-ended
    ");
}

#[test]
fn the_opposite_channel_stops_and_releases_a_sender() {
    // F-1, F-2, F-7: STOP said again is no event; 16 silent periods (4..=19) release.
    insta::assert_snapshot!(
        events(&[(0, 0, "IDLE GAP", 20), (1, 0, "GO STOP STOP GO STOP IDLE×16 GAP", 0)]), @"
    1 a sender-stopped
    3 a sender-resumed go
    4 a sender-stopped
    20 a sender-resumed open-link
    20 b open-link
    21 b link-restored
    ");
}

#[test]
fn a_sender_s_own_reset_releases_it() {
    // The reset of 2 has left the sender when the STOP of 2 comes: stopped anew.
    let pieces =
        [(0, 0, "GAP GAP FRES GAP FRES GAP GAP", 0), (1, 0, "STOP GAP STOP GAP GAP GAP GAP", 0)];
    insta::assert_snapshot!(events(&pieces), @"
    0 a sender-stopped
    2 a forward-reset
    2 a sender-resumed reset
    2 a sender-stopped
    3 a reset-ended
    4 a forward-reset
    4 a sender-resumed reset
    5 a reset-ended
    ");
    // Observed at the sender it may have come before: not taken as stopped.
    let link = ["a:0>b:0", "b:0>a:0"]
        .map(|name| Channel { tap: Some("a:0".into()), ..Channel::named(name) });
    let told = rows(&support::capture(&link, &pieces), EventFilter::Events);
    assert_eq!(told.matches("a sender-stopped").count(), 1, "{told}");
}

#[test]
fn a_stop_that_is_said_again_and_again_is_one_event_and_holds_after_a_reset() {
    // The fill of a stopped receiver, GAP STOP (F-8), as one repeat; STOP stands at odd periods.
    let fill = (1, 0, "GAP STOP", 1_000_000_000);
    insta::assert_snapshot!(
        events(&[(0, 0, "GAP", 1000), fill, (0, 1000, "FRES GAP FRES GAP GAP FRES GAP", 0)]), @"
    1 a sender-stopped
    1000 a forward-reset
    1000 a sender-resumed reset
    1001 a reset-ended
    1001 a sender-stopped
    1002 a forward-reset
    1002 a sender-resumed reset
    1003 a reset-ended
    1003 a sender-stopped
    1005 a forward-reset
    1005 a sender-resumed reset
    1005 a sender-stopped
    1006 a reset-ended
    ");
    // F-8. GO said again is no event, nor is there anything to leave out.
    assert_eq!(events(&[(0, 0, "GAP GO", 1 << 40), (1, 0, "GO GAP", 1 << 40)]), "");
    let stopped = events(&[(0, 0, "GAP GO", 1 << 40), (1, 0, "GAP STOP", 1 << 40)]);
    assert_eq!(stopped, "1 a sender-stopped\n");
}

#[test]
fn a_hole_forgets_all_that_was_known() {
    // Characters 3..=9 of channel 1 are missing. What it commands is unknown from 10 on: the GO at
    // 10 is no event, the STOP at 11 is. Its silence is counted anew.
    let back = [(1, 0, "STOP 83 05", 0), (1, 10, "GO STOP IDLE×15 GAP", 0)];
    insta::assert_snapshot!(events(&back), @"
    0 a sender-stopped
    10 b hole 7
    11 a sender-stopped
    ");
    insta::assert_snapshot!(packets(&back), @"10 b 1..=2 8305 partial - hole");
    // F-7: what was missing may have been no silence. Eight silent periods before the hole and eight behind
    // it open nothing; sixteen behind it do, the last of them 44.
    let pieces = [(0, 0, "GAP IDLE×8", 0), (0, 11, "IDLE×8 GAP", 0)];
    insta::assert_snapshot!(events(&pieces), @"11 a hole 2");
    insta::assert_snapshot!(events(&[pieces[0], (0, 29, "IDLE×16 GAP", 0)]), @"
    29 a hole 20
    44 a open-link
    45 a link-restored
    ");
    insta::assert_snapshot!(events(&[(0, 100, "GAP", 0), (0, 102, "GAP", 0)]), @"102 a hole 1");
}

#[test]
fn channels_of_two_rates_meet_in_time() {
    // Channel 1 has half the rate: its STOP at 3 and GO at 4 fall on 6 and 8 of channel 0. Channel
    // 0's STOP at 5 falls into period 2 of channel 1.
    let pieces = [(0, 0, "GAP×5 STOP GAP×4", 0), (1, 0, "GAP×3 STOP GO", 0)];
    insta::assert_snapshot!(rows(&capture([12_500, 25_000], &pieces), EventFilter::Events), @"
    2 b sender-stopped
    6 a sender-stopped
    8 a sender-resumed go
    ");
}

#[test]
fn a_repeat_is_as_its_characters() {
    let texts = [
        ("83 05 92 GAP", 3),
        ("IDLE 83 05", 9),
        ("IDLE×7 GAP!04", 5),
        ("IDLE×15 STOP", 4),
        ("STOP GO FRES GAP 01", 5),
        ("FRES 01", 5),
        ("83", 40),
        ("IDLE", 40),
        ("01 IDLE×17", 4),
        ("!a6", 20),
    ];
    for (text, count) in texts {
        let unit = parse(text).unwrap();
        let literal: String = (0..count).map(|_| unit.to_string()).collect::<Vec<_>>().join(" ");
        let len = unit.len() as u64 * count;
        for want in [EventFilter::Events, EventFilter::Packets] {
            let frame = |middle: &str, repeats| {
                let after = (0, 3 + len, "07 STOP GAP", 0);
                rows(
                    &capture(FULL_RATE, &[(0, 0, "GAP 83 05", 0), (0, 3, middle, repeats), after]),
                    want,
                )
            };
            assert_eq!(frame(text, count), frame(&literal, 0), "{text}");
        }
    }
}

#[test]
fn a_packet_of_a_thousand_million_bytes_costs_nothing() {
    // All route bytes but the last two; the CRC of n bytes 80 is worked out by doubling.
    let end = 1_u64 << 40;
    let text = packets(&[(0, 0, "GAP", 0), (0, 1, "80", end), (0, 1 + end, "05 00 GAP", 0)]);
    let row = text.split(' ').collect::<Vec<_>>();
    assert_eq!(row[2], format!("1..={}", end + 2));
    // 2^40 mod 127 = 2^5 = 32 bytes have the same CRC, for x has order 127.
    let same: Vec<u8> = [0x80; 32].into_iter().chain([0x05]).collect();
    assert_eq!(row[5], format!("{:02x}", codec::crc::crc8(&same)));
}

#[test]
fn rows_that_repeat_for_ever_are_listed_for_a_while() {
    // 2^20 characters are 2^19 rounds, a row each; what is left out is told in a row of its own, before the last round.
    let text = events(&[(0, 0, "!a6 GAP", 1 << 40)]);
    assert_eq!(text.lines().count(), (1 << 19) + 2);
    let rounds: u64 = (1 << 40) - (1 << 19) - 1;
    let omitted = text.lines().nth_back(1);
    assert_eq!(omitted, Some(format!("{} a {rounds} x 2 omitted", 1 << 20).as_str()));
    // Packets are counted all the same: 4 characters a round, 2^18 rounds are listed.
    let text = packets(&[(0, 0, "07 GAP 01 GAP", 1 << 40), (0, 1 << 42, "83 05 92 GAP", 0)]);
    let last: Vec<&str> = text.lines().rev().take(4).collect();
    let rounds: u64 = (1 << 40) - (1 << 18) - 1;
    assert_eq!(last[3], format!("{} a {rounds} x 4 omitted", 1 << 20));
    let place: u64 = 1 << 42;
    assert_eq!(last[0], format!("{} a {place}..={} 830592 good 00 gap", place + 3, place + 2));
    let last = last_number(&[(0, 0, "07 GAP 01 GAP", 1 << 40), (0, 1 << 42, "83 GAP", 0)]);
    assert_eq!(last, 1 << 41);
    // Where only packets are wanted, nothing is left out.
    assert_eq!(packets(&[(0, 0, "!a6 GAP", 1 << 40)]), "");
    // P-1: rounds of four characters, of which only the first are listed; the packet that the last of 2^40
    // leaves open is its last three characters.
    let pieces = [(0, 0, "GAP 83 05 92", 1 << 40), (0, 1 << 42, "GAP", 0)];
    let text = rows(&capture(FULL_RATE, &pieces), EventFilter::All);
    let end: u64 = 1 << 42;
    let last = format!("{end} a {}..={} 830592 good 00 gap", end - 3, end - 1);
    assert_eq!(text.lines().last(), Some(last.as_str()));
}

#[test]
fn rows_of_one_nanosecond_are_in_order_of_their_picoseconds() {
    // Timestamps are whole nanoseconds, so that all three chunks have the timestamp 12 ns: what sorts
    // blocks by them may leave these in any order.
    let periods = [12_600, 12_500, 12_900];
    let channels = [("a:0>b:0", periods[0]), ("b:0>a:0", periods[1]), ("c:0>a:1", periods[2])];
    let channels = channels.map(|(name, period)| {
        let mut channel = Channel::named(name);
        channel.period = CharacterPeriod::from_ps(period).unwrap();
        channel
    });
    let file = support::capture(&channels, &[1, 0, 2].map(|channel| (channel, 1, "!a6", 0)));
    let (chunks, head): (Vec<&[u8]>, Vec<&[u8]>) =
        blocks(&file).into_iter().partition(|block| block[0] == ENHANCED_PACKET);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let file = [head.concat(), order.map(|at| chunks[at]).concat()].concat();
        let expected = "1 b invalid-code 166\n1 a invalid-code 166\n1 c invalid-code 166\n";
        assert_eq!(rows(&file, EventFilter::Events), expected, "{order:?}");
    }
}

/// The type of a block that brings a chunk, in its first byte.
const ENHANCED_PACKET: u8 = 6;

/// The blocks of a little-endian file.
fn blocks(mut file: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let len = file.get(4..8).unwrap().try_into().map(u32::from_le_bytes).unwrap();
        let (block, rest) = file.split_at(usize::try_from(len).unwrap());
        blocks.push(block);
        file = rest;
    }
    blocks
}

#[test]
fn details_are_the_runs_of_data_the_commands_that_are_news_and_framing() {
    let pieces = [(0, 0, "GO 83 05 STOP 92 GAP STOP GO", 0)];
    insta::assert_snapshot!(rows(&capture(FULL_RATE, &pieces), EventFilter::All), @"
    0 a Begins
    0 a Command(Go)
    1 a Head(131)
    1 a Data(2)
    3 a Command(Stop)
    3 b sender-stopped
    4 a Data(1)
    5 a Framed
    5 a 1..=4 830592 good 00 gap
    7 a Command(Go)
    7 b sender-resumed go
    ");
    // P-1, R-2, F-7: of each channel, and once more after a hole.
    let pieces = [(0, 3, "GO GAP GAP", 0), (1, 3, "GO IDLE×16 GAP", 0), (0, 10, "GO FRES GAP", 0)];
    insta::assert_snapshot!(rows(&capture(FULL_RATE, &pieces), EventFilter::All), @"
    3 a Begins
    3 a Command(Go)
    3 b Begins
    3 b Command(Go)
    4 a Framed
    10 a hole 4
    10 a Command(Go)
    11 a Framed
    11 a forward-reset
    12 a reset-ended
    19 b Framed
    19 b open-link
    20 b link-restored
    ");
}
