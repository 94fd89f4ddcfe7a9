//! Flows: the packets from one node to another.

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};
use codec::packet::CrcCheck;

use crate::channel_name::{ChannelEnds, PortName};
use crate::distribution::LatencyDistribution;
use crate::event::Picoseconds;
use crate::journey::{Journey, JourneyFate};
use crate::row::row;
use crate::totals::{AddTotals, totals};

/// Maximum of flows. *Chosen*: a network of 181 hosts in which each sends to all others.
pub const FLOWS_MAX: usize = 1 << 15;

row! {
    /// Row of `myriscope flows`, as specified in `docs/output.md`.
    pub struct PacketFlowRow<'a> {
        source: &'a str, "", "", "node that sent on the first captured channel";
        destination: Option<&'a str>, "", "", "node that received the packets, or to which their routes led";
        packets: u64, "packets", "P-1", "packets";
        bytes: u64, "bytes", "P-2", "bytes of their payloads";
        dropped: u64, "packets", "", "packets of these that were dropped";
        latency_mean_ps: Option<u128>, "ps", "", "mean network latency of those that were received";
        latency_p50_ps: Option<u128>, "ps", "", "median of it";
        latency_p99_ps: Option<u128>, "ps", "", "99th percentile of it";
        corrupt: u64, "packets", "P-4", "packets of these that were damaged";
    }
}

totals! {
    /// The packets of one flow.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PacketFlow {
        packets: u64,
        bytes: u64,
        dropped: u64,
        corrupt: u64,
        latencies: LatencyDistribution,
    }
}

/// Bytes of payloads that a node sent and received, and what became of its packets but those of mapping, of which most
/// probes find nothing. N-2
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTraffic {
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// Packets that left the captured links.
    pub(crate) unseen: u64,
    /// Packets whose end was seen.
    pub(crate) judged: u64,
    /// Packets of these that were dropped or damaged.
    pub(crate) harmed: u64,
    /// Latencies of those that arrived.
    pub(crate) latencies: LatencyDistribution,
}

impl NodeTraffic {
    /// Adds a packet with its network latency, if it was seen on two channels.
    fn add(&mut self, fate: JourneyFate, harms: u64, latency: Option<Picoseconds>) {
        let is_seen = !matches!(fate, JourneyFate::OutOfSight | JourneyFate::UnderWay);
        self.unseen += u64::from(fate == JourneyFate::OutOfSight);
        self.judged += u64::from(is_seen);
        self.harmed += if is_seen { harms } else { 0 };
        if let (JourneyFate::Arrived | JourneyFate::Misrouted, Some(latency)) = (fate, latency) {
            self.latencies.add(latency);
        }
    }
}

/// Number of the capture, source and destination.
type FlowKey<D> = (u32, String, D);

/// Flows of a capture by their nodes.
#[derive(Debug, Default)]
pub struct FlowTable {
    flows: BTreeMap<FlowKey<Option<String>>, PacketFlow>,
    /// Packets that were not received, by the port of the last switch that they were to leave by.
    unfinished: BTreeMap<FlowKey<Option<PortName>>, PacketFlow>,
    /// Nodes of each capture at which flows begin or end.
    pub(crate) nodes: BTreeMap<(u32, String), NodeTraffic>,
    omitted: u64,
}

