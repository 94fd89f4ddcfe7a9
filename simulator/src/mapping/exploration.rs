//! Search of a network by probes: breadth first, over the relative ports of switches. N-2, N-8
//!
//! *Chosen*: ports are counted from the one by which a switch was found. At each port a host probe
//! is sent, then, if nothing answers, a switch probe. A port with a switch behind it is *open* until
//! it is known which one. Two open ports A and B are the ends of one cable exactly if a packet on
//! route A · B⁻¹ comes home: the way back from B leads home on one way only. Where no open port fits,
//! the switch is new. A lost probe can make a known switch appear new: then its first interface was
//! found before, and another comparison decides whether it is the same switch or an interface with
//! the same address.

use std::collections::{BTreeMap, BTreeSet};

use codec::mapping::{InterfaceAddress, InterfaceRole, MAP_PORT_MAX, MapEnd, MapNode, NetworkMap};
use codec::route::reversed;

/// Most switches in a map. *Chosen*: beyond all scenarios; bounds the memory.
const SWITCHES_MAX: usize = 4096;

/// A port of a switch by which the network is searched, or the mapper's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ProbePlace {
    /// The far end of the mapper's own cable.
    Own,
    /// The far end of the cable at a switch's port.
    Port(SwitchPort),
}

/// A port of a found switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SwitchPort {
    pub(super) switch: u16,
    pub(super) port: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SearchProbe {
    Host(ProbePlace),
    Switch(ProbePlace),
    /// Tests whether a cable joins two open ports.
    Join(SwitchPort, SwitchPort),
    /// Tests whether the latest switch is another one, and was entered by this port of it.
    Merge(SwitchPort),
}

/// A sign that something is at the end of a probe's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeFinding {
    Host(InterfaceAddress, InterfaceRole),
    Home,
}

/// State of the search after a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// These probes are to be sent too.
    More(Vec<SearchProbe>),
    /// These are to be sent, and none of the earlier ones.
    Instead(Vec<SearchProbe>),
    /// All is found.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FoundPort {
    Host(InterfaceAddress),
    /// An interface with the address of another.
    Twin,
    Open,
    Switch(SwitchPort),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FoundSwitch {
    /// Route to its port 0.
    route: Vec<u8>,
    ports: BTreeMap<i8, FoundPort>,
}

/// Nodes and links found so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NetworkSearch {
    own: InterfaceAddress,
    /// The interface at the other end of the own cable, if there is no switch.
    neighbour: Option<InterfaceAddress>,
    switches: Vec<FoundSwitch>,
    hosts: BTreeMap<InterfaceAddress, SwitchPort>,
    /// Those that say that they are routers. N-5
    routers: BTreeSet<InterfaceAddress>,
    /// Number of probes without a result.
    pending: usize,
    /// The open port whose other end is being looked for.
    joining: Option<SwitchPort>,
}

impl NetworkSearch {
    /// A search, and its first probe.
    pub(super) fn begin(own: InterfaceAddress, role: InterfaceRole) -> (Self, SearchStep) {
        let mut search = Self {
            own,
            neighbour: None,
            switches: Vec::new(),
            hosts: BTreeMap::new(),
            routers: BTreeSet::new(),
            pending: 1,
            joining: None,
        };
        search.note_role(own, role);
        (search, SearchStep::Instead(vec![SearchProbe::Host(ProbePlace::Own)]))
    }

    /// Route of a host probe to a place.
    pub(super) fn route_to(&self, place: ProbePlace) -> Vec<u8> {
        let ProbePlace::Port(SwitchPort { switch, port }) = place else { return Vec::new() };
        let mut route = self.switch(switch).map(|switch| switch.route.clone()).unwrap_or_default();
        let [low] = port.to_le_bytes();
        route.push(0x80 | low & 0x3f);
        route
    }

    /// The whole route of a probe. N-8
    pub(super) fn route(&self, probe: SearchProbe) -> Vec<u8> {
        match probe {
            SearchProbe::Host(place) => self.route_to(place),
            SearchProbe::Switch(place) => self.turned(place),
            SearchProbe::Join(one, other) => self.across(one, other),
            SearchProbe::Merge(other) => {
                let mut route =
                    self.switches.last().map(|switch| switch.route.clone()).unwrap_or_default();
                route.extend(reversed(&self.route_to(ProbePlace::Port(other))));
                route
            }
        }
    }

    /// Route to a place and back, turned round there. N-8
    pub(super) fn turned(&self, place: ProbePlace) -> Vec<u8> {
        let mut route = self.route_to(place);
        let back = reversed(&route);
        route.push(0x80);
        route.extend(back);
        route
    }

