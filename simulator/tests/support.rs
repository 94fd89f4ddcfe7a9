//! Harness for tests of whole networks: a network from a scenario's text, its events, and the
//! characters of its channels.

#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::allow_attributes, reason = "not every test leaves something unused")]

pub(crate) mod flow;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use codec::Character;
use codec::capture::{Channel, ChannelId, Chunk, ChunkContent};
use codec::character::{Symbol, decode_control};
use codec::chars::CharBuf;
use codec::route::PortId;
use myriscope_simulator::interface::HostStatistics;
use myriscope_simulator::network::{Network, VisitOrder};
use myriscope_simulator::port::PortCounters;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::topology::{NodeId, NodePort, Topology};
use myriscope_simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};

/// Running network, its events and characters so far.
pub(crate) struct TestRun {
    pub(crate) network: Network,
    topology: Topology,
    happened: Vec<TruthEvent>,
    channels: BTreeMap<String, CharBuf>,
}

impl TestRun {
    /// Runs a scenario to its end.
    pub(crate) fn whole(scenario: &str) -> Self {
        let duration = read(scenario).duration;
        Self::until(scenario, duration)
    }

    /// Runs a scenario up to a period.
    pub(crate) fn until(scenario: &str, periods: u64) -> Self {
        Self::observed(scenario, periods, TraceLevel::Everything)
    }

    /// Runs a scenario up to a period without recording events.
    pub(crate) fn unobserved(scenario: &str, periods: u64) -> Self {
        Self::observed(scenario, periods, TraceLevel::Nothing)
    }

    fn observed(scenario: &str, periods: u64, wanted: TraceLevel) -> Self {
        let scenario = read(scenario);
        let network = Network::new(&scenario, wanted, VisitOrder::AsGiven);
        Self::of(network, scenario, periods)
    }

    /// Runs a scenario to its end, visiting its parts in this order.
    pub(crate) fn arranged(scenario: &str, layout: VisitOrder) -> Self {
        let scenario = read(scenario);
        let network = Network::new(&scenario, TraceLevel::Everything, layout);
        let duration = scenario.duration;
        Self::of(network, scenario, duration)
    }

    fn of(network: Network, scenario: Scenario, periods: u64) -> Self {
        let topology = scenario.topology;
        let mut run = Self { network, topology, happened: Vec::new(), channels: BTreeMap::new() };
        run.run_until(periods);
        run
    }

    /// Runs up to a period.
    pub(crate) fn run_until(&mut self, until: u64) {
        self.network.run(until);
        self.happened.extend(self.network.drain_events());
        let names: Vec<_> = self.network.channels().iter().map(channel_label).collect();
        let channels = &mut self.channels;
        let kept: Result<(), Infallible> = self.network.flush_recorded(&mut |channel, chunk| {
            keep(&names, channels, channel, chunk);
            Ok(())
        });
        kept.expect("keeping never fails");
    }

    /// Port by name, such as `s0:3` or `s0:3.vc1`.
    pub(crate) fn port(&self, name: &str) -> NodePort {
        let (node, port) = name.split_once(':').expect("a port's name has a colon");
        let node = self.topology.find(node).expect("the node is there");
        let (port, channel) =
            port.split_once(".vc").map_or((port, None), |(port, channel)| (port, Some(channel)));
        let port = PortId(port.parse().expect("a port is a number"));
        let port = NodePort { node, port };
        channel.map_or(port, |channel| {
            port.with_virtual_channel(channel.parse().expect("a virtual channel is a number"))
        })
    }

    /// Name of a node.
    pub(crate) fn node(&self, node: NodeId) -> &str {
        self.topology.node(node).map_or("", |node| node.name.as_str())
    }

    pub(crate) fn passed(&self, port: &str) -> PortCounters {
        self.network.port_state(self.port(port)).expect("the port has a cable").0
    }

    /// Counters of a host's interface.
    pub(crate) fn statistics(&self, host: &str) -> HostStatistics {
        let host = self.topology.find(host).expect("the host is there");
        *self.network.interface(host).expect("it is a host").statistics()
    }

    /// Periods of the matching events at a port.
    pub(crate) fn times(&self, port: &str, wanted: impl Fn(&TruthEventKind) -> bool) -> Vec<u64> {
        let port = self.port(port);
        let there = self.happened.iter().filter(|row| row.place == port && wanted(&row.kind));
        there.map(|row| row.at).collect()
    }

