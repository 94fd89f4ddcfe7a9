//! Input that is odd on purpose: the program says what is wrong and where, and comes to an end.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, Content, Writer};
use codec::notation::parse;
use codec::tick::Tick;
use serde_json::Value;

/// Every command that reads a capture, as JSON.
const COMMANDS: [&[&str]; 12] = [
    &["info"],
    &["packets"],
    &["events"],
    &["show"],
    &["links"],
    &["links", "--intervals"],
    &["links", "--slack"],
    &["links", "--fill"],
    &["journeys"],
    &["blocking"],
    &["topology"],
    &["check"],
];

fn run(command: &[&str], file: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_myriscope"));
    program.args(command).arg(file).args(["--format", "json"]).output().unwrap()
}

/// A capture of a link; what its channels say of it, and what they carry: a pattern as often.
fn link(more: &[(&str, &str)], patterns: [(&str, u64); 2]) -> Vec<u8> {
    let mut channels = [Channel::named("h0:0>s0:1"), Channel::named("s0:1>h0:0")];
    for channel in &mut channels {
        channel.tap = Some("s0:1".into());
        channel.more = more.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    }
    let mut file = Writer::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    for (id, (pattern, count)) in (0..).zip(patterns) {
        let pattern = parse(pattern).unwrap();
        let content = Content::Repeat { pattern: pattern.chars(), count };
        file.write(ChannelId(id), &Chunk { first: Tick(0), content }).unwrap();
    }
    file.finish().unwrap()
}

/// Keeps a capture in a file.
fn kept(name: &str, capture: &[u8]) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}.pcapng"));
    std::fs::write(&file, capture).unwrap();
    file
}

/// Runs all commands over a capture: none fails, and each prints JSON that is whole.
fn read_by_all(name: &str, capture: &[u8]) {
    let file = kept(name, capture);
    for command in COMMANDS {
        let output = run(command, &file);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!error.contains("an error of this program"), "{command:?}: {error}");
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{command:?}: {error}");
    }
}

#[test]
fn of_a_file_that_cannot_be_opened_nothing_is_printed() {
    for (file, told) in [("not-there.pcapng", "No such file"), (".", "is a directory")] {
        for command in COMMANDS {
            let output = run(command, Path::new(file));
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
            assert!(
                error.starts_with("myriscope: ") && error.contains(told),
                "{command:?} {error}"
            );
        }
    }
}

#[test]
fn of_a_file_that_is_no_capture_or_ends_early_the_json_is_whole() {
    let whole = link(&[], [("GAP GO", 50), ("83 05 92 GAP STOP", 20)]);
    for len in [0, 1, 30, whole.len() / 2, whole.len() - 1] {
        read_by_all("early", whole.get(..len).unwrap());
    }
}

#[test]
fn what_a_link_says_of_itself_may_be_any_number() {
    for number in ["0", "1", "65537", "18446744073709551615", "-1", "x"] {
        let more = ["kg", "h", "ks", "delay", "gen", "int"].map(|key| (key, number));
        read_by_all("says", &link(&more, [("83 05 92 GAP FRES", 100), ("STOP GO", 300)]));
    }
}

#[test]
fn no_repeat_is_too_long() {
    for pattern in ["83 GAP", "STOP GO", "83 05 92 GAP FRES"] {
        let file = kept("long", &link(&[], [(pattern, 1 << 60), ("GAP GO", 1 << 60)]));
        for command in [&["links"][..], &["topology"], &["journeys", "--limit", "1"]] {
            let output = run(command, &file);
            assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{command:?}");
        }
    }
}
