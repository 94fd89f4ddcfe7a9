//! A packet on one captured channel, with its links to the hops before and after. P-3, P-5

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::Picoseconds;
use crate::ip::ParsedIp;
use crate::packet::{CapturedMapping, FrameEnd, PacketFront, ReceivedPacket, StartCoverage};
use codec::crc::CrcResidue;
use codec::multicast::RELAYED;
use codec::packet::{CappedBytes, CrcCheck, PacketTag};
use codec::time::Tick;

use super::channel_traffic::ChannelTraffic;
use super::fit::{ByteFit, ENOUGH};
use super::multicast::CopiedPacket;
use super::outcome::{JourneyFate, MatchCertainty};

use crate::packet::transport::ParsedTransport;

/// Maximum of compared route bytes across uncaptured links. *Chosen*: no network of the time is so
/// deep.
pub(super) const PEELED_MAX: usize = 16;

/// Maximum of kept bytes of packets. *Chosen*: those of some 200 µs of a network of a thousand links.
const RECENT_MAX: usize = 1 << 24;
/// Size of a kept packet beside its bytes. *Chosen*
const RECENT_COST: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct HopRecord {
    /// Index of the channel in the map.
    pub(super) lane: usize,
    /// Serial number, which distinguishes successive records with the same [`HopId`].
    pub(super) seq: u64,
    pub(super) number: u64,
    pub(super) first: u8,
    pub(super) start: Tick,
    pub(super) time: Picoseconds,
    /// Time of the first packets that it may have been taken for, or that may have been taken for it.
    pub(super) since: Picoseconds,
    /// The packet's contents, once it has ended.
    pub(super) closed: Option<ClosedPacket>,
    /// Link to the same packet on the previous captured channel.
    pub(super) before: Option<HopLink>,
    /// True if the choice of the previous hop is postponed.
    pub(super) undecided: bool,
    pub(super) onward: NextHop,
    /// Deadline for its appearance at an output after a later packet has overtaken it.
    pub(super) passed: Option<Picoseconds>,
    /// Deadline for its appearance at an output after FRES has emptied its buffer. R-2
    pub(super) emptied: Option<Picoseconds>,
    /// Start of a packet of unknown origin at the requested output that may be this one.
    pub(super) likely_left: Option<Picoseconds>,
    pub(super) sight: SearchScope,
    pub(super) fate: Option<JourneyFate>,
    pub(super) held: BlockingPackets,
    /// A packet that its switch copies: the copies that were seen. S-9
    pub(super) copied: Option<CopiedPacket>,
    /// On a branch of a journey: the packet that the switch behind copies, by serial number.
    pub(super) copied_of: Option<(u64, HopId)>,
    /// Output for which it waits at the head of its input at the end of the recording.
    pub(super) awaits: Option<usize>,
    /// Addressings that explain its departure, as far as its first byte tells. S-1
    pub(super) readings: [bool; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SearchScope {
    /// The packet is expected at an output of its switch.
    #[default]
    Followed,
    /// The packet is in the list of those on uncaptured links.
    Lost,
}

/// Contents of a packet that has ended.
#[derive(Clone, Debug)]
pub(super) struct ClosedPacket {
    pub(super) at: Picoseconds,
    pub(super) opening: StartCoverage,
    pub(super) end: Tick,
    pub(super) length: u64,
    pub(super) payload: u64,
    /// The first route bytes; `hops` is the number of all.
    route: [u8; PEELED_MAX],
    pub(super) hops: u64,
    /// Residue of all bytes but the CRC byte.
    pub(super) all: CrcResidue,
    /// Residue without the first byte too: the bytes after the switch.
    pub(super) rest: CrcResidue,
    pub(super) body: CrcResidue,
    /// First bytes, compared if the packet was truncated.
    pub(super) front: PacketFront,
    /// All bytes, of recent packets. P-5
    pub(super) bytes: Option<Arc<CappedBytes>>,
    pub(super) tag: Option<PacketTag>,
    pub(super) check: CrcCheck,
    pub(super) ended_by: FrameEnd,
    pub(super) transport: Option<Box<ParsedTransport>>,
    pub(super) mapping: Option<Arc<CapturedMapping>>,
    pub(super) ip: Option<Box<ParsedIp>>,
    /// Number of bytes on the channel up to the packet's end.
    pub(super) sum: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HopLink {
    pub(super) hop: HopId,
    /// Number of switches between the two hops.
    pub(super) switches: u64,
    pub(super) certainty: MatchCertainty,
    /// True if the switch's input held no other packet at that time.
    pub(super) alone: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NextHop {
    /// No next hop is known.
    #[default]
    Nowhere,
    /// This packet, which has not ended, is the probable next hop.
    Claimed(HopId),
    /// This packet is the next hop.
    Gone(HopId),
}

/// Obstacles of a packet before its departure on a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockingPackets {
    /// The previous packet on the channel, and the time of its end.
    pub(super) output: Option<(u64, Picoseconds)>,
    /// The previous packet of its input, and the time of its departure from the switch.
    pub(super) input: Option<(u64, Picoseconds)>,
    /// Time of the last release of the channel's sender.
    pub(super) resumed: Option<Picoseconds>,
}

impl BlockingPackets {
    /// True if the packet before this one at its input was not seen to leave: it was dropped, or left on a
    /// channel that is not captured. The time at which the input was free again is unknown then.
    pub(super) fn is_behind_unseen(&self, packet: u64) -> bool {
        packet > 0 && self.input.is_none_or(|(before, _)| before + 1 != packet)
    }
}

impl ClosedPacket {
    pub(super) fn new(at: Picoseconds, first: u8, packet: &ReceivedPacket, sum: u64) -> Self {
        let all = packet.residue();
        let others = packet.length.saturating_sub(u64::from(packet.length > 1) + 1);
        let mut kept = [0; PEELED_MAX];
        for (place, byte) in kept.iter_mut().zip(packet.route.bytes()) {
            *place = *byte;
        }
        Self {
            at,
            opening: packet.opening,
            end: packet.end,
            length: packet.length,
            payload: packet.payload(),
            route: kept,
            hops: packet.route.count(),
            all,
            rest: all.without_first(&[first], others),
            body: packet.body,
            front: packet.front,
            bytes: packet.bytes.clone(),
            tag: packet.tag,
            check: packet.check,
            ended_by: packet.ended_by,
            transport: packet.transport.clone(),
            mapping: packet.mapping.clone(),
            ip: packet.ip.clone(),
            sum,
        }
    }

    /// Residue of the packet without the CRC byte and the first `hops` route bytes, if it has them.
    pub(super) fn peeled(&self, hops: u64) -> Option<CrcResidue> {
        let kept = usize::try_from(self.hops).unwrap_or(PEELED_MAX).min(PEELED_MAX);
        let gone = self.route.get(..kept)?.get(..usize::try_from(hops).ok()?)?;
        Some(self.all.without_first(gone, self.length.checked_sub(hops + 1)?))
    }

    /// Number of switches between this packet and a later sighting, if lengths and remaining routes
    /// agree.
    pub(super) fn ahead_of(&self, left: &Self) -> Option<u64> {
        let switches = self.hops.checked_sub(left.hops)?;
        let [came, left_hops] = [self.hops, left.hops].map(usize::try_from);
        let rest = self.route.get(usize::try_from(switches).ok()?..came.ok()?)?;
        let fits = self.length.checked_sub(switches) == Some(left.length)
            && self.ended_by == FrameEnd::Gap
            && rest == left.route.get(..left_hops.ok()?)?;
        fits.then_some(switches)
    }

    /// All route bytes, if they were kept.
    pub(super) fn route(&self) -> Option<CappedBytes> {
        let mut route = CappedBytes::default();
        route.push(self.route.get(..usize::try_from(self.hops).ok()?)?);
        Some(route)
    }

    /// The bytes that are kept: all, or the first.
    pub(super) fn visible(&self) -> &[u8] {
        self.bytes.as_ref().map_or(self.front.bytes(), |bytes| bytes.bytes())
    }

    pub(super) fn syndrome(&self) -> u8 {
        self.check.syndrome().unwrap_or(0)
    }

    /// True if this packet with one route byte stripped has the bytes of `left`; a length that the recording
    /// truncates proves nothing.
    pub(super) fn becomes(&self, left: &Self) -> bool {
        !(self.is_cut_off() || left.is_cut_off())
            && self.length == left.length + 1
            && self.check == left.check
            && self.rest.xor(left.all).bits() == 0
    }

    /// True if the packet has a good CRC and ends with a GAP.
    pub(super) fn is_sound(&self) -> bool {
        self.check == CrcCheck::Good && self.ended_by == FrameEnd::Gap
    }

    /// True if the recording ends or has a hole inside the packet.
    pub(super) const fn is_cut_off(&self) -> bool {
        matches!(self.ended_by, FrameEnd::CaptureEnd | FrameEnd::Hole)
    }

    /// Residue of all bytes, including the CRC byte.
    pub(super) fn message(&self) -> CrcResidue {
        if self.length < 2 {
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

    /// True if its next hop is known by more than its turn.
    pub(super) const fn is_gone(&self) -> bool {
        matches!(self.onward, NextHop::Gone(_))
    }

    /// True if the deadline after FRES has expired. R-2
    pub(super) fn is_emptied(&self, now: Picoseconds) -> bool {
        self.emptied.is_some_and(|until| until < now)
    }

    /// True if the recording may begin inside the packet. A good CRC shows that most likely it does
    /// not.
    pub(super) fn is_part(&self) -> bool {
        self.closed
            .as_ref()
            .is_some_and(|it| it.opening == StartCoverage::Unsure && it.check != CrcCheck::Good)
    }

    /// True if bytes show that it is the packet before it, and no other.
    pub(super) fn is_shown_by(&self, fit: ByteFit) -> bool {
        let is_certain =
            self.before.is_some_and(|joint| joint.certainty == MatchCertainty::Certain);
        is_certain && fit.is_by_bytes(ENOUGH)
    }

    /// True if others may have its bytes: short packets agree by chance, and hosts send multicasts on. N-6
    pub(super) fn is_common(&self) -> bool {
        self.closed.as_ref().is_some_and(|it| {
            it.length < ENOUGH.into() || it.tag.is_some_and(|tag| tag.value() == RELAYED)
        })
    }

    /// True if it has ended without bytes behind its route byte. P-9
    pub(super) fn is_runt(&self) -> bool {
        self.closed.as_ref().is_some_and(|it| it.length < 2 && !it.is_cut_off())
    }
}

/// Index of a kept packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HopId(u32);

/// Storage of packets with reuse of free slots.
#[derive(Debug, Default)]
pub(super) struct HopTable {
    table: Vec<Option<HopRecord>>,
    free: Vec<u32>,
    seq: u64,
    /// Recent packets with their bytes, and the sum of those.
    recent: VecDeque<(HopId, u64, usize)>,
    recent_bytes: usize,
}

impl HopTable {
    #[inline]
    pub(super) fn add(&mut self, mut hop: HopRecord) -> HopId {
        self.seq += 1;
        hop.seq = self.seq;
        if let Some(place) = self.free.pop()
            && let Some(slot) = self.table.get_mut(place as usize)
        {
            *slot = Some(hop);
            return HopId(place);
        }
        let place = u32::try_from(self.table.len()).unwrap_or(u32::MAX);
        self.table.push(Some(hop));
        HopId(place)
    }

    /// Records the end of a packet. Bytes are kept for the last packets only.
    pub(super) fn close(&mut self, id: HopId, number: u64, closed: ClosedPacket) {
        let Some(hop) = self.get_mut(id) else { return };
        let (seq, len) = (hop.seq, closed.bytes.as_ref().map(|bytes| bytes.bytes().len()));
        (hop.number, hop.closed) = (number, Some(closed));
        let Some(len) = len.map(|len| len + RECENT_COST) else { return };
        self.recent.push_back((id, seq, len));
        self.recent_bytes += len;
        while self.recent_bytes > RECENT_MAX
            && let Some((old, seq, len)) = self.recent.pop_front()
        {
            self.recent_bytes -= len;
            let hop = self.get_mut(old).filter(|hop| hop.seq == seq);
            if let Some(closed) = hop.and_then(|hop| hop.closed.as_mut()) {
                closed.bytes = None;
            }
        }
    }

    pub(super) fn get(&self, id: HopId) -> Option<&HopRecord> {
        self.table.get(id.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: HopId) -> Option<&mut HopRecord> {
        self.table.get_mut(id.0 as usize)?.as_mut()
    }

    /// Records when the sender of a channel was released: a packet that begins then was held until then. F-1
    pub(super) fn released(&mut self, channel: &mut ChannelTraffic, time: Picoseconds) {
        channel.resumed = Some(time);
        if let Some(hop) = channel.open.and_then(|hop| self.get_mut(hop))
            && hop.time == time
        {
            hop.held.resumed = Some(time);
        }
    }

    pub(super) fn remove(&mut self, id: HopId) {
        if let Some(slot) = self.table.get_mut(id.0 as usize)
            && slot.take().is_some()
        {
            self.free.push(id.0);
        }
    }

    /// Earliest start of a kept packet.
    pub(super) fn oldest(&self) -> Option<Picoseconds> {
        self.table.iter().flatten().filter(|hop| hop.copied.is_none()).map(|hop| hop.time).min()
    }

    pub(super) fn ids(&self) -> Vec<HopId> {
        let mut ids: Vec<(u64, HopId)> = (0..)
            .zip(&self.table)
            .filter_map(|(place, hop)| Some((hop.as_ref()?.seq, HopId(place))))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}
