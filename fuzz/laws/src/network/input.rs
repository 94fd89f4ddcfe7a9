//! A small network made up from arbitrary bytes: parts, traffic, what breaks, where it is tapped.

use arbitrary::{Arbitrary, Unstructured};
use codec::route::{PortId, RouteAddressing};
use simulator::generate::{GeneratedShape, LatticeEdge, generate};
use simulator::link::LinkParameters;
use simulator::routes::RoutingMethod;
use simulator::scenario::Scenario;
use simulator::topology::{
    ArbitrationPolicy, CableSpec, ExtensionSupport, NodeId, NodeKind, NodePort, NodeSpec,
    SwitchParameters, Topology,
};

use super::draft::{NetworkDraft, consumption};
use super::link_input::{CableInput, LinkEndsInput};
use super::traffic_input::{ConsumptionInput, FaultInput, RawTextInput, StreamInput, several};
use crate::repair::SeededRng;

/// A network and all that a run of it depends on.
#[derive(Clone, Debug, Arbitrary)]
pub struct NetworkInput {
    pub shape: NetworkShape,
    pub links: [CableInput; 3],
    pub crossbar: CrossbarInput,
    pub hosts: [HostInput; 2],
    #[arbitrary(with = several::<5, _>)]
    pub streams: Vec<StreamInput>,
    #[arbitrary(with = several::<5, _>)]
    pub texts: Vec<RawTextInput>,
    #[arbitrary(with = several::<5, _>)]
    pub faults: Vec<FaultInput>,
    pub run: RunInput,
    /// The ends of its cables take these in turn. They come behind all other bytes, so that what is told
    /// with fewer is a network of Myricom's ports.
    #[arbitrary(default)]
    pub ends: [LinkEndsInput; 3],
}

/// A switch in the middle of hosts, with all that may come to it, and nothing that breaks.
#[derive(Clone, Debug, Arbitrary)]
pub struct SwitchInput {
    pub hosts: u8,
    pub links: [CableInput; 3],
    pub crossbar: CrossbarInput,
    pub interfaces: [HostInput; 2],
    #[arbitrary(with = several::<5, _>)]
    pub texts: Vec<RawTextInput>,
    #[arbitrary(with = several::<5, _>)]
    pub streams: Vec<StreamInput>,
    pub run: RunInput,
    /// The ends of its cables take these in turn.
    pub ends: [LinkEndsInput; 3],
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum NetworkShape {
    Pair,
    Star(u8),
    /// Up to three switches in a line, a host at each.
    Line(u8),
    /// Two or three switches in a ring, a host at each.
    Ring(u8),
    Random(u8),
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct CrossbarInput {
    /// Bit 0: relative; bit 1: extended; bits 2 to 4: arbitration, by a token but for one of eight.
    kind: u8,
    routing: u8,
    token_step: u8,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct HostInput {
    appetite: ConsumptionInput,
    bus: u8,
    send_memory: u16,
    receive_memory: u16,
    boot: u16,
    commands: u8,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct RunInput {
    duration: u16,
    seed: u16,
    shortest: bool,
    taps: TapsInput,
    again: Rerun,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum TapsInput {
    First,
    Second,
    Both,
    /// At those ends whose bits are 1.
    Some(u16),
}

/// In which other way it must come to the same.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Rerun {
    /// Its parts visited in another order.
    Shuffled(u8),
    Untapped,
    Unheard,
    Alone,
    /// In none: three of eight runs are made once.
    Not,
    NotEither,
    NotAtAll,
    /// Period by period.
    Stepped,
}

impl From<SwitchInput> for NetworkInput {
    fn from(plan: SwitchInput) -> Self {
        let SwitchInput { hosts, links, crossbar, interfaces, texts, streams, run, ends } = plan;
        let (shape, faults) = (NetworkShape::Star(hosts), Vec::new());
        Self { shape, links, crossbar, hosts: interfaces, streams, texts, faults, run, ends }
    }
}

impl SwitchInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::arbitrary(&mut Unstructured::new(bytes)).ok()
    }
}

impl NetworkInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let plan = Self::arbitrary(&mut bytes).ok()?;
        let ends = bytes.arbitrary().ok()?;
        Some(Self { ends, ..plan })
    }

    /// The file of the network of a number in which nothing breaks, and the generator for all else about it.
    pub fn sound(name: &[u8], number: u64) -> Option<(NetworkDraft, SeededRng)> {
        let mut dice = SeededRng::numbered(name, number);
        let plan = Self::from_bytes(&dice.bytes(700))?;
        let plan = Self { faults: Vec::new(), texts: Vec::new(), ..plan };
        Some((plan.draft()?, dice))
    }

    pub fn scenario(&self) -> Option<Scenario> {
        self.draft().map(|draft| draft.scenario())
    }

    pub fn draft(&self) -> Option<NetworkDraft> {
        self.draft_of(self.run.duration())
    }

