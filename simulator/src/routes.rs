//! Routes from host to host, computed from the topology. P-2, S-1

mod channel_order;
mod cycle;
mod shortest_paths;

use std::collections::BTreeMap;

use codec::route::PortId;

use crate::topology::{NodeId, NodeKind, NodePort, Topology};

/// The route bytes for all pairs of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteTable(BTreeMap<(NodeId, NodeId), Vec<u8>>);

/// Method of route computation. Among paths of equal length, one is picked at each node by random
/// numbers seeded with source, destination and node: the pairs spread over all paths, identically
/// in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoutingMethod {
    /// A shortest path. Networks with cycles may deadlock.
    Shortest,
    /// A shortest path among those that go up first, then down; free of deadlock. N-2 *Chosen*: the
    /// root is the switch whose farthest host is nearest; among equals, the one whose nearest host
    /// is farthest; then the first. Up is nearer to the root, or equally near and first among the
    /// nodes. A switch below all its neighbours would be useless, and is placed above them instead.
    #[default]
    UpDown,
    /// In a mesh of switches named `sX.Y`: along x first, then along y; free of deadlock.
    DimensionOrder,
}

/// Error of a method that does not suit the topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoutesError {
    /// The switch's name is not a position in a mesh.
    #[error("switch {name}: `{name}` is no place in a mesh (`sX.Y`)")]
    NoPlace {
        /// Name of the switch.
        name: String,
    },
    /// A cable of the mesh joins switches that are not adjacent.
    #[error("cable {cable}: {a} and {b} are not side by side in a mesh")]
    Apart {
        /// Index of the cable.
        cable: usize,
        /// Name of the switch at one end.
        a: String,
        /// Name of the switch at the other end.
        b: String,
    },
}

impl RouteTable {
    /// Computes the routes of all connected pairs of hosts. Hosts cabled to each other have an
    /// empty route.
    ///
    /// # Errors
    /// The part of the topology that does not suit the method.
    pub fn compute(topology: &Topology, method: RoutingMethod) -> Result<Self, RoutesError> {
        let topology = &*topology.without_fibres();
        let sources: Vec<NodeId> = topology.hosts().collect();
        Ok(Self(shortest_paths::from(topology, &channel_order::ways(topology, method)?, &sources)))
    }

    /// Computes the routes from one host, which are those of [`Self::compute`].
    ///
    /// # Errors
    /// As [`Self::compute`].
    pub fn compute_from(
        topology: &Topology,
        method: RoutingMethod,
        from: NodeId,
    ) -> Result<Self, RoutesError> {
        Ok(Self(shortest_paths::from(topology, &channel_order::ways(topology, method)?, &[from])))
    }

    /// The route bytes from one host to another, if they are connected.
    pub fn get(&self, from: NodeId, to: NodeId) -> Option<&[u8]> {
        self.0.get(&(from, to)).map(Vec::as_slice)
    }

    /// Replaces the route from one host to another.
    pub fn set(&mut self, from: NodeId, to: NodeId, bytes: Vec<u8>) {
        self.0.insert((from, to), bytes);
    }

    /// All routes: source, destination, bytes; in the order of the nodes.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId, &[u8])> {
        self.0.iter().map(|((from, to), bytes)| (*from, *to, bytes.as_slice()))
    }

    /// A cycle of channels in which a packet on each may wait for the next one, so that the routes
    /// can deadlock. Channels are named by the ports that send on them. N-2
    pub fn cycle(&self, topology: &Topology) -> Option<Vec<NodePort>> {
        cycle::find(self.iter().map(|(from, _, bytes)| channels(topology, from, bytes)))
    }
}

/// Maximum of channels of a way, which a circle of fibres would make endless. *Chosen*: a route of
/// 1024 bytes with a fibre behind each.
const WAY_MAX: usize = 4096;

