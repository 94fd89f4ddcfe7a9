//! Flows: the packets from one node to another.

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};

use crate::channel_name::ChannelEnds;
use crate::distribution::LatencyDistribution;
use crate::journey::{Journey, JourneyFate};
use crate::row::row;

/// Maximum of flows. *Chosen*: a network of 181 hosts in which each sends to all others.
pub const FLOWS_MAX: usize = 1 << 15;

row! {
    /// Row of `myriscope flows`, as specified in `docs/output.md`.
    pub struct PacketFlowRow<'a> {
        source: &'a str, "", "", "node that sent on the first captured channel";
        destination: &'a str, "", "", "node at the end of the last captured channel";
        packets: u64, "packets", "P-1", "packets";
        bytes: u64, "bytes", "P-2", "bytes of their payloads";
        dropped: u64, "packets", "", "packets of these that were dropped";
        latency_mean_ps: Option<u128>, "ps", "", "mean network latency of the others";
        latency_p50_ps: Option<u128>, "ps", "", "median of it";
        latency_p99_ps: Option<u128>, "ps", "", "99th percentile of it";
    }
}

/// The packets of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketFlow {
    packets: u64,
    bytes: u64,
    dropped: u64,
    latencies: LatencyDistribution,
}

/// Number of the capture, source and destination.
type FlowKey = (u32, String, String);

/// Flows of a capture by their nodes.
#[derive(Debug, Default)]
pub struct FlowTable {
    flows: BTreeMap<FlowKey, PacketFlow>,
    omitted: u64,
}

impl FlowTable {
    /// Adds a packet to its flow. The source is the sender on the first captured channel, the
    /// destination the receiver on the last.
    pub fn add<'a>(&mut self, journey: &Journey, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) {
        let ends = journey.hops.first().zip(journey.hops.last());
        let Some((first, last)) = ends else { return };
        let (Some(source), Some(destination)) = (known(first.channel), known(last.channel)) else {
            return;
        };
        let name = |channel: &Channel, node: fn(ChannelEnds) -> String| {
            ChannelEnds::of(channel).map_or_else(|| channel.name.clone(), node)
        };
        let from = name(source, |ends| ends.from.node);
        let to = name(destination, |ends| ends.to.node);
        let key = (source.capture, from, to);
        if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&key) {
            self.omitted += 1;
            return;
        }
        let flow = self.flows.entry(key).or_default();
        flow.packets += 1;
        flow.bytes = flow.bytes.saturating_add(journey.payload);
        match journey.fate {
            JourneyFate::Dropped(_) => flow.dropped += 1,
            JourneyFate::Arrived
            | JourneyFate::Misrouted
            | JourneyFate::OutOfSight
            | JourneyFate::Merged
            | JourneyFate::UnderWay => {
                if journey.hops.len() > 1 {
                    flow.latencies.add(last.time.saturating_sub(first.time));
                }
            }
        }
    }

    /// Packets of flows beyond the first [`FLOWS_MAX`].
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The flows, each with the number of its capture: the most bytes first.
    #[must_use]
    pub fn rows(&self) -> Vec<(u32, PacketFlowRow<'_>)> {
        let mut rows: Vec<_> = self.flows.iter().map(|(key, flow)| flow_row(key, flow)).collect();
        rows.sort_by_key(|(capture, row)| (*capture, std::cmp::Reverse(row.bytes)));
        rows
    }
}

fn flow_row<'a>(
    (capture, source, destination): &'a FlowKey,
    flow: &PacketFlow,
) -> (u32, PacketFlowRow<'a>) {
    let row = PacketFlowRow {
        source,
        destination,
        packets: flow.packets,
        bytes: flow.bytes,
        dropped: flow.dropped,
        latency_mean_ps: flow.latencies.mean(),
        latency_p50_ps: flow.latencies.percentile(50),
        latency_p99_ps: flow.latencies.percentile(99),
    };
    (*capture, row)
}
