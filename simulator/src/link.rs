//! Parameters of a link: the length of the cable, and the rate, slack, latencies and variants of
//! the port at either end. F-1, F-3, F-4, F-8, R-1, R-4, R-6

pub(crate) mod cell_cycle;
pub(crate) mod clock;
pub(crate) mod fill_trace;
pub(crate) mod handshake;
pub mod receiver;
mod rx_trace;
pub mod sender;
pub mod shared_line;
mod slack_buffer;
pub mod source_item;
pub mod tagged_char;
pub mod wire;

use std::num::NonZeroU32;

use codec::time::Ticks;

use self::shared_line::{PassageMode, VirtualCodes};
use crate::wires::{CableFlow, CableWires};

/// Delay of 25 m of cable: 140 ns, in whole periods. F-4 (§4.2)
pub const DELAY_25_M: u64 = 12;

/// Delay of 1 m of cable in picoseconds: 140 ns for 25 m. §4.2
pub const DELAY_PS_PER_M: u64 = 5_600;

/// Delay of 1 km of fibre in periods: 5 µs. N-5 *Chosen*: light in glass; the published 1500 bytes
/// of slack a kilometre are 4.7 µs.
pub const FIBRE_PERIODS_PER_KM: u64 = 400;

/// Blocked-packet timeout: the longest time that a sender may be stopped, or send one packet. 2²²
/// periods, 52 ms. R-4 (§4.6.2)
pub const BLOCKED: Ticks = Ticks(1 << 22);

/// Parameters of a link: the cable, and the ports at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkParameters {
    /// Delay of the cable and its repeaters, in periods of the full rate, at least 1.
    pub delay: Ticks,
    /// The port at either end. They may differ. F-4 (§4.8.5)
    pub ports: [PortParameters; 2],
    /// The wires of the cable. W-4, W-7
    pub wires: CableWires,
}

/// Parameters of a port. *Period* is that of its own sender. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortParameters {
    /// Character period of its sender, in periods of the full rate. §4.2
    pub divisor: NonZeroU32,
    /// Its slack buffer. F-3
    pub slack: SlackSize,
    /// Periods between a threshold and the STOP or GO on the wire, at most 15. F-4
    pub generation: u8,
    /// Periods between the arrival of STOP or GO and its effect on the sender, at most 15. F-4
    pub interpretation: u8,
    /// The blocked-packet timeout, in periods. R-4
    pub blocked: Ticks,
    /// The symbols that it supports. C-3
    pub symbols: SymbolSet,
    /// True if it replies to probes, provided that it supports them. R-6
    pub replies: bool,
    /// The ending of a forward reset that it sends. R-1
    pub reset: ResetEnding,
    /// The characters with which its sender fills unused periods. F-8
    pub fill: FillMode,
    /// Flow control of the GAP that ends a packet. F-1
    pub framing: FramingMode,
    /// The symbols of virtual channels that it supports. C-7
    pub profile: Option<VirtualCodes>,
    /// Virtual channel of the packets that its switch sends here. C-7
    pub passage: PassageMode,
}

/// The GAP that ends a forward reset, for the port that sends FRES. R-1 (§4.6.1)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetEnding {
    /// An extra GAP right after FRES; the rest of the packet is discarded at its source: Myricom's
    /// chip.
    #[default]
    OwnGap,
    /// The next GAP of the packet or of the fill: the sender goes on, and the receiver discards.
    NextGap,
}

/// Characters for periods without data. At least one in 16 periods is not IDLE. F-8 (§4.5.3)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillMode {
    /// STOP or GO within a packet; GAP and STOP or GO in turn between packets: Myricom's chip.
    #[default]
    Chip,
    /// STOP or GO, within packets and between them.
    Commands,
    /// STOP or GO within a packet, GAP between packets.
    Gaps,
    /// IDLE, with STOP or GO once in this many periods, 2 to 15; on a handshake cable, 0: IDLE only. B-1
    Idle(u8),
}

/// Flow control of the GAP that ends a packet. F-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FramingMode {
    /// Sent even if the sender is stopped. §4.5.1
    #[default]
    Free,
    /// Waits for GO, as data does. §4.3
    Waits,
}

/// Sizes of the parts of a slack buffer, in characters. F-3 (§4.5.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlackSize {
    /// `k_g`: highest fill at which GO is generated.
    pub go_slack: u32,
    /// h, at least 1: distance between the thresholds of GO and STOP.
    pub hysteresis: u32,
    /// `k_s`: highest number of free places at which STOP is generated.
    pub stop_slack: u32,
}

/// The control symbols that a port supports. C-3 (§4.8.5)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolSet {
    /// GAP, GO, STOP, IDLE and FRES; all others are ignored.
    #[default]
    Mandatory,
    /// ORUN, BRES, probes and replies too.
    All,
}

impl SymbolSet {
    /// Names in scenarios.
    pub const WORDS: [(&str, Self); 2] = [("mandatory", Self::Mandatory), ("all", Self::All)];
}

impl SlackSize {
    /// Size of the buffer: r = `k_g` + h + `k_s`. F-3
    pub const fn cells(&self) -> u32 {
        self.go_slack.saturating_add(self.hysteresis).saturating_add(self.stop_slack)
    }

