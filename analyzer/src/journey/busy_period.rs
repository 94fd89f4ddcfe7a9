//! Times in which an output is never free for long, as packets of earlier ones have left, and those in which its link
//! is silent. S-1, S-3

use codec::time::FULL_RATE_PERIOD_PS;

use super::hop_record::HopRecord;
use super::network_map::{DELAY, NetworkMap, RequestedOutput};
use crate::event::Picoseconds;

/// Time after which a free output shows that no packet waits for it. *Chosen*: more path formations than a packet
/// stands for. S-6
const IDLE: Picoseconds = 1024 * FULL_RATE_PERIOD_PS as Picoseconds;

impl NetworkMap {
    /// Start of the time in which those packets arrived with which one can be mistaken that begins on a channel now:
    /// all that may wait for that channel, or for the one that it requests.
    pub(super) fn busy_since(&mut self, place: usize, first: u8, now: Picoseconds) -> Picoseconds {
        let before = now.saturating_sub(DELAY + IDLE);
        let requested = match self.requested_output(place, first) {
            RequestedOutput::Seen(output) => output,
            RequestedOutput::Unseen | RequestedOutput::Nothing => place,
        };
        let mut since = before;
        for place in [place, requested] {
            let Some(lane) = self.lane_mut(place) else { continue };
            let free = lane.last.map_or(0, |(_, end)| end).max(lane.resumed.unwrap_or(0));
            if lane.open.is_none() && free + IDLE <= now {
                lane.busy_since = before;
            }
            since = since.min(lane.busy_since);
        }
        since
    }

    /// True if a link was silent, in either direction, behind all ports that a packet may select, between its arrival
    /// and the latest time of its departure. S-1, F-7
    pub(super) fn finds_silence(&self, hop: &HopRecord) -> bool {
        let Some(lane) = self.lane(hop.lane) else { return false };
        let Some((node, input)) = self.node_at(lane.to) else { return false };
        let came = hop.time.saturating_add(lane.until_received.unwrap_or(0));
        let until = hop.passed.unwrap_or(Picoseconds::MAX);
        let is_silent = |port| {
            let inputs = node.inputs.iter().filter_map(|place| self.lane(*place));
            let inputs = inputs.filter(|lane| lane.to.is_some_and(|(_, own)| own == port));
            let output = node.output(port, lane).and_then(|place| self.lane(place));
            // What a tap misses at first may be on its way from the switch.
            let at_output = output.map(|output| (output, output.since_sent.unwrap_or(0)));
            let mut silences = inputs.map(|input| (input, 0)).chain(at_output);
            silences.any(|(lane, late)| {
                lane.silent
                    .is_some_and(|[from, to]| from <= until && came.saturating_add(late) < to)
            })
        };
        node.selects(hop.first, input).into_iter().flatten().all(is_silent)
    }
}
