//! Machines on networks without characters: maps, elections, healing.

use codec::route::RouteAddressing;

use super::world::MappingWorld;
use super::*;
use crate::generate::{GeneratedShape, LatticeEdge, generate};
use crate::link::LinkParameters;
use crate::topology::{NodeId, SwitchParameters, Topology};

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

/// Every part has one mapper, its map is the part, and all routes in it arrive.
fn check(world: &MappingWorld<'_>, topology: &Topology) {
    let hosts = topology.hosts().filter(|host| world.machine(*host).is_some());
    for host in hosts {
        let part = world.part(host);
        let others = || topology.hosts().filter(|other| part.contains(other));
        let mapper = |host: &NodeId| world.machine(*host).is_some_and(NetworkMapper::is_mapper);
        let mappers: Vec<NodeId> = others().filter(mapper).collect();
        let [mapper] = mappers[..] else { panic!("{mappers:?} map the part of {host:?}") };
        let map = world.machine(mapper).and_then(NetworkMapper::map).expect("it is finished");
        assert_eq!(world.compare(mapper, map), Ok(()));
        for other in others().filter(|other| *other != host) {
            let route = world.routes(host).and_then(|routes| routes.get(&address(other)));
            let end = route.and_then(|route| world.end(host, route));
            assert_eq!(end.map(|(end, _)| end), Some(other), "{host:?} {route:?}");
        }
    }
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
        GeneratedShape::NowSubcluster,
    ];
    for shape in &shapes {
        for design in [MapperDesign::Map, MapperDesign::Daemon] {
            let topology = network(shape);
            let mut world = world(&topology, design);
            run(&mut world, 20);
            check(&world, &topology);
        }
    }
}

/// N-2, N-4
#[test]
fn a_network_heals_splits_and_joins() {
    let topology = network(&GeneratedShape::lattice(LatticeEdge::Closed, &[6], 2));
    let mut world = world(&topology, MapperDesign::Map);
    run(&mut world, 10);
    check(&world, &topology);
    let between: Vec<usize> = (0..topology.cables().len())
        .filter(|cable| {
            let hosts: Vec<NodeId> = topology.hosts().collect();
            topology.cables()[*cable].ends.iter().all(|end| !hosts.contains(&end.node))
        })
        .collect();
    world.cut(between[0]);
    run(&mut world, 4);
    check(&world, &topology);
    // The ring falls in two.
    world.cut(between[3]);
    run(&mut world, 20);
    check(&world, &topology);
    let mapper = topology.hosts().find(|host| world.machine(*host).unwrap().is_mapper()).unwrap();
    world.power_off(mapper);
    run(&mut world, 20);
    check(&world, &topology);
    world.power_on(mapper);
    world.mend(between[0]);
    run(&mut world, 40);
    check(&world, &topology);
}
