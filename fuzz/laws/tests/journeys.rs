//! Journeys against the truth: for any network and traffic each journey has all hops of one packet.

use laws::journeys::{JourneyTally, NetworkClass};

fn check(text: &str) -> JourneyTally {
    let scenario = crate::read(text);
    JourneyTally::compare(&scenario)
}

const NETS: [&str; 5] = [
    "[topology]\nkind = 'line'\nswitches = 4\nhosts_per_switch = 3\n",
    "[topology]\nkind = 'ring'\nswitches = 5\nhosts_per_switch = 2\n[switch_defaults]\n\
     addressing = 'absolute'\n",
    "[topology]\nkind = 'mesh'\nwidth = 3\nheight = 3\n",
    "[topology]\nkind = 'random'\nswitches = 6\nhosts = 12\nports = 8\nlinks = 3\n",
    "[topology]\nkind = 'now-subcluster'\n",
];

const LOADS: [&str; 2] =
    ["payload = [8, 100]\nload = 0.3\n", "payload = [8, 400]\nsaturate = true\n"];

/// Compares every network with every load.
fn everywhere(traffic: &[&str], more: &str, out: &mut dyn FnMut(&str, JourneyTally)) {
    for (seed, net) in (1..).zip(NETS) {
        for load in traffic {
            let text = format!(
                "seed = {seed}\nduration_us = 200\n{net}[[traffic]]\nto = 'uniform'\n{load}{more}\
                 [[tap]]\nall = true\n"
            );
            out(&text, check(&text));
        }
    }
}

#[test]
fn where_nothing_breaks_every_journey_is_the_way_of_one_packet() {
    everywhere(&LOADS, "", &mut |text, tally| {
        assert_eq!(tally.differences, "", "{text}");
        assert!(tally.journeys > 50 && tally.followed > tally.journeys * 9 / 10, "{text}");
        // A packet cut by the end of the recording has no bytes to identify it.
        assert!(tally.by_order <= 24, "{}: {text}", tally.by_order);
    });
}

/// Visible bytes come before turn and order, at the end of a capture and behind resets too. P-3, R-3, R-4
#[test]
fn journeys_are_right_in_networks_without_faults_that_are_cut_starved_or_blocked() {
    for class in NetworkClass::ALL {
        let tally = JourneyTally::of(class, 0..60);
        assert!(tally.packets > 600, "{class:?}: {tally:?}");
        if class == NetworkClass::Starved {
            // Of what an overflow leaves of a packet few bytes may be its own. F-9
            assert!(tally.right * 100 >= tally.packets * 99, "{tally:?}");
        } else {
            let wrong = (tally.too_certain, tally.false_injuries, tally.wrong.as_slice());
            let right = tally.right + tally.cut_at_fibres;
            assert_eq!((right, wrong), (tally.packets, (0, 0, &[][..])), "{class:?}");
            // Nothing but FRES cuts a packet within a fibre.
            let most = if class == NetworkClass::Sound { 0 } else { tally.packets / 50 };
            assert!(tally.cut_at_fibres <= most, "{class:?}: {tally:?}");
        }
    }
}

/// FRES at an output removes a packet of which no byte was captured there; identical ones wait behind it. R-4
#[test]
fn no_journey_is_certain_of_a_packet_that_a_reset_may_have_removed_unseen() {
    let tally = JourneyTally::of(NetworkClass::Blocked, 421..422);
    assert_eq!((tally.wrong.as_slice(), tally.too_certain), (&[421][..], 0), "{tally:?}");
}

#[test]
fn hurt_packets_are_followed_and_their_injuries_located() {
    let fault = "[[fault]]\nevery_us = 2\nflip = 'any'\nbits = 0x04\n";
    everywhere(&LOADS, fault, &mut |text, tally| assert_eq!(tally.differences, "", "{text}"));
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
        everywhere(&LOADS[..1], &fault, &mut |text, tally| {
            let (wrong, journeys) = (tally.differences, tally.journeys);
            assert!(!wrong.contains("MIXED Certain"), "{text}\n{wrong}");
            // Few are taken for others.
            let mixed = wrong.lines().filter(|line| line.starts_with("MIXED")).count();
            assert!(mixed * 50 <= journeys, "{mixed} of {journeys}: {text}\n{wrong}");
        });
    }
}

#[test]
fn packets_that_are_alike_are_told_apart_by_order_or_said_to_be_alike() {
    everywhere(&["payload = [0, 2]\nload = 0.5\n"], "", &mut |text, tally| {
        assert!(!tally.differences.contains("MIXED Certain"), "{text}\n{}", tally.differences);
    });
}
