//! Scenarios: network, traffic, faults, taps, duration and seed of a simulation.

mod arrivals;
mod cables;
mod costs;
mod endpoints;
mod error;
mod extension_format;
mod faults;
mod generator;
mod import;
mod keys;
pub mod limits;
mod link_keys;
mod mapper;
mod memory;
mod messages;
mod names;
mod network;
mod notes;
mod parameters;
mod replays;
mod routes;
mod settings;
mod taps;
mod toml_reader;
mod traffic;

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeTable;

use self::error::ProblemList;
pub use self::error::{ErrorStyle, ScenarioError, ScenarioProblem};
use self::keys::ScenarioUse;
pub use self::keys::word_of;
use self::limits::{DURATION_MAX, TEXT_MAX};
pub use self::mapper::MappingPlan;
pub(crate) use self::names::invalid_name;
use self::names::{NameLookup, NetworkCompleteness};
pub use self::settings::with_key;
use self::toml_reader::TomlTable;
use crate::clock::NodeClock;
use crate::fault::FaultSpec;
use crate::interface::InterfaceParameters;
use crate::messaging::MessagingPlan;
use crate::rng::Rng;
use crate::routes::{RouteTable, RoutingMethod};
use crate::topology::{NodeId, NodeKind, NodePort, Topology};
use crate::traffic::{ChecksumMode, CommandForm, PacketReplay, RawText, SignalMode, TrafficStream};

/// Random streams of the parts.
const HOST_STREAM: u64 = 1 << 32;

/// Complete input of a simulation run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Seed of all random number generators.
    pub seed: u64,
    /// Duration in periods of the full rate.
    pub duration: u64,
    /// Hosts, switches and cables.
    pub topology: Topology,
    /// Interface of each host, in node order.
    pub interfaces: Vec<(NodeId, InterfaceParameters)>,
    /// Routes between hosts; none if the interfaces map the network.
    pub routes: RouteTable,
    /// Mapping of the network by its interfaces, if they do. N-2
    pub mapping: Option<MappingPlan>,
    /// Packet streams of the hosts.
    pub streams: Vec<TrafficStream>,
    /// Raw character sequences sent by hosts.
    pub raw: Vec<RawText>,
    /// Recordings whose packets hosts send again. H-1
    pub replays: Vec<PacketReplay>,
    /// Endpoints of each host and their messages.
    pub messaging: BTreeMap<NodeId, MessagingPlan>,
    /// Scheduled faults, ordered by time.
    pub faults: Vec<FaultSpec>,
    /// Observed ports.
    pub taps: Vec<PortTap>,
}

/// Observation of both channels at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortTap {
    /// Observed port.
    pub port: NodePort,
    /// First period, at the full rate.
    pub from: u64,
    /// End (exclusive), in periods of the full rate.
    pub to: u64,
}

/// Reads a file that a scenario names, of so many bytes at most, or gives the reason why it cannot be
/// read.
pub type FileReader<'a> = &'a dyn Fn(&str, usize) -> Result<Vec<u8>, String>;

impl Scenario {
    /// Parses a scenario file as `docs/scenario.md` describes it; `name` appears in error messages.
    ///
    /// # Errors
    /// Lists all problems of the file with their lines.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        Self::read_with(name, text, None)
    }

    /// Parses a scenario file that names no other file, and replaces its seed if one is given.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_with(name: &str, text: &str, seed: Option<u64>) -> Result<Self, ScenarioError> {
        let none = |_: &str, _| Err("only a scenario in a file can name another file".to_owned());
        Self::read_from(name, text, seed, &none)
    }

    /// Parses a scenario file, and the files that it names, with `files`.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_from(
        name: &str,
        text: &str,
        seed: Option<u64>,
        files: FileReader<'_>,
    ) -> Result<Self, ScenarioError> {
        Self::read_noted(name, text, seed, files).map(|(scenario, _)| scenario)
    }

    /// Parses a scenario file as [`Scenario::read_from`], and notes the keys that have no effect in it.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_noted(
        name: &str,
        text: &str,
        seed: Option<u64>,
        files: FileReader<'_>,
    ) -> Result<(Self, Vec<String>), ScenarioError> {
        let problems = ProblemList::new(text);
        let scenario = read(text, &problems, seed, files);
        let notes = problems.notes();
        problems.check(name, scenario).map(|scenario| (scenario, notes))
    }

    /// Gives each node a clock. W-6
    pub fn set_clocks(&mut self, mut clock: impl FnMut(NodeId) -> NodeClock) {
        for (id, node) in (0..).map(NodeId).zip(self.topology.nodes_mut()) {
            match &mut node.kind {
                NodeKind::Switch(switch) => switch.clock = clock(id),
                NodeKind::Host => match self.interfaces.iter_mut().find(|(host, _)| *host == id) {
                    Some((_, interface)) => interface.clock = clock(id),
                    None => {
                        let parameters =
                            InterfaceParameters { clock: clock(id), ..Default::default() };
                        self.interfaces.push((id, parameters));
                    }
                },
            }
        }
    }

    /// Streams of a host that are not over IP, and its random numbers.
    pub(crate) fn host_streams(&self, host: NodeId) -> (Vec<TrafficStream>, Rng) {
        let streams = self.streams.iter();
        let streams = streams.filter(|stream| stream.from == host && stream.protocol.is_none());
        (streams.cloned().collect(), Rng::new(self.seed, HOST_STREAM | u64::from(host.0)))
    }
}

