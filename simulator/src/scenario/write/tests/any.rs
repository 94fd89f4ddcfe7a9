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

pub(super) fn scenario(rng: &mut Rng) -> Scenario {
    let topology = topology(rng);
    let duration = rng.between(1_000, 1 << 40);
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let mut routes = RouteTable::compute(&topology, pick(rng, &METHODS)).unwrap();
    let (from, to) = (pick(rng, &hosts), pick(rng, &hosts));
    routes.set(from, to, several(rng, 5, |rng| byte(rng, 0x80, 0xff)));
    let mut faults = several(rng, 8, |rng| fault(rng, &topology, duration));
    faults.sort_by_key(|fault| fault.at);
    Scenario {
        seed: rng.next_u64(),
        duration,
        interfaces: hosts.iter().map(|host| (*host, interface(rng))).collect(),
        routes,
        streams: several(rng, 4, |rng| stream(rng, &hosts, duration)),
        raw: several(rng, 2, |rng| raw(rng, &hosts, duration)),
        messaging: if rng.below(2) == 0 {
            BTreeMap::new()
        } else {
            messaging(rng, &topology, duration)
        },
        faults,
        taps: taps(rng, &topology, duration),
        topology,
    }
}

const METHODS: [RoutingMethod; 2] = [RoutingMethod::UpDown, RoutingMethod::Shortest];

fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[usize::try_from(rng.below(all.len() as u64)).unwrap()]
}

fn up_to(rng: &mut Rng, most: u32) -> u32 {
    u32::try_from(rng.between(0, most.into())).unwrap()
}

fn short(rng: &mut Rng, first: u16, last: u16) -> u16 {
    u16::try_from(rng.between(first.into(), last.into())).unwrap()
}

fn byte(rng: &mut Rng, first: u8, last: u8) -> u8 {
    u8::try_from(rng.between(first.into(), last.into())).unwrap()
}

fn several<T>(rng: &mut Rng, most: u64, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    (0..rng.between(0, most)).map(|_| one(rng)).collect()
}

fn positive(rng: &mut Rng, most: u32) -> NonZeroU32 {
    NonZeroU32::new(1 + up_to(rng, most - 1)).unwrap()
}

/// Default value with probability 1/2.
fn often<T: Default>(rng: &mut Rng, other: impl FnOnce(&mut Rng) -> T) -> T {
    if rng.below(2) == 0 { T::default() } else { other(rng) }
}

/// Line of switches with hosts, with names that need escapes.
fn topology(rng: &mut Rng) -> Topology {
    let (switches, hosts) = (1 + up_to(rng, 2), 2 + up_to(rng, 3));
    let switch = |rng: &mut Rng, i| NodeSpec { name: format!("s\"{i}"), kind: switch(rng) };
    let mut nodes: Vec<NodeSpec> = (0..switches).map(|i| switch(rng, i)).collect();
    nodes.extend((0..hosts).map(|i| NodeSpec { name: format!("h\\é{i}"), kind: NodeKind::Host }));
    let port = |node, port| NodePort { node: NodeId(node), port: PortId(port) };
    let mut cables = Vec::new();
    for i in 0..hosts {
        let at = port(i % switches, u8::try_from(i / switches).unwrap());
        let mut ends = [port(switches + i, 0), at];
        if rng.below(4) == 0 {
            ends.reverse();
        }
        cables.push(CableSpec { ends, link: link(rng) });
    }
    let between =
        |rng: &mut Rng, i| CableSpec { ends: [port(i - 1, 6), port(i, 7)], link: link(rng) };
    cables.extend((1..switches).map(|i| between(rng, i)));
    if rng.below(3) == 0 {
        cables.reverse();
    }
    Topology::new(nodes, cables).unwrap()
}

fn link(rng: &mut Rng) -> LinkParameters {
    often(rng, |rng| {
        let delay = Ticks(rng.between(1, 1 << 20));
        let ports = [port_parameters(rng), port_parameters(rng)];
        if rng.below(2) == 0 {
            LinkParameters::alike(delay, ports[0])
        } else {
            LinkParameters { delay, ports }
        }
    })
}

