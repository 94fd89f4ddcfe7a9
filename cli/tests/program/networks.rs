//! Networks in files, and the commands `series` and `flows`.

use std::fs;

use serde_json::Value;

use crate::support::{ScratchDirectory, capture, good, json_lines, run_in};

/// Scenario of any network: a few packets between all pairs, and a tap at every port.
const TRAFFIC: &str = "duration_us = 100\n[[traffic]]\nto = 'shift'\npayload = 16\nevery_us = 20\n\
                       [[tap]]\nall = true\n[topology]\n";

/// Runs a scenario, and returns the graph of its capture.
fn graph(directory: &ScratchDirectory, topology: &str) -> String {
    let capture = directory.simulate(&format!("{TRAFFIC}{topology}"));
    good(&["topology", &capture, "--format", "dot"])
}

/// Edges of a graph by the names of their ports.
fn links(graph: &str) -> Vec<String> {
    let edges = graph.lines().filter_map(|line| line.split_once(" [")?.0.split_once(" -- "));
    let mut links: Vec<String> = edges
        .map(|(a, b)| {
            let mut ends = [a.trim(), b];
            ends.sort_unstable();
            ends.join("-")
        })
        .collect();
    links.sort();
    links
}

#[test]
fn the_graph_of_a_capture_is_a_network_that_can_be_simulated() {
    let directory = ScratchDirectory::new("graph");
    for (topology, count) in [
        ("kind = 'torus'\nsizes = [3, 3]", 9 + 18),
        ("kind = 'hypercube'\ndimensions = 3", 8 + 12),
        ("kind = 'dragonfly'\ngroups = 3\nswitches = 2\nglobal_links = 1", 6 + 3 + 3),
        ("kind = 'fat-tree'\nlevels = 2\nradix = 4", 8 + 8),
    ] {
        let first = graph(&directory, topology);
        assert_eq!(links(&first).len(), count, "{topology}");
        fs::write(directory.file("net.dot"), &first).unwrap();
        let radix = if topology.contains("radix") { 4 } else { 8 };
        let again = graph(&directory, &format!("file = 'net.dot'\nports = {radix}"));
        assert_eq!(links(&again), links(&first), "{topology}");
    }
}

#[test]
fn a_faulty_file_is_reported_with_its_line() {
    let directory = ScratchDirectory::new("faulty-net");
    fs::write(directory.file("a.csv"), "h0,0,s0,0\nh1,0,s0,\u{1b}[31m\n").unwrap();
    let scenario = format!("{TRAFFIC}file = 'a.csv'\n");
    fs::write(directory.file("net.toml"), scenario).unwrap();
    let outcome = run_in(&directory, &["simulate", "net.toml", "-o", "net.pcapng"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("a.csv:2: `\\u{1b}[31m` is no port"), "{}", outcome.err);
    assert!(outcome.err.contains("net.toml:9:8"), "{}", outcome.err);
}

/// N-5: a packet goes over the fibre as over the cables of its ends: three hops, and three links.
#[test]
fn the_optical_side_of_a_fibre_may_be_tapped() {
    let directory = ScratchDirectory::new("fibre");
    let network = "duration_us = 100\nhost = [{ name = 'h0' }, { name = 'h1' }]\n\
                   [[fibre]]\nname = 'f'\nlength_km = 1\n\
                   [[cable]]\nends = ['h0:0', 'f.0:0']\n[[cable]]\nends = ['h1:0', 'f.1:0']\n\
                   [[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 16\nstart_us = 20\npackets = 3\nevery_us = 10\n\
                   [[tap]]\nall = true\n[[tap]]\nport = 'f.0:1'\n";
    let capture = directory.simulate(network);
    let graph = good(&["topology", &capture, "--format", "dot"]);
    assert_eq!(links(&graph).len(), 3, "{graph}");
    let journeys = json_lines(&good(&["journeys", &capture, "--format", "jsonl"]));
    let ways = journeys.iter().map(|row| (&row["fate"], row["hops"].as_array().unwrap().len()));
    assert_eq!(ways.collect::<Vec<_>>(), vec![(&Value::from("arrived"), 3); 3]);
}

/// UDP goes from h0 alone, and TCP from h2: their packets end behind a switch of which one port is left.
#[test]
fn ip_packets_that_end_out_of_sight_are_counted() {
    let directory = ScratchDirectory::new("ip-part");
    let (whole, part) = (capture("demo-ip"), directory.file("part"));
    let rows =
        |path: &str| json_lines(&good(&["conversations", path, "--ip", "--format", "jsonl"]));
    assert!(rows(&whole).iter().all(|row| row["unseen"] == 0));
    for (host, lost) in [("h0", 0), ("h2", 1)] {
        good(&["slice", &whole, "--channel", host, "-o", &part]);
        let sent = rows(&part).into_iter().filter(|row| row["data"] != 0);
        let sums = sent.fold([0, 0, 0], |sums: [u64; 3], row| {
            let next = ["packets", "lost", "unseen"].map(|field| row[field].as_u64().unwrap());
            [0, 1, 2].map(|at| sums[at] + next[at])
        });
        assert_eq!(sums[1], lost, "{host}: {sums:?}");
        assert!(sums[0] > 1 && sums[2] == sums[0] - lost, "{host}: {sums:?}");
    }
}