    /// Route out of one port and home by another, which comes home if one cable joins them.
    pub(super) fn across(&self, one: SwitchPort, other: SwitchPort) -> Vec<u8> {
        let mut route = self.route_to(ProbePlace::Port(one));
        route.extend(reversed(&self.route_to(ProbePlace::Port(other))));
        route
    }

    /// True unless the ports found at a switch exclude one: it has 32 at most. S-1
    pub(super) fn is_possible(&self, probe: SearchProbe) -> bool {
        match probe {
            SearchProbe::Host(ProbePlace::Port(at)) | SearchProbe::Switch(ProbePlace::Port(at)) => {
                let ports = self.switch(at.switch).map(|switch| &switch.ports);
                let first = ports.and_then(|ports| ports.keys().next()).copied().unwrap_or(0);
                let last = ports.and_then(|ports| ports.keys().next_back()).copied().unwrap_or(0);
                (last - MAP_PORT_MAX..=first + MAP_PORT_MAX).contains(&at.port)
            }
            SearchProbe::Host(ProbePlace::Own)
            | SearchProbe::Switch(ProbePlace::Own)
            | SearchProbe::Join(..)
            | SearchProbe::Merge(_) => true,
        }
    }

    /// Notes the result of a probe; `None` is silence.
    pub(super) fn note(&mut self, probe: SearchProbe, finding: Option<ProbeFinding>) -> SearchStep {
        self.pending = self.pending.saturating_sub(1);
        let step = match (probe, finding) {
            (SearchProbe::Host(place), Some(ProbeFinding::Host(address, role))) => {
                self.note_role(address, role);
                self.found_host(place, address)
            }
            (SearchProbe::Host(place), Some(ProbeFinding::Home) | None) => {
                SearchStep::More(vec![SearchProbe::Switch(place)])
            }
            (SearchProbe::Switch(place), Some(_)) => self.found_switch(place),
            (SearchProbe::Join(one, other), Some(_)) => self.joined(one, other),
            (SearchProbe::Merge(other), Some(_)) => self.merged(other),
            (SearchProbe::Switch(_) | SearchProbe::Join(..) | SearchProbe::Merge(_), None) => {
                SearchStep::More(Vec::new())
            }
        };
        match step {
            SearchStep::More(probes) => {
                self.pending += probes.len();
                if self.pending == 0 { self.go_on() } else { SearchStep::More(probes) }
            }
            SearchStep::Instead(probes) => {
                self.pending = probes.len();
                if self.pending == 0 { self.go_on() } else { SearchStep::Instead(probes) }
            }
            SearchStep::Finished => SearchStep::Finished,
        }
    }

    fn note_role(&mut self, address: InterfaceAddress, role: InterfaceRole) {
        match role {
            InterfaceRole::Host => {}
            InterfaceRole::Router => {
                self.routers.insert(address);
            }
        }
    }

    fn found_host(&mut self, place: ProbePlace, address: InterfaceAddress) -> SearchStep {
        let ProbePlace::Port(at) = place else {
            self.neighbour = Some(address).filter(|address| *address != self.own);
            return SearchStep::More(Vec::new());
        };
        let known = self.hosts.get(&address).copied().filter(|known| *known != at);
        let port = if known.is_some() { FoundPort::Twin } else { FoundPort::Host(address) };
        self.set(at, port);
        let Some(known) = known else {
            self.hosts.insert(address, at);
            return SearchStep::More(Vec::new());
        };
        // Port p of the latest switch would be port p + shift of the other.
        let shift = known.port.checked_sub(at.port);
        let port = shift.filter(|shift| shift.unsigned_abs() <= MAP_PORT_MAX.unsigned_abs());
        let is_latest = usize::from(at.switch) + 1 == self.switches.len();
        let same = port.filter(|_| is_latest && known.switch != at.switch);
        let merge = same.map(|port| SearchProbe::Merge(SwitchPort { switch: known.switch, port }));
        SearchStep::More(merge.into_iter().collect())
    }

    fn found_switch(&mut self, place: ProbePlace) -> SearchStep {
        match place {
            ProbePlace::Own => {
                self.hosts.insert(self.own, SwitchPort { switch: 0, port: 0 });
                self.add(Vec::new(), FoundPort::Host(self.own))
            }
            ProbePlace::Port(at) => {
                self.set(at, FoundPort::Open);
                SearchStep::More(Vec::new())
            }
        }
    }

    /// Adds a switch, all of whose ports are to be probed, the nearest first.
    fn add(&mut self, route: Vec<u8>, entry: FoundPort) -> SearchStep {
        let Ok(switch) = u16::try_from(self.switches.len()) else {
            return SearchStep::More(Vec::new());
        };
        self.switches.push(FoundSwitch { route, ports: BTreeMap::from([(0, entry)]) });
        let ports = (1..=MAP_PORT_MAX).flat_map(|port| [port, -port]);
        let place = |port| ProbePlace::Port(SwitchPort { switch, port });
        SearchStep::More(ports.map(|port| SearchProbe::Host(place(port))).collect())
    }

