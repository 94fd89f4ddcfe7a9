//! Maps of the mappers against the network of the capture. N-2

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use codec::mapping::{InterfaceAddress, MapEnd, MapNode, NetworkMap};
use codec::route::PortId;

use super::DistributedMap;
use crate::channel_name::link_name;
use crate::topology::{
    NodeSource, PortNumber, Topology, TopologyEnd, TopologyLink, TopologyNode, TopologyNodeKind,
    TopologyPort,
};

/// The network of a capture with the links of maps. Ports of a map's switch count from an unknown one:
/// they are found by an interface whose packets were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapComparison {
    /// The network of the capture, and behind its own links those that only a map has.
    pub topology: Topology,
    /// Sources of the links, in their order.
    pub sources: Vec<LinkSource>,
    /// Number of links of maps that could not be placed in the network, or have a port of another.
    pub unplaced: u64,
}

/// Source of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkSource {
    /// The capture and a map.
    Both,
    /// The capture; no map has it.
    Capture,
    /// A map; the capture has no link at these ports.
    Map,
}

/// The newest map of each part of the network: maps without a common interface.
pub fn newest_maps<'a>(maps: impl IntoIterator<Item = &'a DistributedMap>) -> Vec<&'a NetworkMap> {
    let mut read: Vec<_> = maps
        .into_iter()
        .filter_map(|distributed| Some((distributed.place.time, distributed.map.as_ref()?)))
        .collect();
    read.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let mut hosts: BTreeSet<InterfaceAddress> = BTreeSet::new();
    let mut newest = Vec::new();
    for (_, map) in read {
        if map.hosts.iter().all(|host| !hosts.contains(host)) {
            hosts.extend(&map.hosts);
            newest.push(map);
        }
    }
    newest
}

/// The place of a map's node: the index of the network's node, and the number of its port 0 if the
/// capture shows it.
type PlacedNode = (usize, Option<i16>);

impl MapComparison {
    /// Compares maps with a network. `homes` has the names of channels from interfaces, those of links or of
    /// one of their virtual channels.
    pub fn new(
        topology: Topology,
        maps: &[&NetworkMap],
        homes: &BTreeMap<InterfaceAddress, String>,
    ) -> Self {
        let sources = vec![LinkSource::Capture; topology.links.len()];
        let mut this = Self { topology, sources, unplaced: 0 };
        let mut ports = BTreeMap::new();
        for (link, TopologyLink { ends, .. }) in this.topology.links.iter().enumerate() {
            for (end, place) in ends.iter().enumerate() {
                ports.entry((place.node, place.port.known())).or_insert((link, end));
            }
        }
        maps.iter().for_each(|map| this.add(map, &ports, homes));
        this
    }

    fn add(
        &mut self,
        map: &NetworkMap,
        ports: &BTreeMap<(usize, Option<i16>), (usize, usize)>,
        homes: &BTreeMap<InterfaceAddress, String>,
    ) {
        let mut placed: BTreeMap<MapNode, PlacedNode> = BTreeMap::new();
        for (index, address) in (0..).zip(&map.hosts) {
            let home = homes.get(address).and_then(|home| self.home(home));
            placed.extend(home.map(|home| (MapNode::Host(index), home)));
        }
        let mut at: BTreeMap<MapNode, Vec<usize>> = BTreeMap::new();
        for (index, link) in map.links.iter().enumerate() {
            link.iter().for_each(|end| at.entry(end.node).or_default().push(index));
        }
        let mut queue: VecDeque<MapNode> = placed.keys().copied().collect();
        let (mut done, mut used, mut twice) = (BTreeSet::new(), BTreeSet::new(), 0);
        while let Some(node) = queue.pop_front() {
            for index in at.get(&node).into_iter().flatten().copied() {
                let Some([one, other]) = map.links.get(index) else { continue };
                if !done.insert(index) {
                    continue;
                }
                // A port has one cable.
                let ends = [one, other].map(|end| used.insert((end.node, end.port)));
                if ends != [true, true] {
                    twice += 1;
                    continue;
                }
                let [near, far] = if one.node == node { [one, other] } else { [other, one] };
                let Some(place) = placed.get(&node).copied() else { continue };
                let known = place.1.map(|first| first + i16::from(near.port));
                let link = known.and_then(|port| ports.get(&(place.0, Some(port))).copied());
                let mut passed = Vec::new();
                let beyond = link.and_then(|link| self.beyond(link, far, &mut passed));
                let is_new = !placed.contains_key(&far.node);
                let there = *placed.entry(far.node).or_insert_with(|| {
                    beyond.unwrap_or_else(|| (self.new_node(map, far.node), None))
                });
                match link.filter(|_| beyond == Some(there)) {
                    Some(_) => passed.into_iter().for_each(|link| self.mark(link)),
                    None => self.map_only([(place, near), (there, far)]),
                }
                queue.extend(is_new.then_some(far.node));
            }
        }
        self.unplaced += (map.links.len() - done.len() + twice) as u64;
    }

