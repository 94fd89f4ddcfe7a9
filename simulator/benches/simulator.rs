//! Costs of a simulated period. `cargo bench -p myriscope-simulator`

#![expect(clippy::unwrap_used, reason = "the scenario is a constant")]

use divan::Bencher;
use divan::counter::ItemsCount;
use myriscope_simulator::network::{Network, VisitOrder};
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::TraceLevel;

fn main() {
    divan::main();
}

/// Periods in a round.
const PERIODS: u64 = 10_000;

/// Mesh of 8 × 8 switches with a host each: 352 channels.
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
    let mut network = Network::new(&scenario, TraceLevel::Nothing, VisitOrder::AsGiven);
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
        .with_inputs(|| Network::new(&scenario, TraceLevel::Nothing, VisitOrder::AsGiven))
        .bench_local_refs(|network| network.run(BLOCKED));
}

/// Mesh of 4 × 2 switches with three hosts each and a stream of medium messages from every host,
/// with a load or a permanent fault by `kind`.
fn storm(kind: &str) -> Scenario {
    let every_us = if kind == "busy" { 2_400 } else { 240_000 };
    let messages = |from: u32| {
        format!(
            "[[messages]]\nfrom = \"a{from}\"\nto = \"a{}\"\nkind = \"medium\"\nbytes = [4, 400]\n\
             every_us = {every_us}\nlaw = \"poisson\"\n",
            (from + 13) % 24
        )
    };
    let noise = |host: u32| {
        format!("[[fault]]\nat_us = 0\nnoise = \"h{host}:0\"\nmean_characters = 100000\n")
    };
    let (link, more) = match kind {
        "saturated" => ("", "[[traffic]]\nto = \"uniform\"\npayload = 500\nload = 0.9\n".into()),
        "slow-links" => ("[link]\nrate_divisor = 4\n", String::new()),
        "noise" => ("", (0..16).map(noise).collect()),
        "cut" => ("", "[[fault]]\nat_us = 0\ncut = \"h3:0\"\n".into()),
        "power-off" => ("", "[[fault]]\nat_us = 0\npower_off = \"h5\"\n".into()),
        "dead-port" => ("", "[[fault]]\nat_us = 0\ndead_port = \"s1.0:0\"\n".into()),
        "deaf-host" => ("", "[[fault]]\nat_us = 0\nconsume = \"h7\"\nhow = \"never\"\n".into()),
        "lost-gaps" => ("", "[[fault]]\nevery_us = 200\nlose_gap = \"any\"\n".into()),
        "restarts" => ("", "[[fault]]\nevery_us = 10000\nrestart = \"any\"\n".into()),
        _ => ("", String::new()),
    };
    let traffic: String =
        if kind == "idle" { String::new() } else { (0..24).map(messages).collect() };
    let text = format!(
        "seed = 1\nduration_us = 4000000\n[topology]\nkind = \"mesh\"\nwidth = 4\nheight = 2\n\
         hosts_per_switch = 3\n{link}[transport]\n[[endpoint]]\nname = \"a\"\nhost = \"all\"\n\
         wake = \"event\"\n{traffic}{more}"
    );
    Scenario::read("storm.toml", &text).map_err(|error| error.to_string()).unwrap()
}

/// Periods of 10 ms.
const MOMENT: u64 = 800_000;

/// Costs of a storm's network by load and faults, in periods of the network.
#[divan::bench(
    args = ["idle", "light", "busy", "saturated", "slow-links", "noise", "cut", "power-off",
        "dead-port", "deaf-host", "lost-gaps", "restarts"],
    sample_count = 20,
    sample_size = 1
)]
fn simulate_eight_switches(bencher: Bencher<'_, '_>, kind: &str) {
    let scenario = storm(kind);
    let mut network = Network::new(&scenario, TraceLevel::Nothing, VisitOrder::AsGiven);
    network.run(MOMENT / 20);
    // What takes long is measured for less long.
    let periods = if kind == "saturated" { MOMENT / 20 } else { MOMENT };
    bencher.counter(ItemsCount::new(periods)).bench_local(|| network.run(network.now() + periods));
}
