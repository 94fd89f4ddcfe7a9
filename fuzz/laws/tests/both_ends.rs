//! Several recordings of a network: a cable that is tapped at both ends is one wire, and has each of its packets once.

use std::collections::BTreeMap;

use analyzer::finding::FindingKind;
use analyzer::journey::JourneyFate;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use laws::journeys::{NetworkClass, journeys};
use laws::network::analyzed::{analyze, joined};
use laws::network::run::RunOutcome;
use laws::repair::{SeededRng, draws};
use laws::storm::generator;
use laws::taps;
use simulator::scenario::{PortTap, Scenario};
use simulator::truth::TruthEventKind;

/// Events of the network, of each kind in order.
#[derive(Debug, Default, PartialEq, Eq)]
struct NetworkEvents(BTreeMap<&'static str, Vec<String>>);

impl NetworkEvents {
    fn of(scenario: &Scenario, taps: Vec<PortTap>) -> Self {
        let mut tapped = scenario.clone();
        tapped.taps = taps;
        let capture = RunOutcome::untold(&tapped).capture;
        let mut events = Self::default();
        let analysis = analyze(&capture, AnalysisScope::Everything, &mut |event| {
            let (kind, text) = match event {
                AnalysisEvent::Journey(it) => ("journeys", format!("{it:?}")),
                AnalysisEvent::Blocked(it) => ("waits", format!("{it:?}")),
                AnalysisEvent::Conversation(it) => ("conversations", format!("{it:?}")),
                AnalysisEvent::Mapping(it) => ("mapping", format!("{it:?}")),
                // These are of a recording.
                AnalysisEvent::Row(_) | AnalysisEvent::Case(_) | AnalysisEvent::Slack(_) => return,
                AnalysisEvent::Interval(_) | AnalysisEvent::Fault(_) => return,
            };
            events.0.entry(kind).or_default().push(text);
        });
        let topology = analysis.topology();
        events.0.insert("passages", topology.passages.iter().map(|it| format!("{it:?}")).collect());
        events
    }
}

/// Most periods of a network: enough for a map, and the routes of it. N-2
const DURATION: u64 = 200_000;

#[test]
fn a_wire_that_is_tapped_at_both_ends_is_one_wire() {
    let mut counts = BTreeMap::<&str, usize>::new();
    for number in 0..draws(11) {
        let drafts = NetworkClass::ALL.map(|class| class.draft(number)).into_iter();
        for draft in drafts.chain([generator::draft(7, number, Some(4))]).flatten() {
            let mut scenario = draft.scenario();
            scenario.duration = scenario.duration.min(DURATION);
            let [once, both] = [taps::at_every_cable, taps::at_both_ends]
                .map(|taps| NetworkEvents::of(&scenario, taps(&scenario)).0);
            for (kind, once) in &once {
                let both = both.get(kind).map_or(&[][..], |both| both);
                let other = once.iter().zip(both).find(|(once, both)| once != both);
                assert_eq!((other, once.len()), (None, both.len()), "{kind} of\n{}", draft.text());
                *counts.entry(kind).or_default() += once.len();
            }
            assert!(once.keys().eq(both.keys()), "{}", draft.text());
        }
    }
    assert!(counts.values().all(|count| *count > 50) && counts.len() == 5, "{counts:?}");
}

/// Packets that seem to be lost in switches, and channels whose clocks seem to be apart.
fn losses(capture: &[u8]) -> [u64; 2] {
    let analysis = analyze(capture, AnalysisScope::Everything, &mut |_| {});
    let findings = analysis.findings();
    [FindingKind::LostInSwitch, FindingKind::ClocksApart].map(|kind| findings.set().total(kind))
}

/// Some cables were recorded by one recorder, the others by another one whose clock began earlier.
#[test]
fn nothing_is_lost_between_recorders_whose_clocks_are_apart() {
    let mut found = 0;
    for number in 0..draws(150) {
        let Some(mut scenario) = NetworkClass::Sound.scenario(number) else { continue };
        let mut dice = SeededRng::numbered(b"recorders", number);
        let offset = 50_000 << dice.below(11);
        let taps = taps::at_every_cable(&scenario).into_iter();
        let (one, other): (Vec<_>, Vec<_>) = taps.partition(|_| dice.below(2) == 0);
        if one.is_empty() || other.is_empty() {
            continue;
        }
        let [one, other] = [one, other].map(|taps| {
            scenario.taps = taps;
            RunOutcome::of(&scenario)
        });
        let drops = one.rows.iter().filter(|it| matches!(it.kind, TruthEventKind::Dropped(_)));
        let joined = joined([(&one.capture, 0), (&other.capture, offset)]);
        let [lost, apart] = losses(&joined);
        assert!(lost <= drops.count() as u64, "{lost} in {number}, {offset} ps");
        found += apart;
    }
    assert!(found > 10, "{found}");
}

/// Hosts send what they can of packets with few different bytes: which of them has left is told by their order alone.
#[test]
fn nothing_is_lost_where_packets_are_alike() {
    let mut bytes = 0;
    for number in 0..draws(60) {
        let draft = NetworkClass::Sound.draft(number).filter(|draft| draft.hosts.len() > 1);
        let Some(mut draft) = draft else { continue };
        draft.remove(&["traffic"]);
        let keys = "from = 'all'\nto = 'uniform'\nload = 0.9\nstart_periods = 300";
        draft.add("traffic", &format!("{keys}\npayload = [0, {}]", number % 4));
        let capture = RunOutcome::untold(&draft.scenario()).capture;
        assert_eq!(losses(&capture), [0; 2], "{number}\n{}", draft.text());
        bytes += capture.len();
    }
    assert!(bytes > 1_000_000, "{bytes}");
}

/// The recordings of the two ends of a wire may follow each other, or overlap.
#[test]
fn nothing_is_lost_where_one_recording_of_a_wire_follows_another() {
    let mut followed = 0;
    for number in 0..draws(60) {
        let Some(mut scenario) = NetworkClass::Sound.scenario(number) else { continue };
        let half = scenario.duration / 2;
        let overlap = [0, 20, 400][usize::try_from(number % 3).unwrap()].min(half);
        let lost = |scenario: &Scenario| {
            let capture = RunOutcome::untold(scenario).capture;
            let journeys = journeys(&capture);
            let dropped = journeys.iter().filter(|it| matches!(it.fate, JourneyFate::Dropped(_)));
            (dropped.count(), journeys.iter().filter(|it| it.hops.len() > 1).count())
        };
        scenario.taps = taps::at_every_cable(&scenario);
        let (whole, _) = lost(&scenario);
        scenario.taps = taps::at_both_ends(&scenario);
        let first = scenario.taps.len() / 2;
        for (place, tap) in scenario.taps.iter_mut().enumerate() {
            match (place < first) ^ (number % 2 == 0) {
                true => tap.to = half + overlap,
                false => tap.from = half - overlap,
            }
        }
        let (parts, more) = lost(&scenario);
        assert!(parts <= whole, "{number} {overlap}: {parts} of {whole}");
        followed += more;
    }
    assert!(followed > 300, "{followed}");
}