fn port_parameters(rng: &mut Rng) -> PortParameters {
    often(rng, |rng| PortParameters {
        divisor: positive(rng, 1024),
        slack: SlackSize {
            go_slack: up_to(rng, 1 << 20),
            hysteresis: positive(rng, 1 << 20).get(),
            stop_slack: up_to(rng, 1 << 20),
        },
        generation: byte(rng, 0, 15),
        interpretation: byte(rng, 0, 15),
        blocked: Ticks(rng.between(1, 1 << 40)),
        symbols: pick(rng, &[SymbolSet::Mandatory, SymbolSet::All]),
        replies: rng.below(2) == 0,
        reset: pick(rng, &ResetEnding::WORDS).1,
        fill: pick(rng, &FillMode::WORDS).1,
        framing: pick(rng, &FramingMode::WORDS).1,
    })
}

fn switch(rng: &mut Rng) -> NodeKind {
    NodeKind::Switch(SwitchParameters {
        ports: byte(rng, 8, 32),
        addressing: pick(rng, &[RouteAddressing::Relative, RouteAddressing::Absolute]),
        routing: byte(rng, 0, 255),
        token_step: byte(rng, 0, 255),
        extensions: pick(rng, &[ExtensionSupport::Off, ExtensionSupport::On]),
    })
}

fn consumption(rng: &mut Rng) -> ConsumptionMode {
    let every = ConsumptionMode::Every(positive(rng, 1 << 20));
    pick(rng, &[ConsumptionMode::Always, ConsumptionMode::Never, ConsumptionMode::Adversary, every])
}

fn interface(rng: &mut Rng) -> InterfaceParameters {
    often(rng, |rng| InterfaceParameters {
        bus: pick(rng, &[DmaBus::Ideal, DmaBus::SBus]),
        send_memory: up_to(rng, 1 << 30),
        receive_memory: up_to(rng, 1 << 30),
        consumption: consumption(rng),
        boot: Ticks(rng.below(1 << 40)),
        commands: positive(rng, 1 << 20).get(),
    })
}

fn size(rng: &mut Rng, least: u32, most: u32) -> PayloadSize {
    let one = |rng: &mut Rng| least + up_to(rng, most - least);
    let (a, b) = (one(rng), one(rng));
    match rng.below(3) {
        0 => PayloadSize::Fixed(a),
        1 => PayloadSize::Uniform(a.min(b), a.max(b)),
        _ => PayloadSize::Bimodal { small: a, large: b, share: short(rng, 0, u16::MAX) },
    }
}

fn arrivals(rng: &mut Rng) -> ArrivalProcess {
    let every = Ticks(rng.between(1, 1 << 40));
    match rng.below(5) {
        0 => ArrivalProcess::Constant(every),
        1 => ArrivalProcess::Poisson(every),
        2 => ArrivalProcess::Bursts(positive(rng, 1 << 20), every),
        3 => ArrivalProcess::Saturating,
        _ => ArrivalProcess::Closed(positive(rng, 1 << 20), Ticks(rng.below(1 << 40))),
    }
}

fn pair(rng: &mut Rng, hosts: &[NodeId]) -> (NodeId, NodeId) {
    let from = pick(rng, hosts);
    let others: Vec<NodeId> = hosts.iter().copied().filter(|to| *to != from).collect();
    (from, pick(rng, &others))
}

fn stream(rng: &mut Rng, hosts: &[NodeId], duration: u64) -> TrafficStream {
    let (from, to) = pair(rng, hosts);
    TrafficStream {
        from,
        to: match rng.below(4) {
            0 | 1 => StreamDestination::One(to),
            2 => StreamDestination::Among(vec![to]),
            _ => StreamDestination::Among(hosts.to_vec()),
        },
        tag: PacketTag::new(byte(rng, 0, 127)).unwrap(),
        payload: size(rng, 0, 1 << 20),
        arrivals: arrivals(rng),
        start: rng.below(duration),
        packets: often(rng, |rng| Some(rng.next_u64())),
    }
}

