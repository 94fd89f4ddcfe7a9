//! Parts and traffic that some random networks have: fibres, handshake cables, switches that store packets or
//! have two supplies, multicasts by interfaces, IP. All of it is from generators of its own, so that all else
//! is as it was without it.

use std::num::NonZeroU8;

use codec::ip;
use codec::packet::PacketTag;
use codec::route::PortId;
use codec::time::Ticks;
use simulator::fault::{FaultKind, FaultSpec};
use simulator::interface::{CopyPath, InterfaceParameters, RelayPolicy, SoftwarePath};
use simulator::link::LinkParameters;
use simulator::messaging::MessagingPlan;
use simulator::topology::{
    CableSpec, ForwardingMode, NodeId, NodeKind, NodePort, NodeSpec, Topology,
};
use simulator::traffic::IpProtocol;
use simulator::traffic::{
    ArrivalProcess, ChecksumMode, CommandForm, PayloadSize, StreamDestination, TrafficStream,
};
use simulator::transport::Micros;
use simulator::wires::CableFlow;

use crate::fibre::bridged;
use crate::network::facts;
use crate::repair::SeededRng;

/// Cells below the threshold of GO in a switch that stores packets. *Chosen*: more than the longest packet.
const PACKET_MEMORY: u32 = 16_384;
/// Packet type of multicasts. N-6
const MULTICAST: u8 = 0x12;
/// Most periods of delay of a fibre. *Chosen*: 5 km.
const FIBRE_MAX: u64 = 2000;

/// Least timeout of hosts where a packet takes long on its way: the answer of each transmission must come before
/// the next one leaves, or a message that is refused is sent for ever. T-8, T-11. *Chosen*: more than the longest
/// message takes over 8 handshake cables, each from the memory of a switch.
const PATIENT: Micros = Micros(4000);

/// Times at which traffic and faults begin: each of the first, and so long after it at most.
pub(crate) type BurstTimes<'a> = (&'a [u64], u64);

/// A generator for one of these parts.
fn aside(dice: &SeededRng, part: &str) -> SeededRng {
    SeededRng::new(&[part.as_bytes(), &dice.clone().bytes(16)].concat())
}

/// Rates of the links of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkRates {
    Full,
    /// Those of slow links too, which are never still.
    Any,
}

/// The network with these parts, each in one of six. Where links may be slow there are none that hold packets up:
/// becoming calm takes long enough.
pub(crate) fn varied(topology: &Topology, rates: LinkRates, dice: &SeededRng) -> Option<Topology> {
    let dice = &mut aside(dice, "parts");
    let (mut nodes, mut cables) = (topology.nodes().to_vec(), topology.cables().to_vec());
    let [supplies, storing, handshakes, fibre] = [(); 4].map(|()| dice.below(6) == 0);
    let [storing, handshakes] = [storing, handshakes].map(|it| it && rates == LinkRates::Full);
    for (node, id) in nodes.iter_mut().zip(0..) {
        let NodeKind::Switch(switch) = &mut node.kind else { continue };
        switch.supplies = if supplies { 2 } else { 1 };
        if storing && dice.below(2) == 0 {
            switch.forwarding = ForwardingMode::StoreAndForward;
            let ends = cables.iter_mut().flat_map(|it| it.ends.into_iter().zip(&mut it.link.ports));
            let own = ends.filter(|(end, _)| end.node == NodeId(id));
            own.for_each(|(_, port)| port.slack.go_slack = PACKET_MEMORY);
        }
    }
    for cable in &mut cables {
        if handshakes && dice.below(2) == 0 {
            cable.link.wires.flow = CableFlow::Handshake;
            // A packet takes a round trip for each of its bytes.
            cable.link.delay = Ticks(1);
        }
    }
    let (count, delay) = (cables.len() as u64, Ticks(1 + dice.below(FIBRE_MAX)));
    let topology = Topology::new(nodes, cables).ok()?;
    let at = usize::try_from(dice.below(count)).ok()?;
    // Its ports are those of a file's `[link]`.
    let port = topology.cables().first()?.link.ports[0];
    let link = LinkParameters::alike(delay, port).fibre(delay);
    if fibre { bridged(&topology, at, link) } else { Some(topology) }
}

/// True if packets take several times as long as over cables and switches that pass them on at once.
pub(crate) fn holds_packets(topology: &Topology) -> bool {
    let is_handshake = |cable: &CableSpec| cable.link.wires.flow == CableFlow::Handshake;
    let stores = |node: &NodeSpec| match node.kind {
        NodeKind::Switch(switch) => switch.forwarding == ForwardingMode::StoreAndForward,
        NodeKind::Host => false,
    };
    topology.cables().iter().any(is_handshake) || topology.nodes().iter().any(stores)
}

/// Lets hosts wait for answers where packets take long.
pub(crate) fn wait_for_answers(topology: &Topology, plans: &mut [MessagingPlan]) {
    if holds_packets(topology) {
        for MessagingPlan { transport, .. } in plans {
            transport.timeout = transport.timeout.max(PATIENT);
            // So that all messages for a host that cannot be reached are returned in time.
            transport.retries = 2;
        }
    }
}

