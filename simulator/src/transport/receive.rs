//! What a receiver knows of a logical channel, and what it makes of a data packet. T-4, T-5, T-12

use codec::transport::{ChannelIncarnation, SequenceBit, SyncFlag, TransportHeader};

/// An entry of the receive table. T-3
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum ReceiveEntry {
    /// Nothing was written by this channel since this NIC was started. T-12
    #[default]
    Unknown,
    /// Something was.
    Known {
        /// Which use of the channel the last one written belonged to. T-12
        incarnation: ChannelIncarnation,
        /// The number of the next one. T-4
        expected: SequenceBit,
    },
}

/// What becomes of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveVerdict {
    /// It is new: its endpoint may take it. T-5
    Offer,
    /// It was written before: acknowledged again. T-5
    Duplicate,
    /// It is of a use that is over: dropped. T-12
    Stale,
    /// It goes on with what this NIC knows nothing of: refused with reason 4. T-12
    NoState,
}

/// How a packet's incarnation and number stand to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketStanding {
    /// The entry knows none.
    Unknown,
    /// It is of an earlier use of the channel.
    Older,
    /// It is of the same use, with the number that comes next.
    Expected,
    /// It is of the same use, with the other number.
    Other,
    /// It is of a later use.
    Newer,
}

impl ReceiveEntry {
    /// What becomes of a data packet. It changes nothing: only what is written does.
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

    /// Whether a data packet is new.
    pub(super) fn is_new(self, header: &TransportHeader, sync: SyncFlag) -> bool {
        self.judge(header, sync) == ReceiveVerdict::Offer
    }

    /// A packet has been written: its use of the channel is adopted, and the number flips. T-5, T-12
    ///
    /// Reading: T-12 adopts what it accepts. Were a SYNC adopted that is then refused, a NIC that was
    /// started anew could refuse a late copy of it, and take the packet after it, whose number is the
    /// other one, for its duplicate: acknowledged, and never written.
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
