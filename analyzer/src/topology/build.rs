//! Construction of a network from the evidence in a capture.

use std::borrow::Cow;
use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};
use codec::route::PortId;

use super::ports::{self, PortSolution, RouteTurn};
use super::{
    CaptureNetwork, Inconsistency, InconsistencyKind, NodeSource, PortNumber, SwitchPassage,
    Topology, TopologyChannel, TopologyEnd, TopologyLink, TopologyNode, TopologyNodeKind,
    TopologyPort,
};
use crate::channel_name::{ChannelEnds, PortName, link_name};

/// Numbers of packets from channel to channel by route byte.
type PassageCounts = BTreeMap<(ChannelId, ChannelId, u8), u64>;

/// A link whose nodes are not yet known. Link `n` has the ports `2n` and `2n + 1`.
#[derive(Debug)]
struct DraftLink<'a> {
    ids: Vec<ChannelId>,
    channels: Vec<&'a Channel>,
    /// Named ports at its ends.
    places: [Option<PortName>; 2],
}

/// Intermediate state of the construction.
#[derive(Debug)]
struct TopologyBuilder<'a> {
    network: &'a CaptureNetwork,
    cables: Vec<DraftLink<'a>>,
    /// Link and direction of each channel, in all sections.
    sides: BTreeMap<ChannelId, (usize, usize)>,
    /// Union-find parents of the ports: ports of one node have one root.
    groups: Vec<usize>,
    remarks: Vec<Inconsistency>,
}

pub(super) fn build(network: &CaptureNetwork, implied: &PassageCounts) -> Topology {
    let mut builder = TopologyBuilder {
        network,
        cables: Vec::new(),
        sides: BTreeMap::new(),
        groups: Vec::new(),
        remarks: Vec::new(),
    };
    builder.cables();
    builder.look_at_cables();
    builder.groups = (0..builder.cables.len() * 2).collect();
    builder.join_names();
    let turns = builder.join_passages(implied);
    let mut topology = builder.nodes(&turns);
    topology.passages = builder.passages(implied);
    topology.remarks = builder.remarks;
    topology
}

impl<'a> TopologyBuilder<'a> {
    /// Groups channels into links: a channel and its opposite are one link.
    fn cables(&mut self) {
        let mut by_name: BTreeMap<Cow<'_, str>, ChannelId> = BTreeMap::new();
        for (id, channel) in self.network.channels() {
            let name = link_name(&channel.name);
            if let Some(first) = by_name.get(&name) {
                // The name repeats in another section or by mistake, or is that of another virtual channel;
                // either way it is the same link. C-7
                if let Some(side) = self.sides.get(first).copied() {
                    self.sides.insert(id, side);
                    continue;
                }
            }
            let opposite = self.network.opposite(id).or_else(|| {
                let (from, to) = name.split_once('>').filter(|(from, to)| from != to)?;
                by_name.get(format!("{to}>{from}").as_str()).copied()
            });
            by_name.insert(name, id);
            let free = opposite.and_then(|it| self.sides.get(&it).copied()).filter(|(cable, _)| {
                self.cables.get(*cable).is_some_and(|cable| cable.ids.len() == 1)
            });
            if let Some((place, _)) = free
                && let Some(cable) = self.cables.get_mut(place)
            {
                cable.ids.push(id);
                cable.channels.push(channel);
                self.sides.insert(id, (place, 1));
                continue;
            }
            self.sides.insert(id, (self.cables.len(), 0));
            self.cables.push(DraftLink {
                ids: vec![id],
                channels: vec![channel],
                places: [None, None],
            });
        }
        for cable in &mut self.cables {
            let mut ways = cable.channels.iter().map(|channel| ChannelEnds::of_link(channel));
            let (first, second) = (ways.next().flatten(), ways.next().flatten());
            let turned = second.map(|way| ChannelEnds { from: way.to, to: way.from });
            if let Some(way) = first.or(turned) {
                cable.places = [Some(way.from), Some(way.to)];
            }
        }
    }

    fn report(&mut self, about: InconsistencyKind, channels: &[&Channel], text: String) {
        let channels = channels.iter().map(|channel| channel.name.clone()).collect();
        self.remarks.push(Inconsistency { about, channels, text });
    }

