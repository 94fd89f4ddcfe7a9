//! Generators of regular and random networks. N-1
//!
//! Hosts are named `h0`, `h1`, …; the switch names depend on the shape. All cables have the same
//! parameters, and all switches those of the prototype, except for the number of ports where the
//! shape gives it.

mod fat_tree;
mod now;
mod random;
mod regular;

pub use self::regular::{DragonflySize, LatticeEdge};
use codec::route::PortId;

use crate::link::LinkParameters;
use crate::topology::{CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters};

/// Maximum number of nodes of a generated network. *Chosen*: far more than a run can simulate.
pub const NODES_MAX: u32 = 1 << 14;

/// Shape and size of a generated network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratedShape {
    /// One switch, `s0`; host `i` is at its port `i`.
    Single {
        /// Ports of the switch.
        ports: u8,
        /// Number of hosts, at most the number of ports.
        hosts: u32,
    },
    /// Switches in a lattice of any number of dimensions: a line, ring, mesh, torus or hypercube.
    /// They are named by their position, `sX.Y.Z`, and numbered along x first.
    Lattice {
        /// Switches in each dimension.
        sizes: Vec<u32>,
        /// Cables at the edges, and ports.
        edge: LatticeEdge,
        /// Hosts of each switch, at the ports behind those of the dimensions.
        hosts: u32,
    },
    /// Groups of switches that are all linked to one another, and links between all groups.
    /// Switches are named `gG.I`: group, index in the group.
    Dragonfly(DragonflySize),
    /// A folded Clos network of switches of any even radix k with full bisection, 2 · (k/2)ⁿ hosts
    /// on (2n − 1) · (k/2)ⁿ⁻¹ switches of k ports: with radix 8 one level is a switch with 8 hosts,
    /// two have 32 hosts on 12 switches, three the well-known 128 on 80, four 512 on 448.
    /// Switches are named `tL.I`: level (0 at the hosts), index in the level.
    FatTree {
        /// Levels of switches n, 1..=14.
        levels: u32,
        /// Ports of each switch, even, 2..=32.
        radix: u32,
    },
    /// One subcluster of the Berkeley NOW: 36 hosts, 13 8-port switches, 64 links.
    NowSubcluster,
    /// The Berkeley NOW: three subclusters, 100 hosts, 40 8-port switches, 193 links.
    NowCluster,
    /// An irregular connected network of switches `s0`, `s1`, …: a random tree, then random links
    /// between any two switches, then the hosts.
    Random {
        /// Seed of the random choices.
        seed: u64,
        /// Number of switches, at least 1.
        switches: u32,
        /// Ports of each switch.
        ports: u8,
        /// Number of hosts.
        hosts: u32,
        /// Links between switches beyond those of the tree; two may join the same switches.
        links: u32,
    },
}

impl GeneratedShape {
    /// Line, ring, mesh, torus or hypercube, with so many hosts at each switch.
    pub fn lattice(edge: LatticeEdge, sizes: &[u32], hosts: u32) -> Self {
        Self::Lattice { sizes: sizes.to_vec(), edge, hosts }
    }
}

