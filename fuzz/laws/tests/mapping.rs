//! Mapping machines on networks without characters: maps, elections, healing.

use codec::mapping::{InterfaceAddress, MapVersion, MappingAnswer, MappingPacket};
use codec::route::{PortId, RouteAddressing};
use laws::mapping::election::ElectionPlan;
use laws::mapping::election_walk::walk;
use laws::mapping::world::MappingWorld;
use simulator::generate::{GeneratedShape, LatticeEdge, generate};
use simulator::link::LinkParameters;
use simulator::mapping::{
    MapperDesign, MapperParameters, MapperStart, MappingNotice, NetworkMapper, SwitchSearch,
};
use simulator::topology::{
    CableSpec, ExtensionSupport, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};

fn network(shape: &GeneratedShape) -> Topology {
    let prototype = SwitchParameters::new(12, RouteAddressing::Relative);
    let (nodes, cables) = generate(shape, prototype, LinkParameters::default()).unwrap();
    Topology::new(nodes, cables).unwrap()
}

fn address(host: NodeId) -> InterfaceAddress {
    InterfaceAddress::new(0x0060_dd00_0000 + ((u64::from(host.0) * 0x9e37) & 0xff_ffff)).unwrap()
}

fn world<'a>(topology: &'a Topology, design: MapperDesign) -> MappingWorld<'a> {
    let parameters = MapperParameters { design, ..MapperParameters::default() };
    MappingWorld::new(topology, parameters, |host| (address(host), MapperStart::Soon))
}

fn run(world: &mut MappingWorld<'_>, periods: u64) {
    let until = world.now() + periods * MapperParameters::default().period;
    world.run(until, &mut |packet| vec![(0, packet)]);
}

/// N-2, N-3, N-7
#[test]
fn networks_of_all_shapes_are_mapped() {
    let shapes = [
        GeneratedShape::Single { ports: 8, hosts: 5 },
        GeneratedShape::lattice(LatticeEdge::Open, &[3, 4], 1),
        GeneratedShape::lattice(LatticeEdge::Closed, &[2], 2),
        GeneratedShape::lattice(LatticeEdge::Closed, &[5], 1),
        GeneratedShape::FatTree { levels: 3, radix: 4 },
        GeneratedShape::Single { ports: 32, hosts: 32 },
        GeneratedShape::NowSubcluster,
        GeneratedShape::NowCluster,
    ];
    for shape in &shapes {
        for design in [MapperDesign::Map, MapperDesign::Daemon] {
            let topology = network(shape);
            let mut world = world(&topology, design);
            run(&mut world, 20);
            assert_eq!(world.network.check(|_| ()), Ok(()));
        }
    }
}

/// N-8, S-8: the same shapes where every switch answers, with both addressings.
#[test]
fn switches_that_answer_are_mapped_by_their_identities() {
    let shapes = [
        GeneratedShape::lattice(LatticeEdge::Open, &[3, 4], 1),
        GeneratedShape::lattice(LatticeEdge::Closed, &[2], 2),
        GeneratedShape::lattice(LatticeEdge::Closed, &[5], 1),
        GeneratedShape::FatTree { levels: 3, radix: 4 },
    ];
    for shape in &shapes {
        for addressing in [RouteAddressing::Relative, RouteAddressing::Absolute] {
            let plain = SwitchParameters::new(8, addressing);
            let switch = SwitchParameters { extensions: ExtensionSupport::On, ..plain };
            let (nodes, cables) = generate(shape, switch, LinkParameters::default()).unwrap();
            let topology = Topology::new(nodes, cables).unwrap();
            let switches = SwitchSearch::Requested(8);
            let parameters = MapperParameters { switches, ..MapperParameters::default() };
            let mut world =
                MappingWorld::new(&topology, parameters, |host| (address(host), MapperStart::Soon));
            run(&mut world, 20);
            let known = world.network.check(|map| {
                assert_eq!(map.identities.len(), usize::from(map.switches));
            });
            assert_eq!(known, Ok(()), "{shape:?} {addressing:?}");
        }
    }
}

/// The mapper, which has the higher address, is at the first port of a switch. S-1
#[test]
fn the_farthest_port_of_the_largest_switch_is_found() {
    let node = |name: &str, kind| NodeSpec { name: name.to_owned(), kind };
    let switch = NodeKind::Switch(SwitchParameters::new(32, RouteAddressing::Relative));
    let host = NodeKind::Host;
    let nodes = vec![node("s", switch), node("far", host), node("mapper", host)];
    let end = |node, port| NodePort { node: NodeId(node), port: PortId(port) };
    let cable = |ends| CableSpec { ends, link: LinkParameters::default() };
    let cables = [[end(0, 31), end(1, 0)], [end(0, 0), end(2, 0)]].map(cable);
    let topology = Topology::new(nodes, cables.into()).unwrap();
    let mut world = world(&topology, MapperDesign::Map);
    run(&mut world, 10);
    assert_eq!(world.network.check(|_| ()), Ok(()));
    // A host that has a later map, as of a life of the mapper before, gets a newer one. N-4
    world.take_notices();
    let (until, told) = (world.now() + 2 * MapperParameters::default().period, MapVersion(99));
    world.run(until, &mut |mut packet| {
        if let Ok(MappingPacket::Answer(answer)) = MappingPacket::parse(&packet) {
            packet.clear();
            MappingPacket::Answer(MappingAnswer { version: told, ..answer }).emit(&mut packet);
        }
        vec![(0, packet)]
    });
    let is_newer = |it: &MappingNotice| matches!(it, MappingNotice::Mapped { version, .. } if version.is_newer_than(told));
    assert!(world.take_notices().iter().any(|(.., it)| is_newer(it)));
}

