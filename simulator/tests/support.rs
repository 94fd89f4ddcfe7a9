//! Harness for tests of whole networks: a network from a scenario's text, its events, and the
//! characters of its channels.

pub(crate) mod flow;

use std::convert::Infallible;
use std::fmt::Write as _;

use codec::Character;
use codec::capture::{Channel, ChannelId};
use codec::character::{Symbol, decode_control};
use codec::chars::CharBuf;
use codec::framing::frames;
use codec::route::PortId;
use myriscope_simulator::interface::HostStatistics;
use myriscope_simulator::network::{Network, SimulationEngine, VisitOrder};
use myriscope_simulator::port::PortCounters;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::topology::{NodeId, NodePort};
use myriscope_simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};

/// Running network, its events and characters so far.
pub(crate) struct TestRun {
    pub(crate) network: Network,
    pub(crate) scenario: Scenario,
    way: RunWay,
    pub(crate) happened: Vec<TruthEvent>,
    pub(crate) chunks: Vec<RecordedChunk>,
}

/// The way in which a network is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunWay {
    pub(crate) engine: SimulationEngine,
    pub(crate) order: VisitOrder,
    pub(crate) level: TraceLevel,
    /// Periods after which events and characters are taken.
    pub(crate) slice: u64,
}

impl RunWay {
    pub(crate) const USUAL: Self = Self {
        engine: SimulationEngine::Event,
        order: VisitOrder::AsGiven,
        level: TraceLevel::Everything,
        slice: u64::MAX,
    };

    pub(crate) const fn by(engine: SimulationEngine) -> Self {
        Self { engine, ..Self::USUAL }
    }

    pub(crate) const fn arranged(order: VisitOrder) -> Self {
        Self { order, ..Self::USUAL }
    }
}

/// Characters of a channel as they were handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedChunk {
    pub(crate) channel: ChannelId,
    pub(crate) first: u64,
    pub(crate) chars: CharBuf,
    pub(crate) count: u64,
}

impl RecordedChunk {
    pub(crate) fn end(&self) -> u64 {
        self.first + self.chars.len() as u64 * self.count
    }
}

impl TestRun {
    pub(crate) fn new(scenario: Scenario, way: RunWay) -> Self {
        let network = Network::new(&scenario, way.level, way.order);
        Self { network, scenario, way, happened: Vec::new(), chunks: Vec::new() }
    }

    /// Runs a scenario up to its duration.
    pub(crate) fn whole(scenario: &str) -> Self {
        let scenario = read(scenario);
        let duration = scenario.duration;
        Self::new(scenario, RunWay::USUAL).with_periods(duration)
    }

    /// Runs a scenario up to a period.
    pub(crate) fn until(scenario: &str, periods: u64) -> Self {
        Self::new(read(scenario), RunWay::USUAL).with_periods(periods)
    }

    /// Runs a scenario up to its duration, and ends it there.
    pub(crate) fn finished(scenario: Scenario, way: RunWay) -> Self {
        let duration = scenario.duration;
        let mut run = Self::new(scenario, way).with_periods(duration);
        run.network.finish();
        run.take();
        run
    }

    pub(crate) fn with_periods(mut self, until: u64) -> Self {
        self.run_until(until);
        self
    }

    /// The run with the events of each period in an order that does not depend on that of parts.
    pub(crate) fn sorted(mut self) -> Self {
        self.happened.sort_by_cached_key(|row| (row.at, row.place, format!("{row:?}")));
        self
    }

    /// Checks that another run came to the same.
    pub(crate) fn assert_same(&self, other: &Self, what: &str) {
        assert_same(&self.happened, &other.happened, what);
        assert_same(&self.chunks, &other.chunks, what);
        let [one, other] = [self, other].map(|run| {
            let Self { network, scenario: Scenario { topology, .. }, .. } = run;
            let ports = topology.cables().iter().flat_map(|cable| cable.ends);
            let ports: Vec<_> = ports.map(|it| network.port_state(it).map(|it| it.0)).collect();
            let hosts = topology.hosts().map(|it| network.interface(it).map(|it| *it.statistics()));
            (ports, hosts.collect::<Vec<_>>(), network.in_transit())
        });
        assert!(one == other, "counters of {what}");
    }

    /// Runs up to a period.
    pub(crate) fn run_until(&mut self, until: u64) {
        while self.network.now() < until {
            let next = self.network.now().saturating_add(self.way.slice).min(until);
            self.network.run_with(self.way.engine, next);
            self.take();
        }
    }

