//! What is fixed about a link: its rate, its length, its slack, its latencies. F-3, F-4, R-4

use std::num::NonZeroU32;

use codec::tick::Ticks;

/// Periods that a character is under way on 25 m of cable: 140 ns, in whole periods. F-4 (§4.2)
pub const DELAY_25_M: u64 = 12;

/// Picoseconds that a character is under way on 1 m of cable: 140 ns on 25 m. §4.2
pub const DELAY_PS_PER_M: u64 = 5_600;

/// How long a sender may be stopped, or send one packet: 2²² periods, 52 ms. R-4 (§4.6.2)
pub const BLOCKED: Ticks = Ticks(1 << 22);

/// The parameters of a link, alike at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkParameters {
    /// The full rate over the link's: its character period in periods of the full rate. §4.2
    pub divisor: NonZeroU32,
    /// How long a character is under way, in periods of the full rate, at least 1.
    pub delay: Ticks,
    /// The slack buffer at either end. F-3
    pub slack: Slack,
    /// Link periods between a threshold and the STOP or GO on the wire, at most 15. F-4
    pub generation: u8,
    /// Link periods between a STOP or GO and the sender's obedience, at most 15. F-4
    pub interpretation: u8,
    /// The blocked-packet timeout, in link periods. R-4
    pub blocked: Ticks,
    /// Which symbols the link's ends understand. C-3
    pub symbols: Symbols,
}

/// The parts of a slack buffer, in cells. F-3 (§4.5.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slack {
    /// `k_g`: when no more than these are full, GO.
    pub go_slack: u32,
    /// h, at least 1: between the thresholds of GO and STOP.
    pub hysteresis: u32,
    /// `k_s`: when no more than these are empty, STOP.
    pub stop_slack: u32,
}

/// Which control symbols a link's ends understand. C-3 (§4.8.5)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// GAP, GO, STOP, IDLE and FRES; any others are ignored.
    #[default]
    Mandatory,
    /// ORUN, BRES, probes and replies too.
    All,
}

impl Slack {
    /// All cells: r = `k_g` + h + `k_s`. F-3
    #[must_use]
    pub const fn cells(&self) -> u32 {
        self.go_slack.saturating_add(self.hysteresis).saturating_add(self.stop_slack)
    }

    /// Full cells that generate STOP: r − `k_s`. F-3
    #[must_use]
    pub const fn stop_at(&self) -> u32 {
        self.go_slack.saturating_add(self.hysteresis)
    }
}

impl Default for Slack {
    /// F-4
    fn default() -> Self {
        Self { go_slack: 32, hysteresis: 16, stop_slack: 32 }
    }
}

impl Default for LinkParameters {
    /// 25 m at the full rate, and the decisions of F-4.
    fn default() -> Self {
        Self {
            divisor: NonZeroU32::MIN,
            delay: Ticks(DELAY_25_M),
            slack: Slack::default(),
            generation: 2,
            interpretation: 2,
            blocked: BLOCKED,
            symbols: Symbols::default(),
        }
    }
}

/// The delay of a cable, in whole periods of the full rate: 1 at least. §4.2
#[must_use]
pub const fn delay_of_metres(metres: u64) -> Ticks {
    let periods =
        metres.saturating_mul(DELAY_PS_PER_M).div_ceil(codec::tick::FULL_RATE_PERIOD_PS as u64);
    Ticks(if periods == 0 { 1 } else { periods })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_buffer_and_the_timeouts_are_those_of_the_rules() {
        // F-3, F-4
        let slack = Slack::default();
        assert_eq!((slack.cells(), slack.stop_at()), (80, 48));
        //
        assert_eq!(BLOCKED.0, 4_194_304);
    }

    #[test]
    fn a_cable_delays_by_whole_periods_and_by_one_at_least() {
        // 25 m are 140 ns (§4.2), of 12.5 ns each.
        assert_eq!([0, 1, 2, 3, 25, 1000].map(|m| delay_of_metres(m).0), [1, 1, 1, 2, 12, 448]);
    }
}
