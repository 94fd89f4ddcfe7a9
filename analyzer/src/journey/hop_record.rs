//! A packet on one captured channel, and what it is joined to. P-3, P-5

use crate::event::Picoseconds;
use codec::crc::CrcResidue;
use codec::packet::{CrcCheck, PacketTag};
use codec::time::Tick;

use super::outcome::{JourneyFate, MatchCertainty};
use crate::packet::{PacketEnd, PacketFront, ReceivedPacket};

use crate::transport::ParsedTransport;

/// Route bytes of a packet that are looked at where links were not captured. *Chosen*: no network
/// of the time is so deep.
pub(super) const PEELED_MAX: usize = 16;

/// A packet on one channel.
#[derive(Clone, Debug)]
pub(super) struct HopRecord {
    /// Index of the channel in the map.
    pub(super) lane: usize,
    /// Tells it from others that were kept in the same place.
    pub(super) seq: u64,
    pub(super) number: u64,
    pub(super) first: u8,
    pub(super) start: Tick,
    pub(super) time: Picoseconds,
    /// Data of the closed packet.
    pub(super) closed: Option<ClosedPacket>,
    /// The same packet on the captured channel before.
    pub(super) before: Option<HopLink>,
    /// True if the packet before it is chosen only when more is known.
    pub(super) undecided: bool,
    pub(super) onward: NextHop,
    /// Until when it may still show up, once others from behind it have.
    pub(super) passed: Option<Picoseconds>,
    /// Until when it may still show up, once FRES has emptied the buffer that it was in. R-2
    pub(super) emptied: Option<Picoseconds>,
    pub(super) sight: SearchScope,
    pub(super) fate: Option<JourneyFate>,
    pub(super) held: BlockingPackets,
}

/// Data of a closed packet.
#[derive(Clone, Debug)]
pub(super) struct ClosedPacket {
    pub(super) at: Picoseconds,
    pub(super) opening: StartCoverage,
    pub(super) end: Tick,
    pub(super) length: u64,
    pub(super) payload: u64,
    /// The first route bytes, and how many there are in all.
    route: [u8; PEELED_MAX],
    pub(super) hops: u64,
    /// All bytes but the CRC byte,
    pub(super) all: CrcResidue,
    /// and without the first byte too: what leaves a switch.
    pub(super) rest: CrcResidue,
    pub(super) body: CrcResidue,
    /// Its first bytes, which are compared where it was cut.
    pub(super) front: PacketFront,
    pub(super) tag: Option<PacketTag>,
    pub(super) check: CrcCheck,
    pub(super) ended_by: PacketEnd,
    pub(super) transport: Option<Box<ParsedTransport>>,
    /// Bytes of its channel up to its end.
    pub(super) sum: u64,
}

/// Coverage of a packet's first byte. P-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartCoverage {
    /// It was.
    Seen,
    /// The recording, or what of it follows a hole, may begin inside it.
    Unsure,
}

/// Link of a hop to the hop before.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopLink {
    pub(super) leg: HopId,
    /// Number of switches between.
    pub(super) switches: u64,
    pub(super) certainty: MatchCertainty,
}

/// The next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextHop {
    /// Nowhere yet.
    Nowhere,
    /// It seems to be this one, which is not closed yet.
    Claimed(HopId),
    /// It is this one.
    Gone(HopId),
}

/// Scope of the search for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchScope {
    /// It is looked for at its switch.
    Followed,
    /// It is.
    Lost,
}

/// Obstacles of a packet before it came out on a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockingPackets {
    /// The packet before it on the channel, and when that ended.
    pub(super) output: Option<(u64, Picoseconds)>,
    /// The packet before it at its input, and when that had left, at the switch.
    pub(super) input: Option<(u64, Picoseconds)>,
    /// Time the channel's sender might go on, the last time.
    pub(super) resumed: Option<Picoseconds>,
}

impl ClosedPacket {
    pub(super) fn new(
        (at, opening): (Picoseconds, StartCoverage),
        first: u8,
        packet: &ReceivedPacket,
        sum: u64,
    ) -> Self {
        let crc = u64::from(packet.check != CrcCheck::Runt);
        // What was not kept of a route counts as body.
        let behind = packet.length.saturating_sub(crc + packet.route.bytes().len() as u64);
        let route = CrcResidue::NEW.feed(packet.route.bytes());
        let all = packet.body.xor(route.times_x_to(8 * (behind % 127)));
        let others = packet.length.saturating_sub(crc + 1);
        let mut kept = [0; PEELED_MAX];
        for (place, byte) in kept.iter_mut().zip(packet.route.bytes()) {
            *place = *byte;
        }
        Self {
            at,
            opening,
            end: packet.end,
            length: packet.length,
            payload: packet.payload(),
            route: kept,
            hops: packet.route.count(),
            all,
            rest: all.without_first(&[first], others),
            body: packet.body,
            front: packet.front,
            tag: packet.tag,
            check: packet.check,
            ended_by: packet.ended_by,
            transport: packet.transport.clone(),
            sum,
        }
    }