/// The sending ports along a route from a host: one more than the route bytes, or fewer if a byte
/// selects no cable; two more for each fibre. S-1, N-5
pub fn channels(topology: &Topology, from: NodeId, bytes: &[u8]) -> Vec<NodePort> {
    let mut sent = NodePort { node: from, port: PortId(0) };
    let mut way = Vec::new();
    let mut bytes = bytes.iter();
    while let Some(input) = topology.peer(sent) {
        way.push(sent);
        if let Some(onward) = topology.through_fibre_end(input)
            && way.len() < WAY_MAX
        {
            sent = onward;
            continue;
        }
        let Some(NodeKind::Switch(switch)) = topology.node(input.node).map(|node| node.kind) else {
            break;
        };
        let Some(Ok(port)) =
            bytes.next().map(|byte| switch.addressing.select(*byte, input.port, switch.ports))
        else {
            break;
        };
        sent = NodePort { node: input.node, port };
    }
    way
}

#[cfg(test)]
mod tests {
    use codec::route::RouteAddressing;
    use proptest::prelude::*;

    use super::*;
    use crate::generate::{DragonflySize, GeneratedShape, LatticeEdge, generate};
    use crate::link::LinkParameters;
    use crate::topology::{CableSpec, NodeSpec, SwitchParameters};

    const METHODS: [RoutingMethod; 2] = [RoutingMethod::Shortest, RoutingMethod::UpDown];

    /// A network of a shape, whose nodes use the addressings in turn.
    fn build(shape: &GeneratedShape, addressings: &[RouteAddressing]) -> Topology {
        let prototype = SwitchParameters::new(12, RouteAddressing::Absolute);
        let (mut nodes, cables) = generate(shape, prototype, LinkParameters::default()).unwrap();
        for (node, addressing) in nodes.iter_mut().zip(addressings.iter().cycle()) {
            if let NodeKind::Switch(switch) = &mut node.kind {
                switch.addressing = *addressing;
            }
        }
        Topology::new(nodes, cables).unwrap()
    }

    fn absolute(shape: &GeneratedShape) -> Topology {
        build(shape, &[RouteAddressing::Absolute])
    }

    fn mixed(shape: &GeneratedShape) -> Topology {
        build(
            shape,
            &[RouteAddressing::Relative, RouteAddressing::Absolute, RouteAddressing::Relative],
        )
    }

    /// The network of cables such as `s0:1-h0:0`, with the nodes in the order of the names.
    fn network(names: &str, cables: &str) -> Topology {
        let switch = NodeKind::Switch(SwitchParameters::new(8, RouteAddressing::Absolute));
        let nodes = names.split(' ').map(|name| {
            let kind = if name.starts_with('h') { NodeKind::Host } else { switch };
            NodeSpec { name: name.to_owned(), kind }
        });
        let nodes: Vec<NodeSpec> = nodes.collect();
        let end = |end: &str| {
            let (name, port) = end.split_once(':').unwrap();
            let node = nodes.iter().position(|node| node.name == name).unwrap();
            NodePort {
                node: NodeId(u32::try_from(node).unwrap()),
                port: PortId(port.parse().unwrap()),
            }
        };
        let cables = cables.split(' ').map(|cable| {
            let (a, b) = cable.split_once('-').unwrap();
            CableSpec { ends: [end(a), end(b)], link: LinkParameters::default() }
        });
        Topology::new(nodes.clone(), cables.collect()).unwrap()
    }