/// Fits interfaces to the streams: with multicasts none waits for another, since in a circle they may for
/// ever; with IP its packets have another maximum length in one network of three, and software takes time.
pub(crate) fn fit(
    interfaces: &mut [(NodeId, InterfaceParameters)],
    streams: &[TrafficStream],
    dice: &SeededRng,
) {
    let dice = &mut aside(dice, "interfaces");
    let mtu = [128, 576, 1500].into_iter().nth(usize::try_from(dice.below(9)).unwrap_or(9));
    for (_, own) in interfaces {
        if streams.iter().any(|stream| stream.multicast.is_some()) {
            own.relay = RelayPolicy::Drop;
        }
        if streams.iter().any(|stream| stream.protocol.is_some()) {
            own.mtu = mtu.unwrap_or(own.mtu);
            if dice.below(2) == 0 {
                (own.host.stack, own.host.copy) = (CopyPath::OneCopy, dice.below(200));
            }
            if dice.below(4) == 0 {
                own.host.path = SoftwarePath::Api;
            } else {
                [own.host.system_call, own.host.driver] = [dice.below(200), dice.below(200)];
            }
        }
    }
}

/// Multicasts of one network in six: one group, all hosts.
pub(crate) fn multicasts(
    hosts: &[NodeId],
    bursts: BurstTimes<'_>,
    dice: &SeededRng,
) -> Vec<TrafficStream> {
    let dice = &mut aside(dice, "multicasts");
    let fanout = u8::try_from(1 + dice.below(3)).ok().and_then(NonZeroU8::new);
    let stream = drawn_stream(hosts, bursts, dice).filter(|_| dice.below(6) == 0);
    let stream = stream.zip(PacketTag::new(MULTICAST)).map(|(stream, tag)| TrafficStream {
        tag,
        multicast: fanout,
        to: StreamDestination::Among(hosts.to_vec()),
        payload: PayloadSize::Uniform(8, 8 + most(dice, 3000)),
        ..stream
    });
    stream.into_iter().collect()
}

/// Streams over IP of one network in four.
pub(crate) fn ip_streams(
    hosts: &[NodeId],
    bursts: BurstTimes<'_>,
    dice: &SeededRng,
) -> Vec<TrafficStream> {
    let dice = &mut aside(dice, "IP");
    let count = if dice.below(4) == 0 { 1 + dice.below(4) } else { 0 };
    let stream = |_| {
        let stream = drawn_stream(hosts, bursts, dice)?;
        let is_tcp = dice.below(2) == 0;
        let payload = if dice.below(4) == 0 { most(dice, 20_000) } else { most(dice, 1000) };
        let (checksum, blocks) = match dice.below(3) {
            0 => (ChecksumMode::None, 1),
            1 => (ChecksumMode::Nic, 3),
            _ => (ChecksumMode::Host, 2),
        };
        Some(TrafficStream {
            tag: PacketTag::new(ip::TAG)?,
            protocol: Some(if is_tcp { IpProtocol::Tcp } else { IpProtocol::Udp }),
            payload: PayloadSize::Uniform(1, 1 + payload),
            command: CommandForm { checksum, blocks, ..CommandForm::default() },
            ..stream
        })
    };
    (0..count).filter_map(stream).collect()
}

fn most(dice: &mut SeededRng, below: u64) -> u32 {
    u32::try_from(dice.below(below)).unwrap_or(0)
}

/// A stream of some packets from one host to another, at a burst.
fn drawn_stream(
    hosts: &[NodeId],
    (begins, burst): BurstTimes<'_>,
    dice: &mut SeededRng,
) -> Option<TrafficStream> {
    let count = hosts.len() as u64;
    let from = dice.below(count);
    let to = (from + 1 + dice.below(count.saturating_sub(1))) % count.max(1);
    let host = |number| hosts.get(usize::try_from(number).ok()?).copied();
    let begin = begins.get(usize::try_from(dice.below(begins.len() as u64)).ok()?)?;
    let apart = Ticks(1 + dice.below(1 << 14));
    (from != to).then_some(TrafficStream {
        from: host(from)?,
        to: StreamDestination::One(host(to)?),
        tag: PacketTag::new(0)?,
        protocol: None,
        multicast: None,
        payload: PayloadSize::Fixed(0),
        arrivals: match dice.below(3) {
            0 => ArrivalProcess::Saturating,
            1 => ArrivalProcess::Constant(apart),
            _ => ArrivalProcess::Poisson(apart),
        },
        start: begin + dice.below(burst),
        packets: Some(1 + dice.below(20)),
        command: CommandForm::default(),
    })
}

/// Supplies of switches that go off for a time, where there are two: now and then both at once.
pub(crate) fn supply_faults(
    topology: &Topology,
    (begin, burst): (u64, u64),
    dice: &SeededRng,
) -> Vec<FaultSpec> {
    let dice = &mut aside(dice, "supplies");
    let has_two = |id: &NodeId| {
        let node = topology.node(*id).map(|node| node.kind);
        matches!(node, Some(NodeKind::Switch(switch)) if switch.supplies == 2)
    };
    let switches: Vec<NodeId> = topology.switches().filter(has_two).collect();
    let fault = |_| {
        let node = *switches.get(usize::try_from(dice.below(switches.len() as u64)).ok()?)?;
        let place = NodePort { node, port: PortId(0) };
        let at = begin + dice.below(burst);
        let until = Some(at + 1 + dice.below(burst / 2));
        Some(FaultSpec { at, until, place, kind: FaultKind::SupplyOff })
    };
    (0..4).filter_map(fault).collect()
}

/// Leaves out what makes a handshake cable stand still for good. B-1
pub(crate) fn spare_handshakes(topology: &Topology, faults: &mut Vec<FaultSpec>) {
    faults.retain(|fault| !facts::stands_still(topology, fault));
}
