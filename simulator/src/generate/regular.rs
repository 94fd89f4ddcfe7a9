//! Lattices (line, ring, mesh, torus, hypercube) and dragonfly.

use super::{NODES_MAX, ShapeBuilder, ShapeProblem, check};
use crate::topology::{NodeId, SWITCH_PORTS_MAX};

/// Cables at the edges of a lattice, and its ports: dimension d uses port 2d to the next switch and
/// 2d + 1 to the previous one, or in pairs port d alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatticeEdge {
    /// No cable: lines and meshes.
    Open,
    /// A cable from the last switch to the first: rings and tori.
    Closed,
    /// Two switches in each dimension: hypercubes.
    Pair,
}

/// Lattice of switches, which are named by their positions and numbered along the first dimension
/// first; their hosts follow at the ports behind those of the dimensions.
pub(super) fn lattice(
    plan: &mut ShapeBuilder,
    sizes: &[u32],
    edge: LatticeEdge,
    hosts: u32,
) -> Result<(), ShapeProblem> {
    let (least, step_ports, back) = match edge {
        LatticeEdge::Open => (1, 2, 1),
        LatticeEdge::Closed => (2, 2, 1),
        LatticeEdge::Pair => (2, 1, 0),
    };
    let dimensions = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
    // Each dimension but those of one switch doubles the number of switches at least.
    check("dimensions", dimensions, 1..=NODES_MAX.ilog2())?;
    sizes.iter().try_for_each(|size| check("size", *size, least..=NODES_MAX))?;
    let count = sizes.iter().try_fold(1_u32, |count, size| count.checked_mul(*size));
    let count = count.filter(|count| *count <= NODES_MAX).ok_or(ShapeProblem::Nodes)?;
    let switches = (0..count).map(|place| plan.switch(lattice_name(sizes, place)));
    let switches: Vec<NodeId> = switches.collect::<Result<_, _>>()?;
    for switch in &switches {
        plan.host_row(*switch, step_ports * dimensions, hosts)?;
    }
    let mut step = 1;
    for (size, port) in sizes.iter().zip((0..).step_by(step_ports as usize)) {
        for (switch, place) in switches.iter().zip(0..) {
            let at = place / step % size;
            if at + 1 < *size || edge == LatticeEdge::Closed {
                let next = place - at * step + (at + 1) % size * step;
                plan.cable((*switch, port), (node(&switches, next)?, port + back))?;
            }
        }
        step *= size;
    }
    Ok(())
}

/// `s`, and the position in each dimension.
fn lattice_name(sizes: &[u32], mut place: u32) -> String {
    let position = sizes.iter().map(|size| {
        let at = place % size;
        place /= size;
        at.to_string()
    });
    format!("s{}", position.collect::<Vec<_>>().join("."))
}

/// Numbers of a dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DragonflySize {
    /// Groups of switches: at most one more than the global links of a group.
    pub groups: u32,
    /// Switches of each group, each linked to all others of the group.
    pub switches: u32,
    /// Hosts of each switch.
    pub hosts: u32,
    /// Ports of each switch for links to other groups.
    pub global_links: u32,
}

/// Dragonfly: with a switches a group, ports 0..a − 1 lead to the others of the group in order, then
/// come the global links, then the hosts.
///
/// The global ports of a group are numbered from its first switch on. Every pair of groups has the
/// same number of links, as many as fit; port k leads to the group that is number k modulo (groups
/// − 1) of the others. Ports that are left have no cable.
pub(super) fn dragonfly(plan: &mut ShapeBuilder, size: DragonflySize) -> Result<(), ShapeProblem> {
    let DragonflySize { groups, switches: per_group, hosts, global_links } = size;
    let ports = u32::from(SWITCH_PORTS_MAX);
    check("switches", per_group, 1..=ports)?;
    check("global_links", global_links, 0..=ports)?;
    let global = per_group * global_links;
    check("groups", groups, 1..=global + 1)?;
    let place = |group: u32, switch: u32| group * per_group + switch;
    let names = (0..groups).flat_map(|g| (0..per_group).map(move |s| format!("g{g}.{s}")));
    let switches: Vec<NodeId> = names.map(|name| plan.switch(name)).collect::<Result<_, _>>()?;
    for group in 0..groups {
        for (low, high) in (0..per_group).flat_map(|high| (0..high).map(move |low| (low, high))) {
            let ends = [low, high].map(|switch| node(&switches, place(group, switch)));
            let [a, b] = ends;
            plan.cable((a?, high - 1), (b?, low))?;
        }
    }
    let others = groups - 1;
    let links = global.checked_div(others).unwrap_or(0);
    // End of link `copy` from one group to another.
    let end = |group: u32, other: u32, copy: u32| {
        let port = copy * others + if other < group { other } else { other - 1 };
        let switch = node(&switches, place(group, port / global_links))?;
        Ok((switch, per_group - 1 + port % global_links))
    };
    for (low, high) in (0..groups).flat_map(|high| (0..high).map(move |low| (low, high))) {
        for copy in 0..links {
            plan.cable(end(low, high, copy)?, end(high, low, copy)?)?;
        }
    }
    let first = per_group - 1 + global_links;
    switches.iter().try_for_each(|switch| plan.host_row(*switch, first, hosts))
}

/// Switch of a number; the callers stay within the list.
fn node(switches: &[NodeId], place: u32) -> Result<NodeId, ShapeProblem> {
    switches.get(place as usize).copied().ok_or(ShapeProblem::Nodes)
}
