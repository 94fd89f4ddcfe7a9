//! Plan of a walk: parameters of the protocol, messages, and bounds on faults.

use codec::transport::{ChannelIncarnation, EndpointId, Nic};
use simulator::transport::{Micros, TransportParameters};

use crate::transport::input::KeyPick;
use crate::transport::{ExtraClaim, SeededFlaw};

pub const LEFT: Nic = Nic(0);

pub const RIGHT: Nic = Nic(1);

/// The other NIC of the two.
pub(super) const fn other(nic: Nic) -> Nic {
    Nic(1 - nic.0)
}

/// The endpoint of each NIC that all messages are for, and that is loaded and unloaded.
pub const ENDPOINT: EndpointId = EndpointId(0);

/// One of each NIC that only sends, and stays in its frame.
pub const NEIGHBOUR: EndpointId = EndpointId(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedMessage {
    /// Its sender; it goes to the other one.
    pub from: Nic,
    /// [`ENDPOINT`] or [`NEIGHBOUR`].
    pub endpoint: EndpointId,
    /// Key that decides whether it is let in. T-6
    pub key: KeyPick,
}

/// Number of times that something may happen, over a whole history. What is not here may happen at any time
/// and as often as it likes: packets arrive, time passes, a queue gets room, an endpoint is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultBounds {
    /// A packet at the head of a path is lost. One further back is lost when it is the head: nothing
    /// tells the difference.
    pub losses: u8,
    /// The network delivers the packet at the head of a path, and keeps it there.
    pub duplicates: u8,
    /// A packet arrives before those in front of it: the path is not FIFO.
    pub overtakings: u8,
    pub fulls: u8,
    /// An endpoint is to leave its frame.
    pub unloads: u8,
    pub restarts: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPlan {
    pub parameters: TransportParameters,
    /// The first incarnations that they use.
    pub first: [ChannelIncarnation; 2],
    /// Messages to send, in this order.
    pub messages: Vec<PlannedMessage>,
    pub bounds: FaultBounds,
    /// Packets on both paths together at most. Where sending or a scan would put more there it does
    /// not happen: first something must arrive, or be lost.
    pub room: usize,
    pub departure: DepartureMode,
    pub flaw: SeededFlaw,
    pub claim: Option<ExtraClaim>,
}

/// Time when a data packet that a machine has queued leaves its NIC. T-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepartureMode {
    Immediate,
    Delayed,
}

impl ModelPlan {
    /// Two logical channels; a scan every µs, which sends everything again, and gives up what there was
    /// no sign of after two retransmissions; two messages from NIC 0 and one from NIC 1. Incarnations start
    /// where they wrap, and where half of them are behind. Nothing goes wrong.
    pub fn small() -> Self {
        let parameters = TransportParameters {
            nics: 2,
            channels: 2,
            scan: Micros(1),
            timeout: Micros(0),
            retries: 2,
        };
        Self {
            parameters,
            first: [ChannelIncarnation(0xffff), ChannelIncarnation(0x7fff)],
            messages: vec![
                PlannedMessage::good(LEFT),
                PlannedMessage::good(LEFT),
                PlannedMessage::good(RIGHT),
            ],
            bounds: FaultBounds::default(),
            room: 4,
            departure: DepartureMode::Immediate,
            flaw: SeededFlaw::None,
            claim: Some(ExtraClaim::ReceivedIsAnswered),
        }
    }

    /// Small plan with a single logical channel and two messages from NIC 0.
    pub fn single() -> Self {
        let small = Self::small();
        Self {
            parameters: TransportParameters { channels: 1, ..small.parameters },
            messages: vec![PlannedMessage::good(LEFT); 2],
            ..small
        }
    }
}

impl PlannedMessage {
    pub const fn good(from: Nic) -> Self {
        Self { from, endpoint: ENDPOINT, key: KeyPick::Right }
    }

    pub const fn bad(from: Nic) -> Self {
        Self { from, endpoint: ENDPOINT, key: KeyPick::Wrong }
    }

    /// One that is let in, from the endpoint that stays.
    pub const fn neighbours(from: Nic) -> Self {
        Self { from, endpoint: NEIGHBOUR, key: KeyPick::Right }
    }
}
