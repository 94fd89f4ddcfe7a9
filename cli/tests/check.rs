//! `myriscope check` and `myriscope explain` as a person or a script runs them.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(path)
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_myriscope")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn check(path: &str, more: &[&str]) -> Output {
    let path = fixture(path);
    let file = path.to_str().unwrap();
    run(&[&["check", file], more].concat())
}

#[test]
fn a_cut_cable_is_found_with_its_rules_and_its_place() {
    let output = check("demo-cut/capture.pcapng", &[]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(text(&output));
}

#[test]
fn the_status_says_whether_there_are_errors_or_warnings() {
    for (path, status) in [
        ("demo-two-hosts/capture.pcapng", 0),
        // A note is no reason to worry.
        ("demo-contention/capture.pcapng", 0),
        ("findings/runt.pcapng", 1),
        ("findings/crc-bad.pcapng", 1),
        ("demo-cut/scenario.toml", 2),
        ("not-there.pcapng", 2),
    ] {
        assert_eq!(check(path, &[]).status.code(), Some(status), "{path}");
    }
}

#[test]
fn rows_for_programs_are_findings_and_then_verdicts() {
    let output = check("demo-open-wire/capture.pcapng", &["--format", "json"]);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = |key: &str| all[key].as_array().unwrap().clone();
    let (findings, verdicts) = (rows("findings"), rows("verdicts"));
    assert!(findings.iter().any(|row| row["finding"] == "corrected-code" && row["rule"] == "C-4"));
    assert!(verdicts.iter().any(|row| row["rule"] == "C-4" && row["verdict"] == "fail"));
    let lines = text(&check("demo-open-wire/capture.pcapng", &["--format", "jsonl"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [findings, verdicts].concat());
}

#[test]
fn a_rule_is_explained_by_its_id_and_by_its_findings() {
    insta::assert_snapshot!(text(&run(&["explain", "f-7"])));
    let finding = text(&run(&["explain", "truncated-by-open-link"]));
    assert!(finding.contains("a packet was ended by 16 silent periods"));
    assert!(finding.contains("Open-link timeout"));
    assert_eq!(run(&["explain"]).status.code(), Some(0));
}

#[test]
fn a_name_that_nothing_has_brings_the_nearest_to_mind() {
    for (asked, meant) in [("crc-bda", "crc-bad"), ("F3", "F-3"), ("openlink", "open-link")] {
        let output = run(&["explain", asked]);
        assert_eq!(output.status.code(), Some(2), "{asked}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&format!("did you mean {meant:?}?")), "{told}");
    }
}

#[test]
fn headline_and_status_are_of_what_was_selected_whatever_the_limit() {
    let own = "✗ 3 errors   on s0:1>h1:0   (1 warning elsewhere)";
    let part = "✓ nothing wrong in what was selected   (3 errors, 1 warning elsewhere)";
    let all = "✗ 3 errors   ! 1 warning   in 4 channels, 19200 characters, 7 packets";
    for (more, status, first, rules) in [
        (&["--channel", "s0:1>h1:0"][..], 1, own, "rules, by the whole capture:"),
        (&["--from", "40us"], 0, part, "rules, by the whole capture:"),
        (&["--filter", "severity == note"], 0, part, "rules, by the whole capture:"),
        (&["--limit", "0"], 1, all, "C characters"),
    ] {
        let output = check("demo-cut/capture.pcapng", more);
        let text = text(&output);
        assert_eq!((output.status.code(), text.lines().next()), (Some(status), Some(first)));
        assert!(text.contains(&format!("\n\n{rules}")), "{more:?}: {text}");
    }
    let fields = check("demo-cut/capture.pcapng", &["--limit", "0", "--fields", "finding"]);
    assert_eq!(fields.status.code(), Some(1));
    let missing = check("demo-cut/capture.pcapng", &["--channel", "s0:1"]);
    assert_eq!((missing.status.code(), missing.stdout.as_slice()), (Some(2), &b""[..]));
}