    /// The file of the network, of `duration` periods.
    pub fn draft_of(&self, duration: u64) -> Option<NetworkDraft> {
        let method =
            if self.run.shortest { RoutingMethod::Shortest } else { RoutingMethod::UpDown };
        let mut draft = NetworkDraft::new(self.topology()?, method)?;
        draft.set(&format!("seed = {}\nduration_periods = {duration}", self.run.seed));
        draft.set_each("host", self.hosts.iter().cycle().map(HostInput::keys));
        for stream in &self.streams {
            let packets = stream.packets(&draft.hosts);
            let packets = packets.map(|packets| format!("packets = {packets}\n"));
            if let Some(keys) = stream.keys(&draft, (0, duration)) {
                draft.add("traffic", &(keys + &packets.unwrap_or_default()));
            }
        }
        for text in &self.texts {
            if let Some(keys) = text.keys(&draft, (0, duration)) {
                draft.add("raw", &keys);
            }
        }
        let faults = self.faults.iter().filter_map(|it| it.fault(&draft.topology, duration));
        draft.faults = faults.collect();
        let ends: Vec<_> = draft.topology.cables().iter().flat_map(|cable| cable.ends).collect();
        for (end, port) in ends.into_iter().enumerate() {
            if self.run.taps.has(end) {
                draft.add_tap(port, "");
            }
        }
        Some(draft)
    }

    fn topology(&self) -> Option<Topology> {
        let prototype = self.crossbar.parameters(8);
        let link = LinkParameters::default();
        let shape = match self.shape {
            NetworkShape::Pair => return self.pair(),
            NetworkShape::Star(hosts) => {
                GeneratedShape::Single { ports: 8, hosts: 1 + u32::from(hosts % 5) }
            }
            NetworkShape::Line(switches) => {
                let switches = 1 + u32::from(switches % 3);
                GeneratedShape::lattice(LatticeEdge::Open, &[switches], 1)
            }
            NetworkShape::Ring(switches) => {
                let switches = 2 + u32::from(switches % 2);
                GeneratedShape::lattice(LatticeEdge::Closed, &[switches], 1)
            }
            NetworkShape::Random(seed) => GeneratedShape::Random {
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

    fn pair(&self) -> Option<Topology> {
        let host = |name: &str| NodeSpec { name: name.to_owned(), kind: NodeKind::Host };
        let ends = [0, 1].map(|node| NodePort { node: NodeId(node), port: PortId(0) });
        let link = self.ends.first()?.of(self.links.first()?);
        Topology::new(vec![host("h0"), host("h1")], vec![CableSpec { ends, link }]).ok()
    }
}

impl TapsInput {
    /// True for the end of a cable that is tapped; ends are counted cable by cable.
    fn has(self, end: usize) -> bool {
        match self {
            Self::First => end.is_multiple_of(2),
            Self::Second => !end.is_multiple_of(2),
            Self::Both => true,
            Self::Some(bits) => bits >> (end % 16) & 1 == 1,
        }
    }
}

impl CrossbarInput {
    /// Turns the extensions off.
    pub const fn without_extensions(&mut self) {
        self.kind &= !2;
    }

    fn parameters(&self, ports: u8) -> SwitchParameters {
        let relative = self.kind & 1 == 1;
        let addressing =
            if relative { RouteAddressing::Relative } else { RouteAddressing::Absolute };
        SwitchParameters {
            routing: self.routing % 41,
            token_step: self.token_step % 4,
            arbitration: ArbitrationPolicy::WORDS
                .get(usize::from(self.kind >> 2 & 7))
                .map_or(ArbitrationPolicy::Token, |(_, policy)| *policy),
            extensions: if self.kind & 2 == 2 {
                ExtensionSupport::On
            } else {
                ExtensionSupport::Off
            },
            ..SwitchParameters::new(ports, addressing)
        }
    }
}

impl HostInput {
    /// The host, which consumes in the end.
    pub const fn consuming(self) -> Self {
        Self { appetite: self.appetite.consuming(), ..self }
    }

    /// Keys of its table.
    pub fn keys(&self) -> String {
        format!(
            "bus = '{}'\nsend_memory = {}\nreceive_memory = {}\nconsumption = {}\n\
             boot_periods = {}\ncommands = {}\n",
            if self.bus.is_multiple_of(4) { "sbus" } else { "ideal" },
            16 + self.send_memory % 4096,
            self.receive_memory % 4096,
            consumption(self.appetite.consumption()),
            (self.boot % 1024).saturating_sub(512),
            1 + self.commands % 8,
        )
    }
}

impl RunInput {
    pub fn moment(&self) -> u64 {
        64 + u64::from(self.duration) % 256
    }

    fn duration(&self) -> u64 {
        let most = if self.duration < 0xf800 { 2500 } else { 19_500 };
        500 + u64::from(self.duration) % most
    }

    /// In which other way it must come to the same.
    pub const fn again(&self) -> Rerun {
        self.again
    }
}
