//! Clocks of nodes: all senders of a node, and all its timeouts, follow one oscillator. W-6

use codec::time::CharacterPeriod;

use crate::node::NodeId;
use crate::rng::Rng;

/// Greatest difference of a clock from the full rate, in parts per million. W-6
pub const CLOCK_TOLERANCE_PPM: i16 = 100;

const CLOCK_STREAM: u64 = 6 << 32;

/// Rate of a node's clock. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeClock {
    /// Faster than the full rate by this many parts per million, or slower.
    Ppm(i16),
    /// Any whole number of parts per million within the tolerance, by the seed of the scenario.
    Random,
}

impl NodeClock {
    /// The full rate.
    pub const EXACT: Self = Self::Ppm(0);

    /// The period of this clock at a node, in a scenario with this seed.
    pub(crate) fn period(self, seed: u64, node: NodeId) -> CharacterPeriod {
        let ppm = match self {
            Self::Ppm(ppm) => i64::from(ppm),
            Self::Random => {
                let most = i64::from(CLOCK_TOLERANCE_PPM);
                let mut rng = Rng::new(seed, CLOCK_STREAM | u64::from(node.0));
                let drawn = rng.below(2 * most.unsigned_abs() + 1);
                i64::try_from(drawn).unwrap_or(most) - most
            }
        };
        CharacterPeriod::FULL_RATE.sped_up(ppm)
    }
}