/// Error of a shape that describes no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct ShapeError(#[from] pub(crate) ShapeProblem);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ShapeProblem {
    /// `field` is a number of [`GeneratedShape`].
    #[error("{field}: {value} ({min}..={max})")]
    Range { field: &'static str, value: u32, min: u32, max: u32 },
    #[error("more than {NODES_MAX} nodes")]
    Nodes,
    #[error("radix: {0} is odd")]
    Odd(u32),
    #[error("switch {name}: no port {port} for the shape (it has 0..{ports})")]
    NoPort { name: String, port: u32, ports: u8 },
    /// All ports are in use before all links are placed; `field` is a number of [`GeneratedShape`].
    #[error("no free port for {left} of the {field}")]
    Full { field: &'static str, left: u32 },
}

/// Generates the nodes and cables of a shape; [`Topology::new`](crate::topology::Topology::new)
/// accepts them if the prototype's number of ports is legal.
///
/// # Errors
/// Names the number of the shape that does not fit.
pub fn generate(
    shape: &GeneratedShape,
    prototype: SwitchParameters,
    link: LinkParameters,
) -> Result<(Vec<NodeSpec>, Vec<CableSpec>), ShapeError> {
    let mut plan =
        ShapeBuilder { nodes: Vec::new(), cables: Vec::new(), hosts: 0, prototype, link };
    match shape {
        GeneratedShape::Single { ports, hosts } => plan.single(*ports, *hosts)?,
        GeneratedShape::Lattice { sizes, edge, hosts } => {
            regular::lattice(&mut plan, sizes, *edge, *hosts)?;
        }
        GeneratedShape::Dragonfly(size) => regular::dragonfly(&mut plan, *size)?,
        GeneratedShape::FatTree { levels, radix } => fat_tree::build(&mut plan, *levels, *radix)?,
        GeneratedShape::NowSubcluster => now::subcluster(&mut plan)?,
        GeneratedShape::NowCluster => now::cluster(&mut plan)?,
        GeneratedShape::Random { seed, switches, ports, hosts, links } => {
            plan.prototype.ports = *ports;
            random::build(&mut plan, *seed, [*switches, *hosts, *links])?;
        }
    }
    Ok((plan.nodes, plan.cables))
}

/// A network under construction.
struct ShapeBuilder {
    nodes: Vec<NodeSpec>,
    cables: Vec<CableSpec>,
    hosts: u32,
    prototype: SwitchParameters,
    link: LinkParameters,
}

impl ShapeBuilder {
    fn node(&mut self, name: String, kind: NodeKind) -> Result<NodeId, ShapeProblem> {
        let id = u32::try_from(self.nodes.len()).ok().filter(|id| *id < NODES_MAX);
        let id = NodeId(id.ok_or(ShapeProblem::Nodes)?);
        self.nodes.push(NodeSpec { name, kind });
        Ok(id)
    }

    fn switch(&mut self, name: String) -> Result<NodeId, ShapeProblem> {
        self.node(name, NodeKind::Switch(self.prototype))
    }

    fn host(&mut self, switch: NodeId, port: u32) -> Result<(), ShapeProblem> {
        let host = self.node(format!("h{}", self.hosts), NodeKind::Host)?;
        self.hosts += 1;
        self.cable((switch, port), (host, 0))
    }

    /// Adds hosts at consecutive ports of a switch.
    fn host_row(&mut self, switch: NodeId, first: u32, hosts: u32) -> Result<(), ShapeProblem> {
        (first..first.saturating_add(hosts)).try_for_each(|port| self.host(switch, port))
    }

    fn cable(&mut self, a: (NodeId, u32), b: (NodeId, u32)) -> Result<(), ShapeProblem> {
        let ends = [self.port(a)?, self.port(b)?];
        self.cables.push(CableSpec { ends, link: self.link });
        Ok(())
    }

    fn port(&self, (node, port): (NodeId, u32)) -> Result<NodePort, ShapeProblem> {
        let known = self.nodes.get(node.0 as usize);
        let ports = known.map_or(0, |node| node.kind.ports());
        match u8::try_from(port) {
            Ok(port) if port < ports => Ok(NodePort { node, port: PortId(port) }),
            Ok(_) | Err(_) => {
                let name = known.map_or_else(String::new, |node| node.name.clone());
                Err(ShapeProblem::NoPort { name, port, ports })
            }
        }
    }

    fn single(&mut self, ports: u8, hosts: u32) -> Result<(), ShapeProblem> {
        self.prototype.ports = ports;
        let switch = self.switch("s0".to_owned())?;
        self.host_row(switch, 0, hosts)
    }
}

fn check(
    field: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<(), ShapeProblem> {
    if range.contains(&value) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(ShapeProblem::Range { field, value, min, max })
}

#[cfg(test)]
mod tests {
    use codec::route::RouteAddressing;

    use super::*;
    use crate::topology::Topology;

    fn build(shape: &GeneratedShape) -> Topology {
        let prototype = SwitchParameters::new(8, RouteAddressing::Relative);
        let (nodes, cables) = generate(shape, prototype, LinkParameters::default()).unwrap();
        Topology::new(nodes, cables).unwrap()
    }

    /// Numbers of hosts, switches and links.
    fn totals(shape: &GeneratedShape) -> [usize; 3] {
        let topology = build(shape);
        [topology.hosts().count(), topology.switches().count(), topology.cables().len()]
    }

    fn fault(shape: &GeneratedShape) -> String {
        let prototype = SwitchParameters::new(8, RouteAddressing::Relative);
        generate(shape, prototype, LinkParameters::default()).unwrap_err().to_string()
    }

    /// The ends of the cables, without those of hosts other than the first.
    fn plan(shape: &GeneratedShape) -> String {
        let topology = build(shape);
        let links = topology
            .cables()
            .iter()
            .map(|cable| cable.ends.map(|end| topology.port_name(end)).join("-"));
        let links = links.filter(|link| !link.contains("-h") || link.ends_with("-h0:0"));
        links.collect::<Vec<_>>().join(" ")
    }

    fn mesh(sizes: &[u32], hosts: u32) -> GeneratedShape {
        GeneratedShape::lattice(LatticeEdge::Open, sizes, hosts)
    }

    fn torus(sizes: &[u32], hosts: u32) -> GeneratedShape {
        GeneratedShape::lattice(LatticeEdge::Closed, sizes, hosts)
    }

    fn cube(dimensions: usize, hosts: u32) -> GeneratedShape {
        GeneratedShape::lattice(LatticeEdge::Pair, &vec![2; dimensions], hosts)
    }

    fn tree(levels: u32, radix: u32) -> GeneratedShape {
        GeneratedShape::FatTree { levels, radix }
    }

    fn dragonfly([groups, switches, hosts, global_links]: [u32; 4]) -> GeneratedShape {
        GeneratedShape::Dragonfly(DragonflySize { groups, switches, hosts, global_links })
    }

    /// Hosts, switches and links as published or by the formulas, and the most cables of a switch, which
    /// all switches of a regular shape have.
    #[test]
    fn shapes_have_their_totals_and_degrees() {
        for (shape, expected, degree) in [
            (GeneratedShape::NowSubcluster, [36, 13, 64], None),
            (GeneratedShape::NowCluster, [100, 40, 193], None),
            (mesh(&[2, 2], 1), [4, 4, 8], Some(3)),
            (mesh(&[8, 8], 1), [64, 64, 176], None),
            // kⁿ switches, n cables each, 2n + hosts ports in use.
            (torus(&[5], 2), [10, 5, 5 + 10], Some(4)),
            (torus(&[4, 3], 1), [12, 12, 24 + 12], Some(5)),
            (torus(&[2, 3, 4], 2), [48, 24, 72 + 48], Some(8)),
            // 2ⁿ switches, n · 2ⁿ⁻¹ cables.
            (cube(1, 3), [6, 2, 1 + 6], Some(4)),
            (cube(4, 1), [16, 16, 32 + 16], Some(5)),
            // g groups of a switches: g·a·p hosts, g·a(a−1)/2 local and g(g−1)/2 · ⌊a·h/(g−1)⌋ global.
            (dragonfly([9, 4, 2, 2]), [72, 36, 54 + 36 + 72], Some(7)),
            (dragonfly([3, 4, 1, 1]), [12, 12, 18 + 6 + 12], Some(5)),
            (dragonfly([1, 4, 2, 0]), [8, 4, 6 + 8], Some(5)),
            // 2(k/2)ⁿ hosts on (2n−1)(k/2)ⁿ⁻¹ switches, n · 2(k/2)ⁿ cables, and every port in use.
            (tree(1, 8), [8, 1, 8], Some(8)),
            (tree(2, 8), [32, 12, 64], Some(8)),
            (tree(3, 8), [128, 80, 384], Some(8)),
            (tree(4, 8), [512, 448, 2048], Some(8)),
            (tree(3, 4), [16, 20, 48], Some(4)),
            (tree(5, 2), [2, 9, 10], Some(2)),
            (tree(2, 32), [512, 48, 1024], Some(32)),
        ] {
            assert_eq!(totals(&shape), expected, "{shape:?}");
            let topology = build(&shape);
            for (switch, degree) in topology.switches().zip(std::iter::repeat(degree)) {
                let cables = topology.ports(switch).filter(|port| topology.peer(*port).is_some());
                assert!(degree.is_none_or(|degree| cables.count() == degree), "{shape:?}");
            }
        }
    }

    #[test]
    fn small_shapes_have_their_documented_cables() {
        let shapes = [
            GeneratedShape::Single { ports: 4, hosts: 3 },
            mesh(&[3], 1),
            torus(&[3], 1),
            mesh(&[2, 2], 1),
            torus(&[2, 2], 1),
            cube(2, 1),
            dragonfly([3, 2, 1, 1]),
        ];
        insta::assert_snapshot!(shapes.each_ref().map(plan).join("\n"), @"
        s0:0-h0:0
        s0:2-h0:0 s0:0-s1:1 s1:0-s2:1
        s0:2-h0:0 s0:0-s1:1 s1:0-s2:1 s2:0-s0:1
        s0.0:4-h0:0 s0.0:0-s1.0:1 s0.1:0-s1.1:1 s0.0:2-s0.1:3 s1.0:2-s1.1:3
        s0.0:4-h0:0 s0.0:0-s1.0:1 s1.0:0-s0.0:1 s0.1:0-s1.1:1 s1.1:0-s0.1:1 s0.0:2-s0.1:3 s1.0:2-s1.1:3 s0.1:2-s0.0:3 s1.1:2-s1.0:3
        s0.0:2-h0:0 s0.0:0-s1.0:0 s0.1:0-s1.1:0 s0.0:1-s0.1:1 s1.0:1-s1.1:1
        g0.0:0-g0.1:0 g1.0:0-g1.1:0 g2.0:0-g2.1:0 g0.0:1-g1.0:1 g0.1:1-g2.0:1 g1.1:1-g2.1:1 g0.0:2-h0:0
        ");
    }

    #[test]
    fn two_switches_connect_the_subclusters_of_the_now() {
        let topology = build(&GeneratedShape::NowCluster);
        let names =
            topology.cables().iter().map(|cable| cable.ends.map(|it| topology.port_name(it)));
        let between: Vec<_> =
            names.filter(|ends| ends[1].starts_with("join")).map(|ends| ends.join("-")).collect();
        assert_eq!(
            between.join(" "),
            "a.root0:4-join0:0 a.root1:4-join0:1 b.root0:3-join0:2 b.root1:4-join0:3 \
             c.root0:3-join0:4 c.root1:4-join0:5 a.root0:5-join1:0 a.root1:5-join1:1 \
             b.root0:4-join1:2 b.root1:5-join1:3 c.root0:4-join1:4 c.root1:5-join1:5"
        );
    }

    #[test]
    fn a_seed_means_one_random_network() {
        let random = |seed| {
            let numbers =
                GeneratedShape::Random { seed, switches: 5, ports: 8, hosts: 6, links: 3 };
            assert_eq!(totals(&numbers), [6, 5, 4 + 3 + 6]);
            build(&numbers)
        };
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
    }

    #[test]
    fn the_random_network_of_a_seed_never_changes() {
        let shape = GeneratedShape::Random { seed: 7, switches: 3, ports: 4, hosts: 1, links: 1 };
        assert_eq!(plan(&shape), "s0:1-s1:3 s0:0-s2:3 s0:2-s2:2 s1:1-h0:0");
    }

    #[test]
    fn a_random_network_may_take_every_port() {
        // 3 switches of 2 ports: 4 ends of the tree, and 2 hosts.
        let numbers =
            |hosts| GeneratedShape::Random { seed: 3, switches: 3, ports: 2, hosts, links: 0 };
        assert_eq!(totals(&numbers(2)), [2, 3, 4]);
        assert_eq!(fault(&numbers(3)), "no free port for 1 of the hosts");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let many = u32::MAX;
        let shapes = [
            GeneratedShape::Single { ports: 4, hosts: 5 },
            mesh(&[0], 1),
            torus(&[1], many),
            torus(&[2], 7),
            mesh(&[2, 0], 1),
            mesh(&[16_384, 16_384], 0),
            tree(15, 2),
            tree(9, 32),
            tree(2, 7),
            torus(&[4, 1], 0),
            torus(&[], 0),
            torus(&[many; 3], 0),
            torus(&[300, 300], 0),
            torus(&[2; 5], 0),
            cube(0, 1),
            cube(100, 0),
            cube(6, 3),
            dragonfly([6, 2, 1, 2]),
            dragonfly([0, 2, 1, 2]),
            dragonfly([2, 9, 1, 2]),
            dragonfly([many, many, many, many]),
            GeneratedShape::Random { seed: 1, switches: 3, ports: 1, hosts: 0, links: 0 },
            GeneratedShape::Random { seed: 1, switches: 2, ports: 2, hosts: 0, links: many },
            GeneratedShape::Random { seed: 1, switches: 2, ports: 0, hosts: 0, links: 0 },
        ];
        insta::assert_snapshot!(shapes.each_ref().map(fault).join("\n"), @"
        switch s0: no port 4 for the shape (it has 0..4)
        size: 0 (1..=16384)
        size: 1 (2..=16384)
        switch s0: no port 8 for the shape (it has 0..8)
        size: 0 (1..=16384)
        more than 16384 nodes
        levels: 15 (1..=14)
        more than 16384 nodes
        radix: 7 is odd
        size: 1 (2..=16384)
        dimensions: 0 (1..=14)
        size: 4294967295 (2..=16384)
        more than 16384 nodes
        switch s0.0.0.0.0: no port 8 for the shape (it has 0..8)
        dimensions: 0 (1..=14)
        dimensions: 100 (1..=14)
        switch s0.0.0.0.0.0: no port 8 for the shape (it has 0..8)
        groups: 6 (1..=5)
        groups: 0 (1..=5)
        switch g0.0: no port 8 for the shape (it has 0..8)
        switches: 4294967295 (1..=32)
        no free port for 1 of the switches
        no free port for 4294967294 of the links
        ports: 0 (1..=32)
        ");
    }
}