    /// Number of matching events.
    pub(crate) fn count(&self, wanted: impl Fn(&TruthEventKind) -> bool) -> usize {
        self.happened.iter().filter(|row| wanted(&row.kind)).count()
    }

    pub(crate) fn happened(&self) -> &[TruthEvent] {
        &self.happened
    }

    /// Events of some kinds, a line each: period, port, packet, kind, further fields.
    pub(crate) fn rows(&self, kinds: &[&str]) -> String {
        let rows = self.happened.iter().filter(|row| kinds.contains(&row.kind.name()));
        let name = |node| self.topology.node(node).map_or("", |node| node.name.as_str());
        rows.map(|row| {
            let text = serde_json::to_string(&row.row(name)).expect("rows can be written");
            let text = text.replace(['{', '}', '"'], "").replace(',', " ");
            let value = |word: &str| {
                let mut keys = ["at:", "place:", "packet:", "event:"].into_iter();
                keys.find_map(|key| word.strip_prefix(key)).unwrap_or(word).to_owned()
            };
            text.split(' ').map(value).collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect()
    }

    pub(crate) const fn channels(&self) -> &BTreeMap<String, CharBuf> {
        &self.channels
    }

    /// Characters of a channel, such as `h0:0 sends` or `h0:0 receives`, from time zero on.
    pub(crate) fn chars(&self, channel: &str) -> &CharBuf {
        self.channels.get(channel).expect("the channel is tapped")
    }

    /// Positions of data on a channel.
    pub(crate) fn data(&self, channel: &str) -> Vec<usize> {
        let places = self.chars(channel).chars().iter().enumerate();
        places.filter(|(_, character)| character.is_data()).map(|(place, _)| place).collect()
    }

    /// Channels up to a period, a line each: data, fill, and other symbols in notation, with the
    /// period in which each begins.
    pub(crate) fn notation(&self, channels: &[&str], until: usize) -> String {
        let lines = channels.iter().map(|channel| {
            let chars = self.chars(channel).chars().slice(0..until);
            let mut line = (*channel).to_owned();
            let characters: Vec<_> = chars.iter().collect();
            let mut place = 0;
            for run in
                characters.chunk_by(|one, other| character_sort(*one) == character_sort(*other))
            {
                let end = place + run.len();
                let _ = write!(line, "  {place}: {}", chars.slice(place..end));
                place = end;
            }
            line + "\n"
        });
        lines.collect()
    }
}

/// Kind of a run in [`TestRun::notation`].
#[derive(PartialEq, Eq)]
enum CharacterSort {
    Data,
    Fill,
    Symbol,
}

fn character_sort(character: Character) -> CharacterSort {
    match character {
        Character::Data(_) => CharacterSort::Data,
        Character::Control(code) => {
            let fill = [Symbol::Idle, Symbol::Gap, Symbol::Go, Symbol::Stop].map(Some);
            if fill.contains(&decode_control(code).symbol()) {
                CharacterSort::Fill
            } else {
                CharacterSort::Symbol
            }
        }
    }
}

fn channel_label(channel: &Channel) -> String {
    let tap = channel.tap.as_deref().unwrap_or_default();
    let verb = if channel.name.starts_with(&format!("{tap}>")) { "sends" } else { "receives" };
    format!("{tap} {verb}")
}

fn read(scenario: &str) -> Scenario {
    Scenario::read("test", scenario).unwrap_or_else(|error| {
        #[expect(clippy::panic, reason = "the scenario belongs to the test")]
        {
            panic!("{error}")
        }
    })
}

fn keep(
    names: &[String],
    channels: &mut BTreeMap<String, CharBuf>,
    channel: ChannelId,
    chunk: &Chunk<'_>,
) {
    let Some(name) = names.get(channel.0 as usize) else { return };
    let chars = channels.entry(name.clone()).or_default();
    assert_eq!(chars.len() as u64, chunk.first.0, "{name} has a hole");
    match chunk.content {
        ChunkContent::Literal(literal) => chars.extend(literal.iter()),
        ChunkContent::Repeat { pattern, count } => {
            (0..count).for_each(|_| chars.extend(pattern.iter()));
        }
    }
}
