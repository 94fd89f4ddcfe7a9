//! What is simulated: a network, its traffic, its faults, where it is tapped, and the seed.

mod breakage;
mod demand;
mod error;
mod law;
pub mod limits;
mod map;
mod network;
mod parameters;
mod shape;
mod table;
mod taps;
mod way;

use toml::de::DeTable;

use self::error::Problems;
pub use self::error::{Problem, ScenarioError, Style};
use self::limits::{DURATION_MAX, TEXT_MAX};
use self::map::Map;
use self::network::Whole;
use self::table::Table;
use crate::fault::Fault;
use crate::interface::InterfaceParameters;
use crate::routes::{Method, Routes};
use crate::topology::{NodeId, Port, Topology};
use crate::traffic::{Raw, Stream};

/// All that a run depends on.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Of all dice.
    pub seed: u64,
    /// How long it runs: periods of the full rate.
    pub duration: u64,
    /// Hosts, switches and cables.
    pub topology: Topology,
    /// The interface of each host, in the order of the hosts among the nodes.
    pub interfaces: Vec<(NodeId, InterfaceParameters)>,
    /// Which way packets go.
    pub routes: Routes,
    /// What hosts send.
    pub streams: Vec<Stream>,
    /// What they send as it stands.
    pub raw: Vec<Raw>,
    /// What breaks, in order of time.
    pub faults: Vec<Fault>,
    /// Where the network is observed.
    pub taps: Vec<Tap>,
}

/// A port that is observed: both channels of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// The port.
    pub port: Port,
    /// From this period of the full rate on.
    pub from: u64,
    /// Before this one.
    pub to: u64,
}

impl Scenario {
    /// Reads a scenario file, whose name is for the messages: the form of `docs/scenario.md`.
    ///
    /// # Errors
    /// Shows all that is wrong, with its lines.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let problems = Problems::new(text);
        let scenario = read(text, &problems);
        problems.check(name, scenario)
    }
}

fn read(text: &str, problems: &Problems<'_>) -> Option<Scenario> {
    if text.len() > TEXT_MAX {
        let message = format!("the file has {} bytes", text.len());
        problems.add(&(0..0), message, format!("expected {TEXT_MAX} at most"));
        return None;
    }
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            // The text of the error says what is wrong, then what is expected.
            let (message, expected) = match error.message().split_once(", expected ") {
                Some((message, expected)) => (message, format!("expected {expected}")),
                None => (error.message(), "expected TOML".to_owned()),
            };
            problems.add(&error.span().unwrap_or(0..0), message, expected);
            return None;
        }
    };
    let mut root = Table::new("the file".to_owned(), 0..0, document.get_ref(), problems);
    let seed = root.integer("seed", 0..=u64::MAX).unwrap_or(0);
    let duration = root.time(["duration_us", "duration_periods"], 1..=DURATION_MAX);
    if !root.has_any(&["duration_us", "duration_periods"]) {
        root.missing("expected the key `duration_us`");
    }
    // Other times are held against it; without it, against the longest there is.
    let duration = duration.map_or(DURATION_MAX, |time| time.periods);
    let mesh = root.table("topology").is_some_and(|mut table| shape::is_mesh(&mut table));
    let network = network::read(&mut root, problems, seed);
    let map = Map { topology: &network.topology, whole: network.whole, problems };
    let method = if mesh { Method::DimensionOrder } else { Method::UpDown };
    let routes = way::read(&mut root, map, method);
    let (streams, raw) = demand::Demand::new(map, &routes, duration).read(&mut root);
    let faults = breakage::Breakage::new(map, seed, duration).read(&mut root);
    let taps = taps::read(&mut root, map, duration);
    root.finish();
    if network.whole == Whole::No {
        return None;
    }
    Some(Scenario {
        seed,
        duration,
        interfaces: network.interfaces,
        topology: network.topology,
        routes,
        streams,
        raw,
        faults,
        taps,
    })
}

#[cfg(test)]
mod tests {
    use codec::packet::Tag;
    use codec::route::PortId;
    use codec::tick::Ticks;

    use super::*;
    use crate::fault::Break;
    use crate::traffic::{Arrivals, Destination, Size};

    /// What is wrong with a text, as it is shown.
    fn check(text: &str) -> String {
        Scenario::read("net.toml", text).unwrap_err().to_string()
    }

    fn good(text: &str) -> Scenario {
        Scenario::read("net.toml", text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn node(scenario: &Scenario, name: &str) -> NodeId {
        scenario.topology.find(name).unwrap()
    }

    fn port(scenario: &Scenario, name: &str, port: u8) -> Port {
        Port { node: node(scenario, name), port: PortId(port) }
    }

    /// The example of `docs/scenario.md`, which is that of the design with the parts it leaves out.
    const EXAMPLE: &str = include_str!("../../docs/scenario-example.toml");

    #[test]
    fn the_example_is_read_as_it_stands() {
        let read = good(EXAMPLE);
        assert_eq!((read.seed, read.duration), (7, 40_000));
        let names: Vec<&str> = read.topology.nodes().iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["s0", "s1", "h0", "h1"]);
        let [h0, h1, s0_s1] = read.topology.cables() else { panic!("three cables") };
        assert_eq!(h0.ends, [port(&read, "h0", 0), port(&read, "s0", 0)]);
        assert_eq!(h0.link.delay, Ticks(12));
        assert_eq!(h1.ends, [port(&read, "h1", 0), port(&read, "s1", 3)]);
        assert_eq!(s0_s1.ends, [port(&read, "s0", 7), port(&read, "s1", 7)]);
        // 10 m: 56 ns, 4.48 periods.
        assert_eq!(s0_s1.link.delay, Ticks(5));
        let (h0, h1) = (node(&read, "h0"), node(&read, "h1"));
        // From port 0 of s0 to 7: +7. From port 7 of s1 to 3: −4.
        assert_eq!(read.routes.get(h0, h1), Some(&[0x87, 0xbc][..]));
        assert_eq!(
            read.streams,
            [Stream {
                from: h0,
                to: Destination::One(h1),
                tag: Tag::new(0).unwrap(),
                payload: Size::Fixed(1024),
                arrivals: Arrivals::Constant(Ticks(1_600)),
                start: 0,
                packets: Some(100),
            }]
        );
        let cut = Break::Cut { port: port(&read, "s0", 7) };
        assert_eq!(read.faults, [Fault { at: 9_600, until: Some(13_600), what: cut }]);
        assert_eq!(read.taps, [Tap { port: port(&read, "h0", 0), from: 0, to: 40_000 }]);
    }
}
