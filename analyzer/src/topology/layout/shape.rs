//! Networks that have a shape: grids, tori, and trees in rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{NodePlaces, PITCH, PictureGraph, ROW_PITCH};

/// Passes that sort each row by the neighbours of its nodes. *Chosen*: more change little.
const SORTING_PASSES: usize = 8;

impl PictureGraph {
    /// Places in a mesh or line, as columns and rows; none if the nodes are no mesh.
    ///
    /// The distances of a node from both corners of a side give its column and row.
    pub(super) fn grid(&self, nodes: &[usize]) -> Option<NodePlaces> {
        let degree = |node: usize| self.near(node).filter(|it| self.is_inner(*it)).count();
        let least = nodes.iter().map(|node| degree(*node)).min()?;
        let corners: Vec<usize> = nodes.iter().copied().filter(|it| degree(*it) == least).collect();
        let from = |node| self.distances(node, |it| self.is_inner(it));
        let first = from(*corners.first()?);
        let grid = |corner: &usize| {
            let (other, side) = (from(*corner), first.get(corner)?);
            let place = |node: &usize| {
                let (left, right) = (first.get(node)?, other.get(node)?);
                let row = (left + right - side) / 2;
                Some((*node, (left - row, row)))
            };
            let places = nodes.iter().map(place).collect::<Option<NodePlaces>>()?;
            self.is_regular(&places, |step| step == 1).then_some((*side, places))
        };
        let grids = corners.iter().take(nodes.len().min(16)).filter_map(grid);
        grids.max_by_key(|(side, _)| *side).map(|(_, places)| places)
    }

    /// Places in a torus of two dimensions: its rings leave each node through the same port.
    pub(super) fn torus(&self, nodes: &[usize]) -> Option<NodePlaces> {
        let mut ways: BTreeMap<(usize, u16), usize> = BTreeMap::new();
        for [one, other] in self.links.values() {
            for ((from, port), (to, _)) in [(one, other), (other, one)] {
                if let (Some(port), true) = (port, self.is_inner(*to)) {
                    ways.insert((*from, *port), *to);
                }
            }
        }
        let first = *nodes.first()?;
        let ring = |start: usize, port: u16| {
            let next = |node: &usize| ways.get(&(*node, port)).copied().filter(|it| *it != start);
            std::iter::successors(Some(start), next).take(nodes.len()).collect::<Vec<usize>>()
        };
        let ports: Vec<u16> =
            ways.range((first, 0)..=(first, u16::MAX)).map(|((_, port), _)| *port).collect();
        let torus = |along: u16, down: u16| {
            let top = ring(first, along);
            let columns = (0..).zip(&top).flat_map(|(x, node)| {
                (0..).zip(ring(*node, down)).map(move |(y, node)| (node, (x, y)))
            });
            let columns: Vec<_> = columns.take(nodes.len() + 1).collect();
            let places: NodePlaces = columns.iter().copied().collect();
            let (wide, high) = (
                places.values().map(|it| it.0).max()? + 1,
                places.values().map(|it| it.1).max()? + 1,
            );
            let is_torus = (columns.len(), places.len()) == (nodes.len(), nodes.len())
                && wide.min(high) > 1
                && self
                    .is_regular(&places, |step| step == 1 || step == wide - 1 || step == high - 1);
            is_torus.then_some(places)
        };
        ports.iter().find_map(|along| ports.iter().find_map(|down| torus(*along, *down)))
    }

    /// Tests whether no two nodes share a place, and whether each link goes along one axis, so many steps.
    fn is_regular(&self, places: &NodePlaces, is_step: impl Fn(i64) -> bool) -> bool {
        let distinct: BTreeSet<_> = places.values().collect();
        distinct.len() == places.len()
            && self.links.values().all(|[one, other]| {
                let (Some(one), Some(other)) = (places.get(&one.0), places.get(&other.0)) else {
                    return true;
                };
                let (across, along) = ((one.0 - other.0).abs(), (one.1 - other.1).abs());
                across.min(along) == 0 && is_step(across.max(along))
            })
    }

    /// Places in rows by the distance from the nearest host, hosts lowest; none if links join nodes of a row.
    pub(super) fn rows(&self, nodes: &[usize]) -> Option<NodePlaces> {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut left: BTreeSet<usize> = nodes.iter().copied().collect();
        let mut next: Vec<usize> = nodes.iter().copied().filter(|it| !self.is_inner(*it)).collect();
        while !next.is_empty() {
            next.iter().for_each(|node| _ = left.remove(node));
            let above = next.iter().flat_map(|node| self.near(*node));
            let above: BTreeSet<usize> = above.filter(|node| left.contains(node)).collect();
            rows.push(std::mem::replace(&mut next, above.into_iter().collect()));
        }
        let is_flat = |row: &Vec<usize>| {
            row.iter().all(|node| self.near(*node).all(|it| row.binary_search(&it).is_err()))
        };
        if rows.len() < 3 || !left.is_empty() || !rows.iter().all(is_flat) {
            return None;
        }
        // Upwards, then downwards, and so on, so that fewer links cross.
        let upwards = 0..rows.len();
        let ways = [upwards.clone().collect::<Vec<_>>(), upwards.rev().collect()];
        for number in ways.iter().cycle().take(SORTING_PASSES).flatten() {
            let places = in_rows(&rows);
            let Some(row) = rows.get_mut(*number) else { continue };
            row.sort_by_cached_key(|node| {
                let near = self.near(*node).filter_map(|it| places.get(&it));
                let (sum, count) = near.fold((0, 0), |(sum, count), it| (sum + it.0, count + 1));
                let own = places.get(node).map_or(0, |it| it.0);
                (if count == 0 { own } else { sum / count }, own)
            });
        }
        Some(in_rows(&rows))
    }
}

/// Places of nodes in rows of the same width.
fn in_rows(rows: &[Vec<usize>]) -> NodePlaces {
    let count = |row: &Vec<usize>| i64::try_from(row.len()).unwrap_or(1).max(1);
    let width = ROW_PITCH * rows.iter().map(count).max().unwrap_or(1).max(6);
    let rows = (0..).zip(rows.iter().rev()).flat_map(|(number, row)| {
        (0..).zip(row).map(move |(place, node)| {
            (*node, ((2 * place + 1) * width / (2 * count(row)), number * PITCH))
        })
    });
    rows.collect()
}
