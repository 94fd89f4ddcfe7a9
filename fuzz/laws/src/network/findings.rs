//! A network in order has no findings.

use std::collections::{BTreeMap, BTreeSet};

use analyzer::finding::{FactValue, Finding, FindingKind, FindingSet, Severity};
use analyzer::score::ScoreReport;
use codec::capture::ChannelId;
use codec::packet::CrcCheck;
use codec::route::PortId;
use simulator::fault::FaultKind;
use simulator::link::tagged_char::PacketId;
use simulator::scenario::Scenario;
use simulator::topology::NodePort;
use simulator::truth::{TruthEvent, TruthEventKind};

use super::analyzed::AnalyzedCapture;
use super::run::RunOutcome;

/// Checks that there are neither errors nor warnings if nothing breaks and nothing is lost; returns whether
/// that was so.
pub fn check(scenario: &Scenario, outcome: &RunOutcome, reading: &AnalyzedCapture) -> bool {
    if !is_in_order(scenario, outcome) {
        return false;
    }
    let channel = |id: ChannelId| outcome.channels.get(id.0 as usize).map(|it| &it.name);
    let wrong: Vec<_> =
        wrong(&reading.set).map(|(kind, id, found)| (kind, channel(id), found)).collect();
    assert!(wrong.is_empty(), "there is nothing wrong, but {wrong:#?}");
    true
}

/// Checks that wires are found at fault only where a fault hurts characters. W-3, W-5, W-6, W-8
pub fn check_wires(scenario: &Scenario, reading: &AnalyzedCapture) {
    let has = |test: &dyn Fn(&FaultKind) -> bool| scenario.faults.iter().any(|it| test(&it.kind));
    for (kind, _, found) in reading.set.found() {
        let is_open = |fault: &FaultKind| {
            let FaultKind::OpenWire { wire } = *fault else { return false };
            found.facts.iter().any(|fact| fact.value == FactValue::Number(wire.into()))
        };
        let is_hurt = |fault: &FaultKind| match fault {
            FaultKind::Noise { .. } | FaultKind::Flip { .. } => true,
            FaultKind::OpenWire { .. } | FaultKind::Wires(_) => true,
            FaultKind::Cut | FaultKind::LoseGap | FaultKind::PowerOff | FaultKind::DeadPort => {
                false
            }
            FaultKind::ForwardReset | FaultKind::BackwardReset | FaultKind::Probe(_) => false,
            FaultKind::Consume(_) | FaultKind::Restart | FaultKind::SupplyOff => false,
        };
        let measured = [FindingKind::SkewMargin, FindingKind::ClockOutOfTolerance];
        let harm = [FindingKind::DoubleError, FindingKind::InsertedCharacter];
        let is_there = (kind != FindingKind::WireOpen || has(&is_open))
            && !measured.contains(&kind)
            && (!harm.contains(&kind) || !scenario.raw.is_empty() || has(&is_hurt));
        assert!(is_there, "no wire is at fault, but {kind:?}: {found:?}");
    }
}

/// Checks that from each channel of a cycle that is found a packet went on to the next one. N-2
pub fn check_cycles(scenario: &Scenario, outcome: &RunOutcome, set: &FindingSet) {
    let circles = circles(set);
    if circles.is_empty() {
        return;
    }
    let turns = turns(outcome);
    let sender = |id: &ChannelId| {
        let (from, _) = outcome.channels.get(id.0 as usize)?.name.split_once('>')?;
        let (node, port) = from.split_once(':')?;
        let node = scenario.topology.find(node)?;
        Some(NodePort { node, port: PortId(port.parse().ok()?) })
    };
    for circle in circles {
        for (one, other) in circle.iter().zip(circle.iter().cycle().skip(1)) {
            let turn = sender(one).zip(sender(other));
            assert!(turn.is_some_and(|it| turns.contains(&it)), "no packet went on: {circle:?}");
        }
    }
}

