//! A network in order has no findings.

use analyzer::finding::{FactValue, Finding, FindingKind, FindingSet, Severity};
use codec::capture::ChannelId;
use codec::packet::CrcCheck;
use simulator::fault::FaultKind;
use simulator::scenario::Scenario;
use simulator::truth::TruthEventKind;

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
        wrong(&reading.ledger).map(|(kind, id, found)| (kind, channel(id), found)).collect();
    assert!(wrong.is_empty(), "there is nothing wrong, but {wrong:#?}");
    true
}

/// Checks that wires are found at fault only where a fault hurts characters. W-3, W-5, W-6, W-8
pub fn check_wires(scenario: &Scenario, reading: &AnalyzedCapture) {
    let has = |test: &dyn Fn(&FaultKind) -> bool| scenario.faults.iter().any(|it| test(&it.kind));
    for (kind, _, found) in reading.ledger.found() {
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
            FaultKind::Consume(_) | FaultKind::Restart => false,
        };
        let measured = [FindingKind::SkewMargin, FindingKind::ClockOutOfTolerance];
        let harm = [FindingKind::DoubleError, FindingKind::InsertedCharacter];
        let is_there = (kind != FindingKind::WireOpen || has(&is_open))
            && !measured.contains(&kind)
            && (!harm.contains(&kind) || !scenario.raw.is_empty() || has(&is_hurt));
        assert!(is_there, "no wire is at fault, but {kind:?}: {found:?}");
    }
}

/// Checks that each channel of a cycle that is found leads to the next one on the way of a packet. N-2
pub fn check_cycles(outcome: &RunOutcome, ledger: &FindingSet) {
    let cycles: Vec<_> =
        ledger.found().filter(|(kind, ..)| *kind == FindingKind::RouteCycle).collect();
    if cycles.is_empty() {
        return;
    }
    let mut last = BTreeMap::new();
    let mut turns = BTreeSet::new();
    for row in outcome.rows.iter().filter(|row| matches!(row.kind, TruthEventKind::Sent(_))) {
        let Some(id) = row.packet else { continue };
        let before = last.insert(id, row.place);
        turns.extend(before.map(|before| (before, row.place)));
    }
    let sender = |id: &ChannelId| outcome.channels.get(id.0 as usize).map(|it| it.from);
    for (_, _, found) in cycles {
        let circle = found.facts.iter().find_map(|fact| match &fact.value {
            FactValue::Channels(channels) => Some(channels.as_slice()),
            FactValue::Number(_) | FactValue::Byte(_) => None,
            FactValue::Word(_) | FactValue::Channel(_) => None,
        });
        let circle = circle.unwrap_or_default();
        let onward = circle.iter().zip(circle.iter().cycle().skip(1));
        for (one, other) in onward {
            let turn = sender(one).zip(sender(other));
            assert!(turn.is_some_and(|turn| turns.contains(&turn)), "no packet went on: {found:?}");
        }
    }
}

/// Errors and warnings that a network in order does not have.
pub fn wrong(ledger: &FindingSet) -> impl Iterator<Item = (FindingKind, ChannelId, &Finding)> {
    ledger
        .found()
        // All clocks of the simulator run alike. W-6
        .filter(|(kind, ..)| {
            kind.about().severity != Severity::Note || *kind == FindingKind::ClockDrift
        })
        // What need not come to harm: a cycle of routes, one that is freed in time, or a slack buffer too
        // small for its cable that is emptied in time.
        .filter(|(kind, ..)| {
            let harmless =
                [FindingKind::RouteCycle, FindingKind::Deadlock, FindingKind::OverrunRisk];
            !harmless.contains(kind)
        })
        // What the reliability protocol mends is no fault of the network's.
        .filter(|(kind, ..)| !kind.about().rule.is_some_and(|rule| rule.starts_with("T-")))
}

/// Tests whether nothing was broken, forged, lost or too late.
#[must_use]
pub fn is_in_order(scenario: &Scenario, outcome: &RunOutcome) -> bool {
    let fine = outcome.rows.iter().all(|row| match &row.kind {
        TruthEventKind::Consumed { check, .. } => *check == CrcCheck::Good,
        TruthEventKind::Dropped(_)
        | TruthEventKind::Truncated(_)
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
        | TruthEventKind::Fault(_) => false,
        TruthEventKind::Injected { .. }
        | TruthEventKind::Forwarded { .. }
        | TruthEventKind::Received(_)
        | TruthEventKind::LinkOpen
        | TruthEventKind::LinkRestored
        | TruthEventKind::ResetEnded
        | TruthEventKind::ResetClosed
        | TruthEventKind::ProbeReceived(_)
        | TruthEventKind::ReplyReceived { .. }
        | TruthEventKind::Threshold { .. }
        | TruthEventKind::Fill { .. }
        | TruthEventKind::Sent(_)
        | TruthEventKind::Commanded(_)
        | TruthEventKind::SilenceEnded
        | TruthEventKind::SymbolSent(_)
        | TruthEventKind::SenderStopped
        | TruthEventKind::SenderResumed(_)
        | _ => true,
    });
    fine && scenario.faults.is_empty() && scenario.raw.is_empty()
}
