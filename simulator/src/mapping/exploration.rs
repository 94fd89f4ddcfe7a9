//! Search of a network by probes: breadth first, over the ports of switches. N-2, N-8, S-8
//!
//! *Chosen*: ports are counted from the one by which a switch was found. At each port a host probe
//! is sent, then, if nothing answers, a switch probe. A port with a switch behind it is *open* until
//! it is known which one. Two open ports A and B are the ends of one cable exactly if a packet on
//! route A · B⁻¹ comes home: the way back from B leads home on one way only. Where no open port fits,
//! the switch is new. A lost probe can make a known switch appear new: then its first interface was
//! found before, and another comparison decides whether it is the same switch or an interface with
//! the same address.
//!
//! Switches with extensions are asked instead: their answers name the switch, its addressing and the port by which it
//! was entered, and ports have their numbers. With absolute addressing the port back is not known before the first
//! answer: all are tried. Without identities such a search could not tell two switches apart that have their cables to
//! the same switches at the same ports.

mod found;
mod routes;

use std::collections::{BTreeMap, BTreeSet};

use codec::mapping::{InterfaceAddress, InterfaceRole, MAP_PORT_MAX, SwitchIdentity};

use super::SwitchSearch;

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
    /// Asks the switch at a place for its identity; the answer leaves it by this port, or by the one of the question.
    Identity(ProbePlace, i8),
}

/// A sign that something is at the end of a probe's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeFinding {
    Host(InterfaceAddress, InterfaceRole),
    Home,
    Switch(AnsweredSwitch),
}

/// A switch by its own answer. S-8
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnsweredSwitch {
    pub(super) identity: SwitchIdentity,
    pub(super) ports: i8,
    /// The port by which the question came in.
    pub(super) entry: i8,
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
    identity: Option<SwitchIdentity>,
    /// Route to its port `entry`.
    route: Vec<u8>,
    /// Route home from beyond that port.
    home: Vec<u8>,
    entry: i8,
    ports: BTreeMap<i8, FoundPort>,
}

