//! The dissector for Wireshark, as tshark runs it. The variable `MYRISCOPE_TSHARK` demands tshark.

use std::fs;
use std::process::Command;

use analyzer::filter::RowKind;
use serde_json::Value;

use crate::support::{RunOutcome, ScratchDirectory, fixture, good, run};

/// Filters that both programs read, on packets.
const PACKETS: &[&str] = &[
    "tag == 5",
    "tag != 0",
    "!(tag == 1)",
    "crc.bad",
    "crc == bad || crc == \"runt\"",
    "not crc.good and ended_by != gap",
    "ended_by in {open-link, reset, capture-end}",
    "length > 100 && length <= 0x200",
    "payload ge 8 and payload lt 64",
    "route",
    "route == 81",
    "route[0] >= 84",
    "route contains bf:81",
    "bytes[0:2] == 81:01",
    "bytes[-1] == 00 or bytes[4:] contains 00:05",
    "syndrome in {1, 0x40, 64}",
    "channel contains \"h0:\" && packet < 5",
    "channel == \"s0:1>h1:0\"",
    "start > 4096 && end_ps < 100000000",
    "time_ps >= 30000000",
    "capture == 0",
];

/// The same on journeys.
const JOURNEYS: &[&str] = &[
    "fate.arrived",
    "fate == dropped && rule == \"S-1\"",
    "latency_ps > 1000000 || waited_ps > 0",
    "hops == 3",
    "hops.crc == bad",
    "hops.channel contains \"s1:\"",
    "injuries > 0 && injuries.harm == flipped",
    "hops.waited_for == output",
    "transport.kind == nack && transport.reason == queue-full",
    "transport.sync == true && transport.role.request",
    "transport.destination in {1, 2, 3}",
    "certainty != certain",
];

/// A directory with the settings of Wireshark; none if tshark is absent and not demanded.
#[expect(clippy::print_stderr, reason = "a test that is skipped is reported")]
fn settings(name: &str) -> Option<ScratchDirectory> {
    if Command::new("tshark").arg("--version").output().is_err() {
        assert!(std::env::var_os("MYRISCOPE_TSHARK").is_none(), "tshark is not installed");
        eprintln!("skipped: tshark is not installed");
        return None;
    }
    let directory = ScratchDirectory::new(name);
    good(&["wireshark", "--install", &directory.file("wireshark")]);
    Some(directory)
}

/// Lines that tshark prints with these settings.
fn tshark(settings: &ScratchDirectory, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.env("XDG_CONFIG_HOME", settings.path()).env("HOME", settings.path());
    let outcome = RunOutcome::from(command.args(arguments).output().unwrap());
    let errors = outcome.err.lines().filter(|line| !line.starts_with("Running as user "));
    assert_eq!(
        (outcome.status, errors.collect::<String>()),
        (Some(0), String::new()),
        "{arguments:?}"
    );
    outcome.out.lines().map(str::to_owned).collect()
}

/// All captures of the fixtures.
fn captures() -> Vec<String> {
    let files = |below: &str| fs::read_dir(fixture(below)).unwrap();
    let directories = files("").map(|entry| entry.unwrap().path().join("capture.pcapng"));
    let findings = files("findings").map(|entry| entry.unwrap().path());
    let all = directories.chain(findings).filter(|path| path.is_file());
    let all = all.filter(|path| path.extension().is_some_and(|it| it == "pcapng"));
    let mut all: Vec<String> = all.map(|path| path.to_str().unwrap().to_owned()).collect();
    all.sort();
    assert!(all.len() > 60, "{}", all.len());
    all
}

/// Records of all captures in one file of many sections, and the rows of the program.
fn exported(
    directory: &ScratchDirectory,
    kind: RowKind,
    captures: &[String],
) -> (String, Vec<Value>) {
    let options: &[&str] = if kind == RowKind::Journeys { &["--journeys"] } else { &[] };
    let mut all = Vec::new();
    for capture in captures {
        let one = directory.file("one.pcapng");
        run(&[&["export", "packets", capture, "-o", &one], options].concat());
        all.append(&mut fs::read(one).unwrap());
    }
    let hex: &[&str] = if kind == RowKind::Packets { &["--hex"] } else { &[] };
    let rows = rows(kind, captures, hex);
    (directory.write("all.pcapng", &all), rows)
}

fn rows(kind: RowKind, captures: &[String], options: &[&str]) -> Vec<Value> {
    let files: Vec<&str> = captures.iter().map(String::as_str).collect();
    let arguments = [&[kind.command(), "--format", "jsonl"], options, &files].concat();
    run(&arguments).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Values of a field in a row, as tshark prints them.
fn values(row: &Value, path: &str, out: &mut Vec<String>) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match row.get(name) {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) if list.is_empty() && name == "route" => {}
        Some(Value::Array(list)) if name == "route" && rest.is_empty() => {
            let byte = |byte: &Value| format!("{:02x}", byte.as_u64().unwrap());
            out.push(list.iter().map(byte).collect());
        }
        Some(Value::Array(list)) if rest.is_empty() => out.push(list.len().to_string()),
        Some(Value::Array(list)) => list.iter().for_each(|element| values(element, rest, out)),
        Some(member @ Value::Object(_)) if !rest.is_empty() => values(member, rest, out),
        Some(Value::Object(_)) => {}
        Some(Value::Bool(flag)) => out.push(u8::from(*flag).to_string()),
        Some(Value::String(text)) => out.push(text.clone()),
        Some(other) => out.push(other.to_string()),
    }
}

#[test]
fn fields_and_filters_are_those_of_the_program() {
    let Some(directory) = settings("wireshark-fields") else { return };
    let captures = captures();
    for (kind, filters) in [(RowKind::Packets, PACKETS), (RowKind::Journeys, JOURNEYS)] {
        let (file, all) = exported(&directory, kind, &captures);
        let names = kind.fields().iter().map(|field| field.name);
        let names: Vec<&str> =
            names.filter(|name| !matches!(*name, "file" | "transport")).collect();
        let fields = names.iter().flat_map(|name| ["-e", *name]);
        let print = ["-r", &file, "-T", "fields", "-E", "aggregator=^"].into_iter();
        let lines = tshark(&directory, &print.chain(fields).collect::<Vec<_>>());
        assert_eq!(lines.len(), all.len());
        for (line, row) in lines.iter().zip(&all) {
            for (name, cell) in names.iter().zip(line.split('\t')) {
                let mut expected = Vec::new();
                values(row, name, &mut expected);
                let place = [&row["file"], &row["packet"], &row["journey"]];
                let is_bytes = matches!(*name, "route" | "bytes");
                let cell = if is_bytes { cell.replace(':', "") } else { cell.to_owned() };
                assert_eq!(cell, expected.join("^"), "{name} of {place:?}");
            }
        }
        for filter in filters {
            let selected = tshark(
                &directory,
                &["-r", &file, "-Y", filter, "-T", "fields", "-e", "frame.number"],
            );
            let selected = selected.iter().map(|number| &all[number.parse::<usize>().unwrap() - 1]);
            let ours = rows(kind, &captures, &["--filter", filter]);
            let key = |row: &Value| {
                ["file", "capture", "channel", "packet", "journey"].map(|name| row[name].clone())
            };
            let ours: Vec<_> = ours.iter().map(key).collect();
            assert!(!ours.is_empty(), "{filter} selects nothing");
            assert_eq!(selected.map(key).collect::<Vec<_>>(), ours, "{filter}");
        }
    }
}