/// Ports by which packets went, each with all later ones: others may not be captured. Packets of mapping
/// aside.
fn turns(outcome: &RunOutcome) -> BTreeSet<(NodePort, NodePort)> {
    let is_mapping = |row: &&TruthEvent| matches!(row.kind, TruthEventKind::MappingTransmitted(_));
    let mapping = outcome.rows.iter().filter(is_mapping).filter_map(|row| row.packet);
    let mapping: BTreeSet<PacketId> = mapping.collect();
    let mut ways: BTreeMap<PacketId, Vec<NodePort>> = BTreeMap::new();
    for row in outcome.rows.iter().filter(|row| matches!(row.kind, TruthEventKind::Sent(_))) {
        let id = row.packet.filter(|id| !mapping.contains(id));
        id.into_iter().for_each(|id| ways.entry(id).or_default().push(row.place));
    }
    let mut turns = BTreeSet::new();
    for way in ways.values() {
        for (place, one) in way.iter().enumerate() {
            turns.extend(way.iter().skip(place + 1).map(|other| (*one, *other)));
        }
    }
    turns
}

/// The cycles of routes that were found.
fn circles(set: &FindingSet) -> Vec<&[ChannelId]> {
    let found = set.found().filter(|(kind, ..)| *kind == FindingKind::RouteCycle);
    found.map(|(_, _, found)| found.channels("circle")).collect()
}

/// Errors and warnings that a network in order does not have.
pub fn wrong(set: &FindingSet) -> impl Iterator<Item = (FindingKind, ChannelId, &Finding)> {
    set.found()
        // All clocks of the simulator run alike, and its switches keep their bounds. W-6, S-6
        .filter(|(kind, _, found)| {
            let impossible = [FindingKind::ClockDrift, FindingKind::SlowPath];
            found.severity != Severity::Note || impossible.contains(kind)
        })
        // What need not come to harm: a cycle of routes, one that is freed in time, a host that takes little or
        // nothing, or a slack buffer too small for its cable that is emptied in time.
        .filter(|(kind, ..)| {
            let harmless = [
                FindingKind::RouteCycle,
                FindingKind::Deadlock,
                FindingKind::Standstill,
                FindingKind::SlowHost,
                FindingKind::OverrunRisk,
            ];
            !harmless.contains(kind)
        })
        // What the reliability protocol mends is no fault of the network's.
        .filter(|(kind, ..)| !kind.about().rule.is_some_and(|rule| rule.starts_with("T-")))
}

/// Tests whether nothing was broken, forged, lost or too late.
pub fn is_in_order(scenario: &Scenario, outcome: &RunOutcome) -> bool {
    let mut probes = BTreeSet::new();
    let fine = outcome.rows.iter().all(|row| {
        if let TruthEventKind::Consumed { check, .. } = &row.kind {
            return *check == CrcCheck::Good;
        }
        // N-2: a mapper looks for nodes where nothing is, too.
        if let TruthEventKind::MappingTransmitted(label) = &row.kind {
            probes.extend(row.packet.filter(|_| label.kind.ends_with("-probe")));
        }
        if let TruthEventKind::Dropped(_) = &row.kind {
            return row.packet.is_some_and(|id| probes.contains(&id));
        }
        let is_harm = matches!(
            row.kind,
            TruthEventKind::Truncated(_)
                | TruthEventKind::Merged
                | TruthEventKind::Overflow
                | TruthEventKind::Blocked(_)
                | TruthEventKind::ResetReceived
                | TruthEventKind::BackwardResetReceived
                | TruthEventKind::OverrunAlarmReceived
                | TruthEventKind::WireError { .. }
                | TruthEventKind::InvalidCode(_)
                | TruthEventKind::CorrectedCode { .. }
                | TruthEventKind::FellSilent
                | TruthEventKind::PowerLost
                | TruthEventKind::Raw(_)
                | TruthEventKind::Fault(_)
        );
        !is_harm
    });
    fine && scenario.faults.is_empty() && scenario.raw.is_empty()
}

