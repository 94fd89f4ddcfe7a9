//! Receiver's state of a logical channel, and its verdict on data packets. T-4, T-5, T-12

use codec::transport::{ChannelIncarnation, SequenceBit, SyncFlag, TransportHeader};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum ReceiveEntry {
    /// No message was written since this NIC was started. T-12
    #[default]
    Unknown,
    Known {
        /// Incarnation of the last message written. T-12
        incarnation: ChannelIncarnation,
        /// Sequence number of the next message. T-4
        expected: SequenceBit,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveVerdict {
    /// New: offered to its endpoint. T-5
    Offer,
    /// Duplicate: acknowledged again. T-5
    Duplicate,
    /// Former incarnation: dropped. T-12
    Stale,
    /// Continues an unknown incarnation: refused with reason 4. T-12
    NoState,
}

/// Relation of a packet's incarnation and number to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketStanding {
    Unknown,
    Older,
    /// Same incarnation, next number.
    Expected,
    /// Same incarnation, other number.
    Other,
    Newer,
}

impl ReceiveEntry {
    /// Judges a data packet without changing the entry.
    pub(super) fn judge(self, header: &TransportHeader, sync: SyncFlag) -> ReceiveVerdict {
        match (self.standing(header), sync) {
            // T-12: SYNC brings what there is no state for.
            (PacketStanding::Unknown | PacketStanding::Newer, SyncFlag::Set) => {
                ReceiveVerdict::Offer
            }
            // T-12: without SYNC there must be state. Reading: that of an older use is none. This
            // NIC was started anew, and took an old SYNC that was still under way.
            (PacketStanding::Unknown | PacketStanding::Newer, SyncFlag::Clear) => {
                ReceiveVerdict::NoState
            }
            // T-12: the same incarnation goes by T-5; SYNC is repeated until it is acknowledged.
            (PacketStanding::Expected, SyncFlag::Set | SyncFlag::Clear) => ReceiveVerdict::Offer,
            (PacketStanding::Other, SyncFlag::Set | SyncFlag::Clear) => ReceiveVerdict::Duplicate,
            (PacketStanding::Older, SyncFlag::Set | SyncFlag::Clear) => ReceiveVerdict::Stale,
        }
    }

    pub(super) fn is_new(self, header: &TransportHeader, sync: SyncFlag) -> bool {
        self.judge(header, sync) == ReceiveVerdict::Offer
    }

    /// Records a written packet: adopts its incarnation and flips the number. T-5, T-12
    ///
    /// Reading: T-12 adopts accepted packets only. If a refused SYNC were adopted, a restarted NIC
    /// could refuse a late copy of it and take the next packet, with the other number, for its
    /// duplicate: acknowledged, but never written.
    pub(super) const fn write(&mut self, header: &TransportHeader) {
        *self = Self::Known { incarnation: header.incarnation, expected: header.seq.flipped() };
    }

    fn standing(self, header: &TransportHeader) -> PacketStanding {
        match self {
            Self::Unknown => PacketStanding::Unknown,
            Self::Known { incarnation, expected } => {
                if header.incarnation == incarnation {
                    if header.seq == expected {
                        PacketStanding::Expected
                    } else {
                        PacketStanding::Other
                    }
                } else if header.incarnation.is_newer_than(incarnation) {
                    PacketStanding::Newer
                } else {
                    PacketStanding::Older
                }
            }
        }
    }
}