    fn joined(&mut self, one: SwitchPort, other: SwitchPort) -> SearchStep {
        self.set(one, FoundPort::Switch(other));
        self.set(other, FoundPort::Switch(one));
        self.joining = None;
        SearchStep::Instead(Vec::new())
    }

    /// Removes the latest switch, which is a known one, entered by another port.
    fn merged(&mut self, entry: SwitchPort) -> SearchStep {
        let latest = self.switches.last().and_then(|switch| switch.ports.get(&0)).copied();
        let known = self.switch(entry.switch).and_then(|switch| switch.ports.get(&entry.port));
        match (latest, known) {
            (Some(FoundPort::Switch(before)), None | Some(FoundPort::Open)) => {
                let last = self.switches.len() - 1;
                self.hosts.retain(|_, at| usize::from(at.switch) != last);
                self.switches.truncate(last);
                self.joined(before, entry)
            }
            // A port with two cables: all is searched again.
            (_, None | Some(_)) => {
                let (search, step) = Self::begin(self.own, InterfaceRole::Host);
                *self = Self { routers: std::mem::take(&mut self.routers), ..search };
                step
            }
        }
    }

    /// Takes the next open port, and compares it with all others.
    fn go_on(&mut self) -> SearchStep {
        if let Some(at) = self.joining.take() {
            if self.switches.len() >= SWITCHES_MAX {
                self.forget(at);
                return self.go_on_without();
            }
            let route = self.route_to(ProbePlace::Port(at));
            let Ok(switch) = u16::try_from(self.switches.len()) else {
                return SearchStep::Finished;
            };
            self.set(at, FoundPort::Switch(SwitchPort { switch, port: 0 }));
            let step = self.add(route, FoundPort::Switch(at));
            if let SearchStep::More(probes) = &step {
                self.pending = probes.len();
            }
            return step;
        }
        self.go_on_without()
    }

    fn go_on_without(&mut self) -> SearchStep {
        let open: Vec<SwitchPort> = self.ports(|port| *port == FoundPort::Open).collect();
        let Some((first, others)) = open.split_first() else { return SearchStep::Finished };
        self.joining = Some(*first);
        if others.is_empty() {
            return self.go_on();
        }
        self.pending = others.len();
        SearchStep::Instead(others.iter().map(|at| SearchProbe::Join(*first, *at)).collect())
    }

    fn switch(&self, switch: u16) -> Option<&FoundSwitch> {
        self.switches.get(usize::from(switch))
    }

    fn set(&mut self, at: SwitchPort, port: FoundPort) {
        if let Some(switch) = self.switches.get_mut(usize::from(at.switch)) {
            switch.ports.insert(at.port, port);
        }
    }

    fn forget(&mut self, at: SwitchPort) {
        if let Some(switch) = self.switches.get_mut(usize::from(at.switch)) {
            switch.ports.remove(&at.port);
        }
    }

    /// The ports of a kind, in the order in which their switches were found.
    fn ports(&self, keep: impl Fn(&FoundPort) -> bool) -> impl Iterator<Item = SwitchPort> {
        let switches = (0..=u16::MAX).zip(&self.switches);
        switches.flat_map(move |(switch, found)| {
            let ports = found.ports.iter().filter(|(_, port)| keep(port));
            let ports: Vec<i8> = ports.map(|(port, _)| *port).collect();
            ports.into_iter().map(move |port| SwitchPort { switch, port })
        })
    }

    /// Interfaces found so far, the own one aside, with the routes by which they were found.
    pub(super) fn hosts(&self) -> Vec<(InterfaceAddress, Vec<u8>)> {
        let others = self.hosts.iter().filter(|(address, _)| **address != self.own);
        let found = others.map(|(address, at)| (*address, self.route_to(ProbePlace::Port(*at))));
        found.chain(self.neighbour.map(|address| (address, Vec::new()))).collect()
    }

    /// Links between switches.
    pub(super) fn links(&self) -> Vec<(SwitchPort, SwitchPort)> {
        let ends = self.ports(|port| matches!(port, FoundPort::Switch(_)));
        let link = |one: SwitchPort| match self.switch(one.switch)?.ports.get(&one.port)? {
            FoundPort::Switch(other) => Some((one, *other)).filter(|_| one < *other),
            FoundPort::Host(_) | FoundPort::Twin | FoundPort::Open => None,
        };
        ends.filter_map(link).collect()
    }

    /// True if there is a switch at the own cable.
    pub(super) const fn has_switches(&self) -> bool {
        !self.switches.is_empty()
    }

    /// The map of a finished search.
    pub(super) fn map(&self) -> NetworkMap {
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
        NetworkMap { hosts, switches, links, routers }
    }
}
