//! Taps of a whole network, for all of its duration.

use simulator::scenario::{PortTap, Scenario};
use simulator::topology::{CableSpec, NodePort};

/// A tap at one end of every cable that is no fibre: each channel is recorded once.
pub fn at_every_cable(scenario: &Scenario) -> Vec<PortTap> {
    taps(scenario, |cable| cable.ends.into_iter().take(1))
}

/// A tap at both ends of every cable that is no fibre.
pub fn at_every_port(scenario: &Scenario) -> Vec<PortTap> {
    taps(scenario, |cable| cable.ends.into_iter())
}

/// As [`at_every_cable`], at the other end.
pub fn at_far_ends(scenario: &Scenario) -> Vec<PortTap> {
    taps(scenario, |cable| cable.ends.into_iter().skip(1))
}

/// As [`at_every_port`], with the channels of [`at_every_cable`] first.
pub fn at_both_ends(scenario: &Scenario) -> Vec<PortTap> {
    [at_every_cable(scenario), at_far_ends(scenario)].concat()
}

fn taps<I>(scenario: &Scenario, ends: impl Fn(&CableSpec) -> I) -> Vec<PortTap>
where
    I: Iterator<Item = NodePort>,
{
    let topology = &scenario.topology;
    let cables = topology.cables().iter().filter(|cable| !topology.is_fibre(cable));
    let ports = cables.flat_map(ends);
    ports.map(|port| PortTap { port, from: 0, to: scenario.duration }).collect()
}
