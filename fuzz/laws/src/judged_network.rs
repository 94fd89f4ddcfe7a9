//! A small network: whatever its parts, its traffic and its faults, the laws of the simulator hold,
//! and the analyzer reads in its capture what really happened.

use std::sync::OnceLock;

use analyzer::score::ScoreReport;
use simulator::clock::NodeClock;
use simulator::fault::{FaultKind, FaultSpec};
use simulator::network::{SimulationEngine, VisitOrder};
use simulator::scenario::Scenario;
use simulator::topology::{CableSpec, NodePort, Topology};
use simulator::traffic::PayloadSize;
use simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};
use simulator::wires::{CableWires, WireSkew};

use crate::capture_input;
use crate::network::analyzed::AnalyzedCapture;
use crate::network::input::{NetworkInput, Rerun, SwitchInput};
use crate::network::run::{RunOutcome, run, run_with};
use crate::network::slack::{self, BoundsWidth};
use crate::network::{facts, findings, rules, undeclared, waits};
use crate::repair::SeededRng;
use crate::score::{self, LIKELY, MESSAGES};

/// Number of times that what was recorded is handed out. *Chosen*: several times in a run.
const SLICE: u64 = 333;

/// A run of a scenario, with the analysis of its capture and the score of that, each made when a law first asks.
#[derive(Debug)]
pub struct JudgedNetwork {
    pub scenario: Scenario,
    pub outcome: RunOutcome,
    analysis: OnceLock<AnalyzedCapture>,
    score: OnceLock<ScoreReport>,
}

impl JudgedNetwork {
    /// Simulates a scenario.
    pub fn of(scenario: Scenario) -> Self {
        let outcome = RunOutcome::of(&scenario);
        Self::new(scenario, outcome)
    }

    pub const fn new(scenario: Scenario, outcome: RunOutcome) -> Self {
        Self { scenario, outcome, analysis: OnceLock::new(), score: OnceLock::new() }
    }

    pub fn analysis(&self) -> &AnalyzedCapture {
        self.analysis.get_or_init(|| AnalyzedCapture::of(&self.outcome.capture))
    }

    /// The analysis compared with the truth.
    pub fn score(&self) -> &ScoreReport {
        self.score.get_or_init(|| {
            let score = score::of(&self.scenario, &self.outcome);
            assert!(score.is_ok(), "{:?}", score.err());
            score.unwrap_or_default()
        })
    }

    /// Checks that the analysis equals the truth, except for kinds that a capture cannot always identify.
    /// Returns the score; none where the raw characters of a scenario look like silence.
    pub(crate) fn check_score(&self) -> Option<&ScoreReport> {
        if facts::forges_silence(&self.scenario) {
            return None;
        }
        let fills: &[&str] = if self.scenario.raw.is_empty() { &[] } else { &["fill"] };
        score::check_all(self.score(), &[&LIKELY, &MESSAGES, fills]);
        Some(self.score())
    }
}

/// The laws, of a network that some bytes stand for.
pub fn law(bytes: &[u8]) {
    NetworkInput::from_bytes(bytes).and_then(|plan| planned(&plan));
}

/// The laws, of a network with one switch that some bytes stand for.
pub fn switch(bytes: &[u8]) {
    let plan = SwitchInput::from_bytes(bytes);
    plan.and_then(|plan| planned(&plan.into()));
}

/// The laws, of a network that was planned; none if the plan is no network.
pub fn planned(plan: &NetworkInput) -> Option<JudgedNetwork> {
    let scenario = plan.scenario()?;
    let outcome = run(&scenario, TraceLevel::Everything, SLICE);
    let judged = JudgedNetwork::new(scenario, outcome);
    check(&judged);
    let JudgedNetwork { scenario, outcome, .. } = &judged;
    check_rerun(scenario, outcome, plan.run.again());
    if scenario.seed % 4 == 1 {
        let skewed = with_skew(scenario.clone());
        let other = run(&skewed, TraceLevel::Everything, SLICE);
        assert!(outcome.rows == other.rows, "skew within the window changes nothing");
        let [one, two] = [outcome, &other].map(|it| capture_input::parts(&it.capture).1);
        assert!(one == two, "the same characters");
        check_rerun(&skewed, &other, Rerun::Stepped);
    }
    let clocks = scenario.seed.is_multiple_of(4).then(|| with_clocks(scenario.clone()));
    for other in clocks.into_iter().chain(with_aimed_cut(scenario, &outcome.rows)) {
        let outcome = run(&other, TraceLevel::Everything, SLICE);
        rules::check(&other, &outcome);
        let _ = AnalyzedCapture::of(&outcome.capture);
    }
    Some(judged)
}

/// The scenario with any clocks, by its seed. W-6
pub(crate) fn with_clocks(mut scenario: Scenario) -> Scenario {
    scenario.set_clocks(|_| NodeClock::Random);
    scenario
}

