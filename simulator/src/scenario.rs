//! What is simulated: a network, its traffic, its faults, where it is tapped, and the seed.

use crate::fault::Fault;
use crate::interface::InterfaceParameters;
use crate::routes::Routes;
use crate::topology::{NodeId, Port, Topology};
use crate::traffic::{Raw, Stream};

/// All that a run depends on.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Of all dice.
    pub seed: u64,
    /// How long it runs: periods of the full rate.
    pub duration: u64,
    /// Hosts, switches and cables.
    pub topology: Topology,
    /// The interface of each host, in the order of the hosts among the nodes.
    pub interfaces: Vec<(NodeId, InterfaceParameters)>,
    /// Which way packets go.
    pub routes: Routes,
    /// What hosts send.
    pub streams: Vec<Stream>,
    /// What they send as it stands.
    pub raw: Vec<Raw>,
    /// What breaks, in order of time.
    pub faults: Vec<Fault>,
    /// Where the network is observed.
    pub taps: Vec<Tap>,
}

/// A port that is observed: both channels of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// The port.
    pub port: Port,
    /// From this period of the full rate on.
    pub from: u64,
    /// Before this one.
    pub to: u64,
}
