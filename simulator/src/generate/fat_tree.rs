//! The folded Clos network of switches of one radix.

use super::{NODES_MAX, ShapeBuilder, ShapeProblem, check};
use crate::topology::{NodeId, SWITCH_PORTS_MAX};

/// A switch has k/2 ports down and as many up, at the top level both halves down. Below the top
/// level stand k pods, each a k/2-ary tree with (k/2)ⁿ⁻² switches in each of its n − 1 levels. A
/// switch's place in its level is a number of n − 2 digits to the base k/2. Port k/2 + u of level l
/// leads to the switch of level l + 1 whose digit l is u instead, and arrives at the port that is the
/// digit it had; from the pod's last level, to top switch k/2 × place + u, port pod.
pub(super) fn build(plan: &mut ShapeBuilder, levels: u32, radix: u32) -> Result<(), ShapeProblem> {
    check("levels", levels, 1..=NODES_MAX.ilog2())?;
    check("radix", radix, 2..=SWITCH_PORTS_MAX.into())?;
    if radix % 2 == 1 {
        return Err(ShapeProblem::Odd(radix));
    }
    let half = radix / 2;
    plan.prototype.ports = u8::try_from(radix).unwrap_or(SWITCH_PORTS_MAX);
    if levels == 1 {
        let only = plan.switch("t0.0".to_owned())?;
        return plan.host_row(only, 0, radix);
    }
    let top = levels - 1;
    let size = half.checked_pow(levels - 2).filter(|size| *size <= NODES_MAX);
    let size = size.ok_or(ShapeProblem::Nodes)?;
    let mut floors: Vec<Vec<NodeId>> = Vec::new();
    for level in 0..levels {
        let wide = if level == top { size * half } else { size * radix };
        let floor = (0..wide).map(|i| plan.switch(format!("t{level}.{i}")));
        floors.push(floor.collect::<Result<_, _>>()?);
    }
    for leaf in floors.first().into_iter().flatten() {
        plan.host_row(*leaf, 0, half)?;
    }
    for ((level, lower), upper) in (0..top).zip(&floors).zip(floors.iter().skip(1)) {
        for (switch, i) in lower.iter().zip(0..) {
            let (pod, place) = (i / size, i % size);
            let weight = half.pow(level);
            let digit = place / weight % half;
            for up in 0..half {
                let (far, port) = if level + 1 == top {
                    (place * half + up, pod)
                } else {
                    (pod * size + place - digit * weight + up * weight, digit)
                };
                if let Some(far) = upper.get(far as usize) {
                    plan.cable((*switch, half + up), (*far, port))?;
                }
            }
        }
    }
    Ok(())
}
