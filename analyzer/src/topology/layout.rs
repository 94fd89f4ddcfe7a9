//! Places of nodes and curves of links in pictures of a network. All coordinates are integers, so that
//! the bytes of a picture are the same on every machine.

mod shape;
mod stress;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{PortNumber, Topology, TopologyNodeKind};

/// A place in a picture, in pixels.
pub type PicturePoint = (i64, i64);

/// Nodes and links in a picture. *Chosen*: more could not be told apart.
const NODES_MAX: usize = 160;
const LINKS_MAX: usize = 600;
/// Distance of neighbouring nodes, and of a host from its switch, in pixels.
const PITCH: i64 = 120;
const HOST_PITCH: i64 = 64;
/// Distance of hosts in the lowest row.
const ROW_PITCH: i64 = 36;
/// Room around the nodes, for names and for links that bend.
const MARGIN: i64 = 64;
/// Distance of a curve from the centre of a node that it does not end at.
const CLEAR: i64 = 20;
/// Radius of the sign on a link.
const SIGN: i64 = 8;
/// Width of a character of a name.
const LETTER: i64 = 7;
/// Longest name that is given room.
const NAME_MAX: usize = 16;
/// Points at which a curve is looked at.
const SAMPLES: i64 = 16;
/// Directions of a sixth of a right angle, in thousandths; the others are turned ones.
const DIRECTIONS: [PicturePoint; 6] =
    [(1000, 0), (966, 259), (866, 500), (707, 707), (500, 866), (259, 966)];

/// A network as a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkLayout {
    /// Width and height.
    pub size: PicturePoint,
    /// Nodes by number, each with its place and the middle of its name's baseline.
    pub nodes: BTreeMap<usize, [PicturePoint; 2]>,
    /// Links between these nodes by number: start, control point and end of a quadratic curve.
    pub links: BTreeMap<usize, [PicturePoint; 3]>,
}

/// Nodes and links that are drawn.
struct PictureGraph {
    /// Nodes, true for those that may have others below them: switches, and hosts on a way.
    nodes: BTreeMap<usize, bool>,
    /// Ends of links by number, with ports where these are known.
    links: BTreeMap<usize, [(usize, Option<u16>); 2]>,
    neighbours: BTreeMap<usize, BTreeSet<usize>>,
}

/// Places of nodes in pixels, not yet moved to the picture's corner.
type NodePlaces = BTreeMap<usize, PicturePoint>;

impl Topology {
    /// Draws at most 160 nodes, switches first, and 600 links: a mesh, a torus of two dimensions or a line as a grid, a
    /// tree or a fat tree in rows with hosts below, every other network by the distances in it.
    pub fn layout(&self) -> NetworkLayout {
        let graph = PictureGraph::of(self);
        let mut places = NodePlaces::new();
        for part in graph.parts() {
            let own = graph.place(&part);
            // Parts lie side by side.
            let ([left, _], [top, _]) = extent(&own);
            let start = if places.is_empty() { 0 } else { extent(&places).0[1] + PITCH };
            let moved = |(node, (x, y))| (node, (x + start - left, y - top));
            places.extend(own.into_iter().map(moved));
        }
        let ([left, right], [_, bottom]) = extent(&places);
        for place in places.values_mut() {
            *place = (place.0 - left + MARGIN, place.1 + MARGIN);
        }
        let (width, height) = (right - left + 2 * MARGIN, bottom + 2 * MARGIN);
        let links = graph.curves(&places);
        // The sign of a link is around its middle.
        let sign = |at: PicturePoint| {
            [(-SIGN, -SIGN), (SIGN, -SIGN), (-SIGN, SIGN), (SIGN, SIGN)]
                .map(|(right, down)| (at.0 + right, at.1 + down))
        };
        let taken = links.values().flat_map(|it| {
            let middle = points(*it).nth(usize::try_from(SAMPLES / 2 - 1).unwrap_or(0));
            points(*it).chain(middle.into_iter().flat_map(sign))
        });
        let taken: Vec<PicturePoint> = taken.collect();
        let (mut nodes, mut names) = (BTreeMap::new(), Vec::new());
        for (node, place) in &places {
            let letters = self.nodes.get(*node).map_or(0, |it| it.name.chars().count());
            let half = LETTER * i64::try_from(letters.min(NAME_MAX)).unwrap_or(0) / 2;
            let name = name_place((*place, half), width, (&places, &taken, &names));
            names.push((name, half));
            nodes.insert(*node, [*place, name]);
        }
        NetworkLayout { size: (width, height), nodes, links }
    }
}