/// Nodes and links found so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NetworkSearch {
    own: InterfaceAddress,
    search: SwitchSearch,
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
    pub(super) fn begin(
        own: InterfaceAddress,
        role: InterfaceRole,
        search: SwitchSearch,
    ) -> (Self, SearchStep) {
        let mut search = Self {
            own,
            search,
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

    /// True unless the ports found at a switch exclude one: it has 32 at most. S-1
    pub(super) fn is_possible(&self, probe: SearchProbe) -> bool {
        match probe {
            SearchProbe::Host(ProbePlace::Port(at)) | SearchProbe::Switch(ProbePlace::Port(at)) => {
                let ports = self.switch(at.switch).map(|switch| &switch.ports);
                let first = ports.and_then(|ports| ports.keys().next()).copied().unwrap_or(0);
                let last = ports.and_then(|ports| ports.keys().next_back()).copied().unwrap_or(0);
                (last - MAP_PORT_MAX..=first + MAP_PORT_MAX).contains(&at.port)
            }
            SearchProbe::Identity(ProbePlace::Own, _) => self.switches.is_empty(),
            SearchProbe::Identity(ProbePlace::Port(at), _) => {
                self.switch(at.switch).is_some_and(|switch| !switch.ports.contains_key(&at.port))
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
            (
                SearchProbe::Host(place),
                Some(ProbeFinding::Home | ProbeFinding::Switch(_)) | None,
            ) => SearchStep::More(match self.search {
                SwitchSearch::Turned => vec![SearchProbe::Switch(place)],
                SwitchSearch::Requested(_) => vec![SearchProbe::Identity(place, 0)],
            }),
            (SearchProbe::Identity(place, _), Some(ProbeFinding::Switch(found))) => {
                self.identified(place, found)
            }
            (SearchProbe::Identity(place, 0), None) => SearchStep::More(match self.search {
                SwitchSearch::Turned => Vec::new(),
                SwitchSearch::Requested(ports) => {
                    let others = 1..ports.cast_signed();
                    others.map(|port| SearchProbe::Identity(place, port)).collect()
                }
            }),
            (
                SearchProbe::Identity(..),
                Some(ProbeFinding::Home | ProbeFinding::Host(..)) | None,
            ) => SearchStep::More(Vec::new()),
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
        let is_latest = usize::from(at.switch) + 1 == self.switches.len()
            && self.search == SwitchSearch::Turned;
        let same = port.filter(|_| is_latest && known.switch != at.switch);
        let merge = same.map(|port| SearchProbe::Merge(SwitchPort { switch: known.switch, port }));
        SearchStep::More(merge.into_iter().collect())
    }

    fn found_switch(&mut self, place: ProbePlace) -> SearchStep {
        match place {
            ProbePlace::Own => {
                self.hosts.insert(self.own, SwitchPort { switch: 0, port: 0 });
                self.add(None, [Vec::new(), Vec::new()], FoundPort::Host(self.own))
            }
            ProbePlace::Port(at) => {
                self.set(at, FoundPort::Open);
                SearchStep::More(Vec::new())
            }
        }
    }

    /// Adds the switch that answered from a place, if it is new, and the cable between.
    fn identified(&mut self, place: ProbePlace, found: AnsweredSwitch) -> SearchStep {
        let is_same =
            |known: &FoundSwitch| known.identity.is_some_and(|it| it.node == found.identity.node);
        let known = self.switches.iter().position(is_same);
        if known.is_none() && self.switches.len() >= SWITCHES_MAX {
            return SearchStep::More(Vec::new());
        }
        let Ok(switch) = u16::try_from(known.unwrap_or(self.switches.len())) else {
            return SearchStep::More(Vec::new());
        };
        let end = SwitchPort { switch, port: found.entry };
        let beyond = match place {
            ProbePlace::Own => {
                self.hosts.insert(self.own, end);
                FoundPort::Host(self.own)
            }
            ProbePlace::Port(at) => {
                self.set(at, FoundPort::Switch(end));
                FoundPort::Switch(at)
            }
        };
        if known.is_none() {
            return self.add(Some(found), [self.route_to(place), self.way_back(place)], beyond);
        }
        self.set(end, beyond);
        SearchStep::More(Vec::new())
    }

    /// Adds a switch by the route to it and the one home, all of whose ports are to be probed: the nearest first, or
    /// in order.
    fn add(
        &mut self,
        answer: Option<AnsweredSwitch>,
        [route, home]: [Vec<u8>; 2],
        beyond: FoundPort,
    ) -> SearchStep {
        let Ok(switch) = u16::try_from(self.switches.len()) else {
            return SearchStep::More(Vec::new());
        };
        let entry = answer.map_or(0, |answer| answer.entry);
        let identity = answer.map(|answer| answer.identity);
        let ports = BTreeMap::from([(entry, beyond)]);
        self.switches.push(FoundSwitch { identity, route, home, entry, ports });
        let ports: Vec<i8> = match answer {
            Some(AnsweredSwitch { ports, .. }) => {
                (0..ports).filter(|port| *port != entry).collect()
            }
            None => (1..=MAP_PORT_MAX).flat_map(|port| [port, -port]).collect(),
        };
        let place = |port| ProbePlace::Port(SwitchPort { switch, port });
        SearchStep::More(ports.into_iter().map(|port| SearchProbe::Host(place(port))).collect())
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
                let (search, step) = Self::begin(self.own, InterfaceRole::Host, self.search);
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
            let place = ProbePlace::Port(at);
            let routes = [self.route_to(place), self.way_back(place)];
            let Ok(switch) = u16::try_from(self.switches.len()) else {
                return SearchStep::Finished;
            };
            self.set(at, FoundPort::Switch(SwitchPort { switch, port: 0 }));
            let step = self.add(None, routes, FoundPort::Switch(at));
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
}
