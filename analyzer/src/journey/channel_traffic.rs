//! Traffic of a channel of the network, which most channels of a large capture do not have.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use codec::crc::CrcResidue;
use codec::route::PortId;

use super::clock_gaps::ClockGap;
use super::fit::ByteFit;
use super::hop_record::{ClosedPacket, HopId};
use super::matching::SEVERED;
use super::network_map::MappedChannel;
use crate::event::{ChannelEvent, Picoseconds, TimedEvent};

/// State of a channel on which something has happened.
#[derive(Debug, Default)]
pub(super) struct ChannelTraffic {
    /// The last packets that the switch behind it copies, by their serial numbers. S-9
    pub(super) copied: VecDeque<(u64, HopId)>,
    /// Packets at the switch input behind it, or in transit to it.
    pub(super) queue: VecDeque<QueuedHop>,
    /// The packet that has begun and not ended.
    pub(super) open: Option<HopId>,
    pub(super) next_number: u64,
    /// Number of bytes so far.
    pub(super) sum: u64,
    /// Time before which no packet that leaves on it now can have arrived: it was free for long then.
    pub(super) busy_since: Picoseconds,
    /// The last packet and the time of its end.
    pub(super) last: Option<(u64, Picoseconds)>,
    /// The last packet that left this input, and the time of its departure from the switch.
    pub(super) left: Option<(u64, Picoseconds)>,
    /// Number of the first packet in front of which others may stand that were not recorded: it came behind a hole, or
    /// behind a packet whose end was not recorded.
    unseen: Option<u64>,
    /// Number of the packet behind the last one that has left this input, as its bytes show.
    shown: u64,
    /// Time at which the last packet had left this input completely, if known.
    pub(super) clear: Option<Picoseconds>,
    /// Time of the last FRES.
    pub(super) reset: Option<Picoseconds>,
    /// Begin of a reset that has not ended. R-2
    pub(super) resetting: Option<Picoseconds>,
    /// True once more packets waited than are kept: what leaves may be one of the others.
    pub(super) is_crowded: bool,
    /// When the link was silent last, from and to. F-7
    pub(super) silent: Option<[Picoseconds; 2]>,
    /// Residues of packets that matched ambiguously on this channel.
    pub(super) doubted: VecDeque<CrcResidue>,
    /// Input port that this output served last. S-5
    pub(super) served: PortId,
    pub(super) resumed: Option<Picoseconds>,
    /// Passages to this output: input channel, first byte, and number of packets, in ascending
    /// order.
    pub(super) passages: Vec<(usize, u8, u64)>,
    /// Packets to this output that unlike clocks explain.
    pub(super) apart: Option<ClockGap>,
}

impl ChannelTraffic {
    /// True if a packet may stand behind others that were not recorded.
    pub(super) fn is_hidden(&self, packet: u64) -> bool {
        self.unseen.is_some_and(|unseen| packet >= unseen && self.shown <= unseen)
    }

    /// Records a packet that has left this input, perhaps up to a hole only.
    pub(super) fn leaves(&mut self, packet: u64, fit: ByteFit, left: Option<&ClosedPacket>) {
        if fit != ByteFit::Turn {
            self.shown = self.shown.max(packet + 1);
        }
        if left.is_some_and(ClosedPacket::is_cut_off) {
            self.unseen = Some(packet + 1);
        }
    }

    /// Ends a silence of the link.
    pub(super) fn restored(&mut self, now: Picoseconds) {
        if let Some([_, until]) = &mut self.silent {
            *until = now.min(*until);
        }
    }
}

impl MappedChannel {
    /// Ends a reset: if that was long, the data in it may have been packets, which nothing shows.
    pub(super) fn reset_ended(&mut self, now: Picoseconds) {
        if self.resetting.take().is_some_and(|since| now - since > SEVERED) {
            self.blind_until = Some(now);
        }
    }

    /// Records the first character behind time that was not recorded.
    pub(super) fn blind(&mut self, event: &TimedEvent) {
        self.blind_until = Some(event.time);
        if event.body != ChannelEvent::Begins {
            self.unseen = Some(self.next_number + u64::from(self.open.is_some()));
        }
    }
}

impl Deref for MappedChannel {
    type Target = ChannelTraffic;

    fn deref(&self) -> &ChannelTraffic {
        static NONE: LazyLock<ChannelTraffic> = LazyLock::new(ChannelTraffic::default);
        self.traffic.as_deref().unwrap_or_else(|| &NONE)
    }
}

impl DerefMut for MappedChannel {
    fn deref_mut(&mut self) -> &mut ChannelTraffic {
        self.traffic.get_or_insert_default()
    }
}

/// A queued packet with its first byte, which excludes most candidates without a look-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedHop {
    pub(super) id: HopId,
    pub(super) first: u8,
}
