//! Prints the latency of packets from each captured channel to the next: packets, minimum, mean and
//! maximum in nanoseconds.
//!
//! `cargo run -p myriscope-analyzer --example latency -- capture.pcapng`

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;

use myriscope_analyzer::codec::capture::decompress;
use myriscope_analyzer::report::LatencySummary;
use myriscope_analyzer::{AnalysisEvent, AnalysisScope, CaptureAnalysis, LinkAssumptions};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: latency FILE")?;
    let capture = decompress(File::open(path)?)?;
    let analysis =
        CaptureAnalysis::new(capture, AnalysisScope::Network, LinkAssumptions::default());
    let mut events = analysis.events();
    let mut latencies: BTreeMap<_, LatencySummary> = BTreeMap::new();
    for event in &mut events {
        let AnalysisEvent::Journey(journey) = event? else { continue };
        for (hop, next) in journey.hops.iter().zip(journey.hops.iter().skip(1)) {
            let latency = latencies.entry((hop.channel, next.channel)).or_default();
            latency.add(next.time.saturating_sub(hop.time));
        }
    }
    let name = |id| events.analysis().channel(id).map_or("", |channel| channel.name.as_str());
    for ((from, to), latency) in &latencies {
        let LatencySummary { count, min_ps, max_ps, .. } = latency;
        let (from, to, mean) = (name(*from), name(*to), latency.mean_ps().unwrap_or(0) / 1000);
        println!("{from} -> {to}: {count} {} {mean} {}", min_ps / 1000, max_ps / 1000);
    }
    Ok(())
}
