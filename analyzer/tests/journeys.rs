//! Packets over several captured links, on captures written by hand. h0 is on port 0 of s0, port 1 of s0
//! on port 2 of s1, h1 on port 3 of s1; a packet takes 40 periods from link to link.

mod damage;
mod lost;

use std::fmt::Write as _;

use codec::capture::Channel;
use codec::crc::crc8;
use codec::time::Tick;
use myriscope_analyzer::journey::{Journey, JourneyFate, MatchCertainty};
use myriscope_analyzer::render::{TimeUnit, journey_lines};
use myriscope_analyzer::{AnalysisEvent, AnalysisScope, LinkAssumptions};

use crate::support::{self, analysed, analysed_as};

const A: &str = "h0:0>s0:0";
const B: &str = "s0:1>s1:2";
const C: &str = "s1:3>h1:0";
/// Observed where its packets arrive, 40 periods after they were sent.
const D: &str = "s0:2>h2:0";

/// Into and out of a fibre.
const INTO_FIBRE: &str = "h0:0>f0:0";
const OUT_OF_FIBRE: &str = "f1:0>h1:0";

/// Packets of a channel: each begins at a place, and ends with GAP unless it says how else.
type SentJourney<'a> = (&'a str, &'a [(usize, Vec<u8>)]);

/// A packet with its CRC byte. P-4
fn packet(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[crc8(bytes)]].concat()
}

/// Bytes that leave a switch. P-3, P-5
fn hop(came: &[u8]) -> Vec<u8> {
    let (crc, body) = came.split_last().unwrap();
    [&body[1..], &[crc8(&body[1..]) ^ crc8(body) ^ crc]].concat()
}

/// With one bit flipped.
fn flip(mut bytes: Vec<u8>, byte: usize, bit: u8) -> Vec<u8> {
    bytes[byte] ^= 1 << bit;
    bytes
}

/// Recorded parts of a channel: each begins at a place.
type RecordedLink<'a> = (&'a str, Vec<(u64, String)>);

