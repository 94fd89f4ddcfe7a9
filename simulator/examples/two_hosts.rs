//! Simulates two hosts at a switch and writes a capture of one link to standard output; prints the
//! truth about its packets to standard error, one JSON object a line.
//!
//! `cargo run -p myriscope-simulator --example two_hosts > two_hosts.pcapng`

#![expect(clippy::print_stderr, reason = "the example's output")]

use std::error::Error;
use std::io::{self, Write};

use codec::CaptureWriter;
use codec::capture::ByteOrder;
use myriscope_simulator::{Network, Scenario, TraceLevel, TruthEventKind, VisitOrder};

/// h0 sends a packet of 64 bytes to h1 every 10 µs; the tap is at port 0 of the switch.
const SCENARIO: &str = r#"
duration_us = 100

[topology]
kind = "switch"
ports = 8
hosts = 2

[[traffic]]
from = "h0"
to = "h1"
payload = 64
every_us = 10

[[tap]]
port = "s0:0"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::read("two_hosts.toml", SCENARIO)?;
    let mut network = Network::new(&scenario, TraceLevel::Everything, VisitOrder::AsGiven);
    network.run(scenario.duration);
    network.finish();

    let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
    for event in network.drain_events() {
        if let TruthEventKind::Injected { .. } | TruthEventKind::Consumed { .. } = event.kind {
            eprintln!("{}", serde_json::to_string(&event.row(name))?);
        }
    }
    let channels = network.channels().to_vec();
    let mut capture = CaptureWriter::new(io::stdout().lock(), ByteOrder::Little, &channels)?;
    network.flush_recorded(&mut |channel, chunk| capture.write(channel, chunk))?;
    capture.finish()?.flush()?;
    Ok(())
}
