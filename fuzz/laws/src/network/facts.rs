//! Facts about ports that follow from a scenario and its truth, without any character.

use codec::character::{Character, DecodedCode, Symbol, decode_control};
use simulator::fault::{FaultKind, FaultPlace, FaultSpec};
use simulator::link::{FillMode, LinkParameters, PortParameters};
use simulator::scenario::Scenario;
use simulator::topology::{CableSpec, NodeKind, NodePort, SwitchRole, Topology};
use simulator::truth::{TruthEvent, TruthEventKind};
use simulator::wires::CableFlow;

/// Time when a port's slack buffer has STOP or GO sent, in periods of the port: it is generated for so
/// many periods. F-4, F-6
pub fn commands_due<'a>(
    port: &PortParameters,
    rows: impl Iterator<Item = &'a TruthEvent>,
) -> impl Iterator<Item = u64> {
    let (divisor, generation) = (u64::from(port.divisor.get()), u64::from(port.generation));
    let crossed = rows.filter(|row| matches!(row.kind, TruthEventKind::Threshold { .. }));
    crossed.map(move |row| row.at.div_ceil(divisor) + generation)
}

/// Tests whether the analyzer can find open links of the scenario. It counts silence in periods of the
/// channel that it reads, as if both ends had one rate; W-6 counts those of the receiver.
pub fn rates_are_alike(scenario: &Scenario) -> bool {
    let ports = scenario.topology.cables().iter().map(|cable| cable.link.ports);
    ports.into_iter().all(|[a, b]| a.divisor == b.divisor)
}

/// The fill of a link that is never silent between packets, whatever its rate: STOP or GO for IDLE. F-7
pub const fn without_idle(fill: FillMode) -> FillMode {
    match fill {
        FillMode::Idle(_) => FillMode::Commands,
        FillMode::Chip | FillMode::Gaps | FillMode::Commands => fill,
    }
}

/// Number of switches; ends of fibres are none.
pub fn switches(topology: &Topology) -> usize {
    let is_switch = |kind| matches!(kind, NodeKind::Switch(it) if it.role == SwitchRole::Crossbar);
    topology.nodes().iter().filter(|node| is_switch(node.kind)).count()
}

/// Tests whether either end of a link takes the other for alive, whatever it fills with: silence is counted in
/// periods of the receiver. F-7, F-8, W-6
pub fn keeps_alive(link: &LinkParameters) -> bool {
    let [a, b] = &link.ports;
    let hears = |own: &PortParameters, far: &PortParameters| {
        let every = match far.fill {
            FillMode::Idle(every) => every.into(),
            FillMode::Chip | FillMode::Commands | FillMode::Gaps => 1,
        };
        own.divisor == far.divisor || every * far.divisor.get() < 16 * own.divisor.get()
    };
    hears(a, b) && hears(b, a)
}

/// Tests whether a port is a host's that is made to send codes that change what is framed, or that are
/// no symbols, or enough IDLE for a silence.
pub fn is_forged(scenario: &Scenario, port: NodePort) -> bool {
    let own = scenario.raw.iter().filter(|raw| raw.from == port.node);
    let mut idle = 0;
    own.flat_map(|raw| raw.chars.chars().iter()).any(|character| match character {
        Character::IDLE => {
            idle += 1;
            idle >= forged_silence(scenario, port)
        }
        Character::Control(code) => match decode_control(code) {
            DecodedCode::Exact(symbol) => symbol == Symbol::ForwardReset,
            DecodedCode::Corrected(_) | DecodedCode::Invalid => true,
        },
        Character::Data(_) => false,
    })
}

/// The number of IDLE sent by a port that may complete a silence: one beside the silence of lost power or fill of
/// IDLE, whose only other character it may replace. A faster receiver hears silence between characters too. F-7, F-8,
/// W-6
fn forged_silence(scenario: &Scenario, port: NodePort) -> u32 {
    let Some(link) = scenario.topology.link(port) else { return 16 };
    let [own, far] = link.ports.map(|port| port.divisor.get());
    if is_sparse(scenario, port) {
        1
    } else if own > far {
        (16 * far / own).saturating_sub(1).max(1)
    } else {
        16
    }
}

/// Tests whether a port fills with IDLE or loses its power. F-7, F-8
fn is_sparse(scenario: &Scenario, port: NodePort) -> bool {
    let link = scenario.topology.link(port);
    link.is_some_and(|link| matches!(link.ports[0].fill, FillMode::Idle(_)))
        || power_lost(scenario, port).next().is_some()
}

/// Tests whether a host may forge a silence on its channel that the truth does not have.
pub fn forges_silence(scenario: &Scenario) -> bool {
    scenario.raw.iter().any(|raw| {
        raw.chars.chars().iter().any(|it| it == Character::IDLE)
            && scenario.topology.ports(raw.from).any(|port| is_sparse(scenario, port))
    })
}

/// Times at which a port loses its power, in order.
pub fn power_lost(scenario: &Scenario, port: NodePort) -> impl Iterator<Item = u64> {
    let off = scenario.faults.iter().filter(move |fault| match fault.kind.acts_on() {
        FaultPlace::Node => fault.place.node == port.node,
        FaultPlace::SwitchPort => fault.place == port,
        FaultPlace::Port | FaultPlace::Sender | FaultPlace::Host => false,
    });
    off.map(|fault| fault.at)
}

/// Tests whether characters sent on a channel arrive as they are, and its sender made them.
pub fn is_sound(scenario: &Scenario, from: NodePort, to: NodePort) -> bool {
    !scenario.faults.iter().any(|fault| harms(fault, from, to)) && !is_forged(scenario, from)
}

/// Tests whether a fault may change or lose characters of a channel.
fn harms(fault: &FaultSpec, from: NodePort, to: NodePort) -> bool {
    match fault.kind {
        FaultKind::Noise { .. }
        | FaultKind::Flip { .. }
        | FaultKind::OpenWire { .. }
        | FaultKind::Wires(_)
        | FaultKind::LoseGap => fault.place == from,
        FaultKind::Cut | FaultKind::DeadPort => fault.place == from || fault.place == to,
        FaultKind::PowerOff | FaultKind::SupplyOff => {
            [from.node, to.node].contains(&fault.place.node)
        }
        FaultKind::ForwardReset
        | FaultKind::BackwardReset
        | FaultKind::Probe(_)
        | FaultKind::Consume(_)
        | FaultKind::Restart => false,
    }
}

/// Tests whether a fault may lose a character of a handshake cable, for whose acknowledge its sender then
/// waits for ever. B-1
pub fn stands_still(topology: &Topology, fault: &FaultSpec) -> bool {
    topology.cables().iter().any(|CableSpec { ends: [a, b], link }| {
        link.wires.flow == CableFlow::Handshake && (harms(fault, *a, *b) || harms(fault, *b, *a))
    })
}
