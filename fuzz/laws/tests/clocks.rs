//! Captures whose channels run at other rates than they declare: nothing false is found, packets are
//! followed as before, and each drifting clock is reported once. W-6

use analyzer::finding::{FactValue, FindingChecks, FindingKind, Severity};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use codec::capture::{ByteOrder, Channel, ReadProgress};
use codec::time::{CharacterPeriod, Tick};
use laws::capture_input;
use laws::network::analyzed::select;
use laws::network::run::RunOutcome;
use laws::{score, taps};
use simulator::truth::{TruthEvent, TruthEventKind};

const NETWORK: &str = r#"
seed = 3
duration_us = 8000
switch = [{ name = "s0" }, { name = "s1" }]
cable = [{ ends = ["s0:7", "s1:7"] }]
host = [{ name = "h0", at = "s0:0" }, { name = "h1", at = "s0:1" }, { name = "h2", at = "s1:0" }]
[[traffic]]
from = "all"
to = "uniform"
payload = [4, 600]
load = 0.4
"#;

fn simulated() -> Vec<u8> {
    RunOutcome::of(&crate::tapped(NETWORK)).capture
}

/// The capture with other periods declared for some channels.
fn declared(capture: &[u8], periods: &[(&str, u64)]) -> Vec<u8> {
    let (mut channels, mut chunks) = capture_input::parts(capture);
    for channel in &mut channels {
        if let Some((_, period)) = periods.iter().find(|(name, _)| *name == channel.name) {
            channel.period = CharacterPeriod::from_ps(*period).unwrap();
        }
    }
    capture_input::in_order(&channels, &mut chunks);
    capture_input::write(ByteOrder::Little, &channels, &chunks).unwrap()
}

struct CaptureReport {
    /// The channels and packets of all journeys.
    journeys: Vec<Vec<(u32, u64)>>,
    findings: FindingChecks,
    channels: Vec<String>,
}

impl CaptureReport {
    fn of(capture: &[u8]) -> Self {
        // Both switches have 8 ports. S-6
        let known: LinkAssumptions = "path=44".parse().unwrap();
        let mut analysis = CaptureAnalysis::new(capture, AnalysisScope::Network, known);
        let mut journeys = Vec::new();
        let mut out = |told| {
            if let AnalysisEvent::Journey(journey) = told {
                let hops = journey.hops.iter().map(|hop| (hop.channel.0, hop.packet));
                journeys.push(hops.collect::<Vec<_>>());
            }
        };
        while analysis.step(&mut out).unwrap() == ReadProgress::More {}
        journeys.sort_unstable();
        let channels = analysis.channels().map(|(_, channel)| channel.name.clone()).collect();
        Self { journeys, findings: analysis.findings(), channels }
    }

    /// Drifting clocks, and their drift in parts per million.
    fn drifting(&self) -> Vec<(&str, i64)> {
        let found = self.findings.set().found();
        let drifting =
            found.filter(|(kind, ..)| *kind == FindingKind::ClockDrift).map(|(_, id, found)| {
                let [ppm, clock] = found.facts.as_slice() else { panic!("{found:?}") };
                let FactValue::Number(ppm) = ppm.value else { panic!("{found:?}") };
                let ppm = i64::try_from(ppm).unwrap();
                assert_eq!(found.count, 1);
                let channel = self.channels[usize::try_from(id.0).unwrap()].as_str();
                (channel, if clock.value == FactValue::Word("fast") { ppm } else { -ppm })
            });
        drifting.collect()
    }
}

#[test]
fn clocks_that_drift_are_told_once_and_harm_nothing() {
    let capture = simulated();
    let sound = CaptureReport::of(&capture);
    assert_eq!(sound.drifting(), []);
    for periods in [
        &[("h0:0>s0:0", 12_501)][..],
        &[("h0:0>s0:0", 12_499)],
        &[("s0:7>s1:7", 12_499)],
        &[("s1:0>h2:0", 12_502)],
        // The declared periods of the other clocks of a node are as wrong.
        &[
            ("h1:0>s0:1", 12_498),
            ("s0:0>h0:0", 12_501),
            ("s0:1>h1:0", 12_501),
            ("s0:7>s1:7", 12_501),
        ],
    ] {
        let report = CaptureReport::of(&declared(&capture, periods));
        assert!(report.journeys == sound.journeys, "{periods:?}");
        for severity in [Severity::Error, Severity::Warning] {
            assert_eq!(report.findings.set().count(severity), 0, "{periods:?}");
        }
        let mut told = report.drifting();
        let mut expected = periods.to_vec();
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told.len(), expected.len(), "{periods:?}: {told:?}");
        for ((name, ppm), (channel, period)) in told.iter().zip(&expected) {
            let by = 80 * (i64::try_from(*period).unwrap() - 12_500);
            assert!(name == channel && (ppm - by).abs() <= 20, "{periods:?}: {told:?}");
        }
    }
}

