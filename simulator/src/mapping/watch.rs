//! Probes by which a mapper notices changes of a mapped network. N-4

use codec::mapping::InterfaceAddress;

use super::exploration::NetworkSearch;
use super::map_routes::{KnownHosts, RoundTrip};

/// Periods after which a watched network is searched again. *Chosen*: hosts and links in use are
/// probed in every period, but most ports are silent for ever; and only a new search finds out that
/// a lost probe has made one switch appear as two.
const WATCH_PERIODS: u32 = 8;

/// A mapped network, being watched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NetworkWatch {
    hosts: Vec<(InterfaceAddress, RoundTrip)>,
    /// Routes to the own switch and over each link between switches, and home.
    links: Vec<Vec<u8>>,
    search: NetworkSearch,
    /// Periods left.
    left: u32,
}

impl NetworkWatch {
    pub(super) fn new(search: NetworkSearch, routes: KnownHosts) -> Self {
        let links = search.links().into_iter().map(|(one, other)| search.across(one, other));
        let mut links: Vec<Vec<u8>> = links.collect();
        // Where nothing else is found, this probe alone shows that the own cable is sound.
        links.extend(search.over_own_cable());
        Self { hosts: routes.into_iter().collect(), links, search, left: WATCH_PERIODS }
    }

    pub(super) const fn search(&self) -> &NetworkSearch {
        &self.search
    }

    pub(super) fn knows(&self, host: InterfaceAddress) -> bool {
        self.hosts.iter().any(|(known, _)| *known == host)
    }

    /// Begins a period; returns false if the network is to be searched instead.
    pub(super) const fn begin_period(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Hosts to be probed in every period, and the routes that are in use.
    pub(super) fn hosts(&self) -> &[(InterfaceAddress, RoundTrip)] {
        &self.hosts
    }

    /// Routes of compare probes over the own cable and the links between switches, for every period.
    pub(super) fn links(&self) -> &[Vec<u8>] {
        &self.links
    }
}
