//! Times in which an output is never free for long: packets of earlier ones have left. S-3

use codec::time::FULL_RATE_PERIOD_PS;

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
}