/// Events behind a detection do not change its time.
#[test]
fn a_drift_is_noticed_when_it_was() {
    let whole = declared(&simulated(), &[("s1:0>h2:0", 12_502)]);
    let observation = |part: &[u8]| {
        let report = CaptureReport::of(part);
        let found = report.findings.set().found();
        let drift = found.filter(|(kind, ..)| *kind == FindingKind::ClockDrift);
        drift.map(|(_, id, found)| (id, found.first)).collect::<Vec<_>>()
    };
    let window = |it: &Channel| Some((Tick(0), Tick(it.period.periods_up(4_000_000_000))));
    let before = observation(&select(&whole, &window));
    assert_eq!(before.len(), 1);
    assert_eq!(observation(&whole), before);
}

/// Networks whose nodes have clocks of their own, which their captures declare: nothing is found but
/// what happens. W-6
#[test]
fn unlike_clocks_harm_nothing_and_all_that_happens_is_found() {
    const SWITCH: &str = "kind = 'switch'\nports = 4\nhosts = 3";
    const SLOW_HOST: &str = "load = 0.5\n[[host]]\nname = 'x'\nat = 's0:3'\nrate_divisor = 2";
    for (seed, network, link, load) in [
        (0, "kind = 'switch'\nports = 8\nhosts = 4", "", "load = 0.6"),
        (1, "kind = 'line'\nswitches = 3\nhosts_per_switch = 2", "", "load = 0.3"),
        (2, "kind = 'mesh'\nwidth = 2\nheight = 2", "length_m = 3", "saturate = true"),
        (3, SWITCH, "rate_divisor = 2", "load = 0.5"),
        (6, SWITCH, "length_m = 1", SLOW_HOST),
        (4, SWITCH, "fill = 'idle-15'", "saturate = true"),
        (5, SWITCH, "go_slack = 2\nhysteresis = 1", "saturate = true"),
    ] {
        let text = format!(
            "seed = {seed}\nduration_us = 1200\n[topology]\n{network}\n[link]\n{link}\n\
             [switch_defaults]\nclock_ppm = 'random'\n[interface]\nclock_ppm = 'random'\n\
             [[traffic]]\nto = 'uniform'\npayload = [4, 900]\n{load}\n"
        );
        let mut scenario = crate::read(&text);
        for taps in [taps::at_every_cable(&scenario), taps::at_every_port(&scenario)] {
            scenario.taps = taps;
            let outcome = RunOutcome::of(&scenario);
            let report = CaptureReport::of(&outcome.capture);
            assert_eq!(report.drifting(), [], "{text}");
            for severity in [Severity::Error, Severity::Warning] {
                let set = report.findings.set();
                assert_eq!(set.count(severity), 0, "{text}: {:#?}", set.found().next());
            }
            let score = score::of(&scenario, &outcome).unwrap();
            for row in &score.scores {
                assert!(row.is_perfect(), "{text}{row:?}\n{:#?}", score.differences);
            }
        }
    }
}

/// Probes of a mapper end at ports without a cable, and the packets behind them wait at the same input for as
/// long as a switch needs to drop one: no clock drifts, and no switch is slow. S-1, S-6
#[test]
fn a_packet_behind_a_dropped_one_proves_nothing_about_clocks_and_switches() {
    let text = "seed = 3\nduration_us = 4000\ntopology = { kind = 'ring', switches = 3, hosts_per_switch = 1 }\n\
         routes.method = 'mapped'\nmapper = { period_us = 200, timeout_us = 20 }";
    let scenario = crate::tapped(text);
    let outcome = RunOutcome::of(&scenario);
    let report = CaptureReport::of(&outcome.capture);
    let is_dropped = |row: &TruthEvent| matches!(row.kind, TruthEventKind::Dropped(_));
    assert!(outcome.rows.iter().filter(|row| is_dropped(row)).count() > 100);
    let set = report.findings.set();
    for kind in [FindingKind::SlowPath, FindingKind::ClockDrift] {
        assert_eq!(set.total(kind), 0, "{kind:?}");
    }
}