    /// All bytes but the CRC byte and so many route bytes, if it has them.
    pub(super) fn peeled(&self, hops: u64) -> Option<CrcResidue> {
        let kept = usize::try_from(self.hops).unwrap_or(PEELED_MAX).min(PEELED_MAX);
        let gone = self.route.get(..kept)?.get(..usize::try_from(hops).ok()?)?;
        Some(self.all.without_first(gone, self.length.checked_sub(hops + 1)?))
    }

    /// Number of switches a packet like another is before it, if it is as long as that behind the route,
    /// and what is left of its route there is the same.
    pub(super) fn ahead_of(&self, left: &Self) -> Option<u64> {
        let switches = self.hops.checked_sub(left.hops).filter(|switches| *switches > 0)?;
        let [came, left_hops] = [self.hops, left.hops].map(usize::try_from);
        let rest = self.route.get(usize::try_from(switches).ok()?..came.ok()?)?;
        let fits = self.length.checked_sub(switches) == Some(left.length)
            && self.ended_by == PacketEnd::Gap
            && rest == left.route.get(..left_hops.ok()?)?;
        fits.then_some(switches)
    }

    pub(super) fn syndrome(&self) -> u8 {
        self.check.syndrome().unwrap_or(0)
    }

    /// True if a switch that strips one route byte turns this packet into another.
    pub(super) fn becomes(&self, left: &Self) -> bool {
        self.length == left.length + 1
            && self.check == left.check
            && self.rest.xor(left.all).bits() == 0
    }

    /// True if it is as a sender makes packets.
    pub(super) fn is_sound(&self) -> bool {
        self.check == CrcCheck::Good && self.ended_by == PacketEnd::Gap
    }

    /// True if the recording ends inside it, or has a hole there.
    pub(super) const fn is_cut_off(&self) -> bool {
        matches!(self.ended_by, PacketEnd::CaptureEnd | PacketEnd::Hole)
    }

    /// All its bytes, the CRC byte too.
    pub(super) fn message(&self) -> CrcResidue {
        if self.check == CrcCheck::Runt {
            return self.all;
        }
        let crc = self.all.crc().value() ^ self.syndrome();
        self.all.feed(&[crc])
    }
}

impl HopRecord {
    pub(super) fn is_free(&self) -> bool {
        self.onward == NextHop::Nowhere
    }

    /// True if it was emptied away: it would have shown up before a time, had it left before. R-2
    pub(super) fn is_emptied(&self, now: Picoseconds) -> bool {
        self.emptied.is_some_and(|until| until < now)
    }

    /// True if its first byte may be one from its middle. What is good there is whole, most likely.
    pub(super) fn is_part(&self) -> bool {
        self.closed
            .as_ref()
            .is_some_and(|it| it.opening == StartCoverage::Unsure && it.check != CrcCheck::Good)
    }
}

/// A packet on a channel, among those that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HopId(u32);

/// The packets that are kept.
#[derive(Debug, Default)]
pub(super) struct HopTable {
    legs: Vec<Option<HopRecord>>,
    free: Vec<u32>,
    seq: u64,
}

impl HopTable {
    pub(super) fn add(&mut self, mut leg: HopRecord) -> HopId {
        self.seq += 1;
        leg.seq = self.seq;
        if let Some(place) = self.free.pop()
            && let Some(slot) = self.legs.get_mut(place as usize)
        {
            *slot = Some(leg);
            return HopId(place);
        }
        let place = u32::try_from(self.legs.len()).unwrap_or(u32::MAX);
        self.legs.push(Some(leg));
        HopId(place)
    }

    pub(super) fn get(&self, id: HopId) -> Option<&HopRecord> {
        self.legs.get(id.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: HopId) -> Option<&mut HopRecord> {
        self.legs.get_mut(id.0 as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, id: HopId) {
        if let Some(slot) = self.legs.get_mut(id.0 as usize)
            && slot.take().is_some()
        {
            self.free.push(id.0);
        }
    }

    /// Time at which the first of those that are kept was first seen.
    pub(super) fn oldest(&self) -> Option<Picoseconds> {
        self.legs.iter().flatten().map(|leg| leg.time).min()
    }

    pub(super) fn ids(&self) -> Vec<HopId> {
        let mut ids: Vec<(u64, HopId)> = (0..)
            .zip(&self.legs)
            .filter_map(|(place, leg)| Some((leg.as_ref()?.seq, HopId(place))))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}
