//! A connected network, cabled by chance.

use super::{NODES_MAX, Plan, ShapeError, check};
use crate::chance::Dice;
use crate::topology::{NodeId, SWITCH_PORTS_MAX};

/// Lays a random tree of switches, then more links, then the hosts, each at random free ports.
pub(super) fn build(plan: &mut Plan, seed: u64, numbers: [u32; 3]) -> Result<(), ShapeError> {
    let [switches, hosts, links] = numbers;
    let ports = plan.prototype.ports.into();
    check("switches", switches, 1..=NODES_MAX)?;
    check("ports", ports, 1..=SWITCH_PORTS_MAX.into())?;
    let full = |field, left| ShapeError::Full { field, left };
    let mut pool = Pool { dice: Dice::new(seed, 0), open: Vec::new() };
    for i in 0..switches {
        let fresh = Open { node: plan.switch(format!("s{i}"))?, ports: (0..ports).collect() };
        if i == 0 {
            pool.put(fresh);
        } else {
            let [near, far] = pool.grow(fresh).ok_or(full("switches", switches - i))?;
            plan.cable(near, far)?;
        }
    }
    for laid in 0..links {
        let [near, far] = pool.pair().ok_or(full("links", links - laid))?;
        plan.cable(near, far)?;
    }
    for laid in 0..hosts {
        let (switch, port) = pool.take().ok_or(full("hosts", hosts - laid))?;
        plan.host(switch, port)?;
    }
    Ok(())
}

type End = (NodeId, u32);

/// A switch and its free ports.
struct Open {
    node: NodeId,
    ports: Vec<u32>,
}

/// The switches that have free ports.
struct Pool {
    dice: Dice,
    open: Vec<Open>,
}

impl Pool {
    fn put(&mut self, switch: Open) {
        if !switch.ports.is_empty() {
            self.open.push(switch);
        }
    }

    /// A free port of any switch.
    fn take(&mut self) -> Option<End> {
        let (end, switch) = self.draw()?;
        self.put(switch);
        Some(end)
    }

    /// A free port of any switch, and one of a new switch.
    fn grow(&mut self, mut fresh: Open) -> Option<[End; 2]> {
        let near = self.take()?;
        let port = pick(&mut self.dice, &mut fresh.ports)?;
        let far = (fresh.node, port);
        self.put(fresh);
        Some([near, far])
    }

    /// Free ports of any two switches.
    fn pair(&mut self) -> Option<[End; 2]> {
        // The first switch is put back only when the second, another one, has been drawn.
        let (near, switch) = self.draw()?;
        let far = self.take()?;
        self.put(switch);
        Some([near, far])
    }

    fn draw(&mut self) -> Option<(End, Open)> {
        let mut switch = pick(&mut self.dice, &mut self.open)?;
        let port = pick(&mut self.dice, &mut switch.ports)?;
        Some(((switch.node, port), switch))
    }
}

/// Takes any one out of a list.
fn pick<T>(dice: &mut Dice, list: &mut Vec<T>) -> Option<T> {
    let place = usize::try_from(dice.below(u64::try_from(list.len()).ok()?)).ok()?;
    (place < list.len()).then(|| list.swap_remove(place))
}
