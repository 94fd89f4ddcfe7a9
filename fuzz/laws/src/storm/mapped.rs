//! Mapping of the networks of a storm.

use codec::route::RouteAddressing;
use simulator::topology::{NodeKind, Topology};

use super::generator::MILLISECOND;
use crate::repair::SeededRng;

/// Keys for the mapping of one network in four whose ways back can be computed (N-8). It heals in a fraction of
/// the time that storms give it: a mapper is missed for 4 periods, and silent ports are probed in every eighth.
pub(super) fn mapping(topology: &Topology, dice: &SeededRng) -> String {
    // From a generator of their own, so that all else is as it was without them.
    let aside = &mut SeededRng::new(&dice.clone().bytes(16));
    let is_relative = |kind: NodeKind| match kind {
        NodeKind::Switch(switch) => switch.addressing == RouteAddressing::Relative,
        NodeKind::Host => true,
    };
    let all = topology.nodes().iter().all(|node| is_relative(node.kind));
    let design = if aside.below(2) == 0 { "map" } else { "daemon" };
    let period = (8 + aside.below(9)) * MILLISECOND;
    let mapper = || {
        format!(
            "routes.method = 'mapped'\nmapper = {{ design = '{design}', period_periods = {period} }}"
        )
    };
    if all && aside.below(4) == 0 { mapper() } else { String::new() }
}