impl PictureGraph {
    fn of(topology: &Topology) -> Self {
        let is_switch = |node: usize| {
            topology.nodes.get(node).is_some_and(|it| it.kind == TopologyNodeKind::Switch)
        };
        let mut shown: Vec<usize> = (0..topology.nodes.len()).collect();
        shown.sort_by_key(|node| !is_switch(*node));
        shown.truncate(NODES_MAX);
        let mut neighbours: BTreeMap<usize, BTreeSet<usize>> =
            shown.iter().map(|node| (*node, BTreeSet::new())).collect();
        let mut links = BTreeMap::new();
        for (number, link) in topology.links.iter().enumerate() {
            let [one, other] = link.ends.map(|end| end.node);
            if links.len() == LINKS_MAX {
                break;
            }
            if !neighbours.contains_key(&one) || !neighbours.contains_key(&other) {
                continue;
            }
            let ends = link.ends.map(|end| match end.port {
                PortNumber::Known(port) => (end.node, Some(u16::from(port.0))),
                PortNumber::Offset(port) => (end.node, Some(port)),
                PortNumber::Unknown => (end.node, None),
            });
            links.insert(number, ends);
            for (from, to) in [(one, other), (other, one)] {
                if from != to {
                    neighbours.entry(from).or_default().insert(to);
                }
            }
        }
        let is_inner = |(node, near): (&usize, &BTreeSet<usize>)| {
            let hangs = near.len() == 1 && near.iter().all(|it| is_switch(*it));
            (*node, is_switch(*node) || !hangs)
        };
        let nodes = neighbours.iter().map(is_inner).collect();
        Self { nodes, links, neighbours }
    }

    fn near(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.get(&node).into_iter().flatten().copied()
    }

    fn is_inner(&self, node: usize) -> bool {
        self.nodes.get(&node).copied().unwrap_or(false)
    }

    /// Steps from a node to each that is reached over those that are allowed.
    fn distances(&self, from: usize, allows: impl Fn(usize) -> bool) -> BTreeMap<usize, i64> {
        let mut known = BTreeMap::from([(from, 0)]);
        let mut next = vec![from];
        for steps in 1.. {
            let near = next.iter().flat_map(|node| self.near(*node)).filter(|node| allows(*node));
            next = near.filter(|node| is_new(known.entry(*node), steps)).collect();
            if next.is_empty() {
                break;
            }
        }
        known
    }

    /// Networks that no link joins, each with all its nodes.
    fn parts(&self) -> Vec<Vec<usize>> {
        let mut left: BTreeSet<usize> = self.nodes.keys().copied().collect();
        let mut parts = Vec::new();
        while let Some(first) = left.first().copied() {
            let part: Vec<usize> = self.distances(first, |_| true).into_keys().collect();
            part.iter().for_each(|node| _ = left.remove(node));
            parts.push(part);
        }
        parts
    }

    fn place(&self, part: &[usize]) -> NodePlaces {
        let inner: Vec<usize> = part.iter().copied().filter(|it| self.is_inner(*it)).collect();
        let hosts = inner.iter().map(|it| self.near(*it).filter(|it| !self.is_inner(*it)).count());
        // Hosts around a switch stand on a circle that has room for all of them.
        let radius = HOST_PITCH.max(hosts.max().map_or(0, |it| 9 * i64::try_from(it).unwrap_or(0)));
        let pitch = PITCH.max(2 * radius + 12);
        let (grid, line) = match self.grid(&inner) {
            Some(grid) if grid.values().all(|it| it.1 == 0) => (None, Some(grid)),
            grid => (grid, None),
        };
        let scaled = |grid: NodePlaces| {
            let scale = |(node, (x, y))| (node, (x * pitch, y * pitch));
            grid.into_iter().map(scale).collect::<NodePlaces>()
        };
        let places = match grid.or_else(|| self.torus(&inner)) {
            Some(grid) => scaled(grid),
            None => match self.rows(part) {
                Some(rows) => return rows,
                None => line.map_or_else(|| self.by_distances(&inner, pitch), scaled),
            },
        };
        self.with_hosts(places, radius)
    }

    /// Adds the hosts of each node, in the directions that are farthest from its links and from each other.
    fn with_hosts(&self, mut places: NodePlaces, radius: i64) -> NodePlaces {
        for (node, (x, y)) in places.clone() {
            let links = self.near(node).filter_map(|near| places.get(&near));
            let mut taken: Vec<PicturePoint> = links.map(|to| unit((to.0 - x, to.1 - y))).collect();
            for host in self.near(node).filter(|near| !self.is_inner(*near)) {
                let nearest = |to: &PicturePoint| {
                    taken.iter().map(|it| it.0 * to.0 + it.1 * to.1).max().unwrap_or(0)
                };
                // Downwards to the right comes first, as it is free in a grid.
                let Some(way) = directions().min_by_key(nearest) else { continue };
                let full = i64::try_from(taken.len() / 24).unwrap_or(0);
                let radius = radius + full * HOST_PITCH / 2;
                places.insert(host, (x + way.0 * radius / 1000, y + way.1 * radius / 1000));
                taken.push(way);
            }
        }
        places
    }