/// Tests whether something is lost, or a sender gives up, for want of room or for long waiting.
pub(crate) const fn is_trouble(what: &TruthEventKind) -> bool {
    use TruthEventKind::{Blocked, Merged, Overflow, Truncated};
    matches!(what, Overflow | Blocked(_) | Truncated(_) | Merged)
}

/// Checks that nothing is found of what only damage makes where there was none, and every sign of damage that
/// reached a tap. Returns whether there was none.
pub(crate) fn check_damage(
    scenario: &Scenario,
    rows: &[TruthEvent],
    score: Option<&ScoreReport>,
    set: &FindingSet,
) -> bool {
    let is_sound = scenario.faults.is_empty()
        && scenario.raw.is_empty()
        && !rows.iter().any(|row| is_trouble(&row.kind));
    for kind in DAMAGE.into_iter().filter(|_| is_sound) {
        assert_eq!(set.total(kind), 0, "nothing is found that was not: {kind:?}");
    }
    for (name, kind) in [
        ("corrected-code", FindingKind::CorrectedCode),
        ("invalid-code", FindingKind::InvalidCode),
        ("forward-reset", FindingKind::ForwardReset),
        ("backward-reset", FindingKind::BackwardReset),
        ("overrun-alarm", FindingKind::OverrunAlarm),
    ] {
        let there = score.and_then(|score| score.of(name)).map_or(0, |row| row.right);
        assert!(set.total(kind) >= there, "what is there is found: {name}");
    }
    is_sound
}

