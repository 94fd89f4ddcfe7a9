//! Links that fall silent, and the first packets over new routes. N-4

use std::collections::{BTreeMap, BTreeSet};

use super::MappingEvent;
use crate::capture_network::LinkKey;
use crate::conversation::ObservedPlace;
use crate::event::Picoseconds;

/// Maximum number of flows whose routes are remembered. *Chosen*: those of 128 hosts.
const FLOWS_MAX: usize = 1 << 14;

/// Maximum number of silent links. *Chosen*: those of a large switch.
const SILENT_MAX: usize = 128;

/// A link that fell silent while packets used it, until it is used again or the capture ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOutage {
    /// The silence on the first of its channels.
    pub place: ObservedPlace,
    /// Flows from host to host whose latest packet had passed the link.
    pub flows: u64,
    /// Those of which a good packet has arrived over another route.
    pub healed: u64,
    /// Time from the silence to the arrival of the first such packet, and of the first one of the last
    /// flow.
    pub times: Option<(Picoseconds, Picoseconds)>,
}

/// First and last link of a packet.
type FlowEnds = (LinkKey, LinkKey);

/// The routes of packets, and silent links.
#[derive(Debug, Default)]
pub(super) struct HealingTracker {
    routes: BTreeMap<FlowEnds, Box<[LinkKey]>>,
    silent: BTreeMap<LinkKey, (LinkOutage, BTreeSet<FlowEnds>)>,
}

impl HealingTracker {
    /// Adds the route of a packet that was sent and arrived at these times.
    pub(super) fn arrived(
        &mut self,
        route: Box<[LinkKey]>,
        (sent, at): (Picoseconds, Picoseconds),
        out: &mut impl FnMut(MappingEvent),
    ) {
        let (Some(first), Some(last)) = (route.first(), route.last()) else { return };
        let flow = (*first, *last);
        self.silent.retain(|link, (outage, waiting)| {
            if sent < outage.place.time || route.contains(link) || !waiting.remove(&flow) {
                return true;
            }
            let took = at - outage.place.time;
            let (first, last) = outage.times.unwrap_or((took, took));
            outage.times = Some((first.min(took), last.max(took)));
            outage.healed += 1;
            if waiting.is_empty() {
                out(MappingEvent::Outage(*outage));
            }
            !waiting.is_empty()
        });
        if self.routes.len() < FLOWS_MAX || self.routes.contains_key(&flow) {
            self.routes.insert(flow, route);
        }
    }

    /// Adds the beginning of a silence. A flow that begins or ends with the link has no other route.
    pub(super) fn silence(&mut self, link: LinkKey, place: ObservedPlace) {
        if self.silent.contains_key(&link) || self.silent.len() >= SILENT_MAX {
            return;
        }
        let inside = |route: &[LinkKey]| {
            route.contains(&link) && route.first() != Some(&link) && route.last() != Some(&link)
        };
        let flows = self.routes.iter().filter(|(_, route)| inside(route));
        let waiting: BTreeSet<FlowEnds> = flows.map(|(flow, _)| *flow).collect();
        if !waiting.is_empty() {
            let flows = waiting.len() as u64;
            let outage = LinkOutage { place, flows, healed: 0, times: None };
            self.silent.insert(link, (outage, waiting));
        }
    }

    /// Ends the silence of a link.
    pub(super) fn restored(&mut self, link: LinkKey, out: &mut impl FnMut(MappingEvent)) {
        let ended = self.silent.remove(&link);
        ended.into_iter().for_each(|(outage, _)| out(MappingEvent::Outage(outage)));
    }

    pub(super) fn finish(&mut self, out: &mut impl FnMut(MappingEvent)) {
        let silent = std::mem::take(&mut self.silent).into_values();
        silent.for_each(|(outage, _)| out(MappingEvent::Outage(outage)));
    }
}

#[cfg(test)]
mod tests {
    use codec::capture::ChannelId;
    use codec::time::Tick;

    use super::*;

    /// Links of a packet, and the times at which it was sent and arrived.
    type ArrivedPacket = ([u32; 3], Picoseconds, Picoseconds);

    /// Number of flows that were healed, and the shortest and the longest time that it took.
    type HealedFlows = (u64, Option<(Picoseconds, Picoseconds)>);

    /// Only what was sent behind the silence, on another way, heals a flow; the first such packet does.
    #[test]
    fn a_flow_is_healed_by_what_was_sent_behind_the_silence() {
        let way = |route: [u32; 3]| route.map(|link| LinkKey(ChannelId(link))).into();
        // Flows from 1 and from 2 to 9, over 5 until it is silent at 100.
        let cases: [(&[ArrivedPacket], HealedFlows); 6] = [
            (&[([1, 6, 9], 99, 130)], (0, None)),
            (&[([1, 6, 9], 100, 130)], (1, Some((30, 30)))),
            (&[([1, 5, 9], 120, 130), ([3, 6, 9], 120, 130)], (0, None)),
            (&[([1, 6, 9], 99, 180), ([1, 6, 9], 150, 190)], (1, Some((90, 90)))),
            (&[([1, 6, 9], 110, 130), ([1, 6, 9], 120, 190)], (1, Some((30, 30)))),
            (&[([1, 6, 9], 110, 170), ([2, 7, 9], 115, 125)], (2, Some((25, 70)))),
        ];
        for (packets, healed) in cases {
            let (mut healing, mut found) = (HealingTracker::default(), Vec::new());
            let mut out = |event| {
                if let MappingEvent::Outage(outage) = event {
                    found.push(outage);
                }
            };
            for from in [1, 2] {
                healing.arrived(way([from, 5, 9]), (10, 20), &mut out);
            }
            let (channel, at) = (ChannelId(5), Tick(0));
            let place = ObservedPlace { time: 100, channel, at, packet: 0 };
            healing.silence(LinkKey(channel), place);
            for (route, sent, arrived) in packets {
                healing.arrived(way(*route), (*sent, *arrived), &mut out);
            }
            healing.finish(&mut out);
            let told: Vec<_> = found.iter().map(|it| (it.flows, (it.healed, it.times))).collect();
            assert_eq!(told, [(2, healed)], "{packets:?}");
        }
    }
}
