//! Links of a fuzz input: cables and the ports at their ends.

use std::num::NonZeroU32;

use arbitrary::Arbitrary;
use codec::time::Ticks;
use simulator::link::{
    BLOCKED, FillMode, FramingMode, LinkParameters, PortParameters, ResetEnding, SlackSize,
    SymbolSet,
};

/// Parameters of the ends of a link. All bytes 0: Myricom's ports, and alike.
#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct LinkEndsInput {
    variants: [PortVariant; 2],
    /// Odd: the second end is like the first of `other`.
    unlike: u8,
    other: CableInput,
}

#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct PortVariant(u8);

#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct CableInput {
    divisor: u8,
    delay: u8,
    go_slack: u8,
    hysteresis: u8,
    stop_slack: u8,
    generation: u8,
    interpretation: u8,
    blocked: u16,
    symbols: bool,
}

impl CableInput {
    /// Link parameters between two of Myricom's ports.
    pub fn parameters(&self) -> LinkParameters {
        self.between([self, self])
    }

    /// A cable of its length, from a port of the first kind to one of the second.
    fn between(&self, kinds: [&Self; 2]) -> LinkParameters {
        let delay = Ticks(1 + u64::from(self.delay % 40));
        let mut link = LinkParameters { delay, ports: kinds.map(Self::port), ..Default::default() };
        for (end, kind) in kinds.into_iter().enumerate() {
            if kind.stop_slack >= 128 {
                // Just enough, or a little more.
                let seen = if end == 0 { link } else { link.turned() };
                let enough = super::rules::stop_slack(&seen) + u32::from(kind.stop_slack % 4);
                let ports = link.ports.iter_mut().skip(end).take(1);
                ports.for_each(|port| port.slack.stop_slack = enough);
            }
        }
        link
    }

    /// The port at its first end, with the variants of its spare bits.
    pub fn varied(&self) -> PortParameters {
        let [port, _] = self.parameters().ports;
        PortVariant(self.generation & 0xf0 | self.interpretation >> 4).of(port)
    }

    fn port(&self) -> PortParameters {
        let divisor = 1 + u32::from(self.divisor % 8).saturating_sub(4);
        PortParameters {
            divisor: NonZeroU32::MIN.saturating_add(divisor - 1),
            slack: SlackSize {
                go_slack: u32::from(self.go_slack % 24),
                hysteresis: 1 + u32::from(self.hysteresis % 20),
                stop_slack: u32::from(self.stop_slack % 64),
            },
            generation: self.generation % 16,
            interpretation: self.interpretation % 16,
            blocked: match self.blocked.checked_sub(1 << 15) {
                Some(blocked) => Ticks(50 + u64::from(blocked % 1951)),
                None => BLOCKED,
            },
            symbols: if self.symbols { SymbolSet::All } else { SymbolSet::Mandatory },
            ..PortParameters::default()
        }
    }
}

impl LinkEndsInput {
    /// A link with these ends, the first of which is that of `link`.
    pub fn of(&self, link: &CableInput) -> LinkParameters {
        let second = if self.unlike & 1 == 1 { &self.other } else { link };
        let mut made = link.between([link, second]);
        for (port, variant) in made.ports.iter_mut().zip(self.variants) {
            *port = variant.of(*port);
        }
        made
    }
}

impl PortVariant {
    /// Applies the variants that the rules leave to a port.
    pub fn of(self, port: PortParameters) -> PortParameters {
        let Self(bits) = self;
        PortParameters {
            reset: if bits & 1 == 1 { ResetEnding::NextGap } else { ResetEnding::OwnGap },
            framing: if bits & 2 == 2 { FramingMode::Waits } else { FramingMode::Free },
            replies: bits & 4 == 0,
            fill: match bits >> 3 {
                0..12 => FillMode::Chip,
                12..16 => FillMode::Commands,
                16..20 => FillMode::Gaps,
                // 2 to 13, and the most that may be.
                20.. => FillMode::Idle(if bits >> 3 == 31 { 15 } else { (bits >> 3) - 18 }),
            },
            ..port
        }
    }
}