/// Findings that only damage causes, or a circuit that breaks a rule.
const DAMAGE: [FindingKind; 24] = [
    FindingKind::ForcedImport,
    FindingKind::WireOpen,
    FindingKind::StillWire,
    FindingKind::WireGlitches,
    FindingKind::CorrectedCode,
    FindingKind::InvalidCode,
    FindingKind::CrcBad,
    FindingKind::CorruptedInTransit,
    FindingKind::DataWhileStopped,
    FindingKind::CommandsTooOften,
    FindingKind::OpenLink,
    FindingKind::TruncatedByOpenLink,
    FindingKind::OverrunAlarm,
    FindingKind::ResetNotEnded,
    FindingKind::ForwardReset,
    FindingKind::DataInReset,
    FindingKind::CutByReset,
    FindingKind::MissingTimeout,
    FindingKind::BlockedTimeout,
    FindingKind::BackwardReset,
    FindingKind::ProbeNotAnswered,
    FindingKind::RouteNotOnMap,
    FindingKind::RouteNotDistributed,
    FindingKind::WrongWayBack,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::run::RunOutcome;
    use crate::taps;
    use analyzer::rules::{RuleOutcome, rule};
    use simulator::topology::NodeId;

    fn tapped(text: &str) -> (Scenario, RunOutcome) {
        let mut scenario = Scenario::read("ring", text).unwrap();
        scenario.taps = taps::at_every_cable(&scenario);
        let outcome = RunOutcome::of(&scenario);
        (scenario, outcome)
    }

    /// N-2: nine of ten probes are dropped by switches, and some reach a host with route bytes left.
    #[test]
    fn a_network_that_maps_itself_is_in_order() {
        for design in ["map", "daemon"] {
            let text = format!(
                "
                seed = 1
                duration_us = 14000
                topology = {{ kind = 'ring', switches = 4 }}
                routes = {{ method = 'mapped' }}
                mapper = {{ period_us = 300, timeout_us = 20, design = '{design}' }}
                [[traffic]]
                to = 'uniform'
                payload = 100
                every_us = 50
            "
            );
            let (scenario, outcome) = tapped(&text);
            let reading = AnalyzedCapture::of(&outcome.capture);
            assert!(check(&scenario, &outcome, &reading));
            let seen = reading.set.seen();
            assert!(seen.turns > 10 && seen.returns > 10);
            assert_eq!(seen.addresses, 4);
            // N-7: of four interfaces three get routes, and use them for 1.5 ms from 10 ms behind that.
            let compared = [seen.mapped, seen.distributed].map(|packets| packets > 50);
            assert_eq!(compared, [design == "map", design == "daemon"]);
        }
    }

    /// N-2, N-4: up*/down* routes turn nowhere at the lowest switch of a ring. When a cable is cut elsewhere they
    /// do, and with the earlier routes lead all the way round. But no map has such routes.
    #[test]
    fn routes_of_two_maps_are_no_cycle() {
        let text = "
            seed = 1
            duration_us = 40000
            topology = { kind = 'ring', switches = 5 }
            routes = { method = 'mapped' }
            mapper = { period_us = 300, timeout_us = 20 }
            [[traffic]]
            to = 'uniform'
            payload = 40
            every_us = 50
            [[fault]]
            cut = 's0:0'
            at_us = 15000
            for_us = 25000
        ";
        let (scenario, outcome) = tapped(text);
        let turns = turns(&outcome);
        let switches: Vec<_> = scenario.topology.switches().collect();
        let onward = switches.iter().zip(switches.iter().cycle().skip(1));
        let round = |port| {
            let turn = |(one, other): (&NodeId, &NodeId)| {
                let [one, other] = [one, other].map(|node| NodePort { node: *node, port });
                turns.contains(&(one, other)) || turns.contains(&(other, one))
            };
            onward.clone().all(turn)
        };
        assert!(round(PortId(0)) || round(PortId(1)));
        let set = AnalyzedCapture::of(&outcome.capture).set;
        assert!(circles(&set).is_empty());
        assert_eq!(set.total(FindingKind::RouteNotOnMap), 0);
        assert!(set.seen().mapped > 1000, "{}", set.seen().mapped);
        // In each direction and for both maps, more than the four turns of a line without ends.
        assert!(set.seen().turns > 40, "{}", set.seen().turns);
    }

    /// N-2: packets go from h0 to h2 by s0, s1 and s2, from h1 to h3, and so on, one long after the other: each link
    /// of the ring leads to the next one. One packet fewer, or up*/down* routes, and there is no cycle.
    #[test]
    fn routes_round_a_ring_are_a_cycle_though_no_packets_meet() {
        let ring = ["s0:0>s1:1", "s1:0>s2:1", "s2:0>s3:1", "s3:0>s0:1"];
        let cases: [(&str, usize, &[&str]); 3] =
            [("given", 4, &ring), ("given", 3, &[]), ("up-down", 4, &[])];
        for (method, packets, expected) in cases {
            let mut text = format!(
                "seed = 1\nduration_us = 60\ntopology = {{ kind = 'ring', switches = 4 }}\nroutes = {{ method = '{method}' }}\n"
            );
            for from in 0..4 {
                let to = (from + 2) % 4;
                if method == "given" {
                    text +=
                        &format!("[[route]]\nfrom = 'h{from}'\nto = 'h{to}'\nbytes = 'be bf 81'\n");
                }
                if from < packets {
                    text += &format!(
                        "[[traffic]]\nfrom = 'h{from}'\nto = 'h{to}'\npayload = 60\npackets = 1\nevery_us = 1\nstart_us = {}\n",
                        10 * from
                    );
                }
            }
            let (scenario, outcome) = tapped(&text);
            let set = AnalyzedCapture::of(&outcome.capture).set;
            check_cycles(&scenario, &outcome, &set);
            let name = |id: &ChannelId| outcome.channels[id.0 as usize].name.as_str();
            let found: Vec<&str> = circles(&set).concat().iter().map(name).collect();
            assert_eq!(found, expected, "{method}");
            let verdict = rule("N-2").unwrap().verdict(&set).outcome;
            let is_cycle = verdict == RuleOutcome::Fail;
            assert!(
                is_cycle != expected.is_empty() && (is_cycle || verdict == RuleOutcome::Pass),
                "{verdict:?}"
            );
        }
    }
}
