//! What a packet says of itself: in whose conversation it is, and which of its packets.

use std::fmt;

use codec::transport::Seq;

use super::super::truth::Label;
use crate::conversation::Noticed;

/// A logical channel, by its NICs and its number.
pub(super) type Key = (u16, u16, u8);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, channel, incarnation, seq, timestamp } = self;
        write!(
            f,
            "{source} > {destination} on {channel}, incarnation {incarnation}, number {seq}, \
             of {timestamp} µs"
        )
    }
}

impl Label {
    /// Whether it is of the same message as another, by what both say.
    pub(super) fn is_use(&self, other: Self) -> bool {
        self.key() == other.key() && (self.incarnation, self.seq) == (other.incarnation, other.seq)
    }

    /// Which logical channel it is of.
    pub(super) const fn key(&self) -> Key {
        (self.source, self.destination, self.channel)
    }

    /// Of the data that an answer with this label answers.
    pub(super) const fn answered(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }

    pub(super) const fn of(noticed: &Noticed) -> Self {
        let (key, label) = (noticed.key, noticed.label);
        Self {
            source: key.source.0,
            destination: key.destination.0,
            channel: key.channel.0,
            incarnation: label.incarnation.0,
            seq: match label.seq {
                Seq::Zero => 0,
                Seq::One => 1,
            },
            timestamp: label.timestamp.0,
        }
    }
}
