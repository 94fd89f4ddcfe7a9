//! Every published fixture, as the program prints it.

use std::fs::File;

use analyzer::snapshot::{SnapshotView, render};

use crate::support::{RunOutcome, capture, fixtures, program, run};

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