    /// Records inconsistencies of single links.
    fn look_at_cables(&mut self) {
        let mut remarks = Vec::new();
        let mut ports: BTreeMap<&PortName, &Channel> = BTreeMap::new();
        for DraftLink { channels, places, .. } in &self.cables {
            let Some(first) = channels.first() else { continue };
            let name = &first.name;
            for nameless in channels.iter().filter(|channel| ChannelEnds::of(channel).is_none()) {
                let text = format!("{} does not say from where to where", nameless.name);
                remarks.push((InconsistencyKind::NoName, vec![*nameless], text));
            }
            match channels.get(1) {
                None => {
                    let text = format!("of the link of {name} only this channel was captured");
                    remarks.push((InconsistencyKind::OneWay, vec![*first], text));
                }
                Some(second) => {
                    let both = || vec![*first, *second];
                    if !first.period.is_near(second.period) {
                        let text = format!("{name} and its opposite have different rates");
                        remarks.push((InconsistencyKind::Rates, both(), text));
                    }
                    let ways = [first, second].map(|channel| ChannelEnds::of_link(channel));
                    if let [Some(one), Some(other)] = &ways
                        && (&one.from, &one.to) != (&other.to, &other.from)
                    {
                        let second = &second.name;
                        let text =
                            format!("{name} and {second} are one link, but not by their names");
                        remarks.push((InconsistencyKind::Unlike, both(), text));
                    }
                }
            }
            let tap = tap(channels).filter(|tap| {
                let ends = places.iter().flatten();
                places.iter().any(Option::is_some)
                    && ends.map(ToString::to_string).all(|end| end != *tap)
            });
            if let Some(tap) = tap {
                let text = format!("{} is at neither end of {name}", tap);
                remarks.push((InconsistencyKind::Tap, vec![*first], text));
            }
            for place in places.iter().flatten() {
                if let Some(other) = ports.insert(place, first) {
                    let text = format!("{} has two links, {} and {name}", place, other.name);
                    remarks.push((InconsistencyKind::SharedPort, vec![other, *first], text));
                }
            }
        }
        for (about, channels, text) in remarks {
            self.report(about, &channels, text);
        }
    }

    /// Root port of the node of a port.
    fn group(&self, port: usize) -> usize {
        let mut at = port;
        while let Some(next) = self.groups.get(at).copied()
            && next != at
        {
            at = next;
        }
        at
    }

    /// Merges the nodes of two ports, with path compression.
    fn join(&mut self, one: usize, other: usize) {
        let low = self.group(one).min(self.group(other));
        for port in [one, other] {
            let mut at = port;
            while let Some(next) = self.groups.get_mut(at) {
                let next = std::mem::replace(next, low);
                if next == at || next == low {
                    break;
                }
                at = next;
            }
        }
    }

    fn place(&self, port: usize) -> Option<&PortName> {
        self.cables.get(port / 2)?.places.get(port % 2)?.as_ref()
    }

    /// Merges ports whose nodes have the same name.
    fn join_names(&mut self) {
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        for port in 0..self.groups.len() {
            let Some(node) = self.place(port).map(|place| place.node.clone()) else { continue };
            match first.get(&node) {
                Some(first) => self.join(*first, port),
                None => _ = first.insert(node, port),
            }
        }
    }

    /// Port at the source (0) or destination (1) of a channel.
    fn port(&self, id: ChannelId, end: usize) -> Option<usize> {
        let (cable, side) = self.sides.get(&id)?;
        Some(cable * 2 + (side ^ end))
    }

    /// Channel whose source (0) or destination (1) is a port.
    fn at(&self, port: usize, end: usize) -> Option<ChannelId> {
        self.cables.get(port / 2)?.ids.get((port % 2) ^ end).copied()
    }

    /// Merges the ports between which packets pass; returns these passages.
    fn join_passages(&mut self, implied: &PassageCounts) -> Vec<RouteTurn> {
        let mut turns = Vec::new();
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        for port in 0..self.groups.len() {
            if let Some(place) = self.place(port) {
                names.insert(self.group(port), place.node.clone());
            }
        }
        let mut most: Vec<_> = implied.iter().collect();
        most.sort_by_key(|(_, packets)| std::cmp::Reverse(**packets));
        for ((from, to, byte), packets) in most {
            let (Some(input), Some(output)) = (self.port(*from, 1), self.port(*to, 0)) else {
                continue;
            };
            let groups = [self.group(input), self.group(output)];
            let [one, other] = groups.map(|group| names.get(&group).cloned());
            match (one, other) {
                (Some(one), Some(other)) if one != other => {
                    let (Some(from), Some(to)) =
                        (self.network.channel(*from), self.network.channel(*to))
                    else {
                        continue;
                    };
                    let text = format!(
                        "{packets} packets go from {} to {}, so {} and {} are one node, or a name is wrong",
                        from.name, to.name, one, other
                    );
                    self.report(InconsistencyKind::Apart, &[from, to], text);
                    continue;
                }
                (one, other) => {
                    self.join(input, output);
                    if let Some(name) = one.or(other) {
                        names.insert(self.group(input), name);
                    }
                }
            }
            turns.push(RouteTurn { input, byte: *byte, output, packets: *packets });
        }
        turns
    }

    fn nodes(&mut self, turns: &[RouteTurn]) -> Topology {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for port in 0..self.groups.len() {
            groups.entry(self.group(port)).or_default().push(port);
        }
        let mut turns_of: BTreeMap<usize, Vec<RouteTurn>> = BTreeMap::new();
        for turn in turns {
            turns_of.entry(self.group(turn.input)).or_default().push(*turn);
        }
        let kinds = self.unnamed_kinds();
        let mut found = Vec::new();
        for (group, ports) in &groups {
            let name = ports.iter().find_map(|port| self.place(*port)).map(|it| it.node.clone());
            let known = ports.iter().filter_map(|port| Some((*port, self.place(*port)?.port)));
            let known: BTreeMap<usize, PortId> = known.collect();
            let turns = turns_of.get(group).map_or(&[][..], Vec::as_slice);
            let solved = ports::solve(&known, turns);
            self.wrong_turns(&solved, turns);
            let kind = self.kind(name.as_deref(), ports, &kinds);
            found.push((name, kind, solved, ports));
        }
        // Named nodes first, by name; the others in order of their first links.
        found.sort_by(|(one, ..), (other, ..)| (one.is_none(), one).cmp(&(other.is_none(), other)));
        self.finish(&found)
    }