    /// The host from which a channel comes.
    fn home(&self, channel: &str) -> Option<PlacedNode> {
        let name = link_name(channel);
        self.topology.links.iter().find_map(|link| {
            let side = link.channels.iter().position(|it| it.name == name)?;
            let TopologyEnd { node, port } = *link.ends.get(side)?;
            let kind = self.topology.nodes.get(node)?.kind;
            (kind == TopologyNodeKind::Host).then_some((node, Some(port.known()?)))
        })
    }

    /// The place of a map's node if its port is at the other end of a link; and the links up to
    /// there, several if a fibre is between.
    fn beyond(
        &self,
        (link, end): (usize, usize),
        far: &MapEnd,
        passed: &mut Vec<usize>,
    ) -> Option<PlacedNode> {
        let socket = TopologyPort { port: PortNumber::Unknown, link, end };
        let beyond = self.topology.beyond_fibres(socket, |link| passed.push(link));
        let TopologyEnd { node, port } = beyond?;
        let kind = self.topology.nodes.get(node)?.kind;
        let fits = match far.node {
            MapNode::Host(_) => kind != TopologyNodeKind::Switch,
            MapNode::Switch(_) => kind != TopologyNodeKind::Host,
        };
        fits.then_some((node, Some(port.known()? - i16::from(far.port))))
    }

    fn mark(&mut self, link: usize) {
        self.sources.get_mut(link).into_iter().for_each(|source| *source = LinkSource::Both);
    }

    fn new_node(&mut self, map: &NetworkMap, node: MapNode) -> usize {
        let (name, kind) = match node {
            MapNode::Host(index) => {
                let address = map.hosts.get(usize::from(index)).map(ToString::to_string);
                (address.unwrap_or_default(), TopologyNodeKind::Host)
            }
            MapNode::Switch(index) => (format!("switch {index}"), TopologyNodeKind::Switch),
        };
        let source = NodeSource::Journeys;
        let (addressing, ports) = (None, Vec::new());
        self.topology.nodes.push(TopologyNode { name, source, kind, addressing, ports });
        self.topology.nodes.len() - 1
    }

    fn map_only(&mut self, ends: [(PlacedNode, &MapEnd); 2]) {
        let link = self.topology.links.len();
        let ends = ends.map(|((node, first), end)| {
            let port = first.and_then(|first| u8::try_from(first + i16::from(end.port)).ok());
            let port = port.map_or(PortNumber::Unknown, |port| PortNumber::Known(PortId(port)));
            TopologyEnd { node, port }
        });
        for (end, TopologyEnd { node, port }) in ends.into_iter().enumerate() {
            if let Some(node) = self.topology.nodes.get_mut(node) {
                node.ports.push(TopologyPort { port, link, end });
            }
        }
        self.topology.links.push(TopologyLink { ends, channels: Vec::new(), tap: None });
        self.sources.push(LinkSource::Map);
    }

    /// Number of links from a source.
    pub fn count(&self, source: LinkSource) -> usize {
        self.sources.iter().filter(|it| **it == source).count()
    }

    /// The links of a source as text: both ends.
    pub fn links(&self, source: LinkSource) -> impl Iterator<Item = String> {
        let links = self.topology.links.iter().zip(&self.sources);
        links.filter(move |(_, it)| **it == source).map(|(link, _)| {
            let [one, other] = link.ends.map(|end| self.topology.place(end));
            format!("{one} – {other}")
        })
    }

    /// The network as a Graphviz graph: links that no map has are red, those that only a map has blue.
    pub fn dot(&self) -> String {
        self.topology.dot_marked(&|link| match self.sources.get(link) {
            Some(LinkSource::Capture) => ", color = red",
            Some(LinkSource::Map) => ", color = blue",
            Some(LinkSource::Both) | None => "",
        })
    }
}
