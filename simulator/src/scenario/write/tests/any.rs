//! Random scenarios that cover all limits of the file format.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::fault::{BitErrors, FaultKind, FaultSpec};
use crate::interface::{ConsumptionMode, DmaBus, InterfaceParameters};
use crate::link::{
    FillMode, FramingMode, LinkParameters, PortParameters, ResetEnding, SlackSize, SymbolSet,
};
use crate::messaging::{
    EndpointParameters, EndpointPlan, MessageCosts, MessageKind, MessageStream, MessagingPlan,
    ProtocolLayers, ReturnHandler, TransferMode, WakeMode,
};
use crate::rng::Rng;
use crate::routes::{RouteTable, RoutingMethod};
use crate::scenario::{PortTap, Scenario};
use crate::topology::{
    CableSpec, ExtensionSupport, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};
use crate::traffic::{ArrivalProcess, PayloadSize, RawText, StreamDestination, TrafficStream};
use crate::transport::{Micros, TransportParameters};
use codec::character::{Character, ProbeNumber};
use codec::packet::PacketTag;
use codec::route::{PortId, RouteAddressing};
use codec::time::Ticks;
use codec::transport::{EndpointId, EndpointKey, Nic};

pub(super) fn scenario(dice: &mut Rng) -> Scenario {
    let topology = topology(dice);
    let duration = dice.between(1_000, 1 << 40);
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let mut routes = RouteTable::compute(&topology, pick(dice, &METHODS)).unwrap();
    let (from, to) = (pick(dice, &hosts), pick(dice, &hosts));
    routes.set(from, to, several(dice, 5, |dice| byte(dice, 0x80, 0xff)));
    let mut faults = several(dice, 8, |dice| fault(dice, &topology, duration));
    faults.sort_by_key(|fault| fault.at);
    Scenario {
        seed: dice.next_u64(),
        duration,
        interfaces: hosts.iter().map(|host| (*host, interface(dice))).collect(),
        routes,
        streams: several(dice, 4, |dice| stream(dice, &hosts, duration)),
        raw: several(dice, 2, |dice| raw(dice, &hosts, duration)),
        messaging: if dice.below(2) == 0 {
            BTreeMap::new()
        } else {
            messaging(dice, &topology, duration)
        },
        faults,
        taps: taps(dice, &topology, duration),
        topology,
    }
}

const METHODS: [RoutingMethod; 2] = [RoutingMethod::UpDown, RoutingMethod::Shortest];

fn pick<T: Copy>(dice: &mut Rng, all: &[T]) -> T {
    all[usize::try_from(dice.below(all.len() as u64)).unwrap()]
}

fn up_to(dice: &mut Rng, most: u32) -> u32 {
    u32::try_from(dice.between(0, most.into())).unwrap()
}

fn short(dice: &mut Rng, first: u16, last: u16) -> u16 {
    u16::try_from(dice.between(first.into(), last.into())).unwrap()
}

fn byte(dice: &mut Rng, first: u8, last: u8) -> u8 {
    u8::try_from(dice.between(first.into(), last.into())).unwrap()
}

fn several<T>(dice: &mut Rng, most: u64, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    (0..dice.between(0, most)).map(|_| one(dice)).collect()
}

fn positive(dice: &mut Rng, most: u32) -> NonZeroU32 {
    NonZeroU32::new(1 + up_to(dice, most - 1)).unwrap()
}

/// Default value with probability 1/2.
fn often<T: Default>(dice: &mut Rng, other: impl FnOnce(&mut Rng) -> T) -> T {
    if dice.below(2) == 0 { T::default() } else { other(dice) }
}

/// Line of switches with hosts, with names that need escapes.
fn topology(dice: &mut Rng) -> Topology {
    let (switches, hosts) = (1 + up_to(dice, 2), 2 + up_to(dice, 3));
    let switch = |dice: &mut Rng, i| NodeSpec { name: format!("s\"{i}"), kind: switch(dice) };
    let mut nodes: Vec<NodeSpec> = (0..switches).map(|i| switch(dice, i)).collect();
    nodes.extend((0..hosts).map(|i| NodeSpec { name: format!("h\\é{i}"), kind: NodeKind::Host }));
    let port = |node, port| NodePort { node: NodeId(node), port: PortId(port) };
    let mut cables = Vec::new();
    for i in 0..hosts {
        let at = port(i % switches, u8::try_from(i / switches).unwrap());
        let mut ends = [port(switches + i, 0), at];
        if dice.below(4) == 0 {
            ends.reverse();
        }
        cables.push(CableSpec { ends, link: link(dice) });
    }
    let between =
        |dice: &mut Rng, i| CableSpec { ends: [port(i - 1, 6), port(i, 7)], link: link(dice) };
    cables.extend((1..switches).map(|i| between(dice, i)));
    if dice.below(3) == 0 {
        cables.reverse();
    }
    Topology::new(nodes, cables).unwrap()
}

