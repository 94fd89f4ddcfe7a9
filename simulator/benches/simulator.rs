//! What a simulated period costs. `cargo bench -p simulator`

#![expect(clippy::unwrap_used, reason = "the scenario is a constant")]

use divan::Bencher;
use divan::counter::ItemsCount;
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::truth::Wanted;

fn main() {
    divan::main();
}

/// Periods in a round.
const PERIODS: u64 = 10_000;

/// 8 × 8 switches with a host each: 352 channels.
fn mesh(load: &str, more: &str) -> Scenario {
    let text = format!(
        "seed = 1\nduration_us = 1000000\n[topology]\nkind = \"mesh\"\nwidth = 8\nheight = 8\nhosts_per_switch = 1\n\
         [routes]\nmethod = \"dimension-order\"\n[[traffic]]\nto = \"uniform\"\npayload = 90\nload = {load}\n{more}"
    );
    Scenario::read("mesh.toml", &text).map_err(|error| error.to_string()).unwrap()
}

fn characters(scenario: &Scenario) -> ItemsCount {
    ItemsCount::new(2 * scenario.topology.cables().len() as u64 * PERIODS)
}

/// The stepper in an 8 × 8 mesh with 64 hosts, uniform traffic of 90 bytes.
#[divan::bench(args = ["0.001", "0.1", "0.3"])]
fn step_a_mesh(bencher: Bencher<'_, '_>, load: &str) {
    let scenario = mesh(load, "");
    let mut network = Network::new(&scenario, Wanted::Nothing, Layout::AsGiven);
    network.run(PERIODS);
    bencher.counter(characters(&scenario)).bench_local(|| network.run(network.now() + PERIODS));
}

/// Periods of the blocked-packet timeout. R-4
const BLOCKED: u64 = 1 << 22;

/// Six switches in a ring, each with a host that sends a long packet two switches on: they deadlock.
fn ring() -> Scenario {
    let route = |from: u32| {
        format!(
            "[[route]]\nfrom = \"h{from}\"\nto = \"h{}\"\nbytes = \"be bf 81\"\n",
            (from + 2) % 6
        )
    };
    let traffic = |from: u32| {
        format!(
            "[[traffic]]\nfrom = \"h{from}\"\nto = \"h{}\"\npayload = 2000\npackets = 1\n\
             every_us = 1\n",
            (from + 2) % 6
        )
    };
    let text = format!(
        "duration_us = 1000000\n[topology]\nkind = \"ring\"\nswitches = 6\n\
         [routes]\nmethod = \"given\"\n{}{}",
        (0..6).map(route).collect::<String>(),
        (0..6).map(traffic).collect::<String>()
    );
    Scenario::read("ring.toml", &text).map_err(|error| error.to_string()).unwrap()
}

/// A ring that is deadlocked, up to the timeout that frees it: 24 channels, 2²² periods.
#[divan::bench(sample_count = 5)]
fn wait_for_the_blocked_packet_timeout(bencher: Bencher<'_, '_>) {
    let scenario = ring();
    bencher
        .counter(ItemsCount::new(24 * BLOCKED))
        .with_inputs(|| Network::new(&scenario, Wanted::Nothing, Layout::AsGiven))
        .bench_local_refs(|network| network.run(BLOCKED));
}
