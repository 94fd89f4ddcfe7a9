//! Cables whose wires matter: repeaters, straight cables, skew, faults of levels, notes. W-1 to W-8

use crate::support;

use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::{TruthEvent, TruthEventKind};
use support::{RunWay, TestRun};

const PAIR: &str = "duration_us = 20\n[[switch]]\nname = 's0'\n[[host]]\nname = 'h1'\nat = 's0:1'\n\
                    [[host]]\nname = 'h0'\nat = 's0:0'\n";

fn scenario(text: &str) -> Scenario {
    support::read(&format!("{PAIR}{text}"))
}

fn run(text: &str) -> TestRun {
    TestRun::finished(scenario(text), RunWay::USUAL)
}

const RAW: &str = "[[raw]]\nfrom = 'h0'\nat_periods = 100\nchars = 'GAP 81 05 00 00 00 a0 GAP'\n\
                   [[tap]]\nport = 's0:0'\n";

fn wire_errors(events: &[TruthEvent]) -> Vec<(u64, u64, u16, u16)> {
    let errors = events.iter().filter_map(|event| {
        let TruthEventKind::WireError { character, sent, received } = event.kind else {
            return None;
        };
        Some((event.at, character, sent, received))
    });
    errors.collect()
}

/// W-7: senders are joined to senders, receivers to receivers. F-7
#[test]
fn both_receivers_of_a_straight_cable_are_silent() {
    let text = format!("straight = true\n[[traffic]]\nto = 'h1'\npayload = 4\nevery_us = 5\n{RAW}");
    let events = run(&text).happened;
    let place = |event: &TruthEvent| (event.place.node.0, event.at);
    let open = events.iter().filter(|event| event.kind == TruthEventKind::LinkOpen);
    // s0 is node 0, h0 node 2; 16 silent periods are 0 to 15.
    let mut open: Vec<_> = open.map(place).collect();
    open.sort_unstable();
    assert_eq!(open, [(0, 15), (2, 15)]);
    let arrived = |kind: &TruthEventKind| {
        matches!(kind, TruthEventKind::Received(_) | TruthEventKind::Consumed { .. })
    };
    assert!(!events.iter().any(|event| arrived(&event.kind)));
}

/// W-8: the bytes of the packet leave in periods 101 to 106 and arrive 12 later.
#[test]
fn a_glitch_is_told_with_the_characters_that_it_hurts() {
    let fault = |keys: &str| format!("{RAW}[[fault]]\nat_periods = 115\n{keys}");
    let sound = run(RAW).chunks;
    let changes: [(&str, &[_]); 4] = [
        ("glitch = 'h0:0'\nwire = 3", &[(115, 0x100, 0x108), (116, 0x100, 0x108)]),
        ("glitch = 'h0:0'\nwire = 8\nwidth_ns = 12.5", &[(115, 0x100, 0), (116, 0x100, 0)]),
        ("missed_transition = 'h0:0'\nwire = 5", &[(118, 0x1a0, 0x180)]),
        (
            "slow_edge = 'h0:0'\nwire = 5\nlate_ns = 6.26\nfor_periods = 4",
            &[(118, 0x1a0, 0x180), (119, 0x00c, 0x02c)],
        ),
    ];
    for (keys, expected) in changes {
        let TestRun { chunks: hurt, happened: events, .. } = run(&fault(keys));
        let expected: Vec<_> =
            expected.iter().map(|(at, sent, is)| (*at, *at, *sent, *is)).collect();
        assert_eq!(wire_errors(&events), expected, "{keys}");
        assert_ne!(hurt, sound, "{keys}");
    }
}

/// The round trip counts both sections and the repeater. W-7, F-4
#[test]
fn a_repeater_adds_delay_and_no_slack() {
    // 50 m are 280 ns, 22.4 periods.
    for (keys, delay) in [("length_m = 50", 23), ("length_m = 50\nrepeaters = 1\nskew_ns = 5", 27)]
    {
        let events = run(&format!("{keys}\n{RAW}")).happened;
        let received = |event: &TruthEvent| {
            let TruthEventKind::Received(frame) = &event.kind else { return None };
            (event.place.node.0 == 0).then_some(frame.start)
        };
        assert_eq!(events.iter().find_map(received), Some(101 + delay), "{keys}");
        assert_eq!(wire_errors(&events), []);
    }
}

/// A repeater sends anew: each section has the whole window. W-3, W-7
#[test]
fn skew_within_the_window_of_each_section_changes_nothing() {
    let long = |keys: &str| run(&format!("delay_periods = 40\n{keys}\n{RAW}")).chunks;
    let sound = long("");
    for keys in ["skew_ns = 6.25", "skew_ns = 3\npolarity_ns = 2\njitter_ns = 1.25"] {
        assert_eq!(long(keys), sound, "{keys}");
    }
    assert_ne!(long("skew_ns = [0, 0, 0, 0, 0, 0, 0, 6.251, 0]"), sound);
    let repeated = run(&format!("delay_periods = 28\nrepeaters = 3\nskew_ns = 6.25\n{RAW}"));
    assert_eq!(repeated.chunks, sound);
}

/// W-7
#[test]
fn notes_name_the_cable_and_its_limit() {
    let notes = |keys: &str| scenario(keys).notes().join("\n");
    for (keys, expected) in [
        ("length_m = 60", ""),
        ("type = 'at&t-1249020a'\nlength_m = 25", ""),
        (
            "type = 'at&t-1249020a'\nlength_m = 25.5",
            "25.5 m long, the limit of the type `at&t-1249020a` is 25 m (W-7)",
        ),
        ("type = 'amphenol-flat'\nlength_m = 20.01", "it is 20.01 m long"),
        ("type = 'amphenol-round'\ndelay_periods = 6", "it is at least 11 m long"),
        ("type = 'amphenol-round'\nlength_m = 20\nrepeaters = 1", ""),
        (
            "type = 'amphenol-round'\nlength_m = 21\nrepeaters = 1",
            "each of its sections is 10.5 m long",
        ),
        ("repeaters = 1\nlength_m = 25\nstop_slack = 36", ""),
        // 2 · (12 + 4) + 2 + 2.
        (
            "repeaters = 1\nlength_m = 25\nstop_slack = 35",
            "`stop_slack` is 35, a round trip takes 36",
        ),
        ("straight = true", "its ends are not mirror images"),
        ("skew_ns = [0, 0, 0, 0, 0, 0, 0, 0, 6.25]", ""),
        ("skew_ns = [0, 0, 0, 0, 0, 0, 0, 0, 6]\njitter_ns = 0.251", "up to 6.251 ns apart"),
    ] {
        let found = notes(keys);
        assert_eq!(found.is_empty(), expected.is_empty(), "{keys}: {found}");
        assert!(found.contains(expected), "{keys}: {found}");
        assert!(found.is_empty() || found.starts_with("cable h0:0 to s0:0: "), "{found}");
    }
}