/// The scenario with other cables.
pub(crate) fn with_cables(mut scenario: Scenario, change: impl FnMut(&mut CableSpec)) -> Scenario {
    let mut cables = scenario.topology.cables().to_vec();
    cables.iter_mut().for_each(change);
    let topology = Topology::new(scenario.topology.nodes().to_vec(), cables);
    scenario.topology = topology.unwrap_or(scenario.topology);
    scenario
}

/// The scenario with any wires whose skew is within the window of a receiver, by its seed. W-3, W-4
fn with_skew(scenario: Scenario) -> Scenario {
    let mut numbers = scenario.seed / 4..;
    with_cables(scenario, |cable| {
        let number = numbers.next().unwrap_or_default();
        let jitter_ps = u32::try_from(number % 7 * 500).unwrap_or_default();
        let polarity_ps = u32::try_from(number % 5 * 750).unwrap_or_default();
        let skew = WireSkew::UpTo(6_250 - jitter_ps - polarity_ps);
        cable.link.wires = CableWires { skew, jitter_ps, polarity_ps, ..cable.link.wires };
    })
}

/// The scenario with a cable cut while the first byte of a packet is on it, by its seed. F-7
fn with_aimed_cut(scenario: &Scenario, rows: &[TruthEvent]) -> Option<Scenario> {
    use TruthEventKind::{Forwarded, Injected};
    let mut dice = SeededRng::new(&scenario.seed.to_le_bytes());
    let begun = |row: &&TruthEvent| matches!(row.kind, Injected { .. } | Forwarded { .. });
    let begun: Vec<_> = rows.iter().filter(begun).collect();
    let row = begun.get(usize::try_from(dice.below(begun.len().max(1) as u64)).ok()?)?;
    let at = row.at + 1 + dice.below(scenario.topology.link(row.place)?.delay.0);
    let place = if dice.below(2) == 0 { row.place } else { scenario.topology.peer(row.place)? };
    let cut = FaultSpec { at, until: Some(at + 50), place, kind: FaultKind::Cut };
    let faults = [&scenario.faults[..], &[cut]].concat();
    Some(Scenario { faults, ..scenario.clone() })
}

/// The laws of a network that has run. Returns the width of the bounds of its slack buffers.
pub fn check(judged: &JudgedNetwork) -> BoundsWidth {
    let JudgedNetwork { scenario, outcome, .. } = judged;
    check_programs(scenario, outcome);
    rules::check(scenario, outcome);
    let reading = judged.analysis();
    findings::check_wires(scenario, reading);
    if !facts::rates_are_alike(scenario) {
        return BoundsWidth::default();
    }
    let ReadingCheck { width, condition, .. } = ReadingCheck::of(judged);
    // A packet cut by the end of the recording has few bytes to identify it.
    if condition != RunCondition::Hurt && outcome.under_way == 0 && is_plain(scenario) {
        score::check_all(judged.score(), &[]);
    }
    findings::check_cycles(scenario, outcome, &reading.set);
    width
}

/// Results of comparing the analysis of a run with the truth; also of a part of one that begins and ends at rest. Its
/// links have one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadingCheck<'a> {
    width: BoundsWidth,
    /// None where nothing is tapped, or raw characters look like silence.
    pub(crate) score: Option<&'a ScoreReport>,
    pub(crate) condition: RunCondition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunCondition {
    /// Nothing was wrong in the network, and so nothing was found.
    InOrder,
    /// There was nothing that only damage makes, and it was not found.
    Sound,
    Hurt,
}

impl<'a> ReadingCheck<'a> {
    pub(crate) fn of(judged: &'a JudgedNetwork) -> Self {
        let JudgedNetwork { scenario, outcome, .. } = judged;
        let reading = judged.analysis();
        let is_tapped = !scenario.taps.is_empty();
        let score = if is_tapped { judged.check_score() } else { None };
        let width = slack::check(scenario, outcome, reading);
        assert_eq!(width.contradictions, 0, "what is assumed is so");
        let is_in_order = findings::check(scenario, outcome, reading);
        if is_in_order {
            undeclared::check(scenario, outcome);
        }
        waits::check(scenario, outcome, reading);
        let is_sound = findings::check_damage(scenario, &outcome.rows, score, &reading.set);
        let condition = match (is_in_order, is_sound) {
            (true, _) => RunCondition::InOrder,
            (false, true) => RunCondition::Sound,
            (false, false) => RunCondition::Hurt,
        };
        Self { width, score, condition }
    }
}

