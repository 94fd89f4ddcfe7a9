//! Standstills: a capture of a network in which traffic stands still to the end is never green, and one in which
//! nothing was held up is never accused.
//!
//! The truth is that of a run that goes on: what stands still does so long after the end of the recording.

pub mod circle;

use std::collections::BTreeMap;
use std::ops::Range;

use analyzer::blocking::WaitRoot;
use analyzer::finding::{FindingKind, FindingSet, Severity};
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::Channel;
use codec::time::FULL_RATE_PERIOD_PS;
use rayon::prelude::*;
use simulator::link::BLOCKED;
use simulator::scenario::{PortTap, Scenario};
use simulator::topology::NodePort;
use simulator::truth::{TruthEvent, TruthEventKind};

use crate::journeys::NetworkClass;
use crate::network::analyzed::{AnalyzedCapture, select, slice};
use crate::network::draft::NetworkDraft;
use crate::network::rules::under_way;
use crate::network::run::RunOutcome;
use crate::repair::SeededRng;

/// Periods for which a sender must be stopped at the end, and a tenth of the recording.
const STANDS: u64 = 1 << 12;

/// What is tapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TappedPart {
    Every,
    Some,
    /// Every link, in one direction: of the senders at the other ends nothing but STOP and GO is recorded.
    Commands,
}

impl TappedPart {
    pub const ALL: [Self; 3] = [Self::Every, Self::Some, Self::Commands];
}

/// Networks, by what the truth says of them, and the numbers of those whose check says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandstillTally {
    /// Networks with a tapped link on which a sender stands still to the end.
    pub still: u64,
    /// Those that are green.
    pub green: Vec<u64>,
    /// Networks in which nothing was held up.
    pub free: u64,
    /// Those that are accused, and networks that go on but are said to stand still.
    pub accused: Vec<u64>,
    pub others: u64,
}

/// Stops of the senders of a run: the last one, if it did not end before the run did, and all periods.
#[derive(Clone, Copy, Debug, Default)]
struct SenderStops {
    since: Option<u64>,
    total: u64,
}

fn truth(scenario: &Scenario) -> Vec<TruthEvent> {
    RunOutcome::of(scenario).rows
}

fn stops(scenario: &Scenario, rows: &[TruthEvent]) -> BTreeMap<NodePort, SenderStops> {
    let mut stops: BTreeMap<NodePort, SenderStops> = BTreeMap::new();
    for row in rows {
        let sender = stops.entry(row.place).or_default();
        if row.kind == TruthEventKind::SenderStopped {
            sender.since.get_or_insert(row.at);
        } else if let TruthEventKind::SenderResumed(_) = row.kind {
            sender.total += sender.since.take().map_or(0, |since| row.at - since);
        }
    }
    for sender in stops.values_mut() {
        sender.total += sender.since.map_or(0, |since| scenario.duration.saturating_sub(since));
    }
    stops
}

/// True if a run has neither a sender that is stopped for a tenth of it, nor a packet that has been under way for so long
/// at its end.
fn is_free(scenario: &Scenario) -> bool {
    let (rows, duration) = (truth(scenario), scenario.duration);
    under_way(&rows).values().all(|at| (duration - at) * 10 < duration)
        && stops(scenario, &rows).values().all(|sender| sender.total * 10 < duration)
}

/// The file of a network of a class and a number in which nothing times out, so that what stands still goes on to do so.
pub fn draft(number: u64, part: TappedPart) -> Option<NetworkDraft> {
    let mut dice = SeededRng::numbered(b"standstill", number);
    let [sound, _, blocked] = NetworkClass::ALL;
    let class = if dice.below(3) == 0 { sound } else { blocked };
    let mut draft = class.draft(number)?;
    draft.set(&format!("duration_periods = {}", 3 * STANDS + dice.below(3 * STANDS)));
    let mut cables = draft.topology.cables().to_vec();
    for port in cables.iter_mut().flat_map(|cable| &mut cable.link.ports) {
        port.blocked = BLOCKED;
    }
    draft.set_cables(&cables)?;
    draft.start_within(STANDS, usize::MAX);
    draft.remove(&["tap"]);
    for cable in draft.topology.cables().to_vec() {
        if !draft.topology.is_fibre(&cable) && (part != TappedPart::Some || dice.below(3) == 0) {
            draft.add_tap(cable.ends[0], "");
        }
    }
    Some(draft)
}

