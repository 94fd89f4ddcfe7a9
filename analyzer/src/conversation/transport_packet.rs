//! Input of the conversation tracker: each transport packet once, however many taps it passed.

use crate::event::Picoseconds;
use codec::capture::ChannelId;
use codec::crc::CrcResidue;
use codec::time::Tick;
use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, MessageForm, MessageRole, NackReason, Nic,
    SequenceBit, SyncFlag, TransportHeader, TransportTimestamp,
};

use crate::journey::MatchCertainty;

/// A transport packet on its way, as far as taps show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedPacket {
    /// Place at which its first byte was first seen.
    pub place: ObservedPlace,
    /// Time at which its first byte was last seen: behind the last cable that was tapped.
    pub last: Picoseconds,
    /// The links on which it was first and last seen.
    pub links: (LinkKey, LinkKey),
    /// Its header.
    pub header: TransportHeader,
    /// Its kind.
    pub what: PacketContent,
    /// Its fate.
    pub fate: TransportFate,
    /// True if its bytes can be believed.
    pub reading: HeaderTrust,
    /// Certainty that all sightings are of one packet.
    pub certainty: MatchCertainty,
}

/// A place in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedPlace {
    /// Time.
    pub time: Picoseconds,
    /// The channel.
    pub channel: ChannelId,
    /// The character on it.
    pub at: Tick,
    /// The packet's number on it.
    pub packet: u64,
}

/// A link, by the lesser of its channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkKey(pub ChannelId);

/// Content of a transport packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketContent {
    /// A message, or a piece of one.
    Data(DataContent),
    /// It was written. T-5
    Ack,
    /// It was not. T-6
    Nack(NackReason),
}

/// A message, as its data packet shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataContent {
    /// True if it opens its logical channel. T-12
    pub sync: SyncFlag,
    /// Request or reply.
    pub role: MessageRole,
    /// Short, medium or bulk.
    pub form: MessageForm,
    /// The endpoint that sends it.
    pub source: EndpointId,
    /// The endpoint that it is for.
    pub destination: EndpointId,
    /// Bytes of payload.
    pub bytes: u64,
    /// All that a retransmission leaves as it is: endpoints, key, handler, payload.
    pub content: CrcResidue,
}

/// Fate of a transport packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportFate {
    /// It reached a host, intact.
    Arrived,
    /// It was hurt or cut: its receiver drops it. T-7
    Hurt,
    /// It did not reach its host.
    Lost,
    /// It went on where nothing was captured.
    OutOfSight,
    /// It was on its way when the recording ended.
    UnderWay,
}

/// Trust in the bytes that a header was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderTrust {
    /// Their CRC was good.
    Sound,
    /// It was not, wherever the packet was seen.
    Doubtful,
}

/// A conversation: its data go one way, its answers the other. T-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConversationKey {
    /// The NIC that sends the data.
    pub source: Nic,
    /// The NIC that answers.
    pub destination: Nic,
    /// The logical channel between them.
    pub channel: LogicalChannel,
}

/// Fields that identify a transmission, and that an answer echoes. T-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedLabel {
    /// The use of the logical channel. T-12
    pub incarnation: ChannelIncarnation,
    /// The sequence number. T-4
    pub seq: SequenceBit,
    /// Time at which it was transmitted, by its sender's clock.
    pub timestamp: TransportTimestamp,
}

impl ObservedPacket {
    /// Its kind known by, or echoes.
    #[must_use]
    pub const fn label(&self) -> ObservedLabel {
        let TransportHeader { incarnation, seq, timestamp, .. } = self.header;
        ObservedLabel { incarnation, seq, timestamp }
    }

    /// The conversation that it belongs to.
    #[must_use]
    pub const fn key(&self) -> ConversationKey {
        let TransportHeader { source, destination, channel, .. } = self.header;
        match self.what {
            PacketContent::Data(_) => ConversationKey { source, destination, channel },
            PacketContent::Ack | PacketContent::Nack(_) => {
                ConversationKey { source: destination, destination: source, channel }
            }
        }
    }
}

impl ConversationKey {
    /// The NICs, without the logical channel.
    #[must_use]
    pub const fn pair(&self) -> (Nic, Nic) {
        (self.source, self.destination)
    }
}

impl TransportFate {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Hurt => "hurt",
            Self::Lost => "lost",
            Self::OutOfSight => "out-of-sight",
            Self::UnderWay => "under-way",
        }
    }

    /// True if it is known not to have been taken.
    #[must_use]
    pub const fn is_lost(self) -> bool {
        match self {
            Self::Hurt | Self::Lost => true,
            Self::Arrived | Self::OutOfSight | Self::UnderWay => false,
        }
    }
}
