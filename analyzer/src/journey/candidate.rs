//! Candidates for a packet that leaves a switch, and the order in which they are preferred. S-5, S-6

use super::fit::ByteFit;
use super::hop_record::HopId;
use crate::event::Picoseconds;

/// Plausibility of the time at which a packet left a switch. S-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DepartureTimeliness {
    /// No contradiction with known passage times.
    Possible,
    /// Shorter than every known passage.
    Unheard,
    /// Shorter than every known passage by more than the token's travel explains.
    Doubtful,
    /// The packet would have left earlier.
    Impossible,
}

/// A packet at an input that may be the departing one.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopCandidate {
    pub(super) hop: HopId,
    pub(super) lane: usize,
    /// Position in the input's queue.
    pub(super) place: usize,
    pub(super) fit: ByteFit,
    /// Number of packets ahead of it that are assumed to be waiting still.
    pub(super) before: usize,
    /// Plausibility of its departure at that time.
    pub(super) timeliness: DepartureTimeliness,
    /// Estimated time at which the output could serve it. S-5
    pub(super) served: Picoseconds,
    /// Number of inputs that the output's token visits before its input. S-5
    pub(super) turn: u8,
}

impl HopCandidate {
    /// A packet with the bytes of the departed one.
    pub(super) const fn same(hop: HopId, lane: usize, place: usize) -> Self {
        let (fit, timeliness) = (ByteFit::Same, DepartureTimeliness::Possible);
        Self { hop, lane, place, fit, before: 0, timeliness, served: 0, turn: 0 }
    }

    /// Sort key; the smallest is the best candidate.
    pub(super) fn key(&self) -> (ByteFit, DepartureTimeliness, usize, Picoseconds, u8) {
        (self.fit, self.timeliness, self.before, self.served, self.turn)
    }
}
