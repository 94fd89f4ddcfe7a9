//! A packet on one captured channel, and what it is joined to. P-3, P-5

use codec::crc::Residue;
use codec::packet::{Check, Tag};
use codec::tick::Tick;

use super::{Certainty, Fate};
use crate::packet::{EndedBy, PacketFront, PacketSeen};
use crate::timeline::Time;
use crate::transport::TransportSeen;

/// Route bytes of a packet that are looked at where links were not captured. *Chosen*: no network
/// of the time is so deep.
pub(super) const PEELED_MAX: usize = 16;

/// A packet on one channel.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    /// Which channel, by its place in the net.
    pub(super) lane: usize,
    /// Tells it from others that were kept in the same place.
    pub(super) seq: u64,
    pub(super) number: u64,
    pub(super) first: u8,
    pub(super) start: Tick,
    pub(super) time: Time,
    /// What is known of it since it was closed.
    pub(super) closed: Option<Closed>,
    /// The same packet on the captured channel before.
    pub(super) before: Option<Joint>,
    /// Whether the packet before it is chosen only when more is known.
    pub(super) undecided: bool,
    pub(super) onward: Onward,
    /// Until when it may still show up, once others from behind it have.
    pub(super) passed: Option<Time>,
    /// Until when it may still show up, once FRES has emptied the buffer that it was in. R-2
    pub(super) emptied: Option<Time>,
    pub(super) sight: Sight,
    pub(super) fate: Option<Fate>,
    pub(super) held: Held,
}

/// What is known of a packet that has been closed.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub(super) at: Time,
    pub(super) opening: Opening,
    pub(super) end: Tick,
    pub(super) length: u64,
    pub(super) payload: u64,
    /// The first route bytes, and how many there are in all.
    route: [u8; PEELED_MAX],
    pub(super) hops: u64,
    /// All bytes but the CRC byte,
    pub(super) all: Residue,
    /// and without the first byte too: what leaves a switch.
    pub(super) rest: Residue,
    pub(super) body: Residue,
    /// Its first bytes, which are compared where it was cut.
    pub(super) front: PacketFront,
    pub(super) tag: Option<Tag>,
    pub(super) check: Check,
    pub(super) ended_by: EndedBy,
    pub(super) transport: Option<Box<TransportSeen>>,
    /// Bytes of its channel up to its end.
    pub(super) sum: u64,
}

/// Whether a packet was recorded from its first byte on. P-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// It was.
    Seen,
    /// The recording, or what of it follows a hole, may begin inside it.
    Unsure,
}

/// How a packet on a channel is joined to itself on the channel before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    pub(super) leg: LegId,
    /// How many switches lie between.
    pub(super) switches: u64,
    pub(super) certainty: Certainty,
}

/// Where a packet went from the switch behind its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// Nowhere yet.
    Nowhere,
    /// It seems to be this one, which is not closed yet.
    Claimed(LegId),
    /// It is this one.
    Gone(LegId),
}

/// Whether a packet is among those that are looked for everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is looked for at its switch.
    Followed,
    /// It is.
    Lost,
}

/// What a packet may have waited for before it came out on a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// The packet before it on the channel, and when that ended.
    pub(super) output: Option<(u64, Time)>,
    /// The packet before it at its input, and when that had left, at the switch.
    pub(super) input: Option<(u64, Time)>,
    /// When the channel's sender might go on, the last time.
    pub(super) resumed: Option<Time>,
}

