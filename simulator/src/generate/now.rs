//! The Berkeley NOW.
//!
//! Published are the totals (a subcluster: 36 hosts, 13 switches, 64 links; all of it: 100, 40 and
//! 193), the 8-port switches, and 5 hosts on each of a subcluster's 7 leaves. The rest is *chosen*:
//! above the leaves stand 4 middle switches and 2 roots. Leaf i has 3 links up, one to each middle
//! switch but number i mod 4: 21. Each middle switch has a link to each root, the last one only to
//! root 1: 7. Hosts are dealt to the leaves in turn; the 36th is at root 0.
//!
//! The cluster is subclusters `a`, `b` and `c`. `a` is as above: 64 links. `b` has 34 hosts, and
//! its two roots are cabled to those of `a`: 34 + 28 + 2 = 64. `c` has 30 hosts; its two roots are
//! cabled to those of `a` and of `b`, and a third root, the 40th switch, stands above three of its
//! middle switches: 30 + 28 + 4 + 3 = 65. Two roots of any subcluster lead to each other one.

use super::{Plan, ShapeError};
use crate::topology::NodeId;

const LEAVES: u32 = 7;
const MIDDLES: u32 = 4;
const ROOTS: u32 = 2;
const HOSTS_PER_LEAF: u32 = 5;

/// A switch and its next free port.
#[derive(Clone, Copy)]
struct Open {
    node: NodeId,
    next: u32,
}

/// The upper switches of a subcluster.
struct Upper {
    middles: Vec<Open>,
    roots: Vec<Open>,
}

/// Switches are called `leaf0`, `mid0`, `root0` and so on.
pub(super) fn subcluster(plan: &mut Plan) -> Result<(), ShapeError> {
    tree(plan, "", 36)?;
    Ok(())
}

/// Switches are called as in a subcluster, after its letter: `a.leaf0`.
pub(super) fn cluster(plan: &mut Plan) -> Result<(), ShapeError> {
    let mut a = tree(plan, "a.", 36)?;
    let mut b = tree(plan, "b.", 34)?;
    let mut c = tree(plan, "c.", 30)?;
    let mut third = open(plan, "c.root2".to_owned())?;
    for middle in c.middles.iter_mut().take(3) {
        join(plan, middle, &mut third)?;
    }
    for ((a, b), c) in a.roots.iter_mut().zip(&mut b.roots).zip(&mut c.roots) {
        join(plan, a, b)?;
        join(plan, a, c)?;
        join(plan, b, c)?;
    }
    Ok(())
}

fn tree(plan: &mut Plan, prefix: &str, hosts: u32) -> Result<Upper, ShapeError> {
    plan.prototype.ports = 8;
    let mut floor = |name: &str, wide: u32| -> Result<Vec<Open>, ShapeError> {
        (0..wide).map(|i| open(plan, format!("{prefix}{name}{i}"))).collect()
    };
    let mut leaves = floor("leaf", LEAVES)?;
    let mut middles = floor("mid", MIDDLES)?;
    let mut roots = floor("root", ROOTS)?;
    for i in 0..hosts.min(LEAVES * HOSTS_PER_LEAF) {
        if let Some(leaf) = leaves.get_mut((i % LEAVES) as usize) {
            seat(plan, leaf)?;
        }
    }
    if let Some(root) = roots.first_mut().filter(|_| hosts > LEAVES * HOSTS_PER_LEAF) {
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
    Ok(Upper { middles, roots })
}

fn open(plan: &mut Plan, name: String) -> Result<Open, ShapeError> {
    Ok(Open { node: plan.switch(name)?, next: 0 })
}

/// The next host at the next port.
fn seat(plan: &mut Plan, switch: &mut Open) -> Result<(), ShapeError> {
    plan.host(switch.node, switch.next)?;
    switch.next += 1;
    Ok(())
}

fn join(plan: &mut Plan, a: &mut Open, b: &mut Open) -> Result<(), ShapeError> {
    plan.cable((a.node, a.next), (b.node, b.next))?;
    a.next += 1;
    b.next += 1;
    Ok(())
}
