//! What is said of every published fixture, as a person sees it.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::fmt::Write as _;
use std::fs::File;
use std::process::Command;

use analyzer::render::{SnapshotView, render};

/// What a command prints of every fixture, and its exit status.
fn check(name: &str, arguments: &[&str]) {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
        command.arg(name).args(arguments).arg(path).env_remove("CLICOLOR_FORCE");
        let output = command.output().unwrap();
        let mut said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{name} {}", path.display());
        writeln!(said, "exit status {}", output.status.code().unwrap()).unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, said);
        });
    });
}

#[test]
fn journeys() {
    check("journeys", &["--limit", "30"]);
}

#[test]
fn findings_and_verdicts() {
    check("check", &[]);
}

#[test]
fn what_libraries_render_is_what_the_program_prints() {
    let views: [(&[&str], SnapshotView); 10] = [
        (&["info"], SnapshotView::Info),
        (&["packets"], SnapshotView::Packets),
        (&["events"], SnapshotView::Events),
        (&["show"], SnapshotView::Show),
        (&["links"], SnapshotView::Links),
        (&["links", "--slack"], SnapshotView::Slack),
        (&["journeys"], SnapshotView::Journeys),
        (&["blocking", "--limit", "1000"], SnapshotView::Blocking),
        (&["topology"], SnapshotView::Topology),
        (&["check"], SnapshotView::Check),
    ];
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");
    for (arguments, view) in views {
        for name in ["link-1", "demo-cut", "demo-now36"] {
            let path = format!("{fixtures}/{name}/capture.pcapng");
            let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
            command.args(arguments).arg(&path).env_remove("CLICOLOR_FORCE");
            let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let rendered = render(File::open(&path).unwrap(), view);
            assert_eq!(printed, rendered, "{arguments:?} of {name}");
        }
    }
}

#[test]
fn conversations_are_told_as_text_and_as_json() {
    let said = |form| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/demo-nacks/capture.pcapng");
        let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
        command.args(["conversations", "--limit", "1", "--format", form, path]);
        let output = command.env_remove("CLICOLOR_FORCE").output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
        String::from_utf8(output.stdout).unwrap()
    };
    insta::assert_snapshot!(said("text"), @"
    NIC 1 → NIC 5   4 messages, 64 bytes   4 acknowledged
              sent again: 6 nack
              NACKs: 6 queue-full
      ch messages   data resent   acks  nacks dup late stale   rtt min     mean   max µs  history
       0        4     10      6      4      6   0    0     0       6.8      6.9      7.4  SA D(NR)5A DA DNRA

    4 round trips of 6.8 to 7.4 µs
             4 µs  ████████████████████████████████████████ 4
    ");
    let read: serde_json::Value = serde_json::from_str(&said("json")).unwrap();
    assert_eq!(read["conversations"][0]["messages"], 4);
}