fn capture(channels: &[SentJourney<'_>]) -> Vec<u8> {
    recording(&channels.iter().map(|(name, packets)| (*name, sent(packets))).collect::<Vec<_>>())
}

/// The characters of packets, from before the first on.
fn sent(packets: &[(usize, Vec<u8>)]) -> Vec<(u64, String)> {
    sent_until(2000, packets)
}

fn sent_until(end: usize, packets: &[(usize, Vec<u8>)]) -> Vec<(u64, String)> {
    let mut text = String::from("GAP");
    let mut at = 1;
    for (start, bytes) in packets {
        assert!(at < *start);
        write!(text, " (GO)×{} GAP", start - at - 1).unwrap();
        bytes.iter().for_each(|byte| write!(text, " {byte:02x}").unwrap());
        text += " GAP";
        at = start + bytes.len() + 1;
    }
    write!(text, " (GO)×{}", end - at).unwrap();
    vec![(0, text)]
}

/// Each channel but D is observed where its packets are sent.
fn recording(channels: &[RecordedLink<'_>]) -> Vec<u8> {
    let declared: Vec<Channel> = channels
        .iter()
        .map(|(name, _)| {
            let mut channel = Channel::named(*name);
            let (is_near, delay) = if *name == D { (false, "40") } else { (true, "1") };
            let tap = |(from, to): (&str, &str)| if is_near { from } else { to }.to_owned();
            channel.tap = name.split_once('>').map(tap);
            let known = [("delay", delay), ("path", "44")];
            let fibre = (*name == INTO_FIBRE).then_some(("fibre", "f1"));
            let known = known.into_iter().chain(fibre);
            channel.more = known.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            channel
        })
        .collect();
    let channels = (0..).zip(channels);
    let mut parts: Vec<_> = channels
        .flat_map(|(id, (_, parts))| parts.iter().map(move |(first, text)| (id, *first, text, 0)))
        .collect();
    parts.sort_unstable_by_key(|(id, first, ..)| (*first, *id));
    support::capture(&declared, &parts)
}

fn journeys(channels: &[SentJourney<'_>]) -> (String, Vec<Journey>) {
    read(&capture(channels))
}

fn read(file: &[u8]) -> (String, Vec<Journey>) {
    read_as(file, LinkAssumptions::default())
}

fn read_as(file: &[u8], assumptions: LinkAssumptions) -> (String, Vec<Journey>) {
    let (events, analysis) = analysed_as(file, AnalysisScope::Network, assumptions);
    let journey = |event| if let AnalysisEvent::Journey(it) = event { Some(it) } else { None };
    let journeys: Vec<Journey> = events.into_iter().filter_map(journey).collect();
    let mut text = String::new();
    for journey in &journeys {
        journey_lines(journey, &|id| analysis.channel(id), TimeUnit::default(), &mut |line| {
            writeln!(text, "{line}").unwrap();
        });
    }
    (text, journeys)
}

fn analysis_text(channels: &[SentJourney<'_>]) -> String {
    journeys(channels).0
}

/// Places at which the hops of each journey begin, sorted.
fn starts(journeys: &[Journey]) -> Vec<Vec<u64>> {
    let starts = |journey: &Journey| journey.hops.iter().map(|hop| hop.start.0).collect();
    let mut all: Vec<Vec<u64>> = journeys.iter().map(starts).collect();
    all.sort();
    all
}

/// Fate of the packet that begins first.
fn fate(file: &[u8]) -> JourneyFate {
    let (_, journeys) = read(file);
    journeys.iter().min_by_key(|journey| journey.hops[0].start).unwrap().fate
}

/// To port 1 of s0, one up from port 0; to port 3 of s1, one up from port 2.
fn relative() -> Vec<u8> {
    packet(&[0x81, 0x81, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
}

#[test]
fn a_packet_is_followed_by_both_addressings() {
    // Absolute, s1 is asked for port 3 by 83.
    let text = [relative(), packet(&[0x81, 0x83, 5, 1, 2, 3, 4])].map(|p| {
        let (q, r) = (hop(&p), hop(&hop(&p)));
        analysis_text(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])])
    });
    insta::assert_snapshot!(text.concat(), @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05        4      1.0000           0  arrived
    ");
}

/// A host passes on what came by another output. N-6
#[test]
fn what_left_out_of_sight_and_comes_again_is_another_packet() {
    let p = packet(&[0x83, 5, 1, 2, 3, 4, 5, 6, 7, 8]);
    let (_, journeys) = journeys(&[(A, &[(100, p.clone())]), (D, &[(400, hop(&p))])]);
    assert_eq!(starts(&journeys), [vec![100], vec![400]]);
}

/// The first byte selects a virtual address, and each copy has the header that its output requires. S-9
#[test]
fn copies_are_followed_although_the_load_of_their_table_was_not_recorded() {
    let came = packet(&[0xe0, 5, 1, 2, 3, 4, 5, 6, 7]);
    let tagged = packet(&[7, 5, 1, 2, 3, 4, 5, 6, 7]);
    let branches = |came: Vec<u8>, left| {
        let out = [("s0:3>h3:0", &[(140, left)][..]), (D, &[(180, hop(&came))])];
        let (_, journeys) = journeys(&[(A, &[(100, came)]), out[0], out[1]]);
        let branches = journeys.iter().map(|it| it.branch_of).collect::<Vec<_>>();
        (starts(&journeys), branches)
    };
    let copies = vec![vec![100, 140], vec![100, 180]];
    assert_eq!(branches(came.clone(), tagged), (copies, vec![None, Some(0)]));
    // Another one at that output, and bytes that agree by chance.
    let other = branches(came, packet(&[7, 9, 9, 9, 9, 9]));
    assert_eq!(other, (vec![vec![100, 180], vec![140]], vec![None; 2]));
    let (_, short) = branches(packet(&[0xe0, 5, 1]), packet(&[7, 5, 1]));
    assert!(short.iter().all(Option::is_none), "{short:?}");
}

#[test]
fn a_packet_that_is_cut_is_followed_by_its_bytes() {
    let p = relative();
    let (q, r) = (hop(&p)[..9].to_vec(), hop(&hop(&p)[..9]));
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])]), @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05        6      1.0000           0  arrived
            hurt between h0:0>s0:0 and s0:1>s1:2: 10 bytes lost, ended by gap
    ");
}

