//! Plan of a walk: parameters of the protocol, messages, and bounds on faults.

use std::fmt;

use codec::transport::{ChannelIncarnation, EndpointId, Nic};
use simulator::transport::{Micros, TransportParameters};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelSide {
    /// NIC 0.
    Left,
    /// NIC 1.
    Right,
}

impl ModelSide {
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    pub const fn nic(self) -> Nic {
        match self {
            Self::Left => Nic(0),
            Self::Right => Nic(1),
        }
    }
}

impl fmt::Display for ModelSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NIC {}", self.nic().0)
    }
}

/// Something that there is of each side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SidePair<T> {
    /// NIC 0's.
    pub left: T,
    /// NIC 1's.
    pub right: T,
}

impl<T> SidePair<T> {
    pub const fn of(&self, side: ModelSide) -> &T {
        match side {
            ModelSide::Left => &self.left,
            ModelSide::Right => &self.right,
        }
    }

    pub const fn of_mut(&mut self, side: ModelSide) -> &mut T {
        match side {
            ModelSide::Left => &mut self.left,
            ModelSide::Right => &mut self.right,
        }
    }
}

/// A message, by its place among those of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelMessage(pub u8);

impl fmt::Display for ModelMessage {
    /// A letter of the alphabet: plans have few messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'A'.saturating_add(self.0.min(25))))
    }
}

/// Tests whether a message is let in. T-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelKey {
    /// It has the key of the endpoint that it is for.
    Good,
    /// It has another, and is refused for good.
    Bad,
}

/// The endpoint of each NIC that all messages are for, and that is loaded and unloaded.
pub const ENDPOINT: EndpointId = EndpointId(0);

/// One of each NIC that only sends, and stays in its frame.
pub const NEIGHBOUR: EndpointId = EndpointId(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlannedMessage {
    /// Its sender; it goes to the other one.
    pub from: ModelSide,
    /// [`ENDPOINT`] or [`NEIGHBOUR`].
    pub endpoint: EndpointId,
    pub key: ModelKey,
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

/// Flaw outside the machines, to show that the walk notices it, or the purpose of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeededFlaw {
    #[default]
    None,
    /// All packets that a receiver gets have the same incarnation. Against T-12
    OneIncarnation,
    /// The answers to duplicates never leave their NIC. Against T-5
    DuplicatesUnanswered,
    /// Duplicates are answered as if a queue were full. Against T-5
    DuplicatesRefused,
    /// A NACK counts for whatever is outstanding. Against T-8
    NacksForAll,
    /// An ACK counts for whatever is outstanding. Against T-4
    AcksForAll,
    /// After a restart the host sends again what was not acknowledged. Against decision 9
    LostSentAgain,
}

/// Claim checked beside the laws. The walk finds counterexamples to two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtraClaim {
    /// The latest transmission of what is outstanding is answered whenever it arrives. This one holds:
    /// it is what property 3 rests on.
    HeardIsAnswered,
    /// A message that comes back unreachable was not written.
    ReturnedIsUnwritten,
    /// A message is written once, over all lives of the NIC that it goes to.
    OneLife,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPlan {
    pub parameters: TransportParameters,
    /// The first incarnations that they use.
    pub first: SidePair<ChannelIncarnation>,
    /// Messages to send, in this order: at most [`MESSAGES_MAX`].
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

pub const MESSAGES_MAX: usize = 4;

impl ModelPlan {
    pub fn mail(&self, message: ModelMessage) -> Option<&PlannedMessage> {
        self.messages.get(usize::from(message.0))
    }

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
            first: SidePair { left: ChannelIncarnation(0xffff), right: ChannelIncarnation(0x7fff) },
            messages: vec![
                PlannedMessage::good(ModelSide::Left),
                PlannedMessage::good(ModelSide::Left),
                PlannedMessage::good(ModelSide::Right),
            ],
            bounds: FaultBounds::default(),
            room: 4,
            departure: DepartureMode::Immediate,
            flaw: SeededFlaw::None,
            claim: Some(ExtraClaim::HeardIsAnswered),
        }
    }

    /// Small plan with a single logical channel and two messages from NIC 0.
    pub fn single() -> Self {
        let small = Self::small();
        Self {
            parameters: TransportParameters { channels: 1, ..small.parameters },
            messages: vec![PlannedMessage::good(ModelSide::Left); 2],
            ..small
        }
    }
}

impl PlannedMessage {
    pub const fn good(from: ModelSide) -> Self {
        Self { from, endpoint: ENDPOINT, key: ModelKey::Good }
    }

    pub const fn bad(from: ModelSide) -> Self {
        Self { from, endpoint: ENDPOINT, key: ModelKey::Bad }
    }

    /// One that is let in, from the endpoint that stays.
    pub const fn neighbours(from: ModelSide) -> Self {
        Self { from, endpoint: NEIGHBOUR, key: ModelKey::Good }
    }
}
