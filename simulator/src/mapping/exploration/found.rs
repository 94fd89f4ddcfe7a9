//! What a search has found, and the map of it.

use codec::mapping::{InterfaceAddress, MapEnd, MapNode, NetworkMap};

use super::{FoundPort, FoundSwitch, NetworkSearch, ProbePlace, SwitchPort};
use crate::mapping::map_routes::RoundTrip;

impl NetworkSearch {
    pub(super) fn switch(&self, switch: u16) -> Option<&FoundSwitch> {
        self.switches.get(usize::from(switch))
    }

    pub(super) fn set(&mut self, at: SwitchPort, port: FoundPort) {
        if let Some(switch) = self.switches.get_mut(usize::from(at.switch)) {
            switch.ports.insert(at.port, port);
        }
    }

    pub(super) fn forget(&mut self, at: SwitchPort) {
        if let Some(switch) = self.switches.get_mut(usize::from(at.switch)) {
            switch.ports.remove(&at.port);
        }
    }

    /// The ports of a kind, in the order in which their switches were found.
    pub(super) fn ports(
        &self,
        keep: impl Fn(&FoundPort) -> bool,
    ) -> impl Iterator<Item = SwitchPort> {
        let switches = (0..=u16::MAX).zip(&self.switches);
        switches.flat_map(move |(switch, found)| {
            let ports = found.ports.iter().filter(|(_, port)| keep(port));
            let ports: Vec<i8> = ports.map(|(port, _)| *port).collect();
            ports.into_iter().map(move |port| SwitchPort { switch, port })
        })
    }

    /// Interfaces found so far, the own one aside, with the routes by which they were found.
    pub(in crate::mapping) fn hosts(&self) -> Vec<(InterfaceAddress, RoundTrip)> {
        let others = self.hosts.iter().filter(|(address, _)| **address != self.own);
        let found = others.map(|(address, at)| (*address, self.round_trip(ProbePlace::Port(*at))));
        found.chain(self.neighbour.map(|address| (address, RoundTrip::default()))).collect()
    }

    /// Route to the interface at a place, and of its answer.
    pub(in crate::mapping) fn round_trip(&self, place: ProbePlace) -> RoundTrip {
        RoundTrip { out: self.route_to(place), back: self.way_back(place) }
    }

    /// Links between switches.
    pub(in crate::mapping) fn links(&self) -> Vec<(SwitchPort, SwitchPort)> {
        let ends = self.ports(|port| matches!(port, FoundPort::Switch(_)));
        let link = |one: SwitchPort| match self.switch(one.switch)?.ports.get(&one.port)? {
            FoundPort::Switch(other) => Some((one, *other)).filter(|_| one < *other),
            FoundPort::Host(_) | FoundPort::Twin | FoundPort::Open => None,
        };
        ends.filter_map(link).collect()
    }

    /// The map of a finished search.
    pub(in crate::mapping) fn map(&self) -> NetworkMap {
        let mut hosts: Vec<InterfaceAddress> = self.hosts.keys().copied().collect();
        hosts.extend([Some(self.own), self.neighbour].into_iter().flatten());
        hosts.sort_unstable();
        hosts.dedup();
        let host = |address: &InterfaceAddress| {
            let index = hosts.binary_search(address).ok().and_then(|at| u16::try_from(at).ok());
            Some(MapEnd { node: MapNode::Host(index?), port: 0 })
        };
        let switch = |at: SwitchPort| MapEnd { node: MapNode::Switch(at.switch), port: at.port };
        let seats =
            self.hosts.iter().filter_map(|(address, at)| Some([host(address)?, switch(*at)]));
        let cable = self.neighbour.and_then(|address| Some([host(&self.own)?, host(&address)?]));
        let links = self.links().into_iter().map(|(one, other)| [switch(one), switch(other)]);
        let links = seats.chain(cable).chain(links).collect();
        let switches = u16::try_from(self.switches.len()).unwrap_or(u16::MAX);
        let numbered = (0..=u16::MAX).zip(&hosts);
        let routers = numbered.filter(|(_, host)| self.routers.contains(host));
        let routers = routers.map(|(index, _)| index).collect();
        let identities = self.switches.iter().filter_map(|switch| switch.identity).collect();
        NetworkMap { hosts, switches, links, routers, identities }
    }
}
