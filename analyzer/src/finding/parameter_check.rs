//! Checks that depend on parameters of links, and how many of them could be made.

use codec::capture::Channel;

use crate::channel_name::TapEnd;
use crate::link::parameters::{ChannelParameters, ParameterKey, UnknownParameters};
use crate::link::slack::{ROOM, STOP_RESPONSE, THRESHOLDS};
use crate::totals::AddTotals;

/// Check that depends on link parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterCheck {
    /// Reaction of a sender to STOP; counted in stops. F-1
    Obedience,
    /// Thresholds of slack buffers; counted in changes of STOP and GO. F-3
    Thresholds,
    /// Latencies, cable delay and hysteresis; counted in changes of STOP and GO. F-4
    Timing,
    /// Cells above the STOP threshold; counted in STOPs. F-9
    Room,
}

/// Number of checks with all parameters known, and the parameters unknown in the other checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCoverage {
    /// Number of checks with all parameters known.
    pub times: u64,
    /// Parameters unknown in at least one check.
    pub unknown: UnknownParameters,
}

impl ParameterCheck {
    /// All checks, in order.
    pub const ALL: [Self; 4] = [Self::Obedience, Self::Thresholds, Self::Timing, Self::Room];

    /// Parameters that the check requires and that are unknown for a channel.
    pub(super) fn unknown(
        self,
        channel: &Channel,
        parameters: &ChannelParameters,
    ) -> UnknownParameters {
        let of = |keys| UnknownParameters::of(parameters, keys);
        let end = TapEnd::of(channel);
        let unknown = match self {
            // At a tap at the sender's end no cable delay is involved.
            Self::Obedience if end == Some(TapEnd::Sender) => of(&[ParameterKey::Interpretation]),
            Self::Obedience => of(STOP_RESPONSE),
            Self::Thresholds => of(THRESHOLDS),
            Self::Timing => of(&[ParameterKey::Hysteresis]).with(of(STOP_RESPONSE)).with(of(ROOM)),
            Self::Room => of(ROOM),
        };
        if end.is_none() { unknown.with(UnknownParameters::TAP) } else { unknown }
    }
}

impl AddTotals for CheckCoverage {
    fn absorb(&mut self, other: &Self) {
        self.times.absorb(&other.times);
        self.unknown = self.unknown.with(other.unknown);
    }
}
