//! The event engine against the stepper: the same network run by both gives the same capture, truth and
//! counters.

use codec::time::Ticks;
use codec::virtual_channels::LinkProfile;
use simulator::clock::NodeClock;
use simulator::link::FillMode;
use simulator::link::shared_line::{PassageMode, VirtualCodes};
use simulator::network::{SimulationEngine, VisitOrder};
use simulator::scenario::Scenario;
use simulator::topology::{ExtensionSupport, NodeKind, NodePort, NodeSpec, SwitchRole, Topology};
use simulator::truth::TraceLevel;
use simulator::wires::CableFlow;

use crate::fibre::with_fibre;
use crate::network::input::NetworkInput;
use crate::network::run::{RunOutcome, run_with};

/// The law, of a network that some bytes stand for.
pub fn law(bytes: &[u8]) {
    let plan = NetworkInput::from_bytes(bytes);
    plan.and_then(|plan| plan.scenario()).map(varied);
}

/// Checks the law, of a network with further variants that follow from its seed. Returns the run.
pub fn varied(mut scenario: Scenario) -> RunOutcome {
    // Of eight seeds three have unlike clocks, two no truth, one no taps, and one a fibre; slices are short, or the whole run.
    // A third of all, whatever else they have, have virtual channels.
    let seed = scenario.seed;
    let (wanted, slice) = match seed % 8 {
        0 | 1 => (TraceLevel::Nothing, scenario.duration),
        2..=4 => (TraceLevel::Everything, 1 + seed % 2000),
        _ => (TraceLevel::Everything, scenario.duration),
    };
    match seed % 8 {
        1 => scenario.taps.clear(),
        2 => scenario.set_clocks(|_| NodeClock::Random),
        5 | 6 => far_apart(&mut scenario),
        7 => {
            let bridged = with_fibre(&scenario, 0, Ticks(1 + seed % 100));
            scenario = bridged.unwrap_or(scenario);
        }
        _ => {}
    }
    if (seed / 8).is_multiple_of(3) {
        share_cables(&mut scenario);
    }
    compare(&scenario, wanted, slice)
}

/// Checks that both engines give the same. Returns the run by the event engine.
pub fn compare(scenario: &Scenario, wanted: TraceLevel, slice: u64) -> RunOutcome {
    let [event, step] = outcomes(scenario, wanted, slice);
    check(&event, &step);
    event
}

/// Gives nodes clocks so unlike that ticks with no character or two come often.
pub fn far_apart(scenario: &mut Scenario) {
    let seed = scenario.seed;
    scenario.set_clocks(|node| {
        let ppm = seed.wrapping_add(u64::from(node.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49;
        NodeClock::Ppm(i16::try_from(ppm).unwrap_or_default() - (1 << 14))
    });
}

/// Gives cables two or three virtual channels, every second one as a dateline, unless switches have extensions. C-7
#[expect(clippy::expect_used, reason = "nodes and ends of cables stay as they are")]
fn share_cables(scenario: &mut Scenario) {
    let topology = &scenario.topology;
    let is_extended = |node: &NodeSpec| matches!(node.kind, NodeKind::Switch(it) if it.extensions != ExtensionSupport::Off);
    let profile = match scenario.seed / 24 % 4 {
        0 => "VC0=50,VC1=51,VC2=52,GO0=61,GO1=62,GO2=64,STOP1=68,STOP2=70",
        _ => "VC0=50,VC1=51,GO1=60,STOP1=6f",
    };
    let profile: Option<LinkProfile> = profile.parse().ok();
    let at_fibre = |port: &NodePort| {
        let node = topology.node(port.node).map(|node| node.kind);
        matches!(node, Some(NodeKind::Switch(it)) if it.role == SwitchRole::FibreEnd)
    };
    if topology.nodes().iter().any(is_extended) {
        return;
    }
    let mut cables = topology.cables().to_vec();
    for (number, cable) in cables.iter_mut().enumerate() {
        let is_handshake = cable.link.wires.flow == CableFlow::Handshake;
        if is_handshake || cable.ends.iter().any(at_fibre) {
            continue;
        }
        for port in &mut cable.link.ports {
            port.profile = profile.as_ref().map(VirtualCodes::of);
            port.fill = FillMode::Chip;
            port.passage = if number % 2 == 1 { PassageMode::Next } else { PassageMode::Same };
        }
    }
    let shared = Topology::new(topology.nodes().to_vec(), cables);
    scenario.topology = shared.expect("other parameters fit as well");
}

/// Outcomes of a network, one by each engine.
fn outcomes(scenario: &Scenario, wanted: TraceLevel, slice: u64) -> [RunOutcome; 2] {
    [SimulationEngine::Event, SimulationEngine::Step]
        .map(|engine| run_with(engine, scenario, wanted, (VisitOrder::AsGiven, slice)))
}

fn check(event: &RunOutcome, step: &RunOutcome) {
    assert_eq!(step.skipped, 0);
    let same = event.rows.iter().zip(&step.rows).take_while(|(one, other)| one == other).count();
    assert_eq!(event.rows.get(same), step.rows.get(same), "engines agree on what happens");
    assert!(event.capture == step.capture, "engines agree on the capture");
    assert_eq!(event.passed, step.passed, "engines agree on the counters of ports");
    assert_eq!(event.hosts, step.hosts, "engines agree on the counters of hosts");
    assert_eq!(event.under_way, step.under_way, "engines agree on what is under way");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::canaries::two_hosts;

    fn changed(change: fn(&mut RunOutcome)) {
        let traffic =
            "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 30\nload = 0.3\n[[tap]]\nall = true\n";
        let scenario = two_hosts("duration_periods = 2000", traffic);
        let mut outcomes = outcomes(&scenario, TraceLevel::Everything, 500);
        let [event, step] = &mut outcomes;
        change(event);
        check(event, step);
    }

    #[test]
    fn the_canary_lives() {
        changed(|_| ());
    }

    pub(crate) fn an_event_a_period_late_is_caught() {
        changed(|outcome| outcome.rows[5].at += 1);
    }

    pub(crate) fn another_character_is_caught() {
        changed(|outcome| outcome.capture[1000] ^= 1);
    }
}
