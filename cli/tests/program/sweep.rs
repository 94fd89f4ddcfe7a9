//! `sweep`.

use std::fs;

use serde_json::Value;

use crate::support::{ScratchDirectory, bad, fixture, good, json, json_lines, refused};

/// Runs a sweep of the size of packets.
fn sweep(more: &[&str]) -> String {
    let scenario = fixture("demo-contention/scenario.toml");
    let options = ["--vary", "traffic.0.payload=64,512", "--warmup", "10us", "--seeds", "3"];
    good(&[&["sweep", &scenario, "--set", "duration_us=60"], &options[..], more].concat())
}

#[test]
fn a_sweep_writes_the_same_table_and_plot_every_time() {
    let directory = ScratchDirectory::new("sweep");
    let [one, two] = ["one", "two"].map(|name| {
        let text = sweep(&["-o", &directory.file(name)]);
        let files = ["sweep.csv", "sweep-seeds.csv", "sweep.svg"];
        (text, files.map(|file| directory.text(&format!("{name}/{file}"))))
    });
    assert_eq!(one, two);
    let (_, [csv, ..]) = one;
    assert_eq!(sweep(&["--format", "csv"]), csv);
    assert_eq!(sweep(&["--format", "tsv"]), csv.replace(',', "\t"));
    let list = json(&sweep(&["--format", "json"]));
    let each = json_lines(&sweep(&["--format", "jsonl"]));
    assert_eq!((&list, &each[1]["traffic.0.payload"]), (&each.clone().into(), &"512".into()));
    let all = sweep(&["--vary", "duration_us=60..61:1", "--format", "csv"]);
    assert_eq!(all.lines().count(), 5);
}

#[test]
fn a_scenario_that_cannot_be_read_is_named() {
    let directory = ScratchDirectory::new("no-sweep");
    let empty = directory.write("empty.toml", b"");
    let error = bad(&["sweep", &empty, "--vary", "traffic.0.payload=64"]);
    assert!(error.ends_with("empty.toml: the file is empty\n"), "{error}");
    let scenario = fixture("demo-cut/scenario.toml");
    let escape = ["sweep", &scenario, "--vary", "traffic.0.to=\u{1b}[2J"];
    refused(&escape, "unknown host `\\u{1b}[2J`");
}

#[test]
fn finished_runs_are_kept_and_used_again() {
    let directory = ScratchDirectory::new("resumed-sweep");
    let path = directory.file("out");
    let whole = sweep(&["-o", &path]);
    let runs = directory.path().join("out/sweep-runs.jsonl");
    let lines = fs::read_to_string(&runs).unwrap();
    let kept: Vec<&str> = lines.lines().collect();
    let files = ["sweep-runs.jsonl", "sweep-seeds.csv", "sweep.csv", "sweep.svg"];
    assert_eq!(directory.names_in("out"), files);
    assert_eq!(kept.len(), 7);
    // The program ended while it wrote the third run. The first one shows that it is not run again.
    let changed = kept[1].replacen("\"packets\":", "\"packets\":1", 1);
    let cut = [kept[0], &changed, kept[2], &kept[3][..9]].join("\n");
    fs::write(&runs, cut).unwrap();
    assert_ne!(sweep(&["-o", &path]), whole);
    let again = fs::read_to_string(&runs).unwrap();
    assert_eq!(again.lines().count(), 7, "{again}");
    assert_eq!(again.lines().nth(1), Some(&*changed));
}