fn link(dice: &mut Rng) -> LinkParameters {
    often(dice, |dice| {
        let delay = Ticks(dice.between(1, 1 << 20));
        let ports = [port_parameters(dice), port_parameters(dice)];
        if dice.below(2) == 0 {
            LinkParameters::alike(delay, ports[0])
        } else {
            LinkParameters { delay, ports }
        }
    })
}

fn port_parameters(dice: &mut Rng) -> PortParameters {
    often(dice, |dice| PortParameters {
        divisor: positive(dice, 1024),
        slack: SlackSize {
            go_slack: up_to(dice, 1 << 20),
            hysteresis: positive(dice, 1 << 20).get(),
            stop_slack: up_to(dice, 1 << 20),
        },
        generation: byte(dice, 0, 15),
        interpretation: byte(dice, 0, 15),
        blocked: Ticks(dice.between(1, 1 << 40)),
        symbols: pick(dice, &[SymbolSet::Mandatory, SymbolSet::All]),
        replies: dice.below(2) == 0,
        reset: pick(dice, &ResetEnding::WORDS).1,
        fill: pick(dice, &FillMode::WORDS).1,
        framing: pick(dice, &FramingMode::WORDS).1,
    })
}

fn switch(dice: &mut Rng) -> NodeKind {
    NodeKind::Switch(SwitchParameters {
        ports: byte(dice, 8, 32),
        addressing: pick(dice, &[RouteAddressing::Relative, RouteAddressing::Absolute]),
        routing: byte(dice, 0, 255),
        token_step: byte(dice, 0, 255),
        extensions: pick(dice, &[ExtensionSupport::Off, ExtensionSupport::On]),
    })
}

fn consumption(dice: &mut Rng) -> ConsumptionMode {
    let every = ConsumptionMode::Every(positive(dice, 1 << 20));
    pick(
        dice,
        &[ConsumptionMode::Always, ConsumptionMode::Never, ConsumptionMode::Adversary, every],
    )
}

fn interface(dice: &mut Rng) -> InterfaceParameters {
    often(dice, |dice| InterfaceParameters {
        bus: pick(dice, &[DmaBus::Ideal, DmaBus::SBus]),
        send_memory: up_to(dice, 1 << 30),
        receive_memory: up_to(dice, 1 << 30),
        consumption: consumption(dice),
        boot: Ticks(dice.below(1 << 40)),
        commands: positive(dice, 1 << 20).get(),
    })
}

fn size(dice: &mut Rng, least: u32, most: u32) -> PayloadSize {
    let one = |dice: &mut Rng| least + up_to(dice, most - least);
    let (a, b) = (one(dice), one(dice));
    match dice.below(3) {
        0 => PayloadSize::Fixed(a),
        1 => PayloadSize::Uniform(a.min(b), a.max(b)),
        _ => PayloadSize::Bimodal { small: a, large: b, share: short(dice, 0, u16::MAX) },
    }
}

fn arrivals(dice: &mut Rng) -> ArrivalProcess {
    let every = Ticks(dice.between(1, 1 << 40));
    match dice.below(5) {
        0 => ArrivalProcess::Constant(every),
        1 => ArrivalProcess::Poisson(every),
        2 => ArrivalProcess::Bursts(positive(dice, 1 << 20), every),
        3 => ArrivalProcess::Saturating,
        _ => ArrivalProcess::Closed(positive(dice, 1 << 20), Ticks(dice.below(1 << 40))),
    }
}

fn pair(dice: &mut Rng, hosts: &[NodeId]) -> (NodeId, NodeId) {
    let from = pick(dice, hosts);
    let others: Vec<NodeId> = hosts.iter().copied().filter(|to| *to != from).collect();
    (from, pick(dice, &others))
}

