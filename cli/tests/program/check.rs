//! `check` and `explain`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{RunOutcome, ScratchDirectory, fixture, good, json, json_lines, piped, run};

fn check(path: &str, more: &[&str]) -> RunOutcome {
    run(&[&["check", &fixture(path)], more].concat())
}

/// Runs the `see` commands of the findings of a fixture, and counts them.
fn run_evidence(path: &Path) -> usize {
    let name = path.to_str().unwrap();
    let found = json(&run(&["check", name, "--format", "json"]).out);
    let found = found.get("findings").and_then(Value::as_array).unwrap();
    for row in found {
        let line = row.get("see").and_then(Value::as_str).unwrap();
        let arguments = line.strip_prefix("myriscope ").unwrap();
        let shown = Command::new("sh")
            .args(["-c", &format!("\"$0\" {arguments}"), env!("CARGO_BIN_EXE_myriscope")])
            .output()
            .unwrap();
        let RunOutcome { status, out, err, .. } = shown.into();
        assert_eq!((status, err.as_str()), (Some(0), ""), "{line}");
        assert!(out.lines().count() > 1, "{line}: {out}");
    }
    found.len()
}

#[test]
fn every_finding_has_a_command_that_shows_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/findings");
    let files = fs::read_dir(fixtures).unwrap();
    let counts: Vec<usize> = files.map(|file| run_evidence(&file.unwrap().path())).collect();
    assert!(counts.len() > 50 && counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn the_status_reflects_errors_and_warnings() {
    for (path, filter, status) in [
        ("demo-two-hosts/capture.pcapng", "severity", 0),
        // A note alone is success.
        ("demo-contention/capture.pcapng", "severity", 0),
        ("findings/runt.pcapng", "severity", 1),
        ("findings/crc-bad.pcapng", "severity", 1),
        ("demo-cut/scenario.toml", "severity", 2),
        ("not-there.pcapng", "severity", 2),
        ("link-1/capture.pcapng", "severity >= error", 1),
        ("link-1/capture.pcapng", "severity < warning", 0),
        ("link-1/capture.pcapng", "finding == deadlock", 0),
    ] {
        for more in [&[][..], &["--each"]] {
            let output = check(path, &[&["--filter", filter], more].concat());
            assert_eq!(output.status, Some(status), "{path} {filter} {more:?}: {}", output.err);
        }
    }
    let rows =
        |filter| check("link-1/capture.pcapng", &["--fields", "finding", "--filter", filter]).out;
    let [all, errors] =
        ["severity", "severity >= error"].map(|filter| rows(filter).lines().count());
    assert!(1 < errors && errors < all);
}

#[test]
fn rows_for_programs_are_findings_and_then_verdicts() {
    let all = json(&check("demo-open-wire/capture.pcapng", &["--format", "json"]).out);
    let rows = |key: &str| all[key].as_array().unwrap().clone();
    let (findings, verdicts) = (rows("findings"), rows("verdicts"));
    assert!(findings.iter().any(|row| row["finding"] == "corrected-code" && row["rule"] == "C-4"));
    assert!(verdicts.iter().any(|row| row["rule"] == "C-4" && row["verdict"] == "fail"));
    let lines = check("demo-open-wire/capture.pcapng", &["--format", "jsonl"]).out;
    assert_eq!(json_lines(&lines), [findings, verdicts].concat());
}

#[test]
fn a_rule_is_explained_by_its_id_and_by_its_findings() {
    let finding = good(&["explain", "open-link"]);
    assert!(finding.contains("16 periods") && finding.contains("Open-link timeout"), "{finding}");
    let all = good(&["explain"]);
    assert!(all.starts_with("\nC. characters\n● C-1 "), "{all}");
    assert!(all.contains("\n        → corrected-code\n"));
}

#[test]
fn a_word_is_explained_whatever_its_case_and_hyphens() {
    for (name, expected) in [
        ("F7", "F-7  flow control"),
        ("gap", "GAP  term of Myrinet\n\n  The control symbol that ends a packet."),
        ("CRC-Bad", "crc-bad  error"),
        ("frame", "frame (of a NIC)  term of Myrinet"),
        ("uncaptured", "captured, uncaptured  term of this program"),
        ("open link", "open link  term of Myrinet"),
        ("openlink", "likely causes a cable that was cut or unplugged"),
        ("rule", "  rules.md"),
    ] {
        let text = good(&["explain", name]);
        assert!(text.contains(expected), "{name}: {text}");
    }
    let all = json(&good(&["explain", "--format", "json"]));
    for term in all["terms"].as_array().unwrap() {
        good(&["explain", term["term"].as_str().unwrap()]);
    }
}

#[test]
fn the_capture_of_every_finding_has_it() {
    for about in &analyzer::finding::ALL {
        let output = run(&["explain", about.name, "-o", "-"]);
        assert_eq!(output.status, Some(0), "{}", output.err);
        let checked = piped(&["check", "-", "--fields", "finding"], &output.bytes).out;
        assert!(checked.lines().any(|line| line.trim() == about.name), "{}: {checked}", about.name);
    }
}

#[test]
fn headline_and_status_are_of_the_selection_whatever_the_limit() {
    for (more, status, first, rules) in [
        (&["--channel", "s0:1>h1:0"][..], 1, "✗ 3 errors   on s0:1>h1:0   (1 ", "rules, "),
        (&["--from", "40us"], 0, "✓ nothing wrong in ", "rules, "),
        (&["--filter", "severity == note"], 0, "✓ nothing wrong in ", "rules, "),
        (&["--limit", "0"], 1, "✗ 3 errors   ! 1 warning   in 4 channels, ", "✗ P-1 "),
    ] {
        let output = check("demo-cut/capture.pcapng", more);
        assert_eq!(output.status, Some(status), "{more:?}");
        assert!(output.out.starts_with(first), "{more:?}: {}", output.out);
        let elsewhere = more.first() == Some(&"--limit") || output.out.contains(" elsewhere)\n");
        assert!(elsewhere && output.out.contains(&format!("\n\n{rules}")), "{}", output.out);
    }
    let fields = check("demo-cut/capture.pcapng", &["--limit", "0", "--fields", "finding"]);
    assert_eq!(fields.status, Some(1));
    let missing = check("demo-cut/capture.pcapng", &["--channel", "s9:1"]);
    assert_eq!((missing.status, missing.out.as_str()), (Some(2), ""));
    let declared = fs::read(fixture("demo-cut/capture.pcapng")).unwrap();
    assert!(piped(&["check", "-"], &declared[..876]).out.starts_with("? cannot tell"));
}

/// Names between backquotes.
fn names(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Facts in a page: kinds with their members, and the members that are explained.
fn documented_facts() -> (BTreeSet<(String, String)>, BTreeSet<String>) {
    let page = include_str!("../../../docs/output.md");
    let (_, page) = page.split_once("### Members of `first`").unwrap();
    let (kinds, rest) = page.split_once("\nThe members:\n\n").unwrap();
    let (meanings, _) = rest.split_once("\n\n").unwrap();
    let explained = meanings.lines().filter_map(|line| names(line).into_iter().next()).collect();
    let mut documented = BTreeSet::new();
    for line in kinds.lines().filter(|line| line.starts_with("- `")) {
        let (kinds, members) = line.split_once(": ").unwrap();
        for kind in names(kinds) {
            documented.extend(names(members).into_iter().map(|member| (kind.clone(), member)));
        }
    }
    (documented, explained)
}

/// Rows of `check` of a fixture, twice in a file, checked against the rows of `check --each`.
fn findings_and_cases(path: &Path) -> Vec<(String, Value)> {
    let directory = ScratchDirectory::new("findings-twice");
    let twice = directory.write("twice", &fs::read(path).unwrap().repeat(2));
    let rows = |more: &[&str], name: &str| -> Vec<Value> {
        let arguments = [&["check", &twice, "--format", "json"], more].concat();
        let mut all = json(&run(&arguments).out);
        all.get_mut(name).and_then(Value::as_array_mut).map(std::mem::take).unwrap()
    };
    let (findings, cases) = (rows(&[], "findings"), rows(&["--each"], "cases"));
    let number = |row: &Value, name: &str| row.get(name).and_then(Value::as_u64).unwrap();
    let sum = |rows: &[Value]| rows.iter().map(|row| number(row, "count")).sum::<u64>();
    assert_eq!(sum(&findings), sum(&cases), "{}", path.display());
    let place = |row: &Value| ["capture", "time_ps"].map(|name| number(row, name));
    assert!(cases.is_sorted_by_key(place), "{}", path.display());
    let facts = |row: &Value, name: &str| {
        let kind = row.get("finding").and_then(Value::as_str).unwrap();
        (kind.to_owned(), row.get(name).unwrap().clone())
    };
    let cases = cases.iter().map(|row| facts(row, "facts"));
    findings.iter().map(|row| facts(row, "first")).chain(cases).collect()
}

#[test]
fn documentation_has_the_facts_of_every_finding_and_cases_are_those_counted() {
    let (documented, explained) = documented_facts();
    let mut seen = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/findings");
    for file in fs::read_dir(root).unwrap() {
        for (kind, facts) in findings_and_cases(&file.unwrap().path()) {
            let members = facts.as_object().unwrap().keys();
            seen.extend(members.map(|member| (kind.clone(), member.clone())));
        }
    }
    let missing: Vec<_> = seen.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/output.md: {missing:?}");
    let members = |all: BTreeSet<(String, String)>| -> BTreeSet<String> {
        all.into_iter().map(|(_, member)| member).collect()
    };
    assert_eq!(members(documented), explained);
    assert_eq!(members(seen), explained, "members without a fixture");
}
