//! A random connected network.

use super::{NODES_MAX, ShapeBuilder, ShapeProblem, check};
use crate::rng::Rng;
use crate::topology::{NodeId, SWITCH_PORTS_MAX};

/// Builds a random tree of switches, then more links, then the hosts, each at random free ports.
pub(super) fn build(
    plan: &mut ShapeBuilder,
    seed: u64,
    numbers: [u32; 3],
) -> Result<(), ShapeProblem> {
    let [switches, hosts, links] = numbers;
    let ports = plan.prototype.ports.into();
    check("switches", switches, 1..=NODES_MAX)?;
    check("ports", ports, 1..=SWITCH_PORTS_MAX.into())?;
    let full = |field, left| ShapeProblem::Full { field, left };
    let mut pool = PortPool { rng: Rng::new(seed, 0), open: Vec::new() };
    for i in 0..switches {
        let fresh = OpenSwitch { node: plan.switch(format!("s{i}"))?, ports: (0..ports).collect() };
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

type SwitchEnd = (NodeId, u32);

/// A switch and its free ports.
struct OpenSwitch {
    node: NodeId,
    ports: Vec<u32>,
}

/// The switches with free ports.
struct PortPool {
    rng: Rng,
    open: Vec<OpenSwitch>,
}

impl PortPool {
    fn put(&mut self, switch: OpenSwitch) {
        if !switch.ports.is_empty() {
            self.open.push(switch);
        }
    }

    /// A free port of any switch.
    fn take(&mut self) -> Option<SwitchEnd> {
        let (end, switch) = self.draw()?;
        self.put(switch);
        Some(end)
    }

    /// A free port of any switch, and one of a new switch.
    fn grow(&mut self, mut fresh: OpenSwitch) -> Option<[SwitchEnd; 2]> {
        let near = self.take()?;
        let port = pick(&mut self.rng, &mut fresh.ports)?;
        let far = (fresh.node, port);
        self.put(fresh);
        Some([near, far])
    }

    /// Free ports of any two switches.
    fn pair(&mut self) -> Option<[SwitchEnd; 2]> {
        // The first switch is put back only when the second, another one, has been drawn.
        let (near, switch) = self.draw()?;
        let far = self.take()?;
        self.put(switch);
        Some([near, far])
    }

    fn draw(&mut self) -> Option<(SwitchEnd, OpenSwitch)> {
        let mut switch = pick(&mut self.rng, &mut self.open)?;
        let port = pick(&mut self.rng, &mut switch.ports)?;
        Some(((switch.node, port), switch))
    }
}

/// Removes a random item from a list.
fn pick<T>(rng: &mut Rng, list: &mut Vec<T>) -> Option<T> {
    let place = usize::try_from(rng.below(u64::try_from(list.len()).ok()?)).ok()?;
    (place < list.len()).then(|| list.swap_remove(place))
}
