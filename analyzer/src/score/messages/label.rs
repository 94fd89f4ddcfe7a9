//! Identity of a packet: its conversation, incarnation, sequence number and timestamp.

use std::fmt;

use codec::transport::SequenceBit;

use super::super::truth::TruthLabel;
use crate::conversation::Observation;

/// A logical channel: source NIC, destination NIC, number.
pub(super) type ScoredLabel = (u16, u16, u8);

impl fmt::Display for TruthLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, channel, incarnation, seq, timestamp } = self;
        write!(
            f,
            "{source} > {destination} on {channel}, incarnation {incarnation}, number {seq}, \
             of {timestamp} µs"
        )
    }
}

impl TruthLabel {
    /// True if both labels have the same logical channel, incarnation and sequence number.
    pub(super) fn is_use(&self, other: Self) -> bool {
        Self { timestamp: self.timestamp, ..other } == *self
    }

    pub(super) const fn key(&self) -> ScoredLabel {
        (self.source, self.destination, self.channel)
    }

    /// Label of the data that an answer with this label acknowledges or refuses.
    pub(super) const fn answered(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }

    pub(super) const fn of(observation: &Observation) -> Self {
        let (key, label) = (observation.key, observation.label);
        Self {
            source: key.source.0,
            destination: key.destination.0,
            channel: key.channel.0,
            incarnation: label.incarnation.0,
            seq: match label.seq {
                SequenceBit::Zero => 0,
                SequenceBit::One => 1,
            },
            timestamp: label.timestamp.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_of_one_channel_incarnation_and_number() {
        let [source, destination, incarnation] = [1, 2, 4];
        let own = TruthLabel { source, destination, channel: 3, incarnation, seq: 0, timestamp: 9 };
        assert!(own.is_use(TruthLabel { timestamp: 8, ..own }));
        assert!(!own.is_use(TruthLabel { seq: 1, ..own }));
    }
}
