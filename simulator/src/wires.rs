//! The nine wires of each channel of a cable: skew, types of cables and their limits, faults that
//! change levels. W-1 to W-8 (§5.1, §5.5)
//!
//! A channel whose cable has skew or jitter, or a fault of this kind, goes through levels
//! ([`line`]); on every other channel characters arrive as they were sent.

pub(crate) mod line;

use std::fmt;

use codec::time::Ticks;
use codec::wires::WIRES;

use crate::node::NodePort;
use crate::rng::Rng;

/// Periods that a repeater adds in each direction. *Chosen*: a window to receive a character (W-3),
/// and an edge of its own `sendclk` to send it, with a stage of registers at either side.
pub const REPEATER_PERIODS: u64 = 4;

/// Longest skew, and longest difference between rising and falling edges, in picoseconds.
/// *Chosen*: eight periods, far beyond the window.
pub const SKEW_PS_MAX: u64 = 100_000;

/// Longest glitch, and longest time that a fault makes a wire late, in picoseconds. *Chosen*: 80
/// periods.
pub const DISTURBANCE_PS_MAX: u64 = 1_000_000;

const WIRE_STREAM: u64 = 7 << 32;

/// Properties of a cable's wires. Both of its channels have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableWires {
    /// Type, which limits the length. W-7
    pub kind: CableType,
    /// Length in nanometres, if the cable has one instead of a delay.
    pub length_nm: Option<u64>,
    /// Delay of each wire behind the earliest possible transition. W-4
    pub skew: WireSkew,
    /// Picoseconds that a rising edge takes longer than a falling one. W-4
    pub polarity_ps: u32,
    /// Each transition is late by up to this many picoseconds, at random.
    pub jitter_ps: u32,
    /// Order of the wires at its ends. W-7
    pub ends: CableEnds,
    /// Number of repeaters, which divide it into equal sections. W-7
    pub repeaters: u8,
    /// Flow control of its channels. F-1, B-1
    pub flow: CableFlow,
    /// Time of a handshake besides the flight of the signals, in picoseconds. B-1
    pub handshake_ps: u32,
}

/// Flow control of a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableFlow {
    /// STOP and GO: a Myrinet link. F-1
    #[default]
    StopGo,
    /// Request and acknowledge for each character. B-1
    Handshake,
}

impl CableFlow {
    /// Names in scenarios.
    pub(crate) const WORDS: [(&str, Self); 2] =
        [("myrinet", Self::StopGo), ("handshake", Self::Handshake)];
}

/// Time of a handshake besides the flight of the signals. *Chosen*: it gives the 400 Mb/s of ATOMIC at
/// the metre that its links were made for. B-1
const HANDSHAKE_PS: u32 = 9_000;

impl Default for CableWires {
    fn default() -> Self {
        Self {
            kind: CableType::default(),
            length_nm: None,
            skew: WireSkew::default(),
            polarity_ps: 0,
            jitter_ps: 0,
            ends: CableEnds::default(),
            repeaters: 0,
            flow: CableFlow::default(),
            handshake_ps: HANDSHAKE_PS,
        }
    }
}

/// Type of a cable. W-7
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableType {
    /// Any cable, without a limit.
    #[default]
    Any,
    /// AT&T 1249020A.
    Att1249020a,
    /// Amphenol 843-132-2601-040, flat.
    AmphenolFlat,
    /// Amphenol 843-132-2601-040, round and shielded.
    AmphenolRound,
}

/// Delays of the nine wires, in picoseconds. W-4
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireSkew {
    /// Delays of wires 0 to 7 and `d`, in every section of both channels.
    Given([u32; WIRES]),
    /// At random up to this, by the seed of the scenario: each wire of each section of either
    /// channel has its own.
    UpTo(u32),
}

/// Order of the wires at the ends of a cable. W-7
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableEnds {
    /// The ends are mirror images, so that each sender reaches the receiver at the other end.
    #[default]
    Mirrored,
    /// The cable joins senders to senders: nothing is received.
    Straight,
}

/// A fault that changes the levels of a channel's wires. Wire 8 is `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFault {
    /// Two wires touch: both are high only while both are driven high.
    Short {
        /// The wires.
        wires: [u8; 2],
    },
    /// A wire has the wrong level for a while: two false transitions. W-8
    Glitch {
        /// The wire.
        wire: u8,
        /// Time from the next character's transition on the wire, if it has one, to the first false
        /// one.
        offset_ps: u32,
        /// Time between the two.
        width_ps: u32,
    },
    /// The next transition of a wire is missed, and its level stays wrong: one error. W-8
    MissedTransition {
        /// The wire.
        wire: u8,
    },
    /// A transition of one wire causes a glitch on another at times.
    Crosstalk {
        /// The wire that causes it.
        from: u8,
        /// The wire that has it.
        to: u8,
        /// Mean number of transitions for one glitch.
        mean: u64,
        /// Time between the two false transitions.
        width_ps: u32,
    },
    /// A wire is late.
    SlowEdge {
        /// The wire.
        wire: u8,
        /// Delay of the wire, besides its skew.
        late_ps: u32,
    },
}