impl Closed {
    pub(super) fn new(
        (at, opening): (Time, Opening),
        first: u8,
        packet: &PacketSeen,
        sum: u64,
    ) -> Self {
        let crc = u64::from(packet.check != Check::Runt);
        // What was not kept of a route counts as body.
        let behind = packet.length.saturating_sub(crc + packet.route.bytes().len() as u64);
        let route = Residue::NEW.feed(packet.route.bytes());
        let all = packet.body.and(route.times_x_to(8 * (behind % 127)));
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
    pub(super) fn peeled(&self, hops: u64) -> Option<Residue> {
        let kept = usize::try_from(self.hops).unwrap_or(PEELED_MAX).min(PEELED_MAX);
        let gone = self.route.get(..kept)?.get(..usize::try_from(hops).ok()?)?;
        Some(self.all.without_first(gone, self.length.checked_sub(hops + 1)?))
    }

    /// How many switches a packet like another is before it, if it is as long as that behind the route,
    /// and what is left of its route there is the same.
    pub(super) fn ahead_of(&self, left: &Self) -> Option<u64> {
        let switches = self.hops.checked_sub(left.hops).filter(|switches| *switches > 0)?;
        let [came, left_hops] = [self.hops, left.hops].map(usize::try_from);
        let rest = self.route.get(usize::try_from(switches).ok()?..came.ok()?)?;
        let fits = self.length.checked_sub(switches) == Some(left.length)
            && self.ended_by == EndedBy::Gap
            && rest == left.route.get(..left_hops.ok()?)?;
        fits.then_some(switches)
    }

    pub(super) fn syndrome(&self) -> u8 {
        self.check.syndrome().unwrap_or(0)
    }

    /// Whether it is as a sender makes packets.
    pub(super) fn is_sound(&self) -> bool {
        self.check == Check::Good && self.ended_by == EndedBy::Gap
    }

    /// Whether the recording ends inside it, or has a hole there.
    pub(super) const fn is_cut_off(&self) -> bool {
        matches!(self.ended_by, EndedBy::CaptureEnd | EndedBy::Hole)
    }

    /// All its bytes, the CRC byte too.
    pub(super) fn message(&self) -> Residue {
        if self.check == Check::Runt {
            return self.all;
        }
        let crc = self.all.crc().value() ^ self.syndrome();
        self.all.feed(&[crc])
    }
}

impl Leg {
    pub(super) fn is_free(&self) -> bool {
        self.onward == Onward::Nowhere
    }

    /// Whether it was emptied away: it would have shown up before a time, had it left before. R-2
    pub(super) fn is_emptied(&self, now: Time) -> bool {
        self.emptied.is_some_and(|until| until < now)
    }

    /// Whether its first byte may be one from its middle. What is good there is whole, most likely.
    pub(super) fn is_part(&self) -> bool {
        self.closed
            .as_ref()
            .is_some_and(|it| it.opening == Opening::Unsure && it.check != Check::Good)
    }
}

/// A packet on a channel, among those that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LegId(u32);

/// The packets that are kept.
#[derive(Debug, Default)]
pub(super) struct Legs {
    legs: Vec<Option<Leg>>,
    free: Vec<u32>,
    seq: u64,
}

impl Legs {
    pub(super) fn add(&mut self, mut leg: Leg) -> LegId {
        self.seq += 1;
        leg.seq = self.seq;
        if let Some(place) = self.free.pop()
            && let Some(slot) = self.legs.get_mut(place as usize)
        {
            *slot = Some(leg);
            return LegId(place);
        }
        let place = u32::try_from(self.legs.len()).unwrap_or(u32::MAX);
        self.legs.push(Some(leg));
        LegId(place)
    }

    pub(super) fn get(&self, id: LegId) -> Option<&Leg> {
        self.legs.get(id.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: LegId) -> Option<&mut Leg> {
        self.legs.get_mut(id.0 as usize)?.as_mut()
    }

    pub(super) fn take(&mut self, id: LegId) -> Option<Leg> {
        let leg = self.legs.get_mut(id.0 as usize)?.take()?;
        self.free.push(id.0);
        Some(leg)
    }

    /// When the first of those that are kept was first seen.
    pub(super) fn oldest(&self) -> Option<Time> {
        self.legs.iter().flatten().map(|leg| leg.time).min()
    }

    pub(super) fn ids(&self) -> Vec<LegId> {
        let mut ids: Vec<(u64, LegId)> = (0..)
            .zip(&self.legs)
            .filter_map(|(place, leg)| Some((leg.as_ref()?.seq, LegId(place))))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}