    fn finish(
        &self,
        found: &[(Option<String>, TopologyNodeKind, PortSolution, &Vec<usize>)],
    ) -> Topology {
        let unknown = TopologyEnd { node: 0, port: PortNumber::Unknown };
        let mut ends = vec![unknown; self.groups.len()];
        let (mut nodes, mut implied) = (Vec::new(), 0);
        for (name, kind, solved, ports) in found {
            let node = nodes.len();
            let mut sockets = Vec::new();
            for port in *ports {
                let number = solved.numbers.get(port).copied().unwrap_or(PortNumber::Unknown);
                sockets.push(TopologyPort { port: number, link: port / 2, end: port % 2 });
                if let Some(end) = ends.get_mut(*port) {
                    *end = TopologyEnd { node, port: number };
                }
            }
            sockets.sort_unstable();
            let source = if name.is_some() { NodeSource::Names } else { NodeSource::Journeys };
            let name = name.clone().unwrap_or_else(|| {
                implied += 1;
                format!("?{implied}")
            });
            let addressing = solved.addressing;
            nodes.push(TopologyNode { name, source, kind: *kind, addressing, ports: sockets });
        }
        let links = self.cables.iter().zip(ends.chunks(2)).filter_map(|(cable, ends)| {
            let directions = cable.channels.iter().map(|channel| TopologyChannel {
                name: link_name(&channel.name).into_owned(),
                period_ps: channel.period.ps(),
            });
            Some(TopologyLink {
                ends: ends.try_into().ok()?,
                channels: directions.collect(),
                tap: tap(&cable.channels),
            })
        });
        let mut topology = Topology { links: links.collect(), nodes, ..Topology::default() };
        self.network.fibres().for_each(|ends| topology.add_fibre(ends));
        topology
    }

    /// Kind of each port's unnamed node, judged by the packets that arrive there.
    fn unnamed_kinds(&self) -> Vec<TopologyNodeKind> {
        let mut kinds = vec![TopologyNodeKind::Unknown; self.groups.len()];
        for (id, (cable, side)) in &self.sides {
            if let Some(kind) = kinds.get_mut(cable * 2 + (side ^ 1))
                && self.network.ends(*id).is_none()
            {
                *kind = self.network.behind(*id).min(*kind);
            }
        }
        kinds
    }

    fn kind(
        &self,
        name: Option<&str>,
        ports: &[usize],
        kinds: &[TopologyNodeKind],
    ) -> TopologyNodeKind {
        match (name, ports) {
            (Some(name), _) if self.network.kind(name) == TopologyNodeKind::Fibre => {
                TopologyNodeKind::Fibre
            }
            (_, [_, _, ..]) => TopologyNodeKind::Switch,
            (Some(name), _) => self.network.kind(name),
            (None, ports) => {
                let kinds = ports.iter().filter_map(|port| kinds.get(*port).copied());
                kinds.min().unwrap_or(TopologyNodeKind::Unknown)
            }
        }
    }

    /// Records passages that contradict the solved port numbers.
    fn wrong_turns(&mut self, solved: &PortSolution, turns: &[RouteTurn]) {
        let all: u64 = turns.iter().map(|turn| turn.packets).sum();
        for turn in &solved.wrong {
            let channel = |port, end| self.network.channel(self.at(port, end)?);
            let (Some(from), Some(to)) = (channel(turn.input, 1), channel(turn.output, 0)) else {
                continue;
            };
            let text = format!(
                "{} of {all} packets went from {} to {} by 0x{:02x}, which asks for another port",
                turn.packets, from.name, to.name, turn.byte
            );
            self.report(InconsistencyKind::WrongPort, &[from, to], text);
        }
    }

    fn passages(&self, implied: &PassageCounts) -> Vec<SwitchPassage> {
        let name = |id: ChannelId| Some(link_name(&self.network.channel(id)?.name).into_owned());
        let (mut passages, mut places) = (Vec::<SwitchPassage>::new(), BTreeMap::new());
        for ((from, to, byte), packets) in implied {
            let Some((from, to)) = name(*from).zip(name(*to)) else { continue };
            let key = (from.clone(), to.clone(), *byte);
            let place = *places.entry(key).or_insert(passages.len());
            match passages.get_mut(place) {
                Some(same) => same.packets += packets,
                None => passages.push(SwitchPassage { from, to, byte: *byte, packets: *packets }),
            }
        }
        passages
    }
}

fn tap(channels: &[&Channel]) -> Option<String> {
    let tap = channels.iter().find_map(|channel| channel.tap.clone())?;
    Some(PortName::parse(&tap).map_or(tap, |port| port.of_link().to_string()))
}
