//! One packet over many links: peeled routes, latencies, where it was hurt, where it ended. P-3, P-5, S-1

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};
use codec::packet::{Check, Tag};
use codec::route::PortId;
use codec::tick::Tick;

use crate::timeline::{Row, Time};

/// A packet on its way, as far as captured links show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journey {
    /// Counts from 0, in the order in which journeys end.
    pub number: u64,
    /// The captured links that it passed, in order.
    pub hops: Vec<Hop>,
    /// The tag, once the route is used up.
    pub tag: Option<Tag>,
    /// What became of it.
    pub fate: Fate,
    /// How sure it is that all hops are of one packet.
    pub certainty: Certainty,
    /// Where it was hurt, in order.
    pub injuries: Vec<Injury>,
}

/// A packet on one captured channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The channel.
    pub channel: ChannelId,
    /// The packet's number on it.
    pub packet: u64,
    /// Places of its first and last byte.
    pub start: Tick,
    /// See `start`.
    pub end: Tick,
    /// When its first byte was seen.
    pub time: Time,
    /// Bytes, the CRC byte included.
    pub length: u64,
    /// What its CRC byte says here.
    pub check: Check,
    /// The port of the switch behind this channel that its first byte selects, where that is known.
    pub output: Option<PortId>,
    /// From its first byte here to its first byte on the next captured link, less the cables where
    /// their delay is known.
    pub latency: Option<Time>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reached a host.
    Arrived,
    /// It went on over links that were not captured.
    OutOfSight,
    /// A switch dropped it, by this rule.
    Dropped(&'static str),
    /// It was on its way when the recording ended.
    UnderWay,
}

/// How sure a journey is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// No other packet can have been meant.
    Certain,
    /// Several were alike; order and time decided.
    ByOrder,
}

/// Where a packet was hurt. P-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injury {
    /// The last captured channel on which it was as before; none if it was hurt before the first.
    pub after: Option<ChannelId>,
    /// The first captured channel on which it is different.
    pub seen: ChannelId,
    /// What the syndrome changed by.
    pub syndrome: u8,
    /// If one bit was flipped: how many bits were behind it in the packet on that channel, modulo 127.
    pub bit: Option<u8>,
}

/// The packet at the head of a switch's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number on the input's channel.
    pub packet: u64,
    /// When its first byte was seen there.
    pub since: Time,
    /// The captured channel that it asks for, where that is known.
    pub wants: Option<ChannelId>,
    /// Whether it has begun to leave on it.
    pub passing: Passing,
}

/// Whether a packet has begun to leave a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Not yet.
    Waiting,
    /// Its first byte has been seen on the output.
    Begun,
}

/// Finds the packets of different channels that are one.
#[derive(Debug, Default)]
pub struct Paths {
    channels: BTreeMap<ChannelId, Channel>,
}

impl Paths {
    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.channels.insert(id, channel.clone());
    }

    /// Takes the next row of any channel; rows come in order of time.
    pub fn row(&mut self, _row: &Row, _out: &mut impl FnMut(Journey)) {}

    /// The packet at the head of the switch's input behind a channel.
    #[must_use]
    pub fn head(&self, _input: ChannelId) -> Option<Head> {
        None
    }

    /// The recording ends.
    pub fn finish(&mut self, _out: &mut impl FnMut(Journey)) {}
}