/// Tests whether no two packets are alike, and every link is tapped once.
fn is_plain(scenario: &Scenario) -> bool {
    // Payloads are random: no two of this length are equal.
    let long = |size: &PayloadSize| match size {
        PayloadSize::Fixed(size) => *size >= 8,
        PayloadSize::Uniform(least, _) => *least >= 8,
        PayloadSize::Bimodal { small, large, .. } => (*small).min(*large) >= 8,
    };
    let taps =
        |ends: [NodePort; 2]| scenario.taps.iter().filter(move |tap| ends.contains(&tap.port));
    scenario.topology.cables().iter().all(|cable| taps(cable.ends).count() == 1)
        && scenario.streams.iter().all(|stream| long(&stream.payload))
}

/// No back doors: whatever arrives, only a host loads its control program, which happens after a
/// loss of power or a restart, and only the mapper's packets change routes. I-8
fn check_programs(scenario: &Scenario, outcome: &RunOutcome) {
    let topology = &scenario.topology;
    for host in topology.hosts() {
        let faults = scenario.faults.iter().filter(|fault| fault.place.node == host);
        let reasons = faults.filter(|fault| {
            matches!(fault.kind, FaultKind::PowerOff | FaultKind::SupplyOff | FaultKind::Restart)
        });
        let loads = outcome.hosts.get(&host).map_or(0, |statistics| statistics.reloads);
        assert!(loads <= reasons.count() as u64, "no back doors: {loads} loads at {host:?}");
        if scenario.mapping.is_none() {
            let given = topology
                .hosts()
                .filter_map(|to| Some((to, scenario.routes.get(host, to)?.to_vec())));
            let found = outcome.routes.get(&host);
            assert_eq!(found, Some(&given.collect()), "no back doors: routes at {host:?}");
        }
    }
}

fn check_rerun(scenario: &Scenario, outcome: &RunOutcome, again: Rerun) {
    let (mut other, mut wanted, mut layout) =
        (scenario.clone(), TraceLevel::Everything, VisitOrder::AsGiven);
    let mut engine = SimulationEngine::Event;
    match again {
        Rerun::Shuffled(seed) => layout = VisitOrder::Shuffled(seed.into()),
        Rerun::Untapped => other.taps.clear(),
        Rerun::Unheard => wanted = TraceLevel::Nothing,
        Rerun::Alone => {
            other.taps.clear();
            wanted = TraceLevel::Nothing;
        }
        Rerun::Stepped => engine = SimulationEngine::Step,
        Rerun::Not | Rerun::NotEither | Rerun::NotAtAll => return,
    }
    let other = run_with(engine, &other, wanted, (layout, SLICE));
    if !other.channels.is_empty() {
        assert!(outcome.capture == other.capture, "the same characters");
    }
    if wanted == TraceLevel::Everything {
        // The fill of slack buffers is recorded for tapped links only.
        let [one, other] = [&outcome.rows, &other.rows].map(|rows| {
            let untold = |row: &&TruthEvent| {
                other.channels.is_empty() && matches!(row.kind, TruthEventKind::Fill { .. })
            };
            let rows = rows.iter().filter(|row| !untold(row));
            rows.cloned().collect::<Vec<_>>()
        });
        // Their order within a period has no meaning.
        if one != other {
            let [one, other] = [one, other].map(|rows| sorted(&rows));
            let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            assert_eq!(one.get(same), other.get(same), "the same things happen");
        }
    }
    for (one, other) in outcome.passed.iter().zip(&other.passed) {
        assert_eq!(one, other, "the same passes through ports");
    }
    assert_eq!(outcome.hosts, other.hosts, "the same passes through hosts");
    assert_eq!(outcome.under_way, other.under_way, "as much is under way");
}

