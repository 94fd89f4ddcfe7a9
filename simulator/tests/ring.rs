//! A deadlocked ring of switches recovers. R-1..R-4 (§4.6.2)

use crate::support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use codec::character::Symbol;
use myriscope_simulator::link::BLOCKED;
use myriscope_simulator::statistics::{RunStatistics, StandingCause};
use myriscope_simulator::truth::{PacketHandling, TruthEventKind};
use support::TestRun;

/// Ring in which each host sends two switches on: first a packet longer than all slack on its path,
/// later four short ones one by one.
fn ring(switches: u32, blocked: u64) -> String {
    let mut text = format!(
        "duration_periods = 8_000_000\n[link]\nblocked_periods = {blocked}\n\
         [switch_defaults]\naddressing = \"absolute\"\n\
         [topology]\nkind = \"ring\"\nswitches = {switches}\n[routes]\nmethod = \"given\"\n\
         [[traffic]]\nto = \"shift\"\nby = 2\npackets = 1\npayload = 1000\nevery_periods = 1\n\
         [[traffic]]\nto = \"shift\"\nby = 2\npackets = 4\npayload = 20\nevery_periods = 300\n\
         start_periods = {}\n",
        blocked + 1000
    );
    for from in 0..switches {
        let to = (from + 2) % switches;
        let _ =
            writeln!(text, "[[route]]\nfrom = \"h{from}\"\nto = \"h{to}\"\nbytes = \"80 80 82\"");
    }
    text
}

const fn is_consumed(what: &TruthEventKind) -> bool {
    matches!(what, TruthEventKind::Consumed { .. })
}

const fn is_reset(what: &TruthEventKind) -> bool {
    matches!(what, TruthEventKind::SymbolSent(Symbol::ForwardReset))
}

const fn is_delivered(what: &TruthEventKind) -> bool {
    matches!(what, TruthEventKind::Consumed { handling: PacketHandling::Delivered, .. })
}

/// Every packet holds the link behind its first switch, and waits for the one behind its second.
/// After so many periods all is over. The hosts come first: their packets have been under way since
/// period 0, and they are stopped. The GAP of R-3 frees the links of the ring, but the senders there
/// have been stopped themselves, since the STOP came in period 119 and was obeyed in 121, and
/// reset the next hop in their turn. So all six packets are lost, and all that follow arrive.
fn check(switches: u32, blocked: u64) {
    let mut run = TestRun::until(&ring(switches, blocked), blocked);
    assert_eq!(run.count(is_consumed), 0);
    assert_eq!(run.count(is_reset), 0);
    run.run_until(blocked + 900);
    for number in 0..switches {
        let port = format!("s{number}:0");
        let stopped = run.times(&port, |what| matches!(what, TruthEventKind::SenderStopped));
        assert_eq!(stopped[0], 119);
        assert_eq!(run.times(&port, is_reset), [121 + blocked]);
        assert_eq!(run.times(&format!("h{number}:0"), is_reset), [blocked]);
    }
    assert_eq!((run.count(is_consumed), run.network.in_transit()), (0, 0));
    run.run_until(blocked + 2_500);
    assert_eq!(run.count(is_delivered), 4 * switches as usize);
    assert_eq!((run.count(is_consumed), run.network.in_transit()), (4 * switches as usize, 0));
}

#[test]
fn a_ring_that_has_deadlocked_is_freed_by_the_blocked_packet_timeout() {
    check(6, 4_096);
}

/// §4.6.2: about 50 ms; Micro: about 50 ms.
#[test]
fn a_ring_that_has_deadlocked_is_freed_after_52_4_milliseconds() {
    assert_eq!(BLOCKED.0 * 125 / 1_000_000, 524, "tenths of a millisecond");
    check(6, BLOCKED.0);
}

/// Causes of what stands still at the end of a run.
fn standing(text: &str) -> Vec<StandingCause> {
    let run = TestRun::whole(text);
    let mut seen = RunStatistics::new(&run.scenario, 0);
    run.happened.iter().for_each(|event| seen.observe(event));
    let Some(found) = seen.standing(&run.network, 0) else { return Vec::new() };
    // The last event of each packet that has not ended.
    let mut moved = BTreeMap::new();
    for (packet, event) in run.happened.iter().filter_map(|event| Some((event.packet?, event))) {
        match &event.kind {
            TruthEventKind::Injected { .. } => _ = moved.insert(packet, event.at),
            TruthEventKind::Sent(_) | TruthEventKind::Received(_) => {}
            TruthEventKind::Consumed { .. }
            | TruthEventKind::Dropped(_)
            | TruthEventKind::Merged => {
                moved.remove(&packet);
            }
            _ => _ = moved.get_mut(&packet).map(|at| *at = event.at),
        }
    }
    let least = if found.causes.contains(&StandingCause::Deadlock) { 1 << 10 } else { 1 << 12 };
    let standing = moved.values().filter(|at| **at + least <= run.network.now()).count();
    assert_eq!(found.packets, standing as u64, "{text}");
    let mut stopped = BTreeMap::new();
    for event in &run.happened {
        if event.kind == TruthEventKind::SenderStopped {
            stopped.entry(event.place).or_insert(event.at);
        } else if let TruthEventKind::SenderResumed(_) = event.kind {
            stopped.remove(&event.place);
        }
    }
    assert_eq!(stopped.into_values().min(), Some(found.since), "{text}");
    found.causes.into_iter().collect()
}

#[test]
fn what_waits_while_others_pass_does_not_stand_still() {
    let switch = |periods: u64, more: &str| {
        format!(
            "duration_periods = {periods}\n[topology]\nkind = \"switch\"\nhosts = 3\n\
             [[traffic]]\nfrom = [\"h1\", \"h2\"]\nto = \"h0\"\npayload = 8000\n{more}"
        )
    };
    // A packet of 100 µs before each; ends in all its phases.
    for text in (0..24).map(|step| switch(16_000 + 700 * step, "saturate = true\n")) {
        assert_eq!(standing(&text), [], "{text}");
    }
    let circle = |periods: u64| {
        let text = ring(4, 1 << 22).replace("8_000_000", &periods.to_string());
        text.replace("start_periods = 4195304", "start_periods = 999")
    };
    // Stopped at about 140, and known to stay so 1024 periods later.
    let found = [1000, 1400, 40_000].map(|periods| standing(&circle(periods)));
    assert_eq!(found, [vec![], vec![StandingCause::Deadlock], vec![StandingCause::Deadlock]]);
    let dead = "saturate = true\n[[fault]]\nat_periods = 0\nconsume = \"h0\"\nhow = \"never\"\n";
    let found = standing(&switch(9000, dead));
    assert!(matches!(*found, [StandingCause::Host(_)]), "{found:?}");
    // The packet of h2 waits for one of h1 that no GAP ends.
    let lost = "packets = 1\nevery_periods = 20_000\nstart_periods = 900\n\
                [[traffic]]\nfrom = \"h1\"\nto = \"h0\"\npackets = 1\npayload = 100\nevery_periods = 20_000\n\
                [[fault]]\nat_periods = 0\nlose_gap = \"h1:0\"\nfor_periods = 20_000\n";
    let text = switch(12_000, lost).replace("[\"h1\", \"h2\"]", "\"h2\"");
    assert_eq!(standing(&text), [StandingCause::Unfinished]);
}