/// Packets that waited behind another when FRES came are dropped: the next one to leave is the next one that came.
#[test]
fn what_waited_when_a_reset_came_does_not_leave_behind_it() {
    let p = relative();
    let cut = hop(&p)[..9].to_vec();
    let text =
        |bytes: &[u8]| bytes.iter().fold(String::new(), |text, it| format!("{text} {it:02x}"));
    // FRES at 170, and behind it the third packet.
    let behind = format!("FRES GAP (GO)×127 GAP{} GAP (GO)×1000", text(&p));
    let came = format!("GAP (GO)×98 GAP{0} GAP (GO)×8 GAP{0} GAP (GO)×19 {behind}", text(&p));
    let left = sent(&[(140, cut.clone()), (340, cut)]);
    let (analysis_text, journeys) = read(&recording(&[(A, vec![(0, came)]), (B, left)]));
    assert_eq!(starts(&journeys), [vec![100, 140], vec![130], vec![300, 340]], "{analysis_text}");
    assert_eq!(journeys[0].fate, JourneyFate::Dropped(Some("R-2")));
}

/// When the packet ahead left for a link that is not captured is not known, nor how long this one waited for that: the
/// longest formation of a path, 44 periods, is not exceeded. S-6
#[test]
fn a_wait_behind_a_packet_on_an_uncaptured_link_is_not_timed() {
    let (ahead, p) = (relative(), packet(&[0x82, 5, 1, 2, 3, 4]));
    let (far, left) = (hop(&hop(&ahead)), hop(&p));
    let (analysis_text, journeys) =
        journeys(&[(A, &[(100, ahead), (130, p)]), (C, &[(180, far)]), (D, &[(400, left)])]);
    assert_eq!(starts(&journeys), [vec![100, 180], vec![130, 400]], "{analysis_text}");
    let hop = journeys.iter().map(|it| &it.hops[0]).find(|hop| hop.start == Tick(130)).unwrap();
    assert_eq!((hop.beyond, hop.waited_for), (None, None), "{analysis_text}");
}

/// Also where more of them are in it than the index keeps of equal packets. N-5
#[test]
fn equal_packets_leave_a_fibre_in_order() {
    let p = packet(&[5, 1, 2]);
    let every_20 = |first: usize| -> Vec<_> {
        (0..6).map(|number| (first + 20 * number, p.clone())).collect()
    };
    let (came, left) = (every_20(100), every_20(1400));
    let (analysis_text, journeys) = journeys(&[(INTO_FIBRE, &came), (OUT_OF_FIBRE, &left)]);
    let ways = (0..6).map(|number| [100, 1400].map(|first| first + 20 * number).to_vec());
    assert_eq!(starts(&journeys), ways.collect::<Vec<_>>(), "{analysis_text}");
}

