//! Speed of both engines, as in `docs/measurements.md`: `cargo run --release -p myriscope-simulator --example speed`.
//! Words select rows: `speed mesh untapped event`.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io::{self, Write};

use myriscope_simulator::network::SimulationEngine;
use myriscope_simulator::{Network, Scenario, TraceLevel, VisitOrder};

/// User time of a row at least, in seconds. *Chosen*: 1 % of it is the resolution of the clock.
const SECONDS: f64 = 1.0;

/// Periods of the full rate in a second. §4.2
const PERIODS_PER_SECOND: f64 = 80e6;

/// Periods between two times that what was recorded is taken, as in the program.
const SLICE: u64 = 1 << 10;

const TAPS: &str = "[[tap]]\nall = true\n";

/// Streams of messages between 24 hosts.
fn messages() -> String {
    let stream = |from: u32| {
        format!(
            "[[messages]]\nfrom = 'a{from}'\nto = 'a{}'\nkind = 'medium'\nbytes = [4, 400]\n\
             every_us = 2400\nlaw = 'poisson'\n",
            (from + 13) % 24
        )
    };
    let hosts = "[transport]\n[[endpoint]]\nname = 'a'\nhost = 'all'\nwake = 'event'\n";
    hosts.to_owned() + &(0..24).map(stream).collect::<String>()
}

fn traffic(payload: u32, load: &str) -> String {
    format!("[[traffic]]\nto = 'uniform'\npayload = {payload}\nload = {load}\n")
}

/// Names, numbers of nodes and scenarios of the rows.
fn rows() -> Vec<(String, f64, String)> {
    const MESH: &str = "[topology]\nkind = 'mesh'\nwidth = 8\nheight = 8\nhosts_per_switch = 1\n\
         [routes]\nmethod = 'dimension-order'\n";
    const EIGHT: &str = "[topology]\nkind = 'mesh'\nwidth = 4\nheight = 2\nhosts_per_switch = 3\n";
    const NOW: &str = "[topology]\nkind = 'now-cluster'\n";
    let mut rows = Vec::new();
    for (load, payload) in [("0.001", 20), ("0.01", 20), ("0.1", 20), ("0.3", 20), ("0.1", 1024)] {
        for (name, taps) in [("untapped", ""), ("tapped", TAPS)] {
            let text = [MESH, &traffic(payload, load), taps].concat();
            rows.push((format!("mesh {name} {load} of {payload}"), 64.0, text));
        }
    }
    rows.push(("cluster 0.01 of 1000".to_owned(), 100.0, [NOW, &traffic(1000, "0.01")].concat()));
    for payload in [500, 4000] {
        let text = [EIGHT, &traffic(payload, "0.9")].concat();
        rows.push((format!("saturated 0.9 of {payload}"), 32.0, text));
    }
    rows.push(("endpoints medium".to_owned(), 32.0, [EIGHT, &messages()].concat()));
    rows
}

fn main() -> io::Result<()> {
    let words: BTreeSet<String> = std::env::args().skip(1).collect();
    let engines = [("event", SimulationEngine::Event), ("step", SimulationEngine::Step)];
    let mut out = io::stdout().lock();
    writeln!(out, "{:<30} {:>16} {:>14}", "", "M node-cycles/s", "of real time")?;
    for (name, nodes, text) in rows() {
        for (engine_name, engine) in engines {
            let name = format!("{name} {engine_name}");
            if !words.iter().all(|word| name.split(' ').any(|part| part == word)) {
                continue;
            }
            let periods = speed(engine, &text)?;
            let (rate, share) = (nodes * periods / 1e6, periods / PERIODS_PER_SECOND);
            writeln!(out, "{name:<30} {rate:>16.2} {share:>14.5}")?;
        }
    }
    Ok(())
}

/// Periods simulated in a second of user time.
fn speed(engine: SimulationEngine, text: &str) -> io::Result<f64> {
    let text = format!("seed = 1\nduration_us = 100000000\n{text}");
    let scenario = Scenario::read("speed.toml", &text).map_err(io::Error::other)?;
    let mut network = Network::new(&scenario, TraceLevel::Nothing, VisitOrder::AsGiven);
    let (begin, mut seconds) = (user_time()?, 0.0);
    while seconds < SECONDS && network.now() < scenario.duration {
        for _ in 0..64 {
            network.run_with(engine, network.now().saturating_add(SLICE).min(scenario.duration));
            if network.needs_flush() {
                let Ok(()) = network.flush_recorded(&mut |_, _| Ok::<(), Infallible>(()));
            }
        }
        seconds = user_time()? - begin;
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    Ok(network.now() as f64 / seconds)
}

/// User time of the process in seconds. Linux counts it in hundredths.
fn user_time() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name, in parentheses, may have blanks; eleven fields later stands the time.
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().nth(11).and_then(|it| it.parse::<f64>().ok());
    Ok(ticks.unwrap_or_default() / 100.0)
}
