//! The Berkeley NOW.
//!
//! Published are the totals (a subcluster: 36 hosts, 13 switches, 64 links; all of it: 100, 40 and
//! 193), the 8-port switches, and 5 hosts on each of a subcluster's 7 leaves. The rest is *chosen*:
//! above the leaves stand 4 middle switches and 2 roots. Leaf i has 3 links up, one to each middle
//! switch but number i mod 4: 21. Each middle switch has a link to each root, the last one only to
//! root 1: 7. Hosts are dealt to the leaves in turn; the 36th is at root 0.
//!
//! The cluster is subclusters `a`, `b` and `c`, connected through two switches by a few cables (text);
//! how many is lost. Three subclusters of 13 switches and those two would be 41. So `a` and `b` have
//! 13 switches, with 36 and 34 hosts, and `c` has 12: six leaves of five hosts. Each root has a cable
//! to each of the two switches, 12 in all. Hosts: 36 + 34 + 30 = 100. Switches: 13 + 13 + 12 + 2 = 40.
//! Links: 100 of hosts, 28 + 28 + 25 inside, 12 between: 193.

use super::{ShapeBuilder, ShapeProblem};
use crate::topology::NodeId;

/// Leaves of a whole subcluster.
const LEAVES: u32 = 7;
const MIDDLES: u32 = 4;
const ROOTS: u32 = 2;
const HOSTS_PER_LEAF: u32 = 5;

/// A switch and its next free port.
#[derive(Clone, Copy)]
struct NextPort {
    node: NodeId,
    next: u32,
}

/// Builds one subcluster, with switches named `leaf0`, `mid0`, `root0` and so on.
pub(super) fn subcluster(plan: &mut ShapeBuilder) -> Result<(), ShapeProblem> {
    tree(plan, "", LEAVES, 36)?;
    Ok(())
}

/// Builds the cluster. Switch names begin with the subcluster's letter: `a.leaf0`; those between
/// subclusters are `join0` and `join1`.
pub(super) fn cluster(plan: &mut ShapeBuilder) -> Result<(), ShapeProblem> {
    let mut roots = tree(plan, "a.", LEAVES, 36)?;
    roots.extend(tree(plan, "b.", LEAVES, 34)?);
    roots.extend(tree(plan, "c.", LEAVES - 1, 30)?);
    for name in ["join0", "join1"] {
        let mut between = open(plan, name.to_owned())?;
        for root in &mut roots {
            join(plan, root, &mut between)?;
        }
    }
    Ok(())
}

/// Builds a subcluster, and returns its roots.
fn tree(
    plan: &mut ShapeBuilder,
    prefix: &str,
    leaf_count: u32,
    hosts: u32,
) -> Result<Vec<NextPort>, ShapeProblem> {
    plan.prototype.ports = 8;
    let mut floor = |name: &str, wide: u32| -> Result<Vec<NextPort>, ShapeProblem> {
        (0..wide).map(|i| open(plan, format!("{prefix}{name}{i}"))).collect()
    };
    let mut leaves = floor("leaf", leaf_count)?;
    let mut middles = floor("mid", MIDDLES)?;
    let mut roots = floor("root", ROOTS)?;
    let seats = leaf_count * HOSTS_PER_LEAF;
    for i in 0..hosts.min(seats) {
        if let Some(leaf) = leaves.get_mut((i % leaf_count) as usize) {
            seat(plan, leaf)?;
        }
    }
    if let Some(root) = roots.first_mut().filter(|_| hosts > seats) {
        seat(plan, root)?;
    }
    for (leaf, i) in leaves.iter_mut().zip(0..) {
        for (middle, _) in middles.iter_mut().zip(0..).filter(|(_, m)| *m != i % MIDDLES) {
            join(plan, leaf, middle)?;
        }
    }
    for (middle, m) in middles.iter_mut().zip(1..) {
        for (root, _) in roots.iter_mut().zip(0..).filter(|(_, r)| *r > 0 || m < MIDDLES) {
            join(plan, middle, root)?;
        }
    }
    Ok(roots)
}

fn open(plan: &mut ShapeBuilder, name: String) -> Result<NextPort, ShapeProblem> {
    Ok(NextPort { node: plan.switch(name)?, next: 0 })
}

/// Adds a host at the next port.
fn seat(plan: &mut ShapeBuilder, switch: &mut NextPort) -> Result<(), ShapeProblem> {
    plan.host(switch.node, switch.next)?;
    switch.next += 1;
    Ok(())
}

fn join(plan: &mut ShapeBuilder, a: &mut NextPort, b: &mut NextPort) -> Result<(), ShapeProblem> {
    plan.cable((a.node, a.next), (b.node, b.next))?;
    a.next += 1;
    b.next += 1;
    Ok(())
}