/// True if nothing of a capture is wrong, and nothing is said to be beyond what can be told.
fn is_green(set: &FindingSet) -> bool {
    set.found()
        .all(|(kind, _, found)| found.severity == Severity::Note && kind != FindingKind::HeldUp)
}

/// True if a capture is said to have a standstill whose cause is out of sight.
fn stands_unseen(set: &FindingSet) -> bool {
    let cause = WaitRoot::OutOfSight.name();
    let mut found = set.found();
    found.any(|(kind, _, it)| kind == FindingKind::Standstill && it.has_word("cause", cause))
}

/// True if a capture is said to have something that was held up.
fn is_accused(set: &FindingSet) -> bool {
    set.found().any(|(kind, _, found)| {
        [FindingKind::Standstill, FindingKind::Deadlock].contains(&kind)
            || (kind == FindingKind::HeldUp && !found.has_word("unrecorded", "commands"))
            || (kind == FindingKind::SlowHost && found.severity != Severity::Note)
    })
}

impl StandstillTally {
    /// Runs networks and compares what their captures are said to be with the truth.
    pub fn of(numbers: Range<u64>, part: TappedPart) -> Self {
        let each = numbers.into_par_iter().filter_map(|number| Self::compare(number, part));
        each.reduce(Self::default, |mut sum, one| {
            sum.still += one.still;
            sum.free += one.free;
            sum.others += one.others;
            sum.green.extend(one.green);
            sum.accused.extend(one.accused);
            sum
        })
    }

    fn compare(number: u64, part: TappedPart) -> Option<Self> {
        let scenario = draft(number, part)?.scenario();
        let scenario = Some(scenario).filter(|it| !it.taps.is_empty())?;
        let duration = scenario.duration;
        let outcome = RunOutcome::untold(&scenario);
        let port_name = |port: NodePort| scenario.topology.port_name(port);
        let starts: Vec<String> =
            scenario.taps.iter().map(|tap| port_name(tap.port) + ">").collect();
        let is_recorded = |channel: &Channel| {
            part != TappedPart::Commands || starts.iter().any(|it| channel.name.starts_with(it))
        };
        let everything =
            |channel: &Channel| is_recorded(channel).then(|| TimeWindow::ALL.on(channel));
        let capture = select(&outcome.capture, &everything);
        let set = AnalyzedCapture::of(&capture).set;
        // The same run goes on for three times as long.
        let longer = Scenario { duration: 4 * duration, ..scenario.clone() };
        let longer = stops(&longer, &truth(&longer));
        let is_still = |port: &NodePort| {
            let since = longer.get(port).and_then(|sender| sender.since);
            since.is_some_and(|since| since + STANDS.max(duration / 10) <= duration)
        };
        let tapped = |tap: &PortTap| {
            let near = (part != TappedPart::Commands).then_some(tap.port);
            [near, scenario.topology.peer(tap.port)]
        };
        let mut tapped = scenario.taps.iter().flat_map(tapped).flatten();
        let mut tally = Self::default();
        if tapped.any(|port| is_still(&port)) {
            // A part of it that begins when it stood already is no better.
            let from = u128::from(duration - 2 * STANDS) * u128::from(FULL_RATE_PERIOD_PS);
            let from = WindowEdge::Picoseconds(from);
            let late = slice(&capture, TimeWindow { from, to: None });
            tally.still = 1;
            let sets = [set, AnalyzedCapture::of(&late).set];
            tally.green.extend(sets.iter().any(is_green).then_some(number));
        } else if is_free(&scenario) {
            tally.free = 1;
            tally.accused.extend(is_accused(&set).then_some(number));
        } else {
            tally.others = 1;
            // Senders that are stopped at the end of the recording go on after it.
            let goes_on = |sender: &SenderStops| sender.since.is_none_or(|since| since > duration);
            let is_mistaken = longer.values().all(goes_on) && stands_unseen(&set);
            tally.accused.extend(is_mistaken.then_some(number));
        }
        Some(tally)
    }
}