    /// Fill that generates STOP: r − `k_s`. F-3
    pub(crate) const fn stop_at(&self) -> u32 {
        self.go_slack.saturating_add(self.hysteresis)
    }
}

impl Default for SlackSize {
    /// Sizes of F-4.
    fn default() -> Self {
        Self { go_slack: 32, hysteresis: 16, stop_slack: 32 }
    }
}

impl ResetEnding {
    /// Names in scenarios and captures.
    pub const WORDS: [(&str, Self); 2] = [("own-gap", Self::OwnGap), ("next-gap", Self::NextGap)];
}

impl FillMode {
    /// Names in scenarios and captures.
    #[rustfmt::skip]
    pub const WORDS: [(&str, Self); 17] = [
        ("chip", Self::Chip), ("stop-go", Self::Commands), ("gap", Self::Gaps),
        ("idle-2", Self::Idle(2)), ("idle-3", Self::Idle(3)), ("idle-4", Self::Idle(4)),
        ("idle-5", Self::Idle(5)), ("idle-6", Self::Idle(6)), ("idle-7", Self::Idle(7)),
        ("idle-8", Self::Idle(8)), ("idle-9", Self::Idle(9)), ("idle-10", Self::Idle(10)),
        ("idle-11", Self::Idle(11)), ("idle-12", Self::Idle(12)), ("idle-13", Self::Idle(13)),
        ("idle-14", Self::Idle(14)), ("idle-15", Self::Idle(15)),
    ];
}

impl FramingMode {
    /// Names in scenarios and captures.
    pub const WORDS: [(&str, Self); 2] = [("free", Self::Free), ("waits", Self::Waits)];
}

impl LinkParameters {
    /// A link with the same port at both ends.
    pub fn alike(delay: Ticks, port: PortParameters) -> Self {
        Self { delay, ports: [port; 2], wires: CableWires::default() }
    }

    /// A fibre of a delay, whose slack buffers lose nothing and do not starve: above the upper
    /// threshold they store what comes until STOP has its effect at the far end, below the lower one
    /// what is taken until the first character comes after GO. N-5
    pub fn fibre(self, delay: Ticks) -> Self {
        let [own, far] = self.ports;
        let ports = [(own, far), (far, own)].map(|(own, far)| {
            let latency = u64::from(own.generation) + u64::from(far.interpretation);
            // Clocks that differ take two periods more.
            let round = delay.0.saturating_mul(2).saturating_add(latency + 2);
            let round = u32::try_from(round).unwrap_or(u32::MAX);
            let slack = SlackSize { go_slack: round, stop_slack: round, ..own.slack };
            PortParameters { slack, ..own }
        });
        Self { delay, ports, wires: CableWires::default() }
    }

    /// Exchanges the ends of the link.
    pub const fn turned(self) -> Self {
        let [one, other] = self.ports;
        Self { ports: [other, one], ..self }
    }

    /// The codes of its virtual channels; none if only one end has a profile. C-7 (§4.8.5)
    pub fn shared(&self) -> Option<VirtualCodes> {
        let [own, far] = self.ports.map(|port| port.profile);
        own.filter(|_| own == far && self.wires.flow == CableFlow::StopGo)
    }

    /// Characters that a simulation holds on the cable and in the slack buffers of both ends, for each
    /// virtual channel.
    pub(crate) fn cells(&self) -> u64 {
        let channels = u64::from(self.shared().map_or(1, |codes| codes.channels()));
        let at = |port: &PortParameters| {
            let delayed = self.delay.0 / u64::from(port.divisor.get());
            delayed + u64::from(port.slack.cells())
        };
        self.ports.iter().map(at).sum::<u64>().saturating_mul(channels)
    }

    /// Delay of the cable alone.
    pub fn cable_delay(&self) -> Ticks {
        Ticks(self.delay.0.saturating_sub(self.wires.repeater_delay().0))
    }

    /// Replaces the cable by one of another delay, and length if it is known.
    pub fn with_cable(self, delay: Ticks, length_nm: Option<u64>) -> Self {
        let delay = Ticks(delay.0.saturating_add(self.wires.repeater_delay().0));
        Self { delay, wires: CableWires { length_nm, ..self.wires }, ..self }
    }
}

impl Default for LinkParameters {
    /// 25 m of cable between two ports at the full rate.
    fn default() -> Self {
        Self::alike(Ticks(DELAY_25_M), PortParameters::default())
    }
}

impl Default for PortParameters {
    /// The full rate, the decisions of F-4, and the variants of Myricom's chip.
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
            profile: None,
            passage: PassageMode::default(),
        }
    }
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
    fn a_virtual_channel_has_slack_buffers_of_its_own() {
        // C-7: 12 characters on the cable and 80 in the buffer, each way, for 2 virtual channels.
        let profile = "VC0=50,VC1=51,GO1=60,STOP1=6f".parse().unwrap();
        let port = |profile| PortParameters { profile, ..PortParameters::default() };
        let cells = |profile| LinkParameters::alike(Ticks(12), port(profile)).cells();
        assert_eq!(cells(None), 2 * 92);
        assert_eq!(cells(Some(VirtualCodes::of(&profile))), 2 * 2 * 92);
    }
}
