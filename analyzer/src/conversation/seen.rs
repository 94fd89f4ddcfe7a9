//! What a reader of conversations is fed: a transport packet, once, whatever taps it passed.

use codec::capture::ChannelId;
use codec::crc::Residue;
use codec::tick::Tick;
use codec::transport::{EndpointId, Form, Header, LogicalChannel, Nic, Reason, Role, Sync};

use super::noticed::Label;
use crate::path::Certainty;
use crate::timeline::Time;

/// A transport packet on its way, as far as taps show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where its first byte was first seen.
    pub place: Place,
    /// When its first byte was last seen: behind the last cable that was tapped.
    pub last: Time,
    /// The links on which it was first and last seen.
    pub links: (Link, Link),
    /// Its header.
    pub header: Header,
    /// What it is.
    pub what: What,
    /// What became of it.
    pub fate: Fate,
    /// Whether its bytes can be believed.
    pub reading: Reading,
    /// How sure it is that what taps saw is one packet.
    pub certainty: Certainty,
}

/// A place in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// When.
    pub time: Time,
    /// The channel.
    pub channel: ChannelId,
    /// The character on it.
    pub at: Tick,
    /// The packet's number on it.
    pub packet: u64,
}

/// A link, by the lesser of its channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link(pub ChannelId);

/// What a transport packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message, or a piece of one.
    Data(Data),
    /// It was written. T-5
    Ack,
    /// It was not. T-6
    Nack(Reason),
}

/// A message, as its data packet shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Whether it opens its logical channel. T-12
    pub sync: Sync,
    /// Request or reply.
    pub role: Role,
    /// Short, medium or bulk.
    pub form: Form,
    /// The endpoint that sends it.
    pub source: EndpointId,
    /// The endpoint that it is for.
    pub destination: EndpointId,
    /// Bytes of payload.
    pub bytes: u64,
    /// All that a retransmission leaves as it is: endpoints, key, handler, payload.
    pub content: Residue,
}

/// What became of a transport packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
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

/// Whether the bytes that a header was read from can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Their CRC was good.
    Sound,
    /// It was not, wherever the packet was seen.
    Doubtful,
}

/// A conversation: its data go one way, its answers the other. T-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The NIC that sends the data.
    pub source: Nic,
    /// The NIC that answers.
    pub destination: Nic,
    /// The logical channel between them.
    pub channel: LogicalChannel,
}

impl Seen {
    /// What it is known by, or echoes.
    #[must_use]
    pub const fn label(&self) -> Label {
        let Header { incarnation, seq, timestamp, .. } = self.header;
        Label { incarnation, seq, timestamp }
    }

    /// The conversation that it belongs to.
    #[must_use]
    pub const fn key(&self) -> Key {
        let Header { source, destination, channel, .. } = self.header;
        match self.what {
            What::Data(_) => Key { source, destination, channel },
            What::Ack | What::Nack(_) => Key { source: destination, destination: source, channel },
        }
    }
}

impl Key {
    /// The NICs, without the logical channel.
    #[must_use]
    pub const fn pair(&self) -> (Nic, Nic) {
        (self.source, self.destination)
    }
}

impl Fate {
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

    /// Whether it is known not to have been taken.
    #[must_use]
    pub const fn is_lost(self) -> bool {
        match self {
            Self::Hurt | Self::Lost => true,
            Self::Arrived | Self::OutOfSight | Self::UnderWay => false,
        }
    }
}
