//! What the tests of whole networks have in common: a network from the text of a scenario, what
//! happened in it, and the characters of its channels.

#![expect(clippy::expect_used, reason = "a test that cannot go on stops")]
#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::allow_attributes, reason = "not every test leaves something unused")]

pub(crate) mod flow;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use codec::Character;
use codec::capture::{Channel, ChannelId, Chunk, Content};
use codec::character::{Symbol, hear};
use codec::chars::CharBuf;
use codec::route::PortId;
use simulator::circuit::Passed;
use simulator::interface::HostStatistics;
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::topology::{Port, Topology};
use simulator::truth::{Happened, Wanted, What};

/// A network at work, and what has been seen of it.
pub(crate) struct Run {
    pub(crate) network: Network,
    topology: Topology,
    happened: Vec<Happened>,
    channels: BTreeMap<String, CharBuf>,
}

impl Run {
    /// The network of a scenario, run to its end.
    pub(crate) fn whole(scenario: &str) -> Self {
        let duration = read(scenario).duration;
        Self::until(scenario, duration)
    }

    /// The network of a scenario after so many periods.
    pub(crate) fn until(scenario: &str, periods: u64) -> Self {
        Self::observed(scenario, periods, Wanted::Everything)
    }

    /// The same, without the truth.
    pub(crate) fn unobserved(scenario: &str, periods: u64) -> Self {
        Self::observed(scenario, periods, Wanted::Nothing)
    }

    fn observed(scenario: &str, periods: u64, wanted: Wanted) -> Self {
        let scenario = read(scenario);
        let network = Network::new(&scenario, wanted, Layout::AsGiven);
        Self::of(network, scenario, periods)
    }

    /// The network of a scenario, run to its end, its parts visited in some order.
    pub(crate) fn arranged(scenario: &str, layout: Layout) -> Self {
        let scenario = read(scenario);
        let network = Network::new(&scenario, Wanted::Everything, layout);
        let duration = scenario.duration;
        Self::of(network, scenario, duration)
    }

    fn of(network: Network, scenario: Scenario, periods: u64) -> Self {
        let topology = scenario.topology;
        let mut run = Self { network, topology, happened: Vec::new(), channels: BTreeMap::new() };
        run.go_on(periods);
        run
    }

    /// Runs up to a period.
    pub(crate) fn go_on(&mut self, until: u64) {
        self.network.run(until);
        self.happened.extend(self.network.happened());
        let names: Vec<_> = self.network.channels().iter().map(side).collect();
        let channels = &mut self.channels;
        let kept: Result<(), Infallible> = self.network.recorded(&mut |channel, chunk| {
            keep(&names, channels, channel, chunk);
            Ok(())
        });
        kept.expect("keeping never fails");
    }

    /// The port of a name, such as `s0:3`.
    pub(crate) fn port(&self, name: &str) -> Port {
        let (node, port) = name.split_once(':').expect("a port's name has a colon");
        let node = self.topology.find(node).expect("the node is there");
        Port { node, port: PortId(port.parse().expect("a port is a number")) }
    }

    /// What has passed through a port.
    pub(crate) fn passed(&self, port: &str) -> Passed {
        self.network.port(self.port(port)).expect("the port has a cable").0
    }

    /// What has passed through a host's interface.
    pub(crate) fn statistics(&self, host: &str) -> HostStatistics {
        let host = self.topology.find(host).expect("the host is there");
        *self.network.interface(host).expect("it is a host").statistics()
    }

    /// The periods in which something happened at a port.
    pub(crate) fn times(&self, port: &str, wanted: impl Fn(&What) -> bool) -> Vec<u64> {
        let port = self.port(port);
        let there = self.happened.iter().filter(|row| row.place == port && wanted(&row.what));
        there.map(|row| row.at).collect()
    }

    /// How often something happened, anywhere.
    pub(crate) fn count(&self, wanted: impl Fn(&What) -> bool) -> usize {
        self.happened.iter().filter(|row| wanted(&row.what)).count()
    }

    /// All that happened.
    pub(crate) fn happened(&self) -> &[Happened] {
        &self.happened
    }

    /// What happened of some kinds, a line each: period, port, packet, kind, further fields.
    pub(crate) fn rows(&self, kinds: &[&str]) -> String {
        let rows = self.happened.iter().filter(|row| kinds.contains(&row.what.kind()));
        let name = |node| self.topology.node(node).map_or("", |node| node.name.as_str());
        rows.map(|row| {
            let row = row.row(name);
            let packet = row.packet.map(|packet| format!(" {packet}")).unwrap_or_default();
            let more = serde_json::to_string(&row.more).expect("rows can be written");
            let more = more.replace(['{', '}', '"'], "").replace(',', " ");
            format!("{} {}{packet} {} {more}", row.at, row.place, row.event).trim_end().to_owned()
                + "\n"
        })
        .collect()
    }

    /// The characters of all channels.
    pub(crate) const fn channels(&self) -> &BTreeMap<String, CharBuf> {
        &self.channels
    }

    /// The characters of a channel, such as `h0:0 sends` or `h0:0 hears`, from time zero on.
    pub(crate) fn chars(&self, channel: &str) -> &CharBuf {
        self.channels.get(channel).expect("the channel is tapped")
    }

    /// Where on a channel data stands.
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
            for run in characters.chunk_by(|one, other| sort(*one) == sort(*other)) {
                let end = place + run.len();
                let _ = write!(line, "  {place}: {}", chars.slice(place..end));
                place = end;
            }
            line + "\n"
        });
        lines.collect()
    }
}

/// What a run in [`Run::notation`] is of.
#[derive(PartialEq, Eq)]
enum Sort {
    Data,
    Fill,
    Symbol,
}

fn sort(character: Character) -> Sort {
    match character {
        Character::Data(_) => Sort::Data,
        Character::Control(code) => {
            let fill = [Symbol::Idle, Symbol::Gap, Symbol::Go, Symbol::Stop].map(Some);
            if fill.contains(&hear(code).symbol()) { Sort::Fill } else { Sort::Symbol }
        }
    }
}

/// A channel at a tap: `h0:0 sends`.
fn side(channel: &Channel) -> String {
    let tap = channel.tap.as_deref().unwrap_or_default();
    let verb = if channel.name.starts_with(&format!("{tap}>")) { "sends" } else { "hears" };
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
        Content::Literal(literal) => chars.extend(literal.iter()),
        Content::Repeat { pattern, count } => {
            (0..count).for_each(|_| chars.extend(pattern.iter()));
        }
    }
}
