//! A small network made up from arbitrary bytes: its parts, its traffic, what breaks in it, where
//! it is tapped.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::route::{Addressing, PortId};
use codec::tick::Ticks;
use simulator::generate::{self, generate};
use simulator::interface::{Bus, Consumption, InterfaceParameters};
use simulator::link::{
    BLOCKED, Fill, Framing, LinkParameters, PortParameters, ResetEnding, Slack, Symbols,
};
use simulator::routes::{Method, Routes};
use simulator::scenario::{Scenario, Tap};
use simulator::topology::{
    Cable, Extensions, Node, NodeId, NodeKind, Port, SwitchParameters, Topology,
};

use super::demand::{Fault, Stream, Text};

/// A network and all that a run of it depends on.
#[derive(Clone, Debug, Arbitrary)]
pub struct Plan {
    /// How its nodes are joined.
    pub shape: Shape,
    /// Its cables take these in turn.
    pub links: [Link; 3],
    /// All its switches.
    pub crossbar: Crossbar,
    /// Its hosts take these in turn.
    pub hosts: [Host; 2],
    /// What hosts send.
    #[arbitrary(with = several)]
    pub streams: Vec<Stream>,
    /// What they send as it stands.
    #[arbitrary(with = several)]
    pub texts: Vec<Text>,
    /// What breaks.
    #[arbitrary(with = several)]
    pub faults: Vec<Fault>,
    /// How long it runs, and its dice.
    pub run: Run,
    /// The ends of its cables take these in turn. They come behind all other bytes, so that what is told
    /// with fewer is a network of Myricom's ports.
    #[arbitrary(default)]
    pub ends: [Ends; 3],
}

/// A switch in the middle of hosts, with all that may come to it, and nothing that breaks.
#[derive(Clone, Debug, Arbitrary)]
pub struct SwitchPlan {
    /// How many hosts.
    pub hosts: u8,
    /// Their cables take these in turn.
    pub links: [Link; 3],
    /// The switch.
    pub crossbar: Crossbar,
    /// The hosts take these in turn.
    pub interfaces: [Host; 2],
    /// What they send as it stands.
    #[arbitrary(with = several)]
    pub texts: Vec<Text>,
    /// What they send otherwise.
    #[arbitrary(with = several)]
    pub streams: Vec<Stream>,
    /// How long it runs.
    pub run: Run,
    /// The ends of its cables take these in turn.
    pub ends: [Ends; 3],
}

/// The ends of a link beside what it says of both. All bytes 0: Myricom's ports, and alike.
#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct Ends {
    variants: [Variant; 2],
    /// Odd: the second end is like the first of `other`.
    unlike: u8,
    other: Link,
}

/// What the rules leave to a port.
#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct Variant(u8);

/// How nodes are joined.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Shape {
    /// Two hosts.
    Pair,
    /// Up to five hosts at one switch.
    Star(u8),
    /// Up to three switches in a line, a host at each.
    Line(u8),
    /// Two or three switches in a ring, a host at each.
    Ring(u8),
    /// Any, drawn with this seed.
    Random(u8),
}

/// The parameters of a link.
#[derive(Clone, Copy, Debug, Default, Arbitrary)]
pub struct Link {
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

/// The parameters of a switch.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct Crossbar {
    /// Bit 0: relative; bit 1: extended.
    kind: u8,
    routing: u8,
    token_step: u8,
}

/// A host's interface.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct Host {
    appetite: Appetite,
    bus: u8,
    send_memory: u16,
    receive_memory: u16,
    boot: u16,
    commands: u8,
}

/// How a host takes what comes.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Appetite {
    /// At once.
    Always,
    /// Likewise: most hosts do.
    AlwaysToo,
    /// Not at all.
    Never,
    /// One character in so many periods.
    Every(u8),
    /// So as to provoke STOP and GO.
    Adversary,
}

/// How a network is run.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct Run {
    duration: u16,
    seed: u16,
    shortest: bool,
    taps: Taps,
    again: Again,
}

/// Where it is tapped.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Taps {
    /// At the first end of every cable.
    First,
    /// At the second.
    Second,
    /// At both.
    Both,
    /// At those ends whose bits are 1.
    Some(u16),
}

/// In which other way it must come to the same.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Again {
    /// Its parts visited in another order.
    Shuffled(u8),
    /// Nobody tapping it.
    Untapped,
    /// Nobody wanting the truth.
    Unheard,
    /// Neither.
    Alone,
    /// In none: half of all runs are made once.
    Not,
    /// Likewise.
    NotEither,
    /// Likewise.
    NotAtAll,
    /// Likewise.
    Never,
}

