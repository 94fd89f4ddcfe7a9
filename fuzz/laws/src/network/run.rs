//! A scenario run to its end: what was recorded, and what really happened.

use std::collections::BTreeMap;

use codec::capture::{ByteOrder, Channel, WriteError, Writer};
use simulator::circuit::Passed;
use simulator::interface::HostStatistics;
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::topology::{NodeId, Port};
use simulator::truth::{Happened, Wanted};

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Where it begins: periods of the full rate; before that nothing is known.
    pub from: u64,
    /// The channels of the capture.
    pub channels: Vec<Channel>,
    /// The capture.
    pub capture: Vec<u8>,
    /// The truth, in order.
    pub rows: Vec<Happened>,
    /// Packets that are still in the network or half taken in.
    pub under_way: usize,
    /// What has passed through each port.
    pub passed: BTreeMap<Port, Passed>,
    /// What has passed through each interface.
    pub hosts: BTreeMap<NodeId, HostStatistics>,
}

/// Runs a scenario. What is recorded is handed out every so many periods.
///
/// # Panics
/// If the capture cannot be written.
#[must_use]
pub fn run(scenario: &Scenario, wanted: Wanted, layout: Layout, slice: u64) -> Outcome {
    let mut network = Network::new(scenario, wanted, layout);
    let channels = network.channels().to_vec();
    let file = Writer::new(Vec::new(), ByteOrder::Little, &channels);
    let mut rows = Vec::new();
    let capture = file.and_then(|mut file| {
        let mut now = 0;
        while now < scenario.duration {
            now = (now + slice).min(scenario.duration);
            network.run(now);
            rows.extend(network.happened());
            if now == scenario.duration {
                network.finish();
                rows.extend(network.happened());
            }
            network.recorded(&mut |id, chunk| file.write(id, chunk))?;
        }
        file.finish()
    });
    let capture: Result<_, WriteError> = capture;
    assert!(capture.is_ok(), "what is recorded can be written: {:?}", capture.err());
    let topology = &scenario.topology;
    let ports = topology.cables().iter().flat_map(|cable| cable.ends);
    let passed = ports.filter_map(|port| Some((port, network.port(port)?.0)));
    let hosts =
        topology.hosts().filter_map(|host| Some((host, *network.interface(host)?.statistics())));
    Outcome {
        from: 0,
        channels,
        capture: capture.unwrap_or_default(),
        rows,
        under_way: network.under_way(),
        passed: passed.collect(),
        hosts: hosts.collect(),
    }
}
