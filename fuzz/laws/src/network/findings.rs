//! What `check` finds in a network in which nothing is wrong: nothing.

use analyzer::finding::{Found, Kind, Ledger, Severity};
use codec::capture::ChannelId;
use codec::packet::Check;
use simulator::scenario::Scenario;
use simulator::truth::What;

use super::read::Reading;
use super::run::Outcome;
use super::undeclared;

/// Where nothing breaks and nothing is lost, there are neither errors nor warnings. Tells whether it
/// was so.
///
/// # Panics
/// If there are.
pub fn check(scenario: &Scenario, outcome: &Outcome, reading: &Reading) -> bool {
    if !is_in_order(scenario, outcome) {
        return false;
    }
    let channel = |id: ChannelId| outcome.channels.get(id.0 as usize).map(|it| &it.name);
    let wrong: Vec<_> =
        wrong(&reading.ledger).map(|(kind, id, found)| (kind, channel(id), found)).collect();
    assert!(wrong.is_empty(), "there is nothing wrong, but {wrong:#?}");
    undeclared::check(scenario, outcome);
    true
}

/// Errors and warnings that a network in order does not have.
pub fn wrong(ledger: &Ledger) -> impl Iterator<Item = (Kind, ChannelId, &Found)> {
    ledger
        .found()
        // All clocks of the simulator run alike. W-6
        .filter(|(kind, ..)| kind.about().severity != Severity::Note || *kind == Kind::ClockDrift)
        // What need not come to harm: a circle of routes that is freed in time, or a slack buffer too
        // small for its cable that is emptied in time.
        .filter(|(kind, ..)| !matches!(kind, Kind::Deadlock | Kind::OverrunRisk))
        // What the reliability protocol mends is no fault of the network's.
        .filter(|(kind, ..)| !kind.about().rule.is_some_and(|rule| rule.starts_with("T-")))
}

/// Whether nothing was broken, forged, lost or too late.
#[must_use]
pub fn is_in_order(scenario: &Scenario, outcome: &Outcome) -> bool {
    let fine = outcome.rows.iter().all(|row| match &row.what {
        What::Consumed { check, .. } => *check == Check::Good,
        What::Dropped(_)
        | What::Truncated(_)
        | What::Merged
        | What::Overflow
        | What::Blocked(_)
        | What::ResetReceived
        | What::BackwardResetReceived
        | What::OverrunAlarmReceived
        | What::InvalidCode(_)
        | What::CorrectedCode { .. }
        | What::FellSilent
        | What::PowerLost
        | What::Raw(_)
        | What::Fault(_) => false,
        What::Injected { .. }
        | What::Forwarded { .. }
        | What::Received(_)
        | What::LinkOpen
        | What::LinkRestored
        | What::ResetEnded
        | What::ResetClosed
        | What::ProbeReceived(_)
        | What::ReplyReceived { .. }
        | What::Threshold { .. }
        | What::Fill { .. }
        | What::Sent(_)
        | What::Commanded(_)
        | What::SilenceEnded
        | What::SymbolSent(_)
        | What::SenderStopped
        | What::SenderResumed(_)
        | _ => true,
    });
    fine && scenario.faults.is_empty() && scenario.raw.is_empty()
}
