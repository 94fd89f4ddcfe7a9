//! Networks without a shape that is known: distances in the picture follow those in the network.

use super::{NodePlaces, PictureGraph, length};

/// Parts of a pixel in which places are computed.
const FINE: i64 = 256;
/// Rounds. *Chosen*: places move by less than a pixel after them.
const ROUNDS: usize = 300;
/// Weight of a distance of one step. Others weigh less by the square of their steps.
const WEIGHT: i64 = 1 << 14;

impl PictureGraph {
    /// Places of nodes, by majorization of stress, from a square on which neighbours follow each other.
    pub(super) fn by_distances(&self, nodes: &[usize], pitch: i64) -> NodePlaces {
        let order = self.walk(nodes);
        let count = i64::try_from(order.len()).unwrap_or(1).max(1);
        let side = FINE * pitch * count / 4;
        let mut places: Vec<(i64, i64)> = (0..count)
            .map(|number| {
                let along = number * 4 * side / count;
                match (along / side.max(1), along % side.max(1)) {
                    (0, at) => (at, 0),
                    (1, at) => (side, at),
                    (2, at) => (side - at, side),
                    (_, at) => (0, side - at),
                }
            })
            .collect();
        let steps: Vec<Vec<i64>> = order
            .iter()
            .map(|node| {
                let steps = self.distances(*node, |it| self.is_inner(it));
                order.iter().map(|to| steps.get(to).copied().unwrap_or(1)).collect()
            })
            .collect();
        for _ in 0..ROUNDS {
            let moved = places.iter().zip(&steps).map(|(own, steps)| {
                let pull = |(sum, all): ((i64, i64), i64), (other, steps): (&(i64, i64), &i64)| {
                    if *steps == 0 {
                        return (sum, all);
                    }
                    let way = (own.0 - other.0, own.1 - other.1);
                    let (wanted, real) = (steps * FINE * pitch, length(way).max(1));
                    let weight = (WEIGHT / (steps * steps)).max(1);
                    let to = (other.0 + way.0 * wanted / real, other.1 + way.1 * wanted / real);
                    ((sum.0 + weight * to.0, sum.1 + weight * to.1), all + weight)
                };
                let (sum, all) = places.iter().zip(steps).fold(((0, 0), 0), pull);
                if all == 0 { *own } else { (sum.0 / all, sum.1 / all) }
            });
            places = moved.collect();
        }
        order.into_iter().zip(places.into_iter().map(|(x, y)| (x / FINE, y / FINE))).collect()
    }

    /// The nodes in the order of a walk into the depth: that of a ring goes round it.
    fn walk(&self, nodes: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = nodes.first().copied().into_iter().collect();
        while let Some(node) = open.pop() {
            if !order.contains(&node) {
                order.push(node);
                open.extend(self.near(node).filter(|it| self.is_inner(*it)));
            }
        }
        order
    }
}