    /// Takes what has happened and was recorded. Chunks are in order of their first characters.
    fn take(&mut self) {
        let Self { network, happened, chunks, .. } = self;
        happened.extend(network.drain_events());
        let periods: Vec<_> = network.channels().iter().map(|channel| channel.period).collect();
        let Ok(()) = network.flush_recorded::<Infallible>(&mut |channel, chunk| {
            let (chars, count) = chunk.content.parts();
            let count = count.unwrap_or(1);
            let first = chunk.first.0;
            let begin = |id: ChannelId, first| (periods[id.0 as usize].time(first), id);
            let newest = chunks.last().map(|it: &RecordedChunk| begin(it.channel, it.first));
            assert!(newest <= Some(begin(channel, first)), "{newest:?} before {channel} {first}");
            let chars = chars.iter().collect();
            chunks.push(RecordedChunk { channel, first, chars, count });
            Ok(())
        });
    }

    /// Port by name, such as `s0:3` or `s0:3.vc1`.
    pub(crate) fn port(&self, name: &str) -> NodePort {
        let (node, port) = name.split_once(':').expect("a port's name has a colon");
        let node = self.scenario.topology.find(node).expect("the node is there");
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
        self.scenario.topology.node(node).map_or("", |node| node.name.as_str())
    }

    pub(crate) fn passed(&self, port: &str) -> PortCounters {
        self.network.port_state(self.port(port)).expect("the port has a cable").0
    }

    /// Counters of a host's interface.
    pub(crate) fn statistics(&self, host: &str) -> HostStatistics {
        let host = self.scenario.topology.find(host).expect("the host is there");
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

    /// Events of some kinds, a line each: period, port, packet, kind, further fields.
    pub(crate) fn rows(&self, kinds: &[&str]) -> String {
        let rows = self.happened.iter().filter(|row| kinds.contains(&row.kind.name()));
        let name = |node| self.scenario.topology.node(node).map_or("", |node| node.name.as_str());
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

    /// The first place and the characters from there on of a channel without holes.
    pub(crate) fn recorded(&self, channel: usize) -> (u64, CharBuf) {
        let (mut begin, mut all) = (None, CharBuf::new());
        for chunk in self.chunks.iter().filter(|chunk| chunk.channel.0 as usize == channel) {
            let first = *begin.get_or_insert(chunk.first);
            assert_eq!(first + all.len() as u64, chunk.first, "channel {channel} has a hole");
            (0..chunk.count).for_each(|_| all.extend(chunk.chars.chars().iter()));
        }
        (begin.unwrap_or(0), all)
    }

    /// Characters of a channel, such as `h0:0 sends` or `h0:0 receives`, from time zero on.
    pub(crate) fn chars(&self, channel: &str) -> CharBuf {
        let mut labels = self.network.channels().iter().map(channel_label);
        let channel = labels.position(|label| label == channel).expect("the channel is tapped");
        let (first, chars) = self.recorded(channel);
        assert_eq!(first, 0, "{channel} begins later");
        chars
    }

    /// Bytes of the frames on a channel.
    pub(crate) fn frames(&self, channel: &str) -> Vec<Vec<u8>> {
        frames(self.chars(channel).chars()).map(|frame| frame.bytes.to_vec()).collect()
    }

    /// Positions of data on a channel.
    pub(crate) fn data(&self, channel: &str) -> Vec<usize> {
        let chars = self.chars(channel);
        let places = chars.chars().iter().enumerate();
        places.filter(|(_, character)| character.is_data()).map(|(place, _)| place).collect()
    }

    /// Channels up to a period, a line each: data, fill, and other symbols in notation, with the
    /// period in which each begins.
    pub(crate) fn notation(&self, channels: &[&str], until: usize) -> String {
        let lines = channels.iter().map(|channel| {
            let chars = self.chars(channel);
            let chars = chars.chars().slice(0..until);
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

/// Reads a scenario that is in order.
pub(crate) fn read(text: &str) -> Scenario {
    Scenario::read("test", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Compares two lists; fails with what differs first.
pub(crate) fn assert_same<T: PartialEq + std::fmt::Debug>(one: &[T], other: &[T], what: &str) {
    let first = one.iter().zip(other).find(|(one, other)| one != other);
    assert!(first.is_none() && one.len() == other.len(), "{what}: {first:?}");
}