    fn bytes<'a>(topology: &Topology, routes: &'a RouteTable, ends: [&str; 2]) -> Option<&'a [u8]> {
        let [from, to] = ends.map(|name| topology.find(name).unwrap());
        routes.get(from, to)
    }

    /// The names of the sending ports along a route.
    fn way(topology: &Topology, method: RoutingMethod, ends: [&str; 2]) -> String {
        let routes = RouteTable::compute(topology, method).unwrap();
        let bytes = bytes(topology, &routes, ends).unwrap();
        let ports = channels(topology, topology.find(ends[0]).unwrap(), bytes);
        ports.iter().map(|port| topology.port_name(*port)).collect::<Vec<_>>().join(" ")
    }

    /// Checks that every pair of hosts has a route, and that its last byte leads to the host.
    fn check_arrival(topology: &Topology, routes: &RouteTable) {
        let hosts = topology.hosts().count();
        assert_eq!(routes.iter().count(), hosts * hosts.saturating_sub(1));
        for (from, to, bytes) in routes.iter() {
            let way = channels(topology, from, bytes);
            assert_eq!(way.len(), bytes.len() + 1);
            assert_eq!(topology.peer(*way.last().unwrap()).unwrap().node, to);
        }
    }

    fn dragonfly([groups, switches, hosts, global_links]: [u32; 4]) -> GeneratedShape {
        GeneratedShape::Dragonfly(DragonflySize { groups, switches, hosts, global_links })
    }

    fn shapes() -> Vec<GeneratedShape> {
        vec![
            GeneratedShape::Single { ports: 8, hosts: 8 },
            GeneratedShape::lattice(LatticeEdge::Open, &[5], 2),
            GeneratedShape::lattice(LatticeEdge::Closed, &[2], 2),
            GeneratedShape::lattice(LatticeEdge::Closed, &[7], 2),
            GeneratedShape::lattice(LatticeEdge::Open, &[4, 5], 2),
            GeneratedShape::FatTree { levels: 1, radix: 8 },
            GeneratedShape::FatTree { levels: 2, radix: 8 },
            GeneratedShape::FatTree { levels: 3, radix: 8 },
            GeneratedShape::FatTree { levels: 3, radix: 6 },
            GeneratedShape::lattice(LatticeEdge::Closed, &[2, 2], 1),
            GeneratedShape::lattice(LatticeEdge::Closed, &[5, 4], 1),
            GeneratedShape::lattice(LatticeEdge::Closed, &[4, 3, 3], 2),
            GeneratedShape::lattice(LatticeEdge::Pair, &[2; 5], 1),
            dragonfly([9, 4, 2, 2]),
            dragonfly([4, 3, 1, 2]),
            GeneratedShape::NowSubcluster,
            GeneratedShape::NowCluster,
        ]
    }

    #[test]
    fn every_route_of_every_shape_arrives() {
        for topology in shapes().iter().map(mixed) {
            for method in METHODS {
                check_arrival(&topology, &RouteTable::compute(&topology, method).unwrap());
            }
        }
    }

    /// N-2
    #[test]
    fn up_down_never_deadlocks() {
        for topology in shapes().iter().map(mixed) {
            let routes = RouteTable::compute(&topology, RoutingMethod::UpDown).unwrap();
            assert_eq!(routes.cycle(&topology), None);
        }
    }

    #[test]
    fn shortest_ways_round_a_ring_can_deadlock() {
        // In a ring of 5 the way to the next switch but one is the shortest in either direction.
        for switches in 5..9 {
            let topology = absolute(&GeneratedShape::lattice(LatticeEdge::Closed, &[switches], 1));
            let routes = RouteTable::compute(&topology, RoutingMethod::Shortest).unwrap();
            let cycle = routes.cycle(&topology).unwrap();
            assert_eq!(cycle.len(), switches as usize);
        }
    }

    #[test]
    fn shortest_ways_in_a_torus_or_dragonfly_can_deadlock() {
        let torus = GeneratedShape::lattice(LatticeEdge::Closed, &[5, 5], 1);
        for shape in [torus, dragonfly([9, 4, 2, 2])] {
            let topology = absolute(&shape);
            let routes = RouteTable::compute(&topology, RoutingMethod::Shortest).unwrap();
            assert!(routes.cycle(&topology).is_some());
        }
    }

    #[test]
    fn a_cycle_is_named_by_its_channels() {
        // Each host sends to the next but one, and all turn the same way.
        let topology = absolute(&GeneratedShape::lattice(LatticeEdge::Closed, &[4], 1));
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let mut routes = RouteTable::default();
        for i in 0..3 {
            routes.set(hosts[i], hosts[(i + 2) % 4], vec![0x80, 0x80, 0x82]);
        }
        assert_eq!(routes.cycle(&topology), None);
        routes.set(hosts[3], hosts[1], vec![0x80, 0x80, 0x82]);
        let cycle = routes.cycle(&topology).unwrap();
        let names = cycle.iter().map(|port| topology.port_name(*port)).collect::<Vec<_>>();
        assert_eq!(names, ["s0:0", "s1:0", "s2:0", "s3:0"]);
    }

    #[test]
    fn up_down_turns_at_the_root() {
        // All switches are alike, so s0 is the root; s1 and s3 are nearer to it than s2.
        let ring = GeneratedShape::lattice(LatticeEdge::Closed, &[4], 1);
        let topology = absolute(&ring);
        assert_eq!(way(&topology, RoutingMethod::UpDown, ["h1", "h3"]), "h1:0 s1:1 s0:1 s3:2");
        let routes = RouteTable::compute(&topology, RoutingMethod::UpDown).unwrap();
        assert_eq!(bytes(&topology, &routes, ["h1", "h3"]), Some(&[0x81, 0x81, 0x82][..]));
        // From port 2 to 1, from 0 to 1, from 0 to 2.
        let relative = build(&ring, &[RouteAddressing::Relative]);
        let routes = RouteTable::compute(&relative, RoutingMethod::UpDown).unwrap();
        assert_eq!(bytes(&relative, &routes, ["h1", "h3"]), Some(&[0xbf, 0x81, 0x82][..]));
    }

    #[test]
    fn the_root_is_the_switch_whose_farthest_host_is_nearest() {
        // The same ring with a tail at s2: no host is more than 3 cables from s2; h5 is 4 or 5
        // from the others of the ring, h0 is 4 from s4.
        let topology = network(
            "s0 s1 s2 s3 s4 s5 h0 h1 h3 h5",
            "s0:0-s1:1 s1:0-s2:1 s2:0-s3:1 s3:0-s0:1 s2:4-s4:0 s4:1-s5:0 s5:1-h5:0 \
             s0:2-h0:0 s1:2-h1:0 s3:2-h3:0",
        );
        assert_eq!(way(&topology, RoutingMethod::UpDown, ["h1", "h3"]), "h1:0 s1:0 s2:0 s3:2");
    }

    #[test]
    fn a_switch_below_all_its_neighbours_is_put_above_them() {
        // s2 is the root. s3 would be below s0 and s1, so that no packet could cross it.
        let cables = "s0:0-s2:0 s1:0-s2:1 s0:1-s3:0 s1:1-s3:1 s0:2-h0:0 s0:3-h1:0 s1:2-h2:0 \
                      s1:3-h3:0";
        let topology = network("s0 s1 s2 s3 h0 h1 h2 h3", cables);
        let ways = ["h0", "h1"]
            .map(|from| ["h2", "h3"].map(|to| way(&topology, RoutingMethod::UpDown, [from, to])));
        for middle in ["s2:1", "s3:1"] {
            assert!(ways.iter().flatten().any(|way| way.contains(middle)), "{middle} {ways:?}");
        }
    }

    #[test]
    fn dimension_order_goes_along_x_first() {
        let topology = absolute(&GeneratedShape::lattice(LatticeEdge::Open, &[3, 3], 1));
        let routes = RouteTable::compute(&topology, RoutingMethod::DimensionOrder).unwrap();
        let there = [0x80, 0x80, 0x82, 0x82, 0x84];
        assert_eq!(bytes(&topology, &routes, ["h0", "h8"]), Some(&there[..]));
        let back = [0x81, 0x81, 0x83, 0x83, 0x84];
        assert_eq!(bytes(&topology, &routes, ["h8", "h0"]), Some(&back[..]));
    }

    #[test]
    fn dimension_order_needs_a_mesh() {
        let fault = |topology| {
            RouteTable::compute(&topology, RoutingMethod::DimensionOrder).unwrap_err().to_string()
        };
        let ring = absolute(&GeneratedShape::lattice(LatticeEdge::Closed, &[4], 1));
        assert_eq!(fault(ring), "switch s0: `s0` is no place in a mesh (`sX.Y`)");
        let torus = network("s0.0 s1.0 s2.0", "s0.0:0-s1.0:1 s1.0:0-s2.0:1 s2.0:0-s0.0:1");
        assert_eq!(fault(torus), "cable 2: s2.0 and s0.0 are not side by side in a mesh");
    }

    #[test]
    fn hosts_without_a_way_have_no_route() {
        let topology = network("h0 s0 h1 s1 h2 h3", "h0:0-s0:0 h1:0-s0:1 h2:0-s1:0");
        for method in METHODS {
            let routes = RouteTable::compute(&topology, method).unwrap();
            assert_eq!(bytes(&topology, &routes, ["h0", "h1"]), Some(&[0x81][..]));
            assert_eq!(routes.iter().count(), 2);
        }
    }

    #[test]
    fn hosts_cabled_to_each_other_have_the_empty_route() {
        let topology = network("h0 h1", "h0:0-h1:0");
        for method in
            [RoutingMethod::Shortest, RoutingMethod::UpDown, RoutingMethod::DimensionOrder]
        {
            let routes = RouteTable::compute(&topology, method).unwrap();
            check_arrival(&topology, &routes);
            assert_eq!(bytes(&topology, &routes, ["h1", "h0"]), Some(&[][..]));
        }
    }

    #[test]
    fn a_way_ends_where_a_byte_selects_no_cable() {
        let topology = network("h0 s0 h1", "h0:0-s0:0 h1:0-s0:1");
        let len = |bytes| channels(&topology, NodeId(0), bytes).len();
        assert_eq!(len(&[0x81]), 2);
        assert_eq!(len(&[0x82]), 1);
        assert_eq!(len(&[0x88]), 1);
        assert_eq!(len(&[0x01]), 1);
        assert_eq!(len(&[]), 1);
        assert_eq!(channels(&topology, NodeId(9), &[0x80]), []);
    }

    #[test]
    fn equal_ways_share_the_pairs() {
        // 32 × 28 pairs cross 32 links up: 28 each, if they were dealt out.
        let topology = absolute(&GeneratedShape::FatTree { levels: 2, radix: 8 });
        let routes = RouteTable::compute(&topology, RoutingMethod::UpDown).unwrap();
        let mut loads: BTreeMap<NodePort, u32> = BTreeMap::new();
        for (from, _, bytes) in routes.iter().filter(|(.., bytes)| bytes.len() == 3) {
            *loads.entry(channels(&topology, from, bytes)[1]).or_default() += 1;
        }
        assert_eq!((loads.len(), loads.values().sum::<u32>()), (32, 896));
        assert!(loads.values().all(|load| (14..=42).contains(load)), "{loads:?}");
    }

    proptest! {
        #[test]
        fn random_networks_are_routed_without_deadlock(
            seed: u64, switches in 1u32..20, ports in 4u8..=32, hosts in 0u32..20,
            links in 0u32..10,
        ) {
            // 4 ports each: two for the tree, and of the others at most as many as there are.
            let links = links.min(switches / 2).min(switches - 1);
            let shape = GeneratedShape::Random { seed, switches, ports, hosts: hosts.min(switches), links };
            let topology = mixed(&shape);
            let lengths = METHODS.map(|method| {
                let routes = RouteTable::compute(&topology, method).unwrap();
                check_arrival(&topology, &routes);
                routes.iter().map(|(.., bytes)| bytes.len()).collect::<Vec<_>>()
            });
            prop_assert!(lengths[0].iter().zip(&lengths[1]).all(|(least, legal)| least <= legal));
            let routes = RouteTable::compute(&topology, RoutingMethod::UpDown).unwrap();
            prop_assert_eq!(routes.cycle(&topology), None);
        }

        #[test]
        fn meshes_are_routed_in_dimension_order(
            width in 1u32..7, height in 1u32..7, hosts in 0u32..3,
        ) {
            let topology = mixed(&GeneratedShape::lattice(LatticeEdge::Open, &[width, height], hosts));
            let routes = RouteTable::compute(&topology, RoutingMethod::DimensionOrder).unwrap();
            check_arrival(&topology, &routes);
            prop_assert_eq!(routes.cycle(&topology), None);
            let least = RouteTable::compute(&topology, RoutingMethod::Shortest).unwrap();
            let mut pairs = routes.iter().zip(least.iter());
            prop_assert!(pairs.all(|(way, least)| way.2.len() == least.2.len()));
        }
    }
}