fn stream(dice: &mut Rng, hosts: &[NodeId], duration: u64) -> TrafficStream {
    let (from, to) = pair(dice, hosts);
    TrafficStream {
        from,
        to: match dice.below(4) {
            0 | 1 => StreamDestination::One(to),
            2 => StreamDestination::Among(vec![to]),
            _ => StreamDestination::Among(hosts.to_vec()),
        },
        tag: PacketTag::new(byte(dice, 0, 127)).unwrap(),
        payload: size(dice, 0, 1 << 20),
        arrivals: arrivals(dice),
        start: dice.below(duration),
        packets: often(dice, |dice| Some(dice.next_u64())),
    }
}

fn raw(dice: &mut Rng, hosts: &[NodeId], duration: u64) -> RawText {
    let from = pick(dice, hosts);
    let one = |dice: &mut Rng| match dice.below(2) {
        0 => Character::Data(byte(dice, 0, 255)),
        _ => Character::Control(byte(dice, 0, 255)),
    };
    RawText { from, at: dice.below(duration), chars: several(dice, 20, one).into_iter().collect() }
}

fn fault(dice: &mut Rng, topology: &Topology, duration: u64) -> FaultSpec {
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let ports: Vec<NodePort> = topology.cables().iter().flat_map(|cable| cable.ends).collect();
    let own = |port: &NodePort| !hosts.contains(&port.node);
    let switched: Vec<NodePort> = ports.iter().copied().filter(own).collect();
    let (channel, host) = (pick(dice, &ports), pick(dice, &hosts));
    let what = match dice.below(12) {
        0 => {
            let errors = pick(dice, &[BitErrors::Weaken, BitErrors::Flip]);
            FaultKind::Noise { channel, errors, mean: dice.between(1, 1 << 40) }
        }
        1 => FaultKind::Flip { channel, bits: short(dice, 1, 0x1ff) },
        2 => FaultKind::OpenWire { channel, wire: byte(dice, 0, 8) },
        3 => FaultKind::Cut { port: channel },
        4 => FaultKind::LoseGap { channel },
        5 => FaultKind::ForwardReset { port: channel },
        6 => FaultKind::BackwardReset { port: channel },
        7 => {
            FaultKind::Probe { port: channel, number: ProbeNumber::new(byte(dice, 0, 7)).unwrap() }
        }
        8 => FaultKind::PowerOff { node: channel.node },
        9 => FaultKind::DeadPort { port: pick(dice, &switched) },
        10 => FaultKind::Consume { host, how: consumption(dice) },
        _ => FaultKind::Restart { host },
    };
    let at = dice.below(duration);
    let at_once = matches!(
        what,
        FaultKind::Flip { .. }
            | FaultKind::ForwardReset { .. }
            | FaultKind::BackwardReset { .. }
            | FaultKind::Probe { .. }
            | FaultKind::Restart { .. }
    );
    let lasts = dice.between(1, 1 << 40);
    let until = if at_once { None } else { often(dice, |_| Some(at + lasts)) };
    FaultSpec { at, until, kind: what }
}

fn taps(dice: &mut Rng, topology: &Topology, duration: u64) -> Vec<PortTap> {
    let whole = dice.below(2) == 0;
    let from = often(dice, |dice| dice.below(duration - 1));
    let mut taps = Vec::new();
    for cable in topology.cables() {
        let port = if whole { cable.ends[0] } else { pick(dice, &cable.ends) };
        let to = if whole { duration } else { dice.between(from + 1, duration) };
        taps.push(PortTap { port, from, to });
    }
    taps
}

fn costs(dice: &mut Rng) -> MessageCosts {
    let base = pick(dice, &[MessageCosts::AM_II, MessageCosts::GAM, MessageCosts::NOTHING]);
    if dice.below(2) == 0 {
        return base;
    }
    MessageCosts {
        host_quantum: dice.below(1 << 40),
        answer_receive: dice.below(1 << 40),
        bus_burst: dice.below(100),
        transfers: pick(dice, &[TransferMode::StoreAndForward, TransferMode::Pipelined]),
        send_buffers: byte(dice, 1, 255),
        page: up_to(dice, 1 << 20),
        ..base
    }
}

