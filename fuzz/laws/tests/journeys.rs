//! Journeys against the truth: whatever the network and its traffic, each journey is the way of one
//! packet, and all of it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analyzer::journey::{Corruption, Journey, JourneyFate, MatchCertainty};
use laws::network::journeys::{JourneyTally, JourneyTruth, NetworkClass, journeys, truth};
use laws::network::run::{RunOutcome, run};
use simulator::link::tagged_char::PacketId;
use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

/// What is not as it was, a line each.
fn wrong(scenario: &Scenario, outcome: &RunOutcome) -> (String, [usize; 3]) {
    let truth = truth(scenario, outcome);
    let mut text = String::new();
    let mut found: BTreeMap<PacketId, Vec<Journey>> = BTreeMap::new();
    let mut counts = [0; 3];
    for journey in journeys(&outcome.capture) {
        let of = |at: usize| {
            let hop = &journey.hops[at];
            truth.frames.get(&(hop.channel, hop.start.0)).copied()
        };
        let packets: Vec<_> = (0..journey.hops.len()).map(of).collect();
        counts[0] += 1;
        counts[1] += usize::from(journey.hops.len() > 1);
        counts[2] += usize::from(journey.certainty == MatchCertainty::ByOrder);
        let known: Vec<_> = packets.iter().flatten().collect();
        if known.windows(2).any(|pair| pair[0] != pair[1]) {
            writeln!(text, "MIXED {:?} {packets:?}: {journey:?}", journey.certainty).unwrap();
        }
        if let Some(packet) = packets[0] {
            found.entry(packet).or_default().push(journey);
        }
    }
    for (packet, way) in &truth.sightings {
        let way: Vec<_> = way.iter().map(|(_, channel, start, _)| (*channel, *start)).collect();
        let empty = Vec::new();
        let found = found.get(packet).unwrap_or(&empty);
        let is_way = |journey: &&Journey| {
            journey.hops.iter().map(|hop| (hop.channel, hop.start.0)).eq(way.iter().copied())
        };
        let Some(journey) = found.iter().find(is_way) else {
            writeln!(
                text,
                "LOST {packet:?} went {way:?}, found {:?}",
                found
                    .iter()
                    .map(|j| j.hops.iter().map(|h| (h.channel, h.start)).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            )
            .unwrap();
            continue;
        };
        let end = truth.ends.get(packet).map_or("under way", String::as_str);
        let right = ended(journey, end, scenario.duration);
        if !right {
            writeln!(text, "{packet:?} {end}: {journey:?}").unwrap();
        }
        injuries(packet, journey, &truth, &mut text);
    }
    (text, counts)
}

/// Whether a journey ended as its packet did.
fn ended(journey: &Journey, end: &str, duration: u64) -> bool {
    match journey.fate {
        JourneyFate::OutOfSight => true,
        JourneyFate::Arrived | JourneyFate::Misrouted => {
            let last = journey.hops.last().unwrap();
            end == "arrived" || last.end.0 + 64 > duration
        }
        JourneyFate::Dropped(rule) => {
            rule == end || (rule == "R-2" && end == "R-3") || (rule == "S-1" && end == "F-7")
        }
        JourneyFate::Merged => end == "merged",
        JourneyFate::UnderWay => end == "under way",
    }
}

/// P-5: the syndrome changes where a packet is hurt, and only there.
fn injuries(packet: &PacketId, journey: &Journey, truth: &JourneyTruth, text: &mut String) {
    if truth.cut.contains(packet) || truth.cut_off.contains(packet) {
        return;
    }
    let (mut before, mut after, mut expected) = (0, None, Vec::new());
    for (_, channel, _, syndrome) in &truth.sightings[packet] {
        let Some(syndrome) = *syndrome else { continue };
        if syndrome != before {
            expected.push((after, *channel, syndrome ^ before));
        }
        (before, after) = (syndrome, Some(*channel));
    }
    let flipped = journey.injuries.iter().filter(|it| matches!(it.harm, Corruption::Flipped(_)));
    let told: Vec<_> = flipped.map(|it| (it.after, it.seen, it.syndrome)).collect();
    if told != expected {
        writeln!(text, "{packet:?} was hurt {expected:?}, told {told:?}: {journey:?}").unwrap();
    }
}

fn check(text: &str) -> (String, [usize; 3]) {
    let scenario = Scenario::read("law", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let outcome = run(&scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1 << 16);
    wrong(&scenario, &outcome)
}

/// Networks of many kinds.
const NETS: [&str; 5] = [
    "[topology]\nkind = 'line'\nswitches = 4\nhosts_per_switch = 3\n",
    "[topology]\nkind = 'ring'\nswitches = 5\nhosts_per_switch = 2\n[switch_defaults]\n\
     addressing = 'absolute'\n",
    "[topology]\nkind = 'mesh'\nwidth = 3\nheight = 3\n",
    "[topology]\nkind = 'random'\nswitches = 6\nhosts = 12\nports = 8\nlinks = 3\n",
    "[topology]\nkind = 'now-subcluster'\n",
];

/// What goes through them.
const LOADS: [&str; 2] =
    ["payload = [8, 100]\nload = 0.3\n", "payload = [8, 400]\nsaturate = true\n"];

/// Runs every network with every load, and hands out what is wrong.
fn everywhere(traffic: &[&str], more: &str, out: &mut dyn FnMut(&str, String, [usize; 3])) {
    for (seed, net) in (1..).zip(NETS) {
        for load in traffic {
            let text = format!(
                "seed = {seed}\nduration_us = 200\n{net}[[traffic]]\nto = 'uniform'\n{load}{more}\
                 [[tap]]\nall = true\n"
            );
            let (wrong, counts) = check(&text);
            out(&text, wrong, counts);
        }
    }
}

#[test]
fn where_nothing_breaks_every_journey_is_the_way_of_one_packet() {
    everywhere(&LOADS, "", &mut |text, wrong, [journeys, ways, by_order]| {
        assert_eq!(wrong, "", "{text}");
        assert!(journeys > 50 && ways > journeys * 9 / 10, "{text}");
        // What the end of the recording cuts shows no bytes to go by.
        assert!(by_order <= 24, "{by_order}: {text}");
    });
}

/// Visible bytes come before turn and order, at the end of a capture and behind resets too. P-3, R-3, R-4
#[test]
fn journeys_are_right_in_networks_without_faults_that_are_cut_starved_or_blocked() {
    for class in NetworkClass::ALL {
        let tally = JourneyTally::of(class, 0..100);
        assert!(tally.packets > 1000, "{class:?}: {tally:?}");
        if class == NetworkClass::Starved {
            // Of what an overflow leaves of a packet few bytes may be its own. F-9
            assert!(tally.right * 100 >= tally.packets * 99, "{tally:?}");
        } else {
            let all = JourneyTally { certain: tally.certain, ..JourneyTally::all(tally.packets) };
            assert_eq!(tally, all, "{class:?}");
        }
    }
}

#[test]
fn hurt_packets_are_followed_and_their_injuries_located() {
    let fault = "[[fault]]\nevery_us = 2\nflip = 'any'\nbits = 0x04\n";
    everywhere(&LOADS, fault, &mut |text, wrong, _| assert_eq!(wrong, "", "{text}"));
}

#[test]
fn whatever_breaks_no_journey_is_sure_of_two_packets() {
    let faults = [
        "flip = 'any'\nbits = 0x100\n",
        "cut = 'any'\nfor_us = 3\n",
        "lose_gap = 'any'\n",
        "forward_reset = 'any'\n",
        "dead_port = 'any'\nfor_us = 3\n",
        "power_off = 'any'\nfor_us = 3\n",
    ];
    for fault in faults {
        let fault = format!("[[fault]]\nevery_us = 10\n{fault}");
        everywhere(&LOADS[..1], &fault, &mut |text, wrong, [journeys, ..]| {
            assert!(!wrong.contains("MIXED Certain"), "{text}\n{wrong}");
            // Few are taken for others.
            let mixed = wrong.lines().filter(|line| line.starts_with("MIXED")).count();
            assert!(mixed * 50 <= journeys, "{mixed} of {journeys}: {text}\n{wrong}");
        });
    }
}

#[test]
fn packets_that_are_alike_are_told_apart_by_order_or_said_to_be_alike() {
    everywhere(&["payload = [0, 2]\nload = 0.5\n"], "", &mut |text, wrong, _| {
        assert!(!wrong.contains("MIXED Certain"), "{text}\n{wrong}");
    });
}