/// Up to 5 of something.
fn several<'a, T: Arbitrary<'a>>(bytes: &mut Unstructured<'a>) -> Result<Vec<T>, Error> {
    let len: u8 = bytes.int_in_range(0..=5)?;
    (0..len).map(|_| bytes.arbitrary()).collect()
}

impl From<SwitchPlan> for Plan {
    fn from(plan: SwitchPlan) -> Self {
        let SwitchPlan { hosts, links, crossbar, interfaces, texts, streams, run, ends } = plan;
        let (shape, faults) = (Shape::Star(hosts), Vec::new());
        Self { shape, links, crossbar, hosts: interfaces, streams, texts, faults, run, ends }
    }
}

impl SwitchPlan {
    /// The plan that some bytes stand for.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::arbitrary(&mut Unstructured::new(bytes)).ok()
    }
}

impl Plan {
    /// The plan that some bytes stand for.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let plan = Self::arbitrary(&mut bytes).ok()?;
        Some(Self { ends: bytes.arbitrary().ok()?, ..plan })
    }

    /// The scenario that it stands for.
    #[must_use]
    pub fn scenario(&self) -> Option<Scenario> {
        self.scenario_of(self.run.duration())
    }

    /// The scenario that it stands for, of so many periods.
    #[must_use]
    pub fn scenario_of(&self, duration: u64) -> Option<Scenario> {
        let topology = self.topology()?;
        let method = if self.run.shortest { Method::Shortest } else { Method::UpDown };
        let routes = Routes::compute(&topology, method).ok()?;
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let own = self.hosts.iter().cycle().map(Host::parameters);
        let text = |text: &Text| text.raw(&hosts, &routes, duration);
        let mut faults: Vec<_> =
            self.faults.iter().filter_map(|fault| fault.fault(&topology, duration)).collect();
        faults.sort_by_key(|fault| fault.at);
        Some(Scenario {
            seed: self.run.seed.into(),
            duration,
            interfaces: hosts.iter().copied().zip(own).collect(),
            streams: self.streams.iter().filter_map(|it| it.stream(&hosts, duration)).collect(),
            raw: self.texts.iter().filter_map(text).collect(),
            messaging: BTreeMap::new(),
            faults,
            taps: self.taps(&topology, duration),
            topology,
            routes,
        })
    }

    fn topology(&self) -> Option<Topology> {
        let prototype = self.crossbar.parameters(8);
        let link = LinkParameters::default();
        let shape = match self.shape {
            Shape::Pair => return self.pair(),
            Shape::Star(hosts) => {
                generate::Shape::Single { ports: 8, hosts: 1 + u32::from(hosts % 5) }
            }
            Shape::Line(switches) => {
                generate::Shape::Line { switches: 1 + u32::from(switches % 3), hosts: 1 }
            }
            Shape::Ring(switches) => {
                generate::Shape::Ring { switches: 2 + u32::from(switches % 2), hosts: 1 }
            }
            Shape::Random(seed) => generate::Shape::Random {
                seed: seed.into(),
                switches: 1 + u32::from(seed % 3),
                ports: 4,
                hosts: 1 + u32::from(seed / 3 % 3),
                links: u32::from(seed / 9 % 3),
            },
        };
        // Not every random one has ports enough.
        let Ok((nodes, mut cables)) = generate(&shape, prototype, link) else {
            return self.pair();
        };
        let kinds = self.links.iter().zip(&self.ends).cycle();
        for (cable, (link, ends)) in cables.iter_mut().zip(kinds) {
            cable.link = ends.of(link);
        }
        Topology::new(nodes, cables).ok()
    }

    /// Two hosts.
    fn pair(&self) -> Option<Topology> {
        let host = |name: &str| Node { name: name.to_owned(), kind: NodeKind::Host };
        let ends = [0, 1].map(|node| Port { node: NodeId(node), port: PortId(0) });
        let link = self.ends.first()?.of(self.links.first()?);
        Topology::new(vec![host("h0"), host("h1")], vec![Cable { ends, link }]).ok()
    }

    fn taps(&self, topology: &Topology, duration: u64) -> Vec<Tap> {
        let taken = |end: usize| match self.run.taps {
            Taps::First => end.is_multiple_of(2),
            Taps::Second => !end.is_multiple_of(2),
            Taps::Both => true,
            Taps::Some(bits) => bits >> (end % 16) & 1 == 1,
        };
        let ends = topology.cables().iter().flat_map(|cable| cable.ends).enumerate();
        let tap = |port| Tap { port, from: 0, to: duration };
        ends.filter(|(end, _)| taken(*end)).map(|(_, port)| tap(port)).collect()
    }
}