#[test]
fn the_result_of_another_sweep_is_not_overwritten() {
    let directory = ScratchDirectory::new("other-sweep");
    let path = directory.file("out");
    let scenario = fixture("demo-contention/scenario.toml");
    let run = |more: &[&str]| {
        let options = ["sweep", &scenario, "--set", "duration_us=20", "-o", &path, "--vary"];
        [&options[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let texts =
        |all: &[String]| -> String { bad(&all.iter().map(String::as_str).collect::<Vec<_>>()) };
    let one = run(&["traffic.0.payload=64", "--seeds", "1"]);
    good(&one.iter().map(String::as_str).collect::<Vec<_>>());
    let before = directory.read("out/sweep.csv");
    for (options, expected) in [
        (
            &["traffic.0.payload=65", "--seeds", "2"][..],
            "differs in --vary, --seeds, the scenario: name another",
        ),
        (
            &["traffic.0.payload=64", "--seeds", "1", "--warmup", "1us"],
            "differs in --warmup: name another",
        ),
        (
            &["traffic.0.payload=64", "--seeds", "1", "--set", "link.go_slack=8"],
            "differs in the scenario: name another",
        ),
    ] {
        let error = texts(&run(options));
        assert!(error.contains(expected), "{options:?} {error}");
    }
    directory.write("out/sweep-runs.jsonl", b"{}\n");
    assert!(texts(&one).contains("sweep-runs.jsonl: line 1 is none of a sweep"));
    fs::remove_file(directory.path().join("out/sweep-runs.jsonl")).unwrap();
    assert!(texts(&one).contains("sweep.csv: the result of another sweep"));
    assert_eq!(directory.read("out/sweep.csv"), before);
}

/// Two hosts share the link of a third: half of it each is the most. One pair of hosts is never saturated.
#[test]
fn the_search_for_saturation_ends_at_neighbours_and_goes_on_from_finished_runs() {
    let directory = ScratchDirectory::new("saturation");
    let text = "duration_us = 400\ntopology = { kind = 'switch', ports = 4, hosts = 3 }\n[[traffic]]\n\
                from = ['h0', 'h1']\nto = ['h2', 'h2']\npayload = 100\nload = 0.1\nlaw = 'constant'\n";
    let scenario = directory.write("merge.toml", text.as_bytes());
    let search = |name: &str, more: &[&str]| {
        let path = directory.file(name);
        let options = ["--saturation", "traffic.0.load=0.1..0.6:0.01", "--seeds", "2"];
        let options = [&options[..], &["-o", &path, "--format", "json"], more].concat();
        good(&[&["sweep", &scenario, "--warmup", "20us"], &options[..]].concat())
    };
    let found = search("out", &[]);
    let row = &json(&found)[0];
    let number = |name: &str| row[name].as_str().unwrap().parse::<f64>().unwrap();
    let (below, from) = (number("traffic.0.load_below"), number("traffic.0.load_from"));
    assert!((from - below - 0.01).abs() < 1e-9 && below >= 0.4 && from <= 0.52, "{found}");
    let limits = (&row["accepted_limit_percent"], &row["latency_limit_factor"], &row["seeds"]);
    assert_eq!(limits, (&95.into(), &3.into(), &2.into()), "{found}");
    // From 51 loads both ends and those that halve the rest, two seeds each.
    let runs = directory.read("out/sweep-runs.jsonl");
    assert_eq!(runs.iter().filter(|byte| **byte == b'\n').count(), 1 + 8 * 2);
    assert_eq!((search("out", &[]), directory.read("out/sweep-runs.jsonl")), (found, runs));
    let late = ["--saturation", "traffic.0.load=0.55,0.6", "--seeds", "1"];
    refused(
        &[&["sweep", &scenario, "--warmup", "20us"], &late[..]].concat(),
        "traffic.0.load: at 0.55 less than 95 % of what is offered",
    );
    let pair = ["--set", "traffic.0.from=['h0']", "--set", "traffic.0.to=['h2']"];
    let row = json(&search("pair", &pair));
    let ends = (&row[0]["traffic.0.load_below"], &row[0]["traffic.0.load_from"]);
    assert_eq!(ends, (&"0.6".into(), &Value::Null));
}

#[test]
fn a_lost_packet_is_finished() {
    let (directory, scenario) =
        (ScratchDirectory::new("lossy-sweep"), fixture("demo-cut/scenario.toml"));
    let options = ["--vary", "duration_us=60", "--seeds", "1", "-o", &directory.file("out")];
    good(&[&["sweep", &scenario], &options[..]].concat());
    let seeds = directory.text("out/sweep-seeds.csv");
    assert!(seeds.contains(",lost,unfinished,") && seeds.ends_with(",2,0,0,0,1\n"), "{seeds}");
}

/// Four packets of 2000 bytes hold one another for ever; with one of 10 bytes they all arrive.
#[test]
fn a_deadlock_has_no_latency_and_is_not_joined_to_other_points() {
    let directory = ScratchDirectory::new("deadlocked-sweep");
    let text = fs::read_to_string(fixture("demo-ring/scenario.toml")).unwrap();
    // Without the packet behind the deadlock.
    let (text, _) = text.split_once("# All is free again.").unwrap();
    let scenario = directory.write("ring.toml", text.as_bytes());
    let path = directory.file("out");
    // The last packet closes the circle, unless it comes when the others have arrived.
    let options = ["--set", "duration_us=200", "--vary", "traffic.3.start_us=100,0.3"];
    good(&[&["sweep", &scenario, "--seeds", "1", "-o", &path], &options[..]].concat());
    let seeds = directory.text("out/sweep-seeds.csv");
    let rows: Vec<Vec<&str>> = seeds.lines().map(|line| line.split(',').collect()).collect();
    let ends = ["lost", "unfinished", "standing", "deadlock", "saturated"];
    assert_eq!(rows[0][2..5], ["packets", "offered_mbit_s", "accepted_mbit_s"]);
    assert_eq!(rows[0][8..], ends);
    // 8000 bytes in 200 µs.
    assert_eq!(rows[1][..5], ["100", "1", "4", "320", "320"]);
    assert_eq!(rows[1][8..], ["0", "0", "0", "0", "0"]);
    assert_eq!(rows[2][..8], ["0.3", "1", "0", "320", "0", "", "", ""]);
    assert_eq!(rows[2][8..], ["0", "4", "4", "1", "1"]);
    let table = directory.text("out/sweep.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].ends_with(",0,0") && lines[2].ends_with(",,,,,,,1,1"), "{table}");
    let plot = directory.text("out/sweep.svg");
    assert!(plot.contains("saturated or deadlocked</text>"));
}
