//! A scenario run to its end: what was recorded, and what really happened.

use std::collections::BTreeMap;

use codec::capture::{ByteOrder, CaptureWriter, Channel, WriteError};
use simulator::interface::HostStatistics;
use simulator::network::{Network, SimulationEngine, VisitOrder};
use simulator::port::PortCounters;
use simulator::scenario::Scenario;
use simulator::topology::{NodeId, NodePort};
use simulator::truth::{TraceLevel, TruthEvent};

#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Position where it begins: periods of the full rate; before that nothing is known.
    pub from: u64,
    pub channels: Vec<Channel>,
    pub capture: Vec<u8>,
    pub rows: Vec<TruthEvent>,
    /// Packets that are still in the network or half taken in.
    pub under_way: usize,
    pub passed: BTreeMap<NodePort, PortCounters>,
    pub hosts: BTreeMap<NodeId, HostStatistics>,
    /// Routes that each host has at the end. I-8
    pub routes: BTreeMap<NodeId, BTreeMap<NodeId, Vec<u8>>>,
    /// Periods that the event engine left out.
    pub skipped: u64,
}

impl RunOutcome {
    /// Runs a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        run(scenario, TraceLevel::Everything, 1 << 16)
    }

    /// Runs a scenario without its truth.
    pub fn untold(scenario: &Scenario) -> Self {
        run(scenario, TraceLevel::Nothing, 1 << 16)
    }

    /// Rows of each port, in order of time.
    pub(super) fn rows_by_port(&self) -> BTreeMap<NodePort, Vec<&TruthEvent>> {
        let mut ports: BTreeMap<_, Vec<_>> = BTreeMap::new();
        self.rows.iter().for_each(|row| ports.entry(row.place).or_default().push(row));
        ports
    }
}

/// Runs a scenario. The recording is handed out every `slice` periods.
pub fn run(scenario: &Scenario, wanted: TraceLevel, slice: u64) -> RunOutcome {
    run_with(SimulationEngine::Event, scenario, wanted, (VisitOrder::AsGiven, slice))
}

/// Runs a scenario by one of the two engines, its parts visited in an order.
pub fn run_with(
    engine: SimulationEngine,
    scenario: &Scenario,
    wanted: TraceLevel,
    (layout, slice): (VisitOrder, u64),
) -> RunOutcome {
    let mut network = Network::new(scenario, wanted, layout);
    let channels = network.channels().to_vec();
    let file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels);
    let mut rows = Vec::new();
    let capture = file.and_then(|mut file| {
        let mut now = 0;
        while now < scenario.duration {
            now = (now + slice).min(scenario.duration);
            network.run_with(engine, now);
            rows.extend(network.drain_events());
            if now == scenario.duration {
                network.finish();
                rows.extend(network.drain_events());
            }
            network.flush_recorded(&mut |id, chunk| file.write(id, chunk))?;
        }
        file.finish()
    });
    let capture: Result<_, WriteError> = capture;
    assert!(capture.is_ok(), "what is recorded can be written: {:?}", capture.err());
    let topology = &scenario.topology;
    let ports = topology.cables().iter().flat_map(|cable| cable.ends);
    let passed = ports.filter_map(|port| Some((port, network.port_state(port)?.0)));
    let hosts =
        topology.hosts().filter_map(|host| Some((host, *network.interface(host)?.statistics())));
    let routes =
        topology.hosts().filter_map(|host| Some((host, network.interface(host)?.routes().clone())));
    RunOutcome {
        from: 0,
        channels,
        capture: capture.unwrap_or_default(),
        rows,
        under_way: network.in_transit(),
        passed: passed.collect(),
        hosts: hosts.collect(),
        routes: routes.collect(),
        skipped: network.skipped_periods(),
    }
}
