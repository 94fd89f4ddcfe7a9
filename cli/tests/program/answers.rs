//! Right answers to questions at the edge: large chunks, empty values, channels without characters, damaged captures.

use std::process::Command;

use crate::support::{ScratchDirectory, capture_bytes, fixture, good, program, run};

fn edge(name: &str) -> String {
    fixture(&format!("edge-cases/{name}"))
}

#[test]
fn a_capture_does_not_differ_from_itself_whatever_its_chunks() {
    for name in ["diff-self-513.pcapng.gz", "diff-self-repeat.pcapng.gz", "hostile-names.pcapng.gz"]
    {
        let same = good(&["diff", &edge(name), &edge(name)]);
        assert!(same.starts_with("✓ no difference on "), "{name}: {same}");
    }
}

#[test]
fn groups_are_of_values_and_what_is_empty_is_not_there() {
    let (named, empty) = (edge("hostile-names.pcapng.gz"), edge("empty-route.pcapng.gz"));
    for fields in ["states", "states,pings", "control"] {
        let command = if fields == "control" { "info" } else { "links" };
        let rows = good(&[command, &named, "--fields", fields, "--format", "jsonl"]);
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.sort_unstable();
        rows.dedup();
        let groups = good(&[command, &named, "--group", fields, "--format", "jsonl"]);
        assert_eq!(groups.lines().count(), rows.len(), "{fields}");
    }
    let count = |filter| good(&["packets", &empty, "--filter", filter, "--count"]);
    let [all, with] = ["route || !route", "route"].map(count);
    assert!(all != with && count("route != 81 || route == 81") == with, "{all}{with}");
    let journeys = |filter| good(&["journeys", &named, "--filter", filter, "--count"]);
    assert_eq!(journeys("injuries"), journeys("injuries > 0"));
    assert_eq!(journeys("!injuries"), journeys("injuries == 0"));
}

#[cfg(target_os = "linux")]
#[test]
fn channels_without_characters_need_little_memory() {
    let silent = edge("silent-channels.pcapng.zst");
    let mut shell = Command::new("sh");
    // 102 MB, and what is mapped of the program itself and of stacks. With one arena nothing more is reserved.
    shell.env("MALLOC_ARENA_MAX", "1");
    shell.args(["-c", "ulimit -v 132000; exec \"$0\" check \"$1\" --count"]);
    let output = shell.args([env!("CARGO_BIN_EXE_myriscope"), &silent]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "65536\n", "{output:?}");
}

#[test]
fn no_old_file_is_replaced_by_a_part() {
    let directory = ScratchDirectory::new("replaced");
    let mut bytes = capture_bytes("demo-cut");
    bytes.truncate(bytes.len() - 10);
    let damaged = directory.write("damaged.pcapng", &bytes);
    for command in ["packets", "perfetto", "states", "wires"] {
        let old = directory.write("old", b"old");
        let outcome = run(&["export", command, &damaged, "-o", &old]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""), "{command:?}");
        assert!(outcome.err.contains("old is kept as it is"), "{command:?}: {}", outcome.err);
        assert_eq!(directory.read("old"), b"old", "{command:?}");
        run(&["export", command, &damaged, "-o", &directory.file("new")]);
        assert!(!directory.read("new").is_empty(), "{command:?}");
        std::fs::remove_file(directory.file("new")).unwrap();
    }
}

#[test]
fn terms_and_commands_of_several_words_are_found() {
    assert!(good(&["explain", "up-down"]).contains("never up after down"));
    assert!(good(&["explain", "wormhole routing"]).contains("cut-through"));
    assert!(good(&["help", "export", "wires"]).contains("Usage: myriscope export wires"));
    let checked = run(&["check", &fixture("demo-cut/scenario.toml")]).err;
    assert!(checked.contains("simulate a scenario first: myriscope simulate "), "{checked}");
}

#[test]
fn a_locale_without_utf_8_gets_ascii() {
    for command in ["check", "blocking", "links", "show"] {
        let mut command = program(&[command, &fixture("ring-deadlock/capture.pcapng")]);
        let output = command.env("LC_ALL", "C").output().unwrap();
        assert!(output.stdout.is_ascii() && !output.stdout.is_empty(), "{output:?}");
    }
}