fn raw(rng: &mut Rng, hosts: &[NodeId], duration: u64) -> RawText {
    let from = pick(rng, hosts);
    let one = |rng: &mut Rng| match rng.below(2) {
        0 => Character::Data(byte(rng, 0, 255)),
        _ => Character::Control(byte(rng, 0, 255)),
    };
    RawText { from, at: rng.below(duration), chars: several(rng, 20, one).into_iter().collect() }
}

fn fault(rng: &mut Rng, topology: &Topology, duration: u64) -> FaultSpec {
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let ports: Vec<NodePort> = topology.cables().iter().flat_map(|cable| cable.ends).collect();
    let own = |port: &NodePort| !hosts.contains(&port.node);
    let switched: Vec<NodePort> = ports.iter().copied().filter(own).collect();
    let (channel, host) = (pick(rng, &ports), pick(rng, &hosts));
    let what = match rng.below(12) {
        0 => {
            let errors = pick(rng, &[BitErrors::Weaken, BitErrors::Flip]);
            FaultKind::Noise { channel, errors, mean: rng.between(1, 1 << 40) }
        }
        1 => FaultKind::Flip { channel, bits: short(rng, 1, 0x1ff) },
        2 => FaultKind::OpenWire { channel, wire: byte(rng, 0, 8) },
        3 => FaultKind::Cut { port: channel },
        4 => FaultKind::LoseGap { channel },
        5 => FaultKind::ForwardReset { port: channel },
        6 => FaultKind::BackwardReset { port: channel },
        7 => FaultKind::Probe { port: channel, number: ProbeNumber::new(byte(rng, 0, 7)).unwrap() },
        8 => FaultKind::PowerOff { node: channel.node },
        9 => FaultKind::DeadPort { port: pick(rng, &switched) },
        10 => FaultKind::Consume { host, how: consumption(rng) },
        _ => FaultKind::Restart { host },
    };
    let at = rng.below(duration);
    let at_once = matches!(
        what,
        FaultKind::Flip { .. }
            | FaultKind::ForwardReset { .. }
            | FaultKind::BackwardReset { .. }
            | FaultKind::Probe { .. }
            | FaultKind::Restart { .. }
    );
    let lasts = rng.between(1, 1 << 40);
    let until = if at_once { None } else { often(rng, |_| Some(at + lasts)) };
    FaultSpec { at, until, kind: what }
}

fn taps(rng: &mut Rng, topology: &Topology, duration: u64) -> Vec<PortTap> {
    let whole = rng.below(2) == 0;
    let from = often(rng, |rng| rng.below(duration - 1));
    let mut taps = Vec::new();
    for cable in topology.cables() {
        let port = if whole { cable.ends[0] } else { pick(rng, &cable.ends) };
        let to = if whole { duration } else { rng.between(from + 1, duration) };
        taps.push(PortTap { port, from, to });
    }
    taps
}

fn costs(rng: &mut Rng) -> MessageCosts {
    let base = pick(rng, &[MessageCosts::AM_II, MessageCosts::GAM, MessageCosts::NOTHING]);
    if rng.below(2) == 0 {
        return base;
    }
    MessageCosts {
        host_quantum: rng.below(1 << 40),
        answer_receive: rng.below(1 << 40),
        bus_burst: rng.below(100),
        transfers: pick(rng, &[TransferMode::StoreAndForward, TransferMode::Pipelined]),
        send_buffers: byte(rng, 1, 255),
        page: up_to(rng, 1 << 20),
        ..base
    }
}