/// Rows in order of time, then of their text.
fn sorted(rows: &[TruthEvent]) -> Vec<(u64, String)> {
    let mut sorted: Vec<_> = rows.iter().map(|row| (row.at, format!("{row:?}"))).collect();
    sorted.sort();
    sorted
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::canaries::two_hosts;
    use codec::packet::CrcCheck;
    use simulator::topology::NodeId;
    use simulator::traffic::payload;
    use simulator::truth::StopGo;

    pub(crate) const MORE: &str = "
        [[traffic]]
        from = 'h0'
        to = 'h1'
        payload = 30
        every_periods = 200
        [[tap]]
        port = 'h0:0'
        [[tap]]
        port = 's0:0'
        [[tap]]
        port = 's0:1'
    ";

    fn outcome() -> (Scenario, RunOutcome) {
        let scenario = two_hosts("duration_periods = 4000", MORE);
        let outcome = run(&scenario, TraceLevel::Everything, SLICE);
        (scenario, outcome)
    }

    fn of_the_fourth(row: &TruthEvent) -> bool {
        row.packet.is_some_and(|id| id.number == 3)
    }

    /// The laws, after something has been done to what came of a run.
    fn changed(change: impl FnOnce(&mut RunOutcome)) {
        let (scenario, mut outcome) = outcome();
        change(&mut outcome);
        check(&JudgedNetwork::new(scenario, outcome));
    }

    /// The laws, without rows that are not so.
    fn without(gone: impl Fn(&TruthEvent) -> bool) {
        changed(|outcome| {
            let before = outcome.rows.len();
            outcome.rows.retain(|row| !gone(row));
            assert_ne!(before, outcome.rows.len());
        });
    }

    /// The laws, with a row more, where the fourth packet comes in at the switch.
    fn with(what: TruthEventKind) {
        changed(|outcome| {
            let comes_in = |row: &TruthEvent| matches!(row.kind, TruthEventKind::Received(_));
            let place = outcome.rows.iter().position(|row| of_the_fourth(row) && comes_in(row));
            let row =
                TruthEvent { kind: what, packet: None, ..outcome.rows[place.unwrap()].clone() };
            outcome.rows.insert(place.unwrap(), row);
        });
    }

    #[test]
    fn the_canary_lives() {
        changed(|outcome| {
            assert_eq!(outcome.rows.iter().filter(|row| of_the_fourth(row)).count(), 7);
        });
    }

    /// I-8
    pub(crate) fn a_route_that_a_packet_changed_is_caught() {
        changed(|outcome| {
            let routes = outcome.routes.get_mut(&NodeId(2)).unwrap();
            routes.insert(NodeId(1), vec![0x83]).unwrap();
        });
    }

    /// I-8
    pub(crate) fn a_program_that_a_packet_loaded_is_caught() {
        changed(|outcome| outcome.hosts.get_mut(&NodeId(2)).unwrap().reloads += 1);
    }

    pub(crate) fn a_packet_that_never_ends_is_caught() {
        without(|row| of_the_fourth(row) && matches!(row.kind, TruthEventKind::Consumed { .. }));
    }

    pub(crate) fn a_frame_that_never_arrives_is_caught() {
        without(|row| of_the_fourth(row) && matches!(row.kind, TruthEventKind::Received(_)));
    }

    pub(crate) fn a_frame_that_nobody_knows_of_is_caught() {
        without(|row| {
            of_the_fourth(row)
                && matches!(row.kind, TruthEventKind::Received(_) | TruthEventKind::Sent(_))
        });
    }

    pub(crate) fn a_symbol_that_nobody_sent_is_caught() {
        with(TruthEventKind::BackwardResetReceived);
    }

    pub(crate) fn a_stop_that_nobody_heard_is_caught() {
        with(TruthEventKind::SenderStopped);
    }

    pub(crate) fn a_command_that_nobody_sent_is_caught() {
        with(TruthEventKind::Commanded(StopGo::Stop));
    }

    pub(crate) fn a_silence_on_a_living_link_is_caught() {
        with(TruthEventKind::LinkOpen);
    }

    pub(crate) fn an_overflow_is_caught() {
        with(TruthEventKind::Overflow);
    }

    pub(crate) fn commands_without_hysteresis_are_caught() {
        changed(|outcome| {
            let mut row = outcome.rows[40].clone();
            row.kind = TruthEventKind::Threshold { command: StopGo::Stop, fill: 48 };
            for at in [5, 10, 15] {
                outcome.rows.push(TruthEvent { at: row.at + at, ..row.clone() });
            }
        });
    }

    pub(crate) fn a_switch_that_mends_packets_is_caught() {
        let (scenario, mut outcome) = outcome();
        let h0 = NodeId(1);
        assert_eq!(scenario.topology.find("h0"), Some(h0));
        for row in outcome.rows.iter_mut().filter(|row| of_the_fourth(row)) {
            let from_h0 = row.place.node == h0 || row.place.port.0 == 0;
            if let TruthEventKind::Sent(frame) | TruthEventKind::Received(frame) = &mut row.kind
                && from_h0
                && frame.packet.route.count() > 0
            {
                frame.packet.check = CrcCheck::Bad(1);
            }
        }
        rules::check(&scenario, &outcome);
    }

    pub(crate) fn one_wrong_character_is_caught() {
        changed(|outcome| {
            let bytes = payload(NodeId(1), 3, 30);
            let mut places = outcome.capture.windows(30);
            let place = places.position(|window| window == bytes).unwrap();
            outcome.capture[place + 7] ^= 0x10;
        });
    }

    pub(crate) fn a_run_that_depends_on_the_layout_is_caught() {
        let (scenario, mut outcome) = outcome();
        outcome.rows[50].at += 1;
        check_rerun(&scenario, &outcome, Rerun::Shuffled(3));
    }

    pub(crate) fn a_capture_that_depends_on_who_listens_is_caught() {
        let (scenario, mut outcome) = outcome();
        outcome.capture[1000] ^= 1;
        check_rerun(&scenario, &outcome, Rerun::Unheard);
    }
}
