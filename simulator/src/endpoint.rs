//! Endpoints and virtual networks over the reliability protocol: what applications see of a host's
//! messages, and the NIC's firmware that serves them. T-6, T-9, T-13..T-15
//!
//! [`Messaging`] is the messages' side of one host: applications, endpoints, frames and firmware, each
//! stage at its cost. It knows no wire: whoever drives it carries its packets, in the reference
//! network the interface, in tests anything that likes to.

mod costs;
mod plan;
mod statistics;
mod told;

use codec::transport::EndpointId;

pub use self::costs::{BURST, Costs, Layers, MICROSECOND, Transfers};
pub use self::plan::{
    EndpointParameters, EndpointPlan, Kind, MessageStream, MessagingPlan, SEGMENT_MAX, Wake,
};
pub use self::statistics::{CLASSES, EndpointStatistics, RoundTrips, Statistics};
pub use self::told::{MessageId, Outgoing, Told, Transmission, Turn, Why};

/// The messages' side of a host.
#[derive(Clone, Debug)]
pub struct Messaging {
    // SKELETON: owner ENDPOINT.
    plan: MessagingPlan,
    statistics: Statistics,
}

impl Messaging {
    /// A host that has just been started. `seed` is for its own dice.
    #[must_use]
    pub fn new(plan: MessagingPlan, _seed: u64) -> Self {
        Self { plan, statistics: Statistics::default() }
    }

    /// When it next has something to do by itself, in periods of the full rate.
    #[must_use]
    pub const fn due(&self) -> Option<u64> {
        let _ = &self.plan;
        None
    }

    /// Does all that is due by now, and adds what happened.
    pub fn step(&mut self, _now: u64, _told: &mut Vec<Told>) {}

    /// Whether there is room for a packet that comes in. One that comes nevertheless is dropped.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        true
    }

    /// A transport packet has come in whole, good by its CRC: the payload of a packet of type 1.
    pub fn hear(&mut self, _now: u64, _payload: &[u8], _told: &mut Vec<Told>) {}

    /// Hands out the next packet for the sending engine; the firmware gives it one at a time, the next
    /// after [`Messaging::sent`].
    pub const fn take_outgoing(&mut self) -> Option<Outgoing> {
        None
    }

    /// The sending engine is done with the packet that was taken.
    pub fn sent(&mut self, _now: u64) {}

    /// The control program is loaded again and runs from `ready` on: what was in the NIC is lost.
    pub fn restart(&mut self, _now: u64, _ready: u64, _told: &mut Vec<Told>) {}

    /// What it has done since the beginning.
    #[must_use]
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// What one of its endpoints has done since the beginning.
    #[must_use]
    pub const fn endpoint_statistics(&self, _endpoint: EndpointId) -> Option<&EndpointStatistics> {
        None
    }
}