fn parse<'t>(text: &'t str, problems: &ProblemList<'_>) -> Option<Spanned<DeTable<'t>>> {
    if text.len() > TEXT_MAX {
        let message = format!("the file has {} bytes", text.len());
        problems.add(&(0..0), message, format!("expected {TEXT_MAX} at most"));
        return None;
    }
    let parsed = DeTable::parse(text).inspect_err(|error| {
        // The text of the error says what is wrong, then what is expected.
        let (message, expected) = match error.message().split_once(", expected ") {
            Some((message, expected)) => (message, format!("expected {expected}")),
            None => (error.message(), "expected TOML".to_owned()),
        };
        problems.add(&error.span().unwrap_or(0..0), message, expected);
    });
    parsed.ok()
}

fn read(
    text: &str,
    problems: &ProblemList<'_>,
    other_seed: Option<u64>,
    files: FileReader<'_>,
) -> Option<Scenario> {
    let document = parse(text, problems)?;
    let mut root = TomlTable::new("the file".to_owned(), 0..0, document.get_ref(), problems);
    let seed = root.integer("seed", 0..=u64::MAX);
    let seed = other_seed.or(seed).unwrap_or(0);
    let duration = root.time("duration", 1..=DURATION_MAX);
    if !root.has_time("duration") {
        root.missing("expected the key `duration_us`");
    }
    // Other times are held against it; without it, against the longest there is.
    let duration = duration.map_or(DURATION_MAX, |time| time.periods);
    let mesh = root.table("topology").is_some_and(|mut table| generator::is_mesh(&mut table));
    let network = network::read(&mut root, problems, seed, files);
    let map = NameLookup { topology: &network.topology, whole: network.whole, problems };
    let method = if mesh { RoutingMethod::DimensionOrder } else { RoutingMethod::UpDown };
    let (routes, mapped) = routes::read(&mut root, map, method);
    let mapping = mapper::read(&mut root, map, mapped);
    mapper::check_routers(map, &network.places, mapping.as_ref());
    let (streams, raw) = traffic::TrafficReader::new(map, &routes, duration).read(&mut root);
    let replays = replays::ReplayReader { map, routes: &routes, duration, files }.read(&mut root);
    let (common, transport) = endpoints::read_transport(&mut root);
    let endpoints = endpoints::EndpointReader::new(map, common, &network.costs).read(&mut root);
    let messaging = messages::MessageReader::new(map, &routes, duration, endpoints).read(&mut root);
    network.check_memory(&messaging, problems);
    let faults = faults::FaultReader::new(map, &network.powered, seed, duration).read(&mut root);
    let taps = taps::read(&mut root, map, duration);
    root.finish();
    if network.whole == NetworkCompleteness::Incomplete {
        return None;
    }
    let scope = ScenarioUse {
        mapping: mapping.is_some(),
        endpoints: !messaging.is_empty(),
        ..scope(&streams, &replays)
    };
    network.note_use(&scope, &transport, problems);
    Some(Scenario {
        seed,
        duration,
        interfaces: network.interfaces,
        topology: network.topology,
        routes: if mapping.is_some() { RouteTable::default() } else { routes },
        mapping,
        streams,
        raw,
        replays,
        messaging,
        faults,
        taps,
    })
}

/// Kinds of traffic that use keys of a network.
fn scope(streams: &[TrafficStream], replays: &[PacketReplay]) -> ScenarioUse {
    let replayed = replays.iter().flat_map(|replay| &replay.packets);
    let replayed = replayed.map(|packet| &packet.command);
    let commands = streams.iter().map(|stream| &stream.command).chain(replayed);
    let is_command = |is: fn(&CommandForm) -> bool| commands.clone().any(is);
    ScenarioUse {
        ip: streams.iter().any(|stream| stream.protocol.is_some()),
        multicast: streams.iter().any(|stream| stream.multicast.is_some()),
        checksums: is_command(|form| form.checksum == ChecksumMode::Host),
        interrupts: is_command(|form| form.signal == SignalMode::Interrupt),
        ..ScenarioUse::default()
    }
}

#[cfg(test)]
mod tests;
