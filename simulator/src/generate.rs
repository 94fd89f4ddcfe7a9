//! Generators of regular and random networks. N-1
//!
//! Hosts are named `h0`, `h1`, …; the switch names depend on the shape. All cables have the same
//! parameters, and all switches those of the prototype, except for the number of ports where the
//! shape gives it.

mod fat_tree;
mod now;
mod random;
mod regular;

pub use self::regular::DragonflySize;
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
    /// Switches `s0`, `s1`, … in a line: port 0 to the next switch, port 1 to the previous one,
    /// hosts from port 2 on.
    Line {
        /// Number of switches, at least 1.
        switches: u32,
        /// Hosts of each switch.
        hosts: u32,
    },
    /// A line whose last switch is connected to the first.
    Ring {
        /// Number of switches, at least 2.
        switches: u32,
        /// Hosts of each switch.
        hosts: u32,
    },
    /// Switches `sX.Y` in a grid: port 0 to X+1, port 1 to X−1, port 2 to Y+1, port 3 to Y−1, hosts
    /// from port 4 on. Hosts are numbered along x, then y.
    Mesh {
        /// Switches along x, at least 1.
        width: u32,
        /// Switches along y, at least 1.
        height: u32,
        /// Hosts of each switch.
        hosts: u32,
    },
    /// A mesh of any number of dimensions whose last switch in each is connected to the first.
    /// Switches are named by their position, `sX.Y.Z`, and numbered along x first. Dimension d uses
    /// ports 2d (to the next switch) and 2d + 1, and the hosts follow.
    Torus {
        /// Switches in each dimension, at least 2; two are connected by two cables.
        sizes: Vec<u32>,
        /// Hosts of each switch.
        hosts: u32,
    },
    /// 2ⁿ switches `s0`, `s1`, …: port d leads to the switch whose number differs in bit d, and the
    /// hosts follow.
    Hypercube {
        /// Dimensions n, 0..=14.
        dimensions: u32,
        /// Hosts of each switch.
        hosts: u32,
    },
    /// Groups of switches that are all linked to one another, and links between all groups.
    /// Switches are named `gG.I`: group, index in the group.
    Dragonfly(DragonflySize),
    /// A folded Clos network of two levels: each leaf `t0.I` has a link to each spine `t1.I`.
    Clos {
        /// Leaves, 1..=32: the ports of a spine.
        leaves: u32,
        /// Spines, 1..=32.
        spines: u32,
        /// Hosts of each leaf.
        hosts: u32,
    },
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
        GeneratedShape::Line { switches, hosts } => plan.line(*switches, *hosts)?,
        GeneratedShape::Ring { switches, hosts } => plan.ring(*switches, *hosts)?,
        GeneratedShape::Mesh { width, height, hosts } => plan.mesh([*width, *height], *hosts)?,
        GeneratedShape::Torus { sizes, hosts } => regular::torus(&mut plan, sizes, *hosts)?,
        GeneratedShape::Hypercube { dimensions, hosts } => {
            regular::hypercube(&mut plan, *dimensions, *hosts)?;
        }
        GeneratedShape::Dragonfly(size) => regular::dragonfly(&mut plan, *size)?,
        GeneratedShape::Clos { leaves, spines, hosts } => {
            regular::clos(&mut plan, [*leaves, *spines], *hosts)?;
        }
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

    fn line(&mut self, switches: u32, hosts: u32) -> Result<(), ShapeProblem> {
        check("switches", switches, 1..=NODES_MAX)?;
        self.row(switches, hosts)?;
        Ok(())
    }

    fn ring(&mut self, switches: u32, hosts: u32) -> Result<(), ShapeProblem> {
        check("switches", switches, 2..=NODES_MAX)?;
        if let [first, .., last] = self.row(switches, hosts)?.as_slice() {
            self.cable((*last, 0), (*first, 1))?;
        }
        Ok(())
    }

    fn row(&mut self, switches: u32, hosts: u32) -> Result<Vec<NodeId>, ShapeProblem> {
        let row: Vec<NodeId> =
            (0..switches).map(|i| self.switch(format!("s{i}"))).collect::<Result<_, _>>()?;
        for switch in &row {
            self.host_row(*switch, 2, hosts)?;
        }
        for (one, next) in row.iter().zip(row.iter().skip(1)) {
            self.cable((*one, 0), (*next, 1))?;
        }
        Ok(row)
    }

    fn mesh(&mut self, [width, height]: [u32; 2], hosts: u32) -> Result<(), ShapeProblem> {
        check("width", width, 1..=NODES_MAX)?;
        check("height", height, 1..=NODES_MAX)?;
        let mut below: Vec<NodeId> = Vec::new();
        let mut switches = Vec::new();
        for y in 0..height {
            let row: Vec<NodeId> =
                (0..width).map(|x| self.switch(format!("s{x}.{y}"))).collect::<Result<_, _>>()?;
            for (one, next) in row.iter().zip(row.iter().skip(1)) {
                self.cable((*one, 0), (*next, 1))?;
            }
            for (one, next) in below.iter().zip(&row) {
                self.cable((*one, 2), (*next, 3))?;
            }
            switches.extend(&row);
            below = row;
        }
        switches.into_iter().try_for_each(|switch| self.host_row(switch, 4, hosts))
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

    #[test]
    fn the_now_has_the_published_totals() {
        assert_eq!(totals(&GeneratedShape::NowSubcluster), [36, 13, 64]);
        assert_eq!(totals(&GeneratedShape::NowCluster), [100, 40, 193]);
    }

    #[test]
    fn a_fat_tree_of_8_port_switches_has_the_published_totals() {
        assert_eq!(totals(&GeneratedShape::FatTree { levels: 1, radix: 8 }), [8, 1, 8]);
        assert_eq!(totals(&GeneratedShape::FatTree { levels: 2, radix: 8 }), [32, 12, 64]);
        assert_eq!(totals(&GeneratedShape::FatTree { levels: 3, radix: 8 }), [128, 80, 384]);
        assert_eq!(totals(&GeneratedShape::FatTree { levels: 4, radix: 8 }), [512, 448, 2048]);
    }

    #[test]
    fn every_port_of_a_fat_tree_is_cabled() {
        for levels in 1..=4 {
            let topology = build(&GeneratedShape::FatTree { levels, radix: 8 });
            for switch in topology.switches() {
                assert_eq!(topology.ports(switch).count(), 8);
                assert!(topology.ports(switch).all(|port| topology.peer(port).is_some()));
            }
        }
    }

    fn dragonfly([groups, switches, hosts, global_links]: [u32; 4]) -> GeneratedShape {
        GeneratedShape::Dragonfly(DragonflySize { groups, switches, hosts, global_links })
    }

    /// Hosts, switches and links by the formulas of each shape, and cables at each switch.
    #[test]
    fn regular_shapes_have_the_totals_and_degrees_of_their_formulas() {
        let torus = |sizes: &[u32], hosts| GeneratedShape::Torus { sizes: sizes.into(), hosts };
        let clos = |leaves, spines, hosts| GeneratedShape::Clos { leaves, spines, hosts };
        let cube = |dimensions, hosts| GeneratedShape::Hypercube { dimensions, hosts };
        let tree = |levels, radix| GeneratedShape::FatTree { levels, radix };
        let cases = [
            // kⁿ switches, n cables each, 2n + hosts ports in use.
            (torus(&[5], 2), [10, 5, 5 + 10], 4),
            (torus(&[4, 3], 1), [12, 12, 24 + 12], 5),
            (torus(&[2, 3, 4], 2), [48, 24, 72 + 48], 8),
            // 2ⁿ switches, n · 2ⁿ⁻¹ cables.
            (cube(0, 3), [3, 1, 3], 3),
            (cube(4, 1), [16, 16, 32 + 16], 5),
            // g groups of a switches: g·a·p hosts, g·a(a−1)/2 local and g(g−1)/2 · ⌊a·h/(g−1)⌋ global.
            (dragonfly([9, 4, 2, 2]), [72, 36, 54 + 36 + 72], 7),
            (dragonfly([3, 4, 1, 1]), [12, 12, 18 + 6 + 12], 5),
            (dragonfly([1, 4, 2, 0]), [8, 4, 6 + 8], 5),
            // 2(k/2)ⁿ hosts on (2n−1)(k/2)ⁿ⁻¹ switches, n · 2(k/2)ⁿ cables.
            (tree(3, 4), [16, 20, 48], 4),
            (tree(5, 2), [2, 9, 10], 2),
            (tree(2, 32), [512, 48, 1024], 32),
        ];
        for (shape, expected, degree) in cases {
            assert_eq!(totals(&shape), expected, "{shape:?}");
            let topology = build(&shape);
            for switch in topology.switches() {
                let cables = topology.ports(switch).filter(|port| topology.peer(*port).is_some());
                assert_eq!(cables.count(), degree, "{shape:?}");
            }
        }
        // r leaves of n hosts and m cables.
        assert_eq!(totals(&clos(6, 4, 4)), [24, 10, 24 + 24]);
        assert_eq!(
            plan(&torus(&[2, 2], 1)),
            "s0.0:0-s1.0:1 s1.0:0-s0.0:1 s0.1:0-s1.1:1 s1.1:0-s0.1:1 s0.0:2-s0.1:3 s1.0:2-s1.1:3 \
             s0.1:2-s0.0:3 s1.1:2-s1.0:3 s0.0:4-h0:0"
        );
        assert_eq!(plan(&cube(2, 1)), "s0:0-s1:0 s0:1-s2:1 s1:1-s3:1 s2:0-s3:0 s0:2-h0:0");
        assert_eq!(
            plan(&dragonfly([3, 2, 1, 1])),
            "g0.0:0-g0.1:0 g1.0:0-g1.1:0 g2.0:0-g2.1:0 g0.0:1-g1.0:1 g0.1:1-g2.0:1 g1.1:1-g2.1:1 \
             g0.0:2-h0:0"
        );
        assert_eq!(
            plan(&clos(2, 2, 1)),
            "t0.0:0-h0:0 t0.0:1-t1.0:0 t0.0:2-t1.1:0 t0.1:1-t1.0:1 t0.1:2-t1.1:1"
        );
    }

    #[test]
    fn small_shapes_have_their_documented_cables() {
        let single = GeneratedShape::Single { ports: 4, hosts: 3 };
        let line = GeneratedShape::Line { switches: 3, hosts: 1 };
        let ring = GeneratedShape::Ring { switches: 3, hosts: 1 };
        let mesh = GeneratedShape::Mesh { width: 2, height: 2, hosts: 1 };
        assert_eq!(plan(&single), "s0:0-h0:0");
        assert_eq!(plan(&line), "s0:2-h0:0 s0:0-s1:1 s1:0-s2:1");
        assert_eq!(plan(&ring), "s0:2-h0:0 s0:0-s1:1 s1:0-s2:1 s2:0-s0:1");
        assert_eq!(
            plan(&mesh),
            "s0.0:0-s1.0:1 s0.1:0-s1.1:1 s0.0:2-s0.1:3 s1.0:2-s1.1:3 s0.0:4-h0:0"
        );
        assert_eq!(totals(&GeneratedShape::Mesh { width: 2, height: 2, hosts: 1 }), [4, 4, 8]);
        assert_eq!(totals(&GeneratedShape::Mesh { width: 8, height: 8, hosts: 1 }), [64, 64, 176]);
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
            GeneratedShape::Line { switches: 0, hosts: 1 },
            GeneratedShape::Ring { switches: 1, hosts: many },
            GeneratedShape::Ring { switches: 2, hosts: 7 },
            GeneratedShape::Mesh { width: 2, height: 0, hosts: 1 },
            GeneratedShape::Mesh { width: 16_384, height: 16_384, hosts: 0 },
            GeneratedShape::FatTree { levels: 15, radix: 2 },
            GeneratedShape::FatTree { levels: 9, radix: 32 },
            GeneratedShape::FatTree { levels: 2, radix: 7 },
            GeneratedShape::Torus { sizes: vec![4, 1], hosts: 0 },
            GeneratedShape::Torus { sizes: Vec::new(), hosts: 0 },
            GeneratedShape::Torus { sizes: vec![many; 3], hosts: 0 },
            GeneratedShape::Torus { sizes: vec![300, 300], hosts: 0 },
            GeneratedShape::Torus { sizes: vec![2; 5], hosts: 0 },
            GeneratedShape::Hypercube { dimensions: 15, hosts: 0 },
            GeneratedShape::Hypercube { dimensions: 6, hosts: 3 },
            dragonfly([6, 2, 1, 2]),
            dragonfly([0, 2, 1, 2]),
            dragonfly([2, 9, 1, 2]),
            dragonfly([many, many, many, many]),
            GeneratedShape::Clos { leaves: 9, spines: 2, hosts: 4 },
            GeneratedShape::Clos { leaves: 4, spines: 4, hosts: 5 },
            GeneratedShape::Random { seed: 1, switches: 3, ports: 1, hosts: 0, links: 0 },
            GeneratedShape::Random { seed: 1, switches: 2, ports: 2, hosts: 0, links: many },
            GeneratedShape::Random { seed: 1, switches: 2, ports: 0, hosts: 0, links: 0 },
        ];
        insta::assert_snapshot!(shapes.each_ref().map(fault).join("\n"), @"
        switch s0: no port 4 for the shape (it has 0..4)
        switches: 0 (1..=16384)
        switches: 1 (2..=16384)
        switch s0: no port 8 for the shape (it has 0..8)
        height: 0 (1..=16384)
        more than 16384 nodes
        levels: 15 (1..=14)
        more than 16384 nodes
        radix: 7 is odd
        size: 1 (2..=16384)
        dimensions: 0 (1..=14)
        size: 4294967295 (2..=16384)
        more than 16384 nodes
        switch s0.0.0.0.0: no port 8 for the shape (it has 0..8)
        dimensions: 15 (0..=14)
        switch s0: no port 8 for the shape (it has 0..8)
        groups: 6 (1..=5)
        groups: 0 (1..=5)
        switch g0.0: no port 8 for the shape (it has 0..8)
        switches: 4294967295 (1..=32)
        switch t1.0: no port 8 for the shape (it has 0..8)
        switch t0.0: no port 8 for the shape (it has 0..8)
        no free port for 1 of the switches
        no free port for 4294967294 of the links
        ports: 0 (1..=32)
        ");
    }
}