fn messaging(rng: &mut Rng, topology: &Topology, duration: u64) -> BTreeMap<NodeId, MessagingPlan> {
    let nodes = u16::try_from(topology.nodes().len()).unwrap();
    let micros = |rng: &mut Rng| Micros(rng.between(1, 3_600_000_000));
    let transport = TransportParameters {
        nics: short(rng, nodes, 4096),
        channels: byte(rng, 1, 32),
        scan: micros(rng),
        timeout: micros(rng),
        retries: short(rng, 1, u16::MAX).into(),
    };
    let parameters = often(rng, |rng| EndpointParameters {
        frames: byte(rng, 1, 255),
        credits: short(rng, 1, 1 << 12),
        request_queue: short(rng, 1, 1 << 14),
        staging: short(rng, 1, 1 << 14),
        dma: (rng.below(2) == 0).then(|| byte(rng, 1, 255)),
        mappings: (rng.below(2) == 0).then(|| short(rng, 2, 1 << 14)),
        map: rng.below(1 << 40),
        burst_log2: byte(rng, 0, 31),
        load: rng.below(1 << 40),
        patience: rng.below(1 << 40),
        layers: pick(
            rng,
            &[ProtocolLayers::Baseline, ProtocolLayers::Reliability, ProtocolLayers::Protection],
        ),
    });
    let mut plans = BTreeMap::new();
    for host in topology.hosts() {
        let endpoint = |rng: &mut Rng, id| EndpointPlan {
            id: EndpointId(id),
            key: EndpointKey(rng.next_u64()),
            segment: up_to(rng, 1 << 20),
            wake: pick(rng, &[WakeMode::Poll, WakeMode::Event]),
        };
        let endpoints = (0..short(rng, 1, 3)).map(|id| endpoint(rng, id)).collect();
        let nic = Nic(u16::try_from(host.0).unwrap());
        let (streams, names) = (Vec::new(), Vec::new());
        let plan = MessagingPlan {
            nic,
            transport,
            parameters,
            costs: costs(rng),
            endpoints,
            streams,
            names,
        };
        plans.insert(host, plan);
    }
    (0..rng.below(6)).for_each(|_| add_streams(rng, &mut plans, duration));
    for plan in plans.values_mut() {
        plan.names.sort_unstable();
        plan.names.dedup();
    }
    plans
}

/// Adds a stream to an endpoint that may not exist.
fn add_streams(rng: &mut Rng, plans: &mut BTreeMap<NodeId, MessagingPlan>, duration: u64) {
    let hosts: Vec<NodeId> = plans.keys().copied().collect();
    let (from, to) = pair(rng, &hosts);
    let sender = pick(rng, &plans[&from].endpoints.iter().map(|it| it.id).collect::<Vec<_>>());
    let receiver = EndpointId(short(rng, 0, 3));
    let there = plans[&to].endpoints.iter().find(|it| it.id == receiver).cloned();
    let segment = there.as_ref().map_or(1 << 24, |it| it.segment);
    let kinds = [MessageKind::Short, MessageKind::Medium, MessageKind::Bulk];
    let kind = pick(rng, if segment < 4 { &kinds[..2] } else { &kinds });
    let size = match kind {
        MessageKind::Short => match size(rng, 1, 8) {
            PayloadSize::Fixed(words) => PayloadSize::Fixed(4 * words),
            PayloadSize::Uniform(least, most) => PayloadSize::Uniform(4 * least, 4 * most),
            PayloadSize::Bimodal { small, large, share } => {
                PayloadSize::Bimodal { small: 4 * small, large: 4 * large, share }
            }
        },
        MessageKind::Medium => size(rng, 4, 8192),
        MessageKind::Bulk => size(rng, 4, segment),
    };
    let known = there.map_or(EndpointKey(0), |it| it.key);
    let stream = MessageStream {
        from: sender,
        to: (plans[&to].nic, receiver),
        key: pick(rng, &[known, EndpointKey(7)]),
        kind,
        size,
        arrivals: arrivals(rng),
        start: rng.below(duration),
        count: often(rng, |rng| Some(rng.next_u64())),
        returned: match rng.below(3) {
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