impl FlowTable {
    /// Adds a packet to its flow. The source is the sender on the first captured channel.
    pub fn add<'a>(&mut self, journey: &Journey, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) {
        let ends = journey.hops.first().zip(journey.hops.last());
        let Some((first, last)) = ends else { return };
        let (Some(source), Some(target)) = (known(first.channel), known(last.channel)) else {
            return;
        };
        let name = |channel: &Channel, node: fn(ChannelEnds) -> String| {
            ChannelEnds::of(channel).map_or_else(|| channel.name.clone(), node)
        };
        let (capture, from) = (source.capture, name(source, |ends| ends.from.node));
        let to = name(target, |ends| ends.to.node);
        if self.flows.len() + self.unfinished.len() >= FLOWS_MAX && !self.has(capture, &from, &to) {
            self.omitted += 1;
            return;
        }
        let latency = (journey.hops.len() > 1).then(|| last.time.saturating_sub(first.time));
        let is_dropped = matches!(journey.fate, JourneyFate::Dropped(_));
        let is_corrupt = !journey.injuries.is_empty() || matches!(last.check, CrcCheck::Bad { .. });
        let sender = self.nodes.entry((capture, from.clone())).or_default();
        let sent = if journey.shared == 0 { journey.payload } else { 0 };
        sender.sent_bytes = sender.sent_bytes.saturating_add(sent);
        // What was under way when the recording began cannot be followed.
        if journey.mapping.is_none() && !first.opening.is_headless(first.check) {
            sender.add(journey.fate, u64::from(is_dropped || is_corrupt), latency);
        }
        let flow = match journey.fate {
            JourneyFate::Arrived | JourneyFate::Misrouted | JourneyFate::OutOfSight => {
                let receiver = self.nodes.entry((capture, to.clone())).or_default();
                receiver.received_bytes = receiver.received_bytes.saturating_add(journey.payload);
                let flow = self.flows.entry((capture, from, Some(to))).or_default();
                latency.into_iter().for_each(|latency| flow.latencies.add(latency));
                flow
            }
            JourneyFate::Dropped(_) | JourneyFate::Merged | JourneyFate::UnderWay => {
                let port =
                    last.output.map(|port| PortName { node: to, port, virtual_channel: None });
                self.unfinished.entry((capture, from, port)).or_default()
            }
        };
        flow.packets += 1;
        flow.bytes = flow.bytes.saturating_add(journey.payload);
        flow.dropped += u64::from(is_dropped);
        flow.corrupt += u64::from(is_corrupt);
    }

    fn has(&self, capture: u32, from: &str, to: &str) -> bool {
        self.flows.contains_key(&(capture, from.to_owned(), Some(to.to_owned())))
    }

    /// Packets of flows beyond the first [`FLOWS_MAX`].
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The flows, each with the number of its capture: the most bytes first. A packet that was not
    /// received belongs to the flow to the node at its switch's output.
    pub fn rows<'c>(
        &mut self,
        channels: impl Iterator<Item = &'c Channel>,
    ) -> Vec<(u32, PacketFlowRow<'_>)> {
        let mut nodes: BTreeMap<(u32, PortName), String> = BTreeMap::new();
        for channel in channels {
            if let Some(ends) = ChannelEnds::of_link(channel) {
                nodes.insert((channel.capture, ends.from), ends.to.node);
            }
        }
        for ((capture, from, port), flow) in std::mem::take(&mut self.unfinished) {
            let to = port.and_then(|port| nodes.get(&(capture, port)));
            let to = to.filter(|to| self.nodes.contains_key(&(capture, (*to).clone())));
            self.flows.entry((capture, from, to.cloned())).or_default().absorb(&flow);
        }
        let mut rows: Vec<_> = self.flows.iter().map(|(key, flow)| flow_row(key, flow)).collect();
        rows.sort_by_key(|(capture, row)| (*capture, std::cmp::Reverse(row.bytes)));
        rows
    }
}

fn flow_row<'a>(
    (capture, source, destination): &'a FlowKey<Option<String>>,
    flow: &PacketFlow,
) -> (u32, PacketFlowRow<'a>) {
    let row = PacketFlowRow {
        source,
        destination: destination.as_deref(),
        packets: flow.packets,
        bytes: flow.bytes,
        dropped: flow.dropped,
        latency_mean_ps: flow.latencies.mean(),
        latency_p50_ps: flow.latencies.percentile(50),
        latency_p99_ps: flow.latencies.percentile(99),
        corrupt: flow.corrupt,
    };
    (*capture, row)
}
