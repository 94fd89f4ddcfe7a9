//! Findings in captures written by hand, and their absence.

mod conversations;
mod limits;
mod table;
mod wires;

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use myriscope_analyzer::finding::{ALL, FindingChecks, FindingKind, Severity};
use myriscope_analyzer::options::AnalysisScope;
use myriscope_analyzer::rules;

use self::table::{CASES, all, capture};
use crate::support::analysed;

fn findings(capture: impl Read + Send) -> FindingChecks {
    analysed(capture, AnalysisScope::Counts).1.findings()
}

/// Names of what is found, and how often.
fn names(findings: &FindingChecks) -> Vec<(&'static str, u64)> {
    let found = findings.set().found();
    found.map(|(kind, _, found)| (kind.about().name, found.count)).collect()
}

fn workspace(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[test]
fn every_kind_has_a_capture_that_shows_it_and_one_that_nearly_does() {
    let mut wrong = Vec::new();
    for case in all() {
        let name = case.kind.about().name;
        let has = findings(case.has.as_slice());
        if has.set().total(case.kind) == 0 {
            wrong.push((name, "has it", names(&has)));
        }
        let nearly = findings(case.nearly.as_slice());
        if nearly.set().total(case.kind) > 0 {
            wrong.push((name, "nearly has it", names(&nearly)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// N-2: two links at a port; 33 ports; no link to a part; no mapper. N-8: an answer by another route; a packet with
/// byte 80 that leaves by another port.
#[test]
fn every_way_in_which_no_network_has_a_map_and_of_not_going_back_is_found() {
    let has = all().find(|case| case.kind == FindingKind::ImpossibleMap).unwrap().has;
    assert_eq!(findings(has.as_slice()).set().total(FindingKind::ImpossibleMap), 4);
    let has = all().find(|case| case.kind == FindingKind::WrongWayBack).unwrap().has;
    assert_eq!(findings(has.as_slice()).set().total(FindingKind::WrongWayBack), 2);
}

/// N-2, N-7, N-8
#[test]
fn rules_of_mapping_pass_where_routes_and_answers_are_right() {
    for (kind, rule, times) in [
        (FindingKind::RouteNotDistributed, "N-7", 2),
        // A turn to port 0 may be that of an absolute switch.
        (FindingKind::WrongWayBack, "N-8", 2),
    ] {
        let nearly = all().find(|case| case.kind == kind).unwrap().nearly;
        let found = findings(nearly.as_slice());
        let verdict = rules::rule(rule).unwrap().verdict(found.set());
        assert_eq!((verdict.outcome, verdict.times), (rules::RuleOutcome::Pass, times), "{rule}");
    }
    let nearly = all().find(|case| case.kind == FindingKind::RouteNotOnMap).unwrap().nearly;
    assert_eq!(findings(nearly.as_slice()).set().seen().mapped, 1);
}

/// `cargo run -p myriscope-analyzer --example findings` writes them.
#[test]
fn every_kind_is_in_the_table_and_its_capture_is_the_one_that_is_shipped() {
    let kinds: Vec<&str> = all().map(|case| case.kind.about().name).collect();
    assert_eq!(kinds, ALL.iter().map(|about| about.name).collect::<Vec<_>>());
    for case in all() {
        let path = workspace(&format!("fixtures/findings/{}.pcapng", case.kind.about().name));
        let shipped = fs::read(&path).unwrap_or_default();
        assert!(shipped == case.has, "{} is out of date", path.display());
    }
}

#[test]
fn the_demo_of_every_rule_tests_it() {
    let mut idle = Vec::new();
    for rule in rules::all() {
        let Some(demo) = rule.example else { continue };
        let path = workspace(&format!("fixtures/demo-{demo}/capture.pcapng"));
        let found = findings(File::open(path).unwrap());
        let verdict = rule.verdict(found.set());
        if verdict.is_judged() && verdict.times == 0 {
            idle.push((rule.id, demo));
        }
    }
    assert_eq!(idle, []);
}

#[test]
fn every_rule_has_a_text_and_a_source_in_the_documentation() {
    for rule in rules::all() {
        assert!(!rule.text().is_empty() && !rule.clause().is_empty(), "{}", rule.id);
    }
    assert_eq!(rules::all().count(), 86);
    let runt = rules::rule("P-9").unwrap();
    assert!(runt.text().starts_with("**Decision:** a packet of fewer than 2 bytes"));
    assert_eq!((runt.clause(), rules::rule("P-5").unwrap().clause()), ("–", "3.3, Micro"));
}

#[test]
fn every_finding_comes_from_a_rule_that_a_capture_shows_or_from_the_recording() {
    for about in &ALL {
        let Some(rule) = about.rule else { continue };
        let rule = rules::rule(rule).unwrap();
        assert!(!matches!(rule.shows, rules::RuleVisibility::Nothing(_)), "{}", about.name);
    }
}

#[test]
fn runs_without_faults_have_neither_errors_nor_warnings() {
    for demo in ["two-hosts", "contention", "now36", "adversary"] {
        let path = workspace(&format!("fixtures/demo-{demo}/capture.pcapng"));
        let found = findings(File::open(path).unwrap());
        assert_eq!(found.set().count(Severity::Error), 0, "{demo}: {:?}", names(&found));
        // The host of the adversary takes characters only while it says STOP, and so holds up the other one.
        let warnings = usize::from(demo == "adversary");
        let found_warnings = found.set().count(Severity::Warning);
        assert_eq!(found_warnings, warnings, "{demo}: {:?}", names(&found));
    }
}

/// A repeat and its characters have the same findings, as often and in the same places.
#[test]
fn a_repeat_is_as_its_characters() {
    for text in [
        "GO GAP!08",
        "GAP!08 GAP",
        "!a6 IDLE×3",
        "FRES",
        "FRES STOP",
        "FRES 83",
        "ORUN GAP!04 IDLE×2",
        "IDLE×5 GO",
    ] {
        let set = |line: &str| {
            findings(capture(CASES[0].wires, &[line, "1: GAP"]).as_slice()).set().clone()
        };
        let literal = format!("0: GAP{}", format!(" | {text}").repeat(40));
        assert_eq!(set(&format!("0: GAP | ({text})×40")), set(&literal), "{text}");
    }
}