/// Delays of the wires of a section of a channel, in picoseconds.
pub(crate) type WireDelays = [u32; WIRES];

impl CableType {
    /// Names in scenarios.
    pub(crate) const WORDS: [(&str, Self); 4] = [
        ("any", Self::Any),
        ("at&t-1249020a", Self::Att1249020a),
        ("amphenol-flat", Self::AmphenolFlat),
        ("amphenol-round", Self::AmphenolRound),
    ];

    /// Longest possible section, in metres. W-7 (§5.5)
    pub const fn metres_max(self) -> Option<u64> {
        match self {
            Self::Any => None,
            Self::Att1249020a => Some(25),
            Self::AmphenolFlat => Some(20),
            Self::AmphenolRound => Some(10),
        }
    }
}

impl CableWires {
    /// Delay that its repeaters add.
    pub fn repeater_delay(&self) -> Ticks {
        Ticks(u64::from(self.repeaters) * REPEATER_PERIODS)
    }

    /// True if its characters always go through levels.
    pub(crate) fn is_uneven(&self) -> bool {
        (self.polarity_ps, self.jitter_ps) != (0, 0) || self.skew != WireSkew::default()
    }

    /// The delays of the wires of the channel from a port, in each section from there on.
    pub(crate) fn delays(&self, seed: u64, from: NodePort) -> Vec<WireDelays> {
        let channel = u64::from(from.node.0) << 8 | u64::from(from.port.0);
        let mut rng = Rng::new(seed, WIRE_STREAM | channel);
        let section = |_| match self.skew {
            WireSkew::Given(delays) => delays,
            WireSkew::UpTo(most) => [most; WIRES]
                .map(|most| u32::try_from(rng.below(u64::from(most) + 1)).unwrap_or(most)),
        };
        (0..=self.repeaters).map(section).collect()
    }

    /// Longest time from the first transition of a character to its last at the receiving end of
    /// the channel from a port, in picoseconds. W-4
    pub(crate) fn spread_ps(&self, seed: u64, from: NodePort) -> u32 {
        let delays = self.delays(seed, from);
        let last = delays.last().map_or(&[][..], |last| last.as_slice());
        let range = last.iter().max().zip(last.iter().min());
        range.map_or(0, |(most, least)| most - least) + self.polarity_ps + self.jitter_ps
    }
}

impl Default for WireSkew {
    fn default() -> Self {
        Self::UpTo(0)
    }
}

impl WireFault {
    /// One of each kind.
    pub(crate) const ALL: [Self; 5] = [
        Self::Short { wires: [0, 1] },
        Self::Glitch { wire: 0, offset_ps: 0, width_ps: 12_500 },
        Self::MissedTransition { wire: 0 },
        Self::Crosstalk { from: 0, to: 1, mean: 1, width_ps: 2_000 },
        Self::SlowEdge { wire: 0, late_ps: 0 },
    ];

    /// Name of the kind, as in scenario files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Short { .. } => "short",
            Self::Glitch { .. } => "glitch",
            Self::MissedTransition { .. } => "missed_transition",
            Self::Crosstalk { .. } => "crosstalk",
            Self::SlowEdge { .. } => "slow_edge",
        }
    }

    /// True for faults that last until an end time.
    pub(crate) const fn lasts(self) -> bool {
        match self {
            Self::Short { .. } | Self::Crosstalk { .. } | Self::SlowEdge { .. } => true,
            Self::Glitch { .. } | Self::MissedTransition { .. } => false,
        }
    }
}

struct WireName(u8);

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            8 => f.write_str("d"),
            wire => wire.fmt(f),
        }
    }
}

impl fmt::Display for WireFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short { wires: [one, other] } => {
                write!(f, "wires {} and {} touch", WireName(one), WireName(other))
            }
            Self::Glitch { wire, width_ps, .. } => {
                let (wire, width) = (WireName(wire), NanosecondText(width_ps));
                write!(f, "wire {wire} has the wrong level for {width} ns")
            }
            Self::MissedTransition { wire } => {
                write!(f, "a transition of wire {} is missed", WireName(wire))
            }
            Self::Crosstalk { from, to, mean, width_ps } => {
                let (from, to, width) = (WireName(from), WireName(to), NanosecondText(width_ps));
                write!(
                    f,
                    "one transition of wire {from} in {mean} disturbs wire {to} for {width} ns"
                )
            }
            Self::SlowEdge { wire, late_ps } => {
                write!(f, "wire {} is late by {} ns", WireName(wire), NanosecondText(late_ps))
            }
        }
    }
}

/// Picoseconds, displayed as exact nanoseconds.
pub(crate) struct NanosecondText(pub(crate) u32);

impl fmt::Display for NanosecondText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
