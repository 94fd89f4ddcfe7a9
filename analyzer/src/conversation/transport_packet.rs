//! Input of the conversation tracker: each transport packet once, regardless of the number of taps
//! on its path.

use crate::event::Picoseconds;
use codec::capture::ChannelId;
use codec::crc::CrcResidue;
use codec::time::Tick;
use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, MessageForm, MessageRole, NackReason, Nic,
    SequenceBit, SyncFlag, TransportHeader, TransportTimestamp,
};

use crate::capture_network::LinkKey;
use crate::journey::MatchCertainty;
use crate::named_enum::named_enum;

/// A transport packet, as the taps captured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedPacket {
    /// Place of the first capture of its first byte.
    pub place: ObservedPlace,
    /// Time of the last capture of its first byte: at the last tap on its path.
    pub last: Picoseconds,
    /// Links of its first and last capture.
    pub links: (LinkKey, LinkKey),
    /// Its header.
    pub header: TransportHeader,
    /// Data, ACK or NACK.
    pub what: PacketContent,
    /// Its fate.
    pub fate: TransportFate,
    /// Reliability of the header.
    pub reading: HeaderTrust,
    /// Certainty that all captures are of one packet.
    pub certainty: MatchCertainty,
    /// True if it passed the link of a host of which the other direction is recorded: its answer passes there.
    pub shows_answers: bool,
}

/// A place in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedPlace {
    /// Time, in picoseconds.
    pub time: Picoseconds,
    /// The channel.
    pub channel: ChannelId,
    /// The character on it.
    pub at: Tick,
    /// Number of the packet on the channel.
    pub packet: u64,
}

/// Content of a transport packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketContent {
    /// A message, or a piece of one.
    Data(DataContent),
    /// The message was written. T-5
    Ack,
    /// The message was refused, with the reason. T-6
    Nack(NackReason),
}

/// Content of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataContent {
    /// SYNC, which opens the logical channel. T-12
    pub sync: SyncFlag,
    /// Request or reply.
    pub role: MessageRole,
    /// Short, medium or bulk.
    pub form: MessageForm,
    /// The sending endpoint.
    pub source: EndpointId,
    /// The receiving endpoint.
    pub destination: EndpointId,
    /// Bytes of payload.
    pub bytes: u64,
    /// Residue of all fields that a retransmission does not change: endpoints, key, handler,
    /// payload.
    pub content: CrcResidue,
}

named_enum! {
    /// Fate of a transport packet.
    pub enum TransportFate {
        /// Reached a host intact.
        Arrived = "arrived",
        /// Corrupted or truncated: the receiver drops it. T-7
        Hurt = "hurt",
        /// Lost on its path to the host.
        Lost = "lost",
        /// Left the captured part of the network.
        OutOfSight = "out-of-sight",
        /// In transit at the end of the recording.
        UnderWay = "under-way",
    }
}

/// Reliability of the bytes that a header was parsed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderTrust {
    /// The CRC was good.
    Sound,
    /// The CRC was bad in every capture.
    Doubtful,
}

/// Identity of a conversation: data flow from `source` to `destination`, answers back. T-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConversationKey {
    /// The NIC that sends the data.
    pub source: Nic,
    /// The NIC that sends ACKs and NACKs.
    pub destination: Nic,
    /// The logical channel between them.
    pub channel: LogicalChannel,
}

/// Fields that identify a transmission; an answer echoes them. T-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedLabel {
    /// The incarnation of the logical channel. T-12
    pub incarnation: ChannelIncarnation,
    /// The sequence number. T-4
    pub seq: SequenceBit,
    /// Time of the transmission by its sender's clock.
    pub timestamp: TransportTimestamp,
}

impl ObservedPacket {
    /// The label of a data packet, or the label that an answer echoes.
    pub const fn label(&self) -> ObservedLabel {
        let TransportHeader { incarnation, seq, timestamp, .. } = self.header;
        ObservedLabel { incarnation, seq, timestamp }
    }

    /// The packet's conversation.
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
    /// The source and destination NICs.
    pub const fn pair(&self) -> (Nic, Nic) {
        (self.source, self.destination)
    }
}

impl TransportFate {
    /// True if the packet was lost or corrupted.
    pub const fn is_lost(self) -> bool {
        matches!(self, Self::Hurt | Self::Lost)
    }
}