/// It is not the one at another input whose turn it would be, if that has another route and tag. P-3
#[test]
fn what_is_cut_is_the_packet_whose_route_and_tag_it_has() {
    let p = relative();
    let cut = hop(&p)[..9].to_vec();
    let other = packet(&[0x81, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let channels: [SentJourney<'_>; 3] =
        [(A, &[(100, p)]), ("h3:0>s0:3", &[(60, other)]), (B, &[(140, cut)])];
    let (analysis_text, journeys) = journeys(&channels);
    assert_eq!(starts(&journeys), [vec![60], vec![100, 140]], "{analysis_text}");
}

/// Nor is it one that begins with the same bytes, if the next are nowhere in that. F-9
#[test]
fn what_begins_as_a_packet_is_it_only_with_the_bytes_behind_those_that_are_lost() {
    let p = relative();
    let [mut lost, other] = [hop(&p), [&hop(&p)[..5], &[0xfc; 8]].concat()];
    lost.drain(5..8);
    for (left, expected) in [(lost, vec![vec![100, 140]]), (other, vec![vec![100], vec![140]])] {
        let (text, journeys) = journeys(&[(A, &[(100, p.clone())]), (B, &[(140, left)])]);
        assert_eq!(starts(&journeys), expected, "{text}");
    }
}

/// By turn the first packet of port 3 would leave; by its bytes it is that of port 0 or the second one of port 3, which
/// waits behind the first. S-3
#[test]
fn a_packet_behind_one_that_waits_does_not_leave_before_it() {
    let [p, first, second] =
        [[0x81, 5, 1, 2], [0xbe, 5, 3, 4], [0xbe, 5, 1, 2]].map(|it| packet(&it));
    let left = [(140, hop(&p)), (170, hop(&first)), (200, hop(&second))];
    let channels: [SentJourney<'_>; 3] =
        [(A, &[(100, p)]), ("h3:0>s0:3", &[(60, first), (90, second)]), (B, &left)];
    let (analysis_text, journeys) = journeys(&channels);
    assert_eq!(starts(&journeys), [[60, 170], [90, 200], [100, 140]], "{analysis_text}");
}

/// A packet moves on when its output is free (S-3): one that had not left long ago does not leave now.
#[test]
fn what_stood_at_a_free_output_for_long_is_not_what_leaves_cut() {
    let p = relative();
    let cut = hop(&p)[..9].to_vec();
    let (analysis_text, journeys) =
        journeys(&[(A, &[(100, p.clone()), (1100, p)]), (B, &[(1140, cut)])]);
    assert_eq!(starts(&journeys), [vec![100], vec![1100, 1140]], "{analysis_text}");
}

#[test]
fn packets_for_want_of_a_gap_are_one() {
    let (p, other) = (relative(), packet(&[0x81, 0x81, 9, 9, 9, 9]));
    let q = hop(&[&p[..], &other].concat());
    let r = hop(&q);
    let came = [(100, p), (130, other)];
    insta::assert_snapshot!(analysis_text(&[(A, &came), (B, &[(140, q)]), (C, &[(180, r)])]), @"
    1.6250  h0 > s0 0:1                                09        3           -           -  merged into the one before
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       23      1.0000           0  arrived
            hurt between h0:0>s0:0 and s0:1>s1:2: 7 bytes more than before
    ");
}

#[test]
fn packets_that_are_alike_go_in_order() {
    // h0 and h2 send the same to h1 through s0.
    let p = packet(&[0x81, 5, 1, 2, 3, 4]);
    let q = hop(&p);
    let (h2, out) = ("h2:0>s0:3", "s0:1>h1:0");
    let (first, second) = ([(100, p.clone())], [(103, packet(&[0xbe, 5, 1, 2, 3, 4]))]);
    let left = [(140, q.clone()), (150, q)];
    insta::assert_snapshot!(analysis_text(&[(A, &first), (h2, &second), (out, &left)]), @"
    1.2875  h2 > s0 3:1 > h1                           05        4      0.4625           0  arrived, by order
    1.2500  h0 > s0 0:1 > h1                           05        4      0.6250      0.0625  arrived, by order
            waited 0.0625 µs at s0: packet 0 held s0:1>h1:0
    ");
}

#[test]
fn where_a_link_was_not_captured_a_packet_is_found_again() {
    // Others may have the bytes of a short one, and a host sends a multicast on. N-6
    let [mut relayed, short] = [relative(), packet(&[0x81, 0x81, 5, 1, 2, 3, 4])];
    relayed[2] = 0x12;
    let text = [relative(), short, packet(&relayed[..18])].map(|p| {
        let r = hop(&hop(&p));
        analysis_text(&[(A, &[(100, p)]), (C, &[(180, r)])])
    });
    insta::assert_snapshot!(text.concat(), @"
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    05       16      1.0000           -  arrived
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    05        4      1.0000           -  arrived, by order
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    12       15      1.0000           -  arrived, by order
    ");
}

/// s0 is absolute, but as far as its captured ports tell it may be relative: then it is the turn of the packet.
#[test]
fn what_another_departure_has_claimed_by_its_turn_is_found_again_by_its_bytes() {
    let p = packet(&[0x81, 0x81, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let (other, left) = ([(170, packet(&[7; 40]))], [(180, hop(&hop(&p)))]);
    let (_, journeys) = journeys(&[("h2:0>s0:2", &[(100, p)]), ("s0:3>h3:0", &other), (C, &left)]);
    assert_eq!(starts(&journeys), [vec![100, 180], vec![170]]);
}

/// Passages from channel to channel by a byte, and their packets.
fn implied(channels: &[SentJourney<'_>]) -> Vec<(u32, u32, u8, u64)> {
    let file = capture(channels);
    let (_, analysis) = analysed(file.as_slice(), AnalysisScope::Network);
    let pairs = analysis.paths().implied();
    pairs.map(|pair| (pair.from.0, pair.to.0, pair.byte, pair.packets)).collect()
}

#[test]
fn channels_without_names_are_joined_by_what_they_carry() {
    let p = relative();
    let (q, r) = (hop(&p), hop(&hop(&p)));
    let channels: [SentJourney<'_>; 3] =
        [("interface0", &[(100, p)]), ("interface1", &[(140, q)]), ("interface2", &[(180, r)])];
    insta::assert_snapshot!(analysis_text(&channels), @"
          1.2500  interface0 ⋯1⋯ interface1 ⋯1⋯ interface2   05       16      1.0000           -  arrived
    ");
    assert_eq!(implied(&channels), [(0, 1, 0x81, 1), (1, 2, 0x81, 1)]);
    // By one switch, though the names are of two; by two, though they are of one.
    let (p, one) = ([(100, relative())], hop(&relative()));
    let two = hop(&one);
    assert_eq!(implied(&[(A, &p), (C, &[(180, one)])]), [(0, 1, 0x81, 1)]);
    assert_eq!(implied(&[(A, &p), (D, &[(180, two)])]), []);
}

#[test]
fn what_is_beyond_550_ns_is_waiting() {
    // Another packet holds the output up to period 200; 44 periods are no waiting.
    let (p, other) = (packet(&[0x81, 5, 1, 2, 3, 4]), packet(&[0xbe, 6, 1, 2, 3, 4, 5, 6, 7]));
    let (q, busy) = (hop(&p), hop(&other));
    let (h2, out) = ("h2:0>s0:3", "s0:1>h1:0");
    let (first, second) = ([(150, p)], [(146, other)]);
    let left = [(190, busy), (220, q)];
    insta::assert_snapshot!(analysis_text(&[(A, &first), (h2, &second), (out, &left)]), @"
    1.8250  h2 > s0 3:1 > h1                           06        7      0.5500           0  arrived
    1.8750  h0 > s0 0:1 > h1                           05        4      0.8750      0.3125  arrived
            waited 0.3125 µs at s0: packet 0 held s0:1>h1:0
    ");
}

#[test]
fn where_the_bound_of_a_switch_is_not_known_only_what_others_held_is_waiting() {
    // The same; and behind them a packet that takes 500 periods though nobody is in its way.
    let (p, other) = (packet(&[0x81, 5, 1, 2, 3, 4]), packet(&[0xbe, 6, 1, 2, 3, 4, 5, 6, 7]));
    let slow = packet(&[0x81, 7, 1, 2, 3, 4]);
    let left = [(190, hop(&other)), (220, hop(&p)), (1500, hop(&slow))];
    let channels: [SentJourney<'_>; 3] =
        [(A, &[(150, p), (1000, slow)]), ("h2:0>s0:3", &[(146, other)]), ("s0:1>h1:0", &left)];
    let mut untold = capture(&channels);
    while let Some(at) = untold.windows(8).position(|found| found == b" path=44") {
        untold[at..at + 8].copy_from_slice(b" next=44");
    }
    insta::assert_snapshot!(read(&untold).0, @"
     1.8250  h2 > s0 3:1 > h1                           06        7      0.5500           0  arrived
     1.8750  h0 > s0 0:1 > h1                           05        4      0.8750      0.6000  arrived
             waited 0.6000 µs at s0: packet 0 held s0:1>h1:0
    12.5000  h0 > s0 0:1 > h1                           07        4      6.2500           0  arrived
    ");
    let given = read_as(&untold, "path=44".parse().unwrap()).0;
    assert_eq!(given, analysis_text(&channels));
}

#[test]
fn what_a_recording_begins_inside_asked_for_nothing() {
    // Neither a host with a route byte, nor a switch without one.
    let text = "8a 0b 0c 0d GAP (GO)×20".to_owned();
    let mut parts = sent(&[(100, packet(&[5, 1]))]);
    parts.push((3000, text));
    let host = recording(&[(C, parts)]);
    insta::assert_snapshot!(read(&host).0, @"
     1.2500  s1 > h1                                    05        1           -           -  arrived
    37.5000  s1 > h1                                     -        1           -           -  arrived
    ");
    let (p, lost) = (relative(), "0b 0c 0d GAP (GO)×26".to_owned());
    let (q, r) = (hop(&p), hop(&hop(&p)));
    let later = sent(&[(100, p)]).remove(0).1;
    let switch = recording(&[
        (A, vec![(100, lost), (130, later)]),
        (B, sent(&[(270, q)])),
        (C, sent(&[(310, r)])),
    ]);
    insta::assert_snapshot!(read(&switch).0, @"
    2.8750  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
    1.2500  h0 > s0 0:?                                 -        1           -           -  out of sight
    ");
}
