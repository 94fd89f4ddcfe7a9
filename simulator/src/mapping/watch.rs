//! Probes by which a mapper notices changes of a mapped network. N-4

use codec::mapping::InterfaceAddress;

use super::exploration::{NetworkSearch, ProbePlace};
use super::map_routes::MappedRoutes;

/// Periods in which all silent ports are probed once. *Chosen*: hosts and links in use are probed in
/// every period, but most ports are silent for ever.
const SWEEP_PERIODS: usize = 8;

/// A mapped network, being watched.
#[derive(Clone, Debug)]
pub(super) struct NetworkWatch {
    hosts: Vec<(InterfaceAddress, Vec<u8>)>,
    links: Vec<Vec<u8>>,
    silent: Vec<ProbePlace>,
    /// Number of the silent place that is probed next.
    next: usize,
    search: NetworkSearch,
}

impl NetworkWatch {
    pub(super) fn new(search: NetworkSearch, routes: MappedRoutes) -> Self {
        let links = search.links().into_iter().map(|(one, other)| search.across(one, other));
        let (links, silent) = (links.collect(), search.silent());
        Self { hosts: routes.into_iter().collect(), links, silent, next: 0, search }
    }

    pub(super) const fn search(&self) -> &NetworkSearch {
        &self.search
    }

    pub(super) fn knows(&self, host: InterfaceAddress) -> bool {
        self.hosts.iter().any(|(known, _)| *known == host)
    }

    /// Hosts to be probed in every period, and the routes that are in use.
    pub(super) fn hosts(&self) -> &[(InterfaceAddress, Vec<u8>)] {
        &self.hosts
    }

    /// Routes of compare probes over the links between switches, for every period.
    pub(super) fn links(&self) -> &[Vec<u8>] {
        &self.links
    }

    /// Silent places to be probed in this period.
    pub(super) fn sweep(&mut self) -> Vec<ProbePlace> {
        let count = self.silent.len().div_ceil(SWEEP_PERIODS);
        let places = self.silent.iter().cycle().skip(self.next).take(count).copied().collect();
        self.next = (self.next + count).checked_rem(self.silent.len()).unwrap_or(0);
        places
    }
}
