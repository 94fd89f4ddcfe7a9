//! Every published fixture, as the program prints it.

use std::fs::File;

use analyzer::snapshot::{SnapshotView, render};

use crate::support::{RunOutcome, capture, fixtures, program, run, view};

/// Output and exit status of a command for every fixture.
fn check(name: &str, arguments: &[&str]) {
    for path in fixtures().iter().filter(|path| path.ends_with("capture.pcapng")) {
        let mut command = program(&[&[name], arguments, &["capture.pcapng"]].concat());
        let directory = path.parent().unwrap();
        let output = RunOutcome::from(command.current_dir(directory).output().unwrap());
        assert_eq!(output.err, "", "{name} {}", path.display());
        let printed = format!("{}exit status {}\n", output.out, output.status.unwrap());
        let fixture = directory.file_name().unwrap().to_string_lossy();
        let suffix = format!("{fixture}__capture.pcapng");
        insta::with_settings!({ omit_expression => true, snapshot_suffix => suffix }, {
            insta::assert_snapshot!(name, printed);
        });
    }
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
fn the_library_renders_the_same_as_the_program() {
    let views: [(&[&str], SnapshotView); 10] = [
        (&["info"], SnapshotView::Info),
        (&["packets"], SnapshotView::Packets),
        (&["events"], SnapshotView::Events),
        (&["show", "--plain"], SnapshotView::Show),
        (&["links"], SnapshotView::Links),
        (&["links", "--slack"], SnapshotView::Slack),
        (&["journeys"], SnapshotView::Journeys),
        (&["blocking", "--limit", "1000"], SnapshotView::Blocking),
        (&["topology"], SnapshotView::Topology),
        (&["check", "--rules"], SnapshotView::Check),
    ];
    for (arguments, of) in views {
        for name in ["link-1", "demo-cut", "demo-now36"] {
            let path = capture(name);
            let mut printed = run(&[arguments, &[&path]].concat()).out;
            // The library does not know the program's commands.
            if of == SnapshotView::Check {
                let lines = printed.lines().filter(|line| !line.trim_start().starts_with("see  "));
                printed = lines.map(|line| format!("{line}\n")).collect();
            }
            let rendered = render(File::open(&path).unwrap(), of);
            assert_eq!(printed, rendered, "{arguments:?} of {name}");
        }
    }
}

/// H-1: three UDP datagrams of 4000 bytes and 32 768 bytes of TCP, of which a packet of 1460 is hurt.
#[test]
fn conversations_over_ip_are_counted_by_their_ports() {
    insta::assert_snapshot!(view("demo-ip", &["conversations", "--ip"]), @"
    source           source_port  destination      protocol  packets  data [bytes]     lost  retransmissions  destination_port  bad_checksums
    10.0.0.4               32769  10.0.0.3         tcp            26         34228        1                1              1025              0
    10.0.0.3                1025  10.0.0.4         tcp            21             0        0                0             32769              0
    10.0.0.2               32768  10.0.0.3         udp             3          4416        0                0              1024              0
    10.0.0.2                   -  10.0.0.3         udp             6          7584        0                0                 -              0
    ");
}

#[test]
fn conversations_are_printed_as_text_and_as_json() {
    let printed = |form| view("demo-nacks", &["conversations", "--limit", "1", "--format", form]);
    insta::assert_snapshot!(printed("text"), @"
    NIC 1 → NIC 5   4 messages, 64 bytes   4 acknowledged
              sent again: 6 nack
              NACKs: 6 queue-full
      ch messages   data resent   acks  nacks dup late stale   rtt min     mean   max µs  history
       0        4     10      6      4      6   0    0     0       6.8      6.9      7.4  SA D(NR)5A DA DNRA

    4 round trips of 6.8 to 7.4 µs
             4 µs  ████████████████████████████████████████ 4
    ");
    let read: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(read["conversations"][0]["messages"], 4);
}