    /// Curves of the links: straight where that meets no node, else with the least bend that does not; several
    /// between the same nodes lie side by side.
    fn curves(&self, places: &NodePlaces) -> BTreeMap<usize, [PicturePoint; 3]> {
        let mut used: BTreeMap<[usize; 2], Vec<i64>> = BTreeMap::new();
        let curve = |(number, ends): (&usize, &[(usize, Option<u16>); 2])| {
            let mut nodes = ends.map(|end| end.0);
            nodes.sort_unstable();
            let [from, to] = nodes.map(|node| places.get(&node).copied().unwrap_or_default());
            let (way, middle) = (
                if from == to { (1000, 0) } else { unit((to.0 - from.0, to.1 - from.1)) },
                ((from.0 + to.0) / 2, (from.1 + to.1) / 2),
            );
            let bent = |by: i64| {
                let bend = (middle.0 + way.1 * by / 1000, middle.1 - way.0 * by / 1000);
                [from, bend, to]
            };
            let others = places.iter().filter(|(node, _)| !nodes.contains(node));
            let others: Vec<PicturePoint> = others.map(|(_, place)| *place).collect();
            let used = used.entry(nodes).or_default();
            let room = |by: &i64| {
                let free = |at: PicturePoint| others.iter().map(|it| distance(*it, at)).min();
                let least = points(bent(*by)).filter_map(free).min().unwrap_or(CLEAR);
                (least.min(CLEAR), -by.abs())
            };
            // A cable from a node to itself is a line out and back.
            let least = if from == to { 4 } else { 0 };
            let bends = (least..=20).flat_map(|step| [step * 16, -step * 16]);
            let free = bends.filter(|by| used.iter().all(|it| (it - by).abs() >= 16));
            let free: Vec<i64> = free.collect();
            let clear = free.iter().find(|by| room(by).0 == CLEAR);
            let by = clear.copied().or_else(|| free.into_iter().max_by_key(room)).unwrap_or(0);
            used.push(by);
            let [from, bend, to] = bent(by);
            let is_turned = ends.first().is_some_and(|end| nodes.first() != Some(&end.0));
            (*number, if is_turned { [to, bend, from] } else { [from, bend, to] })
        };
        self.links.iter().map(curve).collect()
    }
}

/// The place of a name beside a node, within the width of the picture, that meets the fewest curves, nodes and
/// names; a name has half its width with it.
fn name_place(
    ((x, y), half): (PicturePoint, i64),
    width: i64,
    (places, curves, names): (&NodePlaces, &[PicturePoint], &[(PicturePoint, i64)]),
) -> PicturePoint {
    let side = 22 + half;
    let around = [(0, 28), (0, -18), (side, 4), (-side, 4), (0, 42), (side, 20), (-side, 20)];
    let meets = |place: &PicturePoint| {
        let within = |it: &PicturePoint, wide: i64, high: i64| {
            (it.0 - place.0).abs() < half + wide + 4 && (it.1 - place.1 + 4).abs() < 7 + high
        };
        let is_outside = place.0 < half || place.0 + half > width;
        let names = names.iter().filter(|(name, half)| within(name, *half, 7)).count();
        let nodes = places.values().filter(|it| within(it, 14, 10)).count();
        (is_outside, names + nodes, curves.iter().filter(|it| within(it, 1, 1)).count())
    };
    let around = around.map(|(right, down)| (x + right, y + down));
    around.into_iter().min_by_key(meets).unwrap_or((x, y + 28))
}

/// Least and greatest coordinates: to the right, and down.
fn extent(places: &NodePlaces) -> ([i64; 2], [i64; 2]) {
    let bounds = |of: fn(&PicturePoint) -> i64| {
        let all = || places.values().map(of);
        [all().min().unwrap_or(0), all().max().unwrap_or(0)]
    };
    (bounds(|it| it.0), bounds(|it| it.1))
}

fn is_new(entry: Entry<'_, usize, i64>, steps: i64) -> bool {
    let is_new = matches!(entry, Entry::Vacant(_));
    entry.or_insert(steps);
    is_new
}

/// Points of a curve between its ends.
fn points([from, bend, to]: [PicturePoint; 3]) -> impl Iterator<Item = PicturePoint> {
    (1..SAMPLES).map(move |at| {
        let rest = SAMPLES - at;
        let on = |from: i64, bend: i64, to: i64| {
            (from * rest * rest + 2 * bend * rest * at + to * at * at) / (SAMPLES * SAMPLES)
        };
        (on(from.0, bend.0, to.0), on(from.1, bend.1, to.1))
    })
}

/// All directions, that between right and down first.
fn directions() -> impl Iterator<Item = PicturePoint> {
    let quarter = DIRECTIONS.into_iter().cycle().skip(3).take(DIRECTIONS.len());
    let turned = |(x, y): PicturePoint| [(x, y), (-y, x), (-x, -y), (y, -x)];
    quarter.flat_map(turned)
}

fn length((x, y): PicturePoint) -> i64 {
    (x * x + y * y).isqrt()
}

fn distance(from: PicturePoint, to: PicturePoint) -> i64 {
    length((from.0 - to.0, from.1 - to.1))
}

/// The direction of a vector, in thousandths.
fn unit(way: PicturePoint) -> PicturePoint {
    let all = length(way).max(1);
    (way.0 * 1000 / all, way.1 * 1000 / all)
}

#[cfg(test)]
mod tests;
