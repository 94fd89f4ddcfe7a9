//! Parts and traffic that some random networks have: fibres, handshake cables, switches that store packets or
//! have two supplies, multicasts by interfaces, IP. All of it is from generators of its own, so that all else
//! is as it was without it.

use std::iter;

use codec::route::PortId;
use codec::time::Ticks;
use simulator::fault::{FaultKind, FaultSpec};
use simulator::link::LinkParameters;
use simulator::topology::{
    CableSpec, ForwardingMode, NodeId, NodeKind, NodePort, NodeSpec, Topology,
};
use simulator::wires::CableFlow;

use crate::fibre::bridged;
use crate::network::draft::NetworkDraft;
use crate::network::facts;
use crate::repair::SeededRng;

/// Cells below the threshold of GO in a switch that stores packets. *Chosen*: more than the longest packet.
const PACKET_MEMORY: u32 = 16_384;
/// Most periods of delay of a fibre. *Chosen*: 5 km.
const FIBRE_MAX: u64 = 2000;

/// Least timeout of hosts where a packet takes long on its way: the answer of each transmission must come before
/// the next one leaves, or a message that is refused is sent for ever. T-8, T-11. *Chosen*: more than the longest
/// message takes over 8 handshake cables, each from the memory of a switch.
const PATIENT_US: u64 = 4000;

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

/// Lets hosts wait for answers where packets take long, and return all messages for a host that cannot be reached in
/// time.
pub(crate) fn wait_for_answers(draft: &mut NetworkDraft) {
    if holds_packets(&draft.topology) {
        draft.set(&format!("transport = {{ timeout_us = {PATIENT_US}, retries = 2 }}"));
    }
}

/// Fits interfaces to the streams: with multicasts none waits for another, since in a circle they may for
/// ever; with IP its packets have another maximum length in one network of three, and software takes time.
pub(crate) fn fit(draft: &mut NetworkDraft, dice: &SeededRng) {
    let dice = &mut aside(dice, "interfaces");
    let mtu = [128, 576, 1500].into_iter().nth(usize::try_from(dice.below(9)).unwrap_or(9));
    if draft.tables("traffic").any(|stream| stream.contains_key("multicast")) {
        draft.set_each("host", iter::repeat("multicast = 'drop'".to_owned()));
    }
    if draft.tables("ip").next().is_none() {
        return;
    }
    let own = || {
        let mut keys = mtu.map_or_else(String::new, |mtu| format!("mtu = {mtu}\n"));
        if dice.below(2) == 0 {
            keys += &format!("stack = 'one-copy'\ncopy_periods = {}\n", dice.below(200));
        }
        if dice.below(4) == 0 {
            keys += "path = 'api'\n";
        } else {
            let [call, driver] = [dice.below(200), dice.below(200)];
            keys += &format!("system_call_periods = {call}\ndriver_periods = {driver}\n");
        }
        keys
    };
    draft.set_each("host", iter::repeat_with(own));
}

/// Adds multicasts to one network in six: one group, all hosts.
pub(crate) fn add_multicast(draft: &mut NetworkDraft, bursts: BurstTimes<'_>, dice: &SeededRng) {
    let dice = &mut aside(dice, "multicasts");
    let fanout = 1 + dice.below(3);
    if let Some((from, _, keys)) = drawn_stream(draft, bursts, dice)
        && dice.below(6) == 0
    {
        let largest = 8 + dice.below(3000);
        let own = format!("{from}to = 'uniform'\nmulticast = {fanout}\npayload = [8, {largest}]\n");
        draft.add("traffic", &(own + &keys));
    }
}

/// Adds streams over IP to one network in four.
pub(crate) fn add_ip(draft: &mut NetworkDraft, bursts: BurstTimes<'_>, dice: &SeededRng) {
    let dice = &mut aside(dice, "IP");
    let count = if dice.below(4) == 0 { 1 + dice.below(4) } else { 0 };
    for _ in 0..count {
        let Some((from, to, keys)) = drawn_stream(draft, bursts, dice) else { continue };
        let protocol = if dice.below(2) == 0 { "tcp" } else { "udp" };
        let large = dice.below(4) == 0;
        let payload = 1 + dice.below(if large { 20_000 } else { 1000 });
        let (checksum, blocks) = match dice.below(3) {
            0 => ("none", 1),
            1 => ("nic", 3),
            _ => ("host", 2),
        };
        let own = format!(
            "{from}{to}proto = '{protocol}'\npayload = [1, {payload}]\nchecksum = '{checksum}'\nblocks = {blocks}\n"
        );
        draft.add("ip", &(own + &keys));
    }
}

/// Sender, receiver and further keys of a stream of some packets from one host to another, at a burst.
fn drawn_stream(
    draft: &NetworkDraft,
    (begins, burst): BurstTimes<'_>,
    dice: &mut SeededRng,
) -> Option<(String, String, String)> {
    let count = draft.hosts.len() as u64;
    let from = dice.below(count);
    let to = (from + 1 + dice.below(count.saturating_sub(1))) % count.max(1);
    let host = |number| Some(draft.name(*draft.hosts.get(usize::try_from(number).ok()?)?));
    let begin = begins.get(usize::try_from(dice.below(begins.len() as u64)).ok()?)?;
    let apart = 1 + dice.below(1 << 14);
    if from == to {
        return None;
    }
    let arrivals = match dice.below(3) {
        0 => "saturate = true".to_owned(),
        1 => format!("every_periods = {apart}"),
        _ => format!("every_periods = {apart}\nlaw = 'poisson'"),
    };
    let (start, packets) = (begin + dice.below(burst), 1 + dice.below(20));
    let keys = format!("{arrivals}\nstart_periods = {start}\npackets = {packets}\n");
    Some((format!("from = '{}'\n", host(from)?), format!("to = '{}'\n", host(to)?), keys))
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
pub(crate) fn spare_handshakes(draft: &mut NetworkDraft) {
    let NetworkDraft { topology, faults, .. } = draft;
    faults.retain(|fault| !facts::stands_still(topology, fault));
}
