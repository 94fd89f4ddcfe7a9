//! Errors of scenario files.

use myriscope_simulator::scenario::{ErrorStyle, Scenario};

/// A switch with two hosts: lines 1 to 10. Problems come from line 11 on.
const BASE: &str = r#"duration_us = 500
[[switch]]
name = "s0"
ports = 4
[[host]]
name = "h0"
at = "s0:0"
[[host]]
name = "h1"
at = "s0:1"
"#;

/// A switch with three hosts.
const STAR: &str = r#"duration_us = 500
[topology]
kind = "switch"
ports = 3
"#;

/// The endpoints `a` at h0 and `b` at h1.
const PAIR: &str = r#"[[endpoint]]
name = "a"
host = "h0"
[[endpoint]]
name = "b"
host = "h1"
segment = 5000
"#;

fn check(text: &str) -> String {
    let read = Scenario::read("net.toml", text);
    read.map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}

/// The cases of the text files: a title, and a scenario with its problems below their lines. A
/// scenario without a duration follows the base of its file.
#[test]
fn problems_are_reported_at_their_places() {
    let pair = &format!("{STAR}{PAIR}");
    let files = [
        (BASE, include_str!("scenario_errors/faults.txt")),
        (BASE, include_str!("scenario_errors/nodes.txt")),
        (BASE, include_str!("scenario_errors/profiles.txt")),
        (BASE, include_str!("scenario_errors/taps.txt")),
        (BASE, include_str!("scenario_errors/topology.txt")),
        (BASE, include_str!("scenario_errors/traffic.txt")),
        (BASE, include_str!("scenario_errors/values.txt")),
        (STAR, include_str!("scenario_errors/endpoints.txt")),
        (pair, include_str!("scenario_errors/messages.txt")),
    ];
    for (base, cases) in files {
        for case in cases.trim().split("\n\n").skip(1) {
            let is_note = |line: &&str| line.trim_start().starts_with(['^', '=']);
            let (titles, text): (Vec<&str>, Vec<&str>) =
                case.lines().filter(|line| !is_note(line)).partition(|line| line.starts_with('#'));
            let base = if text[0].starts_with('[') { base } else { "" };
            let error = check(&format!("{base}{}", text.join("\n")));
            let notes: Vec<(usize, String)> = error.split("\n\n").map(note).collect();
            let before = base.lines().count();
            let noted = |(at, line): (usize, &&str)| {
                let here = notes.iter().filter(move |(place, _)| *place == before + at + 1);
                here.fold((*line).to_owned(), |text, (_, note)| format!("{text}\n{note}"))
            };
            let lines = titles.iter().map(|title| (*title).to_owned());
            let found: Vec<String> = lines.chain(text.iter().enumerate().map(noted)).collect();
            assert!(
                found.join("\n") == case,
                "{case}\nis reported as\n{}\n{error}",
                found.join("\n")
            );
        }
    }
}

/// The line of a problem, and its mark, message, expectation and help as they stand in the cases.
fn note(problem: &str) -> (usize, String) {
    let lines: Vec<&str> = problem.lines().collect();
    let [message, place, _, _, mark, more @ ..] = lines.as_slice() else {
        return (0, problem.to_owned());
    };
    let line = place.split(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
    let (_, mark) = mark.split_once("| ").unwrap_or_default();
    let (carets, expected) = mark.split_once("^ ").unwrap_or_default();
    let message = message.trim_start_matches("error: ");
    let indent = " ".repeat(carets.find('^').unwrap_or(carets.len()));
    let help = more.iter().find_map(|line| line.split_once("= help: "));
    let help = help.map_or_else(String::new, |(_, help)| format!("\n{indent}= {help}"));
    (line, format!("{carets}^ {message}; {expected}{help}"))
}

#[test]
fn long_lines_are_shown_around_the_place() {
    let text =
        &format!("duration_us = 500\nlink = {{ key_number_60 = 60 }}{}# long", " ".repeat(600));
    insta::assert_snapshot!(check(text), @r"
        error: unknown key `key_number_60` in [link]
         --> net.toml:2:10
          |
        2 | link = { key_number_60 = 60 }                                                                                                        ...
          |          ^^^^^^^^^^^^^ expected `blocked_us`, `dateline`, `delay_us`, `fill`, `framing`, `generation_periods`, `go_slack`, `handshake_ns`, `hysteresis`, `interpretation_periods`, `jitter_ns`, `kind`, `length_m`, `polarity_ns`, `profile`, `rate_divisor`, `repeaters`, `replies`, `reset`, `skew_ns`, `stop_slack`, `straight`, `symbols` or `type`
    ");
}

#[test]
fn all_that_is_wrong_is_told_at_once_in_the_order_of_the_file() {
    let text = r#"[[tap]]
port = "h7:0"
[[cable]]
ends = ["s0:1", "s0:2"]
lenght_m = 3
[[fault]]
at_us = 900
probe = "h1:0""#;
    let error = Scenario::read("net.toml", &format!("{BASE}{text}")).unwrap_err();
    let lines: Vec<String> = error
        .problems()
        .iter()
        .map(|problem| format!("{}:{}: {}", problem.line, problem.column, problem.message))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    12:8: unknown node `h7`
    14:9: port `s0:1` is used twice
    15:1: unknown key `lenght_m` in [[cable]]
    17:9: `at_us` is 900
    ");
}

#[test]
fn more_problems_than_anyone_reads_are_counted() {
    let text = format!("duration_us = 500\n{}", "[[fault]]\n".repeat(60));
    // Each has neither a time nor a kind.
    assert!(check(&text).ends_with("\n\n80 more problems in net.toml"));
}

#[test]
fn colours_are_there_where_they_are_asked_for() {
    let error = Scenario::read("net.toml", "seed = -1").unwrap_err();
    assert!(error.render(ErrorStyle::Coloured).contains('\u{1b}'));
    assert!(!error.render(ErrorStyle::Plain).contains('\u{1b}'));
    assert_eq!(error.problems().len(), 2);
}