impl Link {
    /// What it stands for between two ports of Myricom's.
    #[must_use]
    pub fn parameters(&self) -> LinkParameters {
        self.between([self, self])
    }

    /// A cable of its length, from a port of the first kind to one of the second.
    fn between(&self, kinds: [&Self; 2]) -> LinkParameters {
        let delay = Ticks(1 + u64::from(self.delay % 40));
        let mut link = LinkParameters { delay, ports: kinds.map(Self::port) };
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

    /// The port at its first end, with what its spare bits say of what the rules leave to it.
    #[must_use]
    pub fn varied(&self) -> PortParameters {
        let [port, _] = self.parameters().ports;
        Variant(self.generation & 0xf0 | self.interpretation >> 4).of(port)
    }

    fn port(&self) -> PortParameters {
        let divisor = 1 + u32::from(self.divisor % 8).saturating_sub(4);
        PortParameters {
            divisor: NonZeroU32::MIN.saturating_add(divisor - 1),
            slack: Slack {
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
            symbols: if self.symbols { Symbols::All } else { Symbols::Mandatory },
            ..PortParameters::default()
        }
    }
}

impl Ends {
    /// A link with these ends, the first of which is that of `link`.
    #[must_use]
    pub fn of(&self, link: &Link) -> LinkParameters {
        let second = if self.unlike & 1 == 1 { &self.other } else { link };
        let mut made = link.between([link, second]);
        for (port, variant) in made.ports.iter_mut().zip(self.variants) {
            *port = variant.of(*port);
        }
        made
    }
}

impl Variant {
    /// The same port but for what the rules leave to it.
    #[must_use]
    pub fn of(self, port: PortParameters) -> PortParameters {
        let Self(bits) = self;
        PortParameters {
            reset: if bits & 1 == 1 { ResetEnding::NextGap } else { ResetEnding::OwnGap },
            framing: if bits & 2 == 2 { Framing::Waits } else { Framing::Free },
            replies: bits & 4 == 0,
            fill: match bits >> 3 {
                0..12 => Fill::Chip,
                12..16 => Fill::Commands,
                16..20 => Fill::Gaps,
                // 2 to 13, and the most that may be.
                20.. => Fill::Idle(if bits >> 3 == 31 { 15 } else { (bits >> 3) - 18 }),
            },
            ..port
        }
    }
}

impl Crossbar {
    /// The same switch, but that it knows no extensions.
    pub const fn without_extensions(&mut self) {
        self.kind &= 1;
    }

    fn parameters(&self, ports: u8) -> SwitchParameters {
        let relative = self.kind & 1 == 1;
        let addressing = if relative { Addressing::Relative } else { Addressing::Absolute };
        SwitchParameters {
            routing: self.routing % 41,
            token_step: self.token_step % 4,
            extensions: if self.kind & 2 == 2 { Extensions::On } else { Extensions::Off },
            ..SwitchParameters::new(ports, addressing)
        }
    }
}

impl Host {
    /// What it stands for.
    #[must_use]
    pub fn parameters(&self) -> InterfaceParameters {
        InterfaceParameters {
            bus: if self.bus.is_multiple_of(4) { Bus::SBus } else { Bus::Ideal },
            send_memory: 16 + u32::from(self.send_memory % 4096),
            receive_memory: u32::from(self.receive_memory % 4096),
            consumption: self.appetite.consumption(),
            boot: Ticks(u64::from(self.boot % 1024).saturating_sub(512)),
            commands: 1 + u32::from(self.commands % 8),
        }
    }
}

impl Appetite {
    /// The law of consumption that it stands for.
    #[must_use]
    pub fn consumption(self) -> Consumption {
        match self {
            Self::Always | Self::AlwaysToo => Consumption::Always,
            Self::Never => Consumption::Never,
            Self::Every(periods) => {
                Consumption::Every(NonZeroU32::MIN.saturating_add((periods % 64).into()))
            }
            Self::Adversary => Consumption::Adversary,
        }
    }
}

impl Run {
    /// A duration of a few packets.
    #[must_use]
    pub fn moment(&self) -> u64 {
        64 + u64::from(self.duration) % 256
    }

    fn duration(&self) -> u64 {
        let most = if self.duration < 0xf800 { 2500 } else { 19_500 };
        500 + u64::from(self.duration) % most
    }

    /// In which other way it must come to the same.
    #[must_use]
    pub const fn again(&self) -> Again {
        self.again
    }
}
