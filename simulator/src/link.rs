//! The parameters of a link: its length, and of the port at either end rate, slack, latencies, and
//! what the rules leave open. F-1, F-3, F-4, F-8, R-1, R-4, R-6

use std::num::NonZeroU32;

use codec::time::Ticks;

/// Periods that a character is under way on 25 m of cable: 140 ns, in whole periods. F-4 (§4.2)
pub const DELAY_25_M: u64 = 12;

/// Picoseconds that a character is under way on 1 m of cable: 140 ns on 25 m. §4.2
pub const DELAY_PS_PER_M: u64 = 5_600;

/// How long a sender may be stopped, or send one packet: 2²² periods, 52 ms. R-4 (§4.6.2)
pub const BLOCKED: Ticks = Ticks(1 << 22);

/// The parameters of a link: of its cable, and of the ports at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkParameters {
    /// How long a character is under way, in periods of the full rate, at least 1.
    pub delay: Ticks,
    /// The port at either end. They may differ. F-4 (§4.8.5)
    pub ports: [PortParameters; 2],
}

/// The parameters of a port: one end of a link. *Period* is that of its own sender. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortParameters {
    /// The full rate over its sender's: the character period in periods of the full rate. §4.2
    pub divisor: NonZeroU32,
    /// Its slack buffer. F-3
    pub slack: SlackSize,
    /// Periods between a threshold and the STOP or GO on the wire, at most 15. F-4
    pub generation: u8,
    /// Periods between a STOP or GO and its sender's obedience, at most 15. F-4
    pub interpretation: u8,
    /// The blocked-packet timeout, in periods. R-4
    pub blocked: Ticks,
    /// Which symbols it understands. C-3
    pub symbols: SymbolSet,
    /// Whether it replies to probes, if it understands them. R-6
    pub replies: bool,
    /// The ending of a forward reset that it sends. R-1
    pub reset: ResetEnding,
    /// What its sender fills unused periods with. F-8
    pub fill: FillMode,
    /// Whether the GAP that ends a packet waits for GO. F-1
    pub framing: FramingMode,
}

/// The GAP that ends a forward reset, for the port that sends FRES. R-1 (§4.6.1)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetEnding {
    /// One made for the purpose, right after FRES; the rest of the packet is discarded at its source:
    /// Myricom's chip.
    #[default]
    OwnGap,
    /// The next one of the packet under way, or of the fill: the sender goes on, and the receiver
    /// discards.
    NextGap,
}

/// Characters for periods in which there is nothing else to send. In all of them at least one in 16
/// periods is not IDLE. F-8 (§4.5.3)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillMode {
    /// STOP or GO within a packet; GAP and that in turn between packets: Myricom's chip.
    #[default]
    Chip,
    /// STOP or GO, within packets and between them.
    Commands,
    /// STOP or GO within a packet, GAP between packets.
    Gaps,
    /// IDLE, but STOP or GO in one of so many periods, 2 to 15.
    Idle(u8),
}

/// Permission of the GAP that ends a packet. F-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FramingMode {
    /// It goes out though the sender is stopped. §4.5.1
    #[default]
    Free,
    /// It waits for GO, as data does. §4.3
    Waits,
}

/// The parts of a slack buffer, in cells. F-3 (§4.5.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlackSize {
    /// `k_g`: when no more than these are full, GO.
    pub go_slack: u32,
    /// h, at least 1: between the thresholds of GO and STOP.
    pub hysteresis: u32,
    /// `k_s`: when no more than these are empty, STOP.
    pub stop_slack: u32,
}

/// The control symbols that a port understands. C-3 (§4.8.5)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolSet {
    /// GAP, GO, STOP, IDLE and FRES; any others are ignored.
    #[default]
    Mandatory,
    /// ORUN, BRES, probes and replies too.
    All,
}

impl SlackSize {
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

impl Default for SlackSize {
    /// F-4
    fn default() -> Self {
        Self { go_slack: 32, hysteresis: 16, stop_slack: 32 }
    }
}

impl ResetEnding {
    /// Their names in scenarios and captures.
    pub(crate) const WORDS: [(&str, Self); 2] =
        [("own-gap", Self::OwnGap), ("next-gap", Self::NextGap)];
}

impl FillMode {
    /// Their names in scenarios and captures.
    #[rustfmt::skip]
    pub(crate) const WORDS: [(&str, Self); 17] = [
        ("chip", Self::Chip), ("stop-go", Self::Commands), ("gap", Self::Gaps),
        ("idle-2", Self::Idle(2)), ("idle-3", Self::Idle(3)), ("idle-4", Self::Idle(4)),
        ("idle-5", Self::Idle(5)), ("idle-6", Self::Idle(6)), ("idle-7", Self::Idle(7)),
        ("idle-8", Self::Idle(8)), ("idle-9", Self::Idle(9)), ("idle-10", Self::Idle(10)),
        ("idle-11", Self::Idle(11)), ("idle-12", Self::Idle(12)), ("idle-13", Self::Idle(13)),
        ("idle-14", Self::Idle(14)), ("idle-15", Self::Idle(15)),
    ];
}

impl FramingMode {
    /// Their names in scenarios and captures.
    pub(crate) const WORDS: [(&str, Self); 2] = [("free", Self::Free), ("waits", Self::Waits)];
}

impl LinkParameters {
    /// A link with the same port at both ends.
    #[must_use]
    pub const fn alike(delay: Ticks, port: PortParameters) -> Self {
        Self { delay, ports: [port; 2] }
    }

    /// The same link with its ends exchanged.
    #[must_use]
    pub const fn turned(self) -> Self {
        let [one, other] = self.ports;
        Self { delay: self.delay, ports: [other, one] }
    }
}

impl Default for LinkParameters {
    /// 25 m between two ports at the full rate.
    fn default() -> Self {
        Self::alike(Ticks(DELAY_25_M), PortParameters::default())
    }
}

impl Default for PortParameters {
    /// The full rate, the decisions of F-4, and what Myricom's chip does.
    fn default() -> Self {
        Self {
            divisor: NonZeroU32::MIN,
            slack: SlackSize::default(),
            generation: 2,
            interpretation: 2,
            blocked: BLOCKED,
            symbols: SymbolSet::default(),
            replies: true,
            reset: ResetEnding::default(),
            fill: FillMode::default(),
            framing: FramingMode::default(),
        }
    }
}

/// The delay of a cable, in whole periods of the full rate: 1 at least. §4.2
#[must_use]
pub const fn delay_of_metres(metres: u64) -> Ticks {
    let periods =
        metres.saturating_mul(DELAY_PS_PER_M).div_ceil(codec::time::FULL_RATE_PERIOD_PS as u64);
    Ticks(if periods == 0 { 1 } else { periods })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_buffer_and_the_timeouts_are_those_of_the_rules() {
        // F-3, F-4
        let slack = SlackSize::default();
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