fn messaging(
    dice: &mut Rng,
    topology: &Topology,
    duration: u64,
) -> BTreeMap<NodeId, MessagingPlan> {
    let nodes = u16::try_from(topology.nodes().len()).unwrap();
    let micros = |dice: &mut Rng| Micros(dice.between(1, 3_600_000_000));
    let transport = TransportParameters {
        nics: short(dice, nodes, 4096),
        channels: byte(dice, 1, 32),
        scan: micros(dice),
        timeout: micros(dice),
        retries: short(dice, 1, u16::MAX).into(),
    };
    let parameters = often(dice, |dice| EndpointParameters {
        frames: byte(dice, 1, 255),
        credits: short(dice, 1, 1 << 12),
        request_queue: short(dice, 1, 1 << 14),
        staging: short(dice, 1, 1 << 14),
        dma: (dice.below(2) == 0).then(|| byte(dice, 1, 255)),
        mappings: (dice.below(2) == 0).then(|| short(dice, 2, 1 << 14)),
        map: dice.below(1 << 40),
        burst_log2: byte(dice, 0, 31),
        load: dice.below(1 << 40),
        patience: dice.below(1 << 40),
        layers: pick(
            dice,
            &[ProtocolLayers::Baseline, ProtocolLayers::Reliability, ProtocolLayers::Protection],
        ),
    });
    let mut plans = BTreeMap::new();
    for host in topology.hosts() {
        let endpoint = |dice: &mut Rng, id| EndpointPlan {
            id: EndpointId(id),
            key: EndpointKey(dice.next_u64()),
            segment: up_to(dice, 1 << 20),
            wake: pick(dice, &[WakeMode::Poll, WakeMode::Event]),
        };
        let endpoints = (0..short(dice, 1, 3)).map(|id| endpoint(dice, id)).collect();
        let nic = Nic(u16::try_from(host.0).unwrap());
        let (streams, names) = (Vec::new(), Vec::new());
        let plan = MessagingPlan {
            nic,
            transport,
            parameters,
            costs: costs(dice),
            endpoints,
            streams,
            names,
        };
        plans.insert(host, plan);
    }
    (0..dice.below(6)).for_each(|_| add_streams(dice, &mut plans, duration));
    for plan in plans.values_mut() {
        plan.names.sort_unstable();
        plan.names.dedup();
    }
    plans
}

/// Adds a stream to an endpoint that may not exist.
fn add_streams(dice: &mut Rng, plans: &mut BTreeMap<NodeId, MessagingPlan>, duration: u64) {
    let hosts: Vec<NodeId> = plans.keys().copied().collect();
    let (from, to) = pair(dice, &hosts);
    let sender = pick(dice, &plans[&from].endpoints.iter().map(|it| it.id).collect::<Vec<_>>());
    let receiver = EndpointId(short(dice, 0, 3));
    let there = plans[&to].endpoints.iter().find(|it| it.id == receiver).cloned();
    let segment = there.as_ref().map_or(1 << 24, |it| it.segment);
    let kinds = [MessageKind::Short, MessageKind::Medium, MessageKind::Bulk];
    let kind = pick(dice, if segment < 4 { &kinds[..2] } else { &kinds });
    let size = match kind {
        MessageKind::Short => match size(dice, 1, 8) {
            PayloadSize::Fixed(words) => PayloadSize::Fixed(4 * words),
            PayloadSize::Uniform(least, most) => PayloadSize::Uniform(4 * least, 4 * most),
            PayloadSize::Bimodal { small, large, share } => {
                PayloadSize::Bimodal { small: 4 * small, large: 4 * large, share }
            }
        },
        MessageKind::Medium => size(dice, 4, 8192),
        MessageKind::Bulk => size(dice, 4, segment),
    };
    let known = there.map_or(EndpointKey(0), |it| it.key);
    let stream = MessageStream {
        from: sender,
        to: (plans[&to].nic, receiver),
        key: pick(dice, &[known, EndpointKey(7)]),
        kind,
        size,
        arrivals: arrivals(dice),
        start: dice.below(duration),
        count: often(dice, |dice| Some(dice.next_u64())),
        returned: match dice.below(3) {
            0 => ReturnHandler::Drop,
            1 => ReturnHandler::SendAgain,
            _ => ReturnHandler::SendElsewhere((plans[&to].nic, receiver), known),
        },
    };
    let name = (plans[&from].nic, sender);
    let key = plans[&from].endpoints[usize::from(sender.0)].key;
    plans.get_mut(&from).unwrap().streams.push(stream);
    plans.get_mut(&to).unwrap().names.push((name, key));
}