/// N-2, N-4
#[test]
fn a_network_heals_splits_and_joins() {
    let topology = network(&GeneratedShape::lattice(LatticeEdge::Closed, &[6], 2));
    let mut world = world(&topology, MapperDesign::Map);
    run(&mut world, 10);
    assert_eq!(world.network.check(|_| ()), Ok(()));
    let between: Vec<usize> = (0..topology.cables().len())
        .filter(|cable| {
            let hosts: Vec<NodeId> = topology.hosts().collect();
            topology.cables()[*cable].ends.iter().all(|end| !hosts.contains(&end.node))
        })
        .collect();
    world.network.cut.insert(between[0]);
    run(&mut world, 4);
    assert_eq!(world.network.check(|_| ()), Ok(()));
    // The ring falls in two.
    world.network.cut.insert(between[3]);
    run(&mut world, 20);
    assert_eq!(world.network.check(|_| ()), Ok(()));
    let mapper =
        topology.hosts().find(|host| world.network.machine(*host).unwrap().is_mapper()).unwrap();
    world.power_off(mapper);
    run(&mut world, 20);
    assert_eq!(world.network.check(|_| ()), Ok(()));
    world.power_on(mapper);
    world.network.cut.remove(&between[0]);
    run(&mut world, 40);
    assert_eq!(world.network.check(|_| ()), Ok(()));
}

/// Larger walks: `cargo run --release -p laws --example mapping election`. N-2, N-4, N-7
#[test]
fn elections_end_with_one_mapper_in_every_state() {
    let (map, daemon) = (MapperDesign::Map, MapperDesign::Daemon);
    for (design, hosts, bounds, least) in [
        (map, 2, [3, 1], 50_000),
        (daemon, 2, [2, 1], 9_000),
        (map, 3, [1, 1], 5_000),
        (daemon, 3, [1, 1], 5_000),
    ] {
        let plan = ElectionPlan::new(design, hosts, bounds).unwrap();
        let walked = walk(&plan, 1_000_000).unwrap();
        assert!(walked.counterexample.is_none(), "{walked:#?}");
        assert!(walked.is_whole && walked.states > least, "{walked:?}");
        // A mapper that was lost is missed for 4 periods, and others wait for up to 2 then; what one
        // lost probe has hidden is found in the search of every eighth.
        let periods = walked.patience / plan.parameters.period;
        assert!(periods <= 8, "{walked:?}");
    }
}

/// A fault happens to each cable and each node, and ends. After a cut a mapper misses a link in the
/// next period; in a part without one, a mapper is missed for 4, and the first of the others waits for
/// up to 2. What is new is found in the search of every eighth: the host that has been started stops
/// at the first answer that names a mapper, of which the mapper itself knows nothing. Then the network
/// is searched, perhaps once more, as a search may have been under way. N-4
#[test]
fn networks_heal_in_time() {
    let parameters = MapperParameters::default();
    for shape in [
        GeneratedShape::Single { ports: 8, hosts: 1 },
        GeneratedShape::lattice(LatticeEdge::Closed, &[5], 1),
        GeneratedShape::lattice(LatticeEdge::Open, &[3, 2], 2),
    ] {
        let topology = network(&shape);
        let mut world = world(&topology, MapperDesign::Map);
        run(&mut world, 20);
        let mut search = 0;
        for (_, _, notice) in world.take_notices() {
            if let MappingNotice::Mapped { took, .. } = notice {
                search = search.max(took);
            }
        }
        let timeouts = parameters.timeout * u64::from(parameters.tries);
        // A search, and the distribution of its map in two phases.
        let mapping = search + 3 * timeouts;
        let check = |world: &mut MappingWorld<'_>, periods: u64, what: &str| {
            let bound = periods * parameters.period + timeouts + 2 * mapping;
            world.run(world.now() + bound, &mut |packet| vec![(0, packet)]);
            assert_eq!(world.network.check(|_| ()), Ok(()), "{what} within {periods} periods");
            // Faults come at other times in a period.
            world.run(world.now() + bound / 7, &mut |packet| vec![(0, packet)]);
        };
        let is_mapped = |world: &MappingWorld<'_>| {
            topology.hosts().all(|host| {
                let part = world.network.part(host);
                world.network.machine(host).is_none()
                    || part
                        .iter()
                        .any(|it| world.network.machine(*it).is_some_and(NetworkMapper::is_mapper))
            })
        };
        for cable in 0..topology.cables().len() {
            world.network.cut.insert(cable);
            let periods = if is_mapped(&world) { 1 } else { 6 };
            check(&mut world, periods, &format!("cable {cable} is cut"));
            world.network.cut.remove(&cable);
            check(&mut world, 8, &format!("cable {cable} is mended"));
        }
        for node in (0..).map(NodeId).take(topology.nodes().len()) {
            world.power_off(node);
            let periods = if is_mapped(&world) { 1 } else { 6 };
            check(&mut world, periods, &format!("{node:?} is off"));
            world.power_on(node);
            check(&mut world, 8, &format!("{node:?} is on"));
        }
    }
}
