//! Figures of mapping: `cargo run --release -p laws --example mapping`. Words select rows, as in
//! `mapping election`, `mapping speed` and `mapping maps`.

use std::fs;
use std::io::{self, Write};

use codec::mapping::InterfaceAddress;
use codec::route::RouteAddressing;
use laws::mapping::election::ElectionPlan;
use laws::mapping::election_walk::walk;
use laws::mapping::world::MappingWorld;
use simulator::generate::{GeneratedShape, generate};
use simulator::link::LinkParameters;
use simulator::mapping::{MapperDesign, MapperParameters, MapperStart, MappingNotice};
use simulator::network::SimulationEngine;
use simulator::topology::{NodeId, SwitchParameters, Topology};
use simulator::truth::TruthEventKind;
use simulator::{Network, Scenario, TraceLevel, VisitOrder};

const STATES_MAX: usize = 50_000_000;

/// Periods of the full rate in a millisecond. C-1
const MILLISECOND: u64 = 80_000;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let selected = |row: &str| words.iter().all(|word| row.split(' ').any(|part| part == word));
    let mut out = io::stdout().lock();
    for (hosts, bounds) in
        [(2, [3, 1]), (2, [4, 2]), (2, [5, 2]), (3, [1, 1]), (3, [2, 2]), (3, [3, 1])]
    {
        let row =
            format!("election {hosts} interfaces, {} faults, {} held up", bounds[0], bounds[1]);
        if selected(&row) {
            let plan = ElectionPlan::new(MapperDesign::Map, hosts, bounds)
                .ok_or_else(|| io::Error::other("a plan"))?;
            let begin = user_time()?;
            let found = walk(&plan, STATES_MAX).ok_or_else(|| io::Error::other("addresses"))?;
            let periods = found.patience / plan.parameters.period;
            let time = user_time()? - begin;
            writeln!(out, "{row}: {found:?}, rest within {periods} periods, {time:.1} s")?;
            out.flush()?;
            if let Some(counterexample) = found.counterexample {
                return Err(io::Error::other(counterexample.failure.to_string()));
            }
        }
    }
    for (name, shape) in [
        ("subcluster", GeneratedShape::NowSubcluster),
        ("cluster", GeneratedShape::NowCluster),
        ("fat-tree 512", GeneratedShape::FatTree { levels: 4, radix: 8 }),
    ] {
        let row = format!("speed {name}");
        if selected(&row) {
            writeln!(out, "{row}: {}", speed(&shape)?)?;
        }
    }
    for (row, topology, milliseconds) in [
        ("maps subcluster", "kind = 'now-subcluster'", 150),
        ("maps cluster", "kind = 'now-cluster'", 400),
        ("maps fat-tree 128", "kind = 'fat-tree', levels = 3, radix = 8", 4_000),
        ("maps fat-tree 512", "kind = 'fat-tree', levels = 4, radix = 8", 60_000),
    ] {
        if selected(row) {
            writeln!(out, "{row}: {}", map(topology, milliseconds)?)?;
        }
    }
    Ok(())
}

/// The machines alone: one maps, and goes on watching until a second has passed.
fn speed(shape: &GeneratedShape) -> io::Result<String> {
    let prototype = SwitchParameters::new(12, RouteAddressing::Relative);
    let parts = generate(shape, prototype, LinkParameters::default()).map_err(io::Error::other)?;
    let topology = Topology::new(parts.0, parts.1).map_err(io::Error::other)?;
    let parameters = MapperParameters::default();
    let first = topology.hosts().next().unwrap_or(NodeId(0));
    let base = InterfaceAddress::new(1 << 40).ok_or_else(|| io::Error::other("an address"))?;
    let mut world = MappingWorld::new(&topology, parameters, |host| {
        let own = InterfaceAddress::new((1 << 40) - u64::from(host.0)).unwrap_or(base);
        (own, if host == first { MapperStart::AtOnce } else { MapperStart::Patient })
    });
    let (begin, mut seconds, mut mapped) = (user_time()?, 0.0, None);
    while seconds < 1.0 || mapped.is_none() {
        world.run(world.now() + parameters.period, &mut |packet| vec![(0, packet)]);
        seconds = user_time()? - begin;
        let done = world.network.machine(first).is_some_and(|machine| machine.map().is_some());
        if mapped.is_none() && done {
            mapped = Some((world.sent(), world.now() / MILLISECOND, seconds));
        }
    }
    let (probes, at, by) = mapped.unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    let rate = world.sent() as f64 / seconds / 1e6;
    let law = world.network.check(|_| ());
    Ok(format!("{rate:.2} M packets/s; mapped by {probes} packets in {at} ms, {by:.1} s: {law:?}"))
}

/// The network, character by character.
fn map(topology: &str, milliseconds: u64) -> io::Result<String> {
    let text = format!(
        "duration_us = {milliseconds}000\ntopology = {{ {topology} }}\n\
         routes.method = 'mapped'\nmapper.who = 'h3'"
    );
    let scenario = Scenario::read("map.toml", &text).map_err(io::Error::other)?;
    let mut network = Network::new(&scenario, TraceLevel::Everything, VisitOrder::AsGiven);
    let begin = user_time()?;
    let (mut notices, mut installed) = (Vec::new(), 0);
    let hosts = scenario.topology.hosts().count();
    while network.now() < scenario.duration && installed < hosts {
        network.run_with(SimulationEngine::Event, network.now() + MILLISECOND);
        for event in network.drain_events() {
            if let TruthEventKind::Mapping(notice) = event.kind {
                installed += usize::from(matches!(notice, MappingNotice::Installed { .. }));
                notices.extend(matches!(notice, MappingNotice::Mapped { .. }).then_some(notice));
            }
        }
    }
    let (at, by) = (network.now() / MILLISECOND, user_time()? - begin);
    Ok(format!("{installed} have routes after {at} ms, {by:.1} s: {notices:?}"))
}

/// User time of the process in seconds. Linux counts it in hundredths.
fn user_time() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name, in parentheses, may have blanks; eleven fields later stands the time.
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().nth(11).and_then(|it| it.parse::<f64>().ok());
    Ok(ticks.unwrap_or_default() / 100.0)
}
