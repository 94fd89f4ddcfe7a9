//! Traffic of a channel of the network, which most channels of a large capture do not have.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use codec::crc::CrcResidue;
use codec::route::PortId;

use super::hop_record::HopId;
use super::network_map::MappedChannel;
use crate::event::Picoseconds;

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
    /// Time at which the last packet had left this input completely, if known.
    pub(super) clear: Option<Picoseconds>,
    /// Time of the last FRES.
    pub(super) reset: Option<Picoseconds>,
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
}

impl ChannelTraffic {
    /// Ends a silence of the link.
    pub(super) fn restored(&mut self, now: Picoseconds) {
        if let Some([_, until]) = &mut self.silent {
            *until = now.min(*until);
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
