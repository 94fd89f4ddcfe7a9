//! The folded Clos network of 8-port switches.

use super::{ShapeBuilder, ShapeProblem, check};
use crate::topology::NodeId;

/// Ports down, and as many up; a switch of the top level has both halves down.
const HALF: u32 = 4;

/// Below the top level stand 8 pods, each a 4-ary tree with 4ⁿ⁻² switches in each of its n − 1
/// levels. A switch's place in its level is a number of n − 2 digits to the base 4. Port 4 + u of
/// level l leads to the switch of level l + 1 whose digit l is u instead, and arrives at the port
/// that is the digit it had; from the pod's last level, to top switch 4 × place + u, port pod.
pub(super) fn build(plan: &mut ShapeBuilder, levels: u32) -> Result<(), ShapeProblem> {
    check("levels", levels, 1..=4)?;
    plan.prototype.ports = 8;
    if levels == 1 {
        let only = plan.switch("t0.0".to_owned())?;
        return plan.host_row(only, 0, 8);
    }
    let top = levels - 1;
    let size = HALF.pow(levels - 2);
    let mut floors: Vec<Vec<NodeId>> = Vec::new();
    for level in 0..levels {
        let wide = if level == top { size * HALF } else { size * 8 };
        let floor = (0..wide).map(|i| plan.switch(format!("t{level}.{i}")));
        floors.push(floor.collect::<Result<_, _>>()?);
    }
    for leaf in floors.first().into_iter().flatten() {
        plan.host_row(*leaf, 0, HALF)?;
    }
    for ((level, lower), upper) in (0..top).zip(&floors).zip(floors.iter().skip(1)) {
        for (switch, i) in lower.iter().zip(0..) {
            let (pod, place) = (i / size, i % size);
            let weight = HALF.pow(level);
            let digit = place / weight % HALF;
            for up in 0..HALF {
                let (far, port) = if level + 1 == top {
                    (place * HALF + up, pod)
                } else {
                    (pod * size + place - digit * weight + up * weight, digit)
                };
                if let Some(far) = upper.get(far as usize) {
                    plan.cable((*switch, HALF + up), (*far, port))?;
                }
            }
        }
    }
    Ok(())
}
