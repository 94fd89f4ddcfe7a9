//! What the reader of scenario files says of each thing that can be wrong with one.

mod breaks;
mod nodes;
mod shapes;
mod taps;
mod text;
mod traffic;

use myriscope_simulator::scenario::{ErrorStyle, Scenario};

/// A switch with two hosts: lines 1 to 10. What is wrong comes from line 11 on.
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

fn check(text: &str) -> String {
    let read = Scenario::read("net.toml", text);
    read.map_or_else(|error| error.to_string(), |_| "nothing is wrong".to_owned())
}

fn check_with(text: &str) -> String {
    check(&format!("{BASE}{text}"))
}

#[test]
fn escapes_in_names_are_harmless() {
    let text = r#"[[tap]]
port = "\u001b[31m:0""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: unknown node `\u{1b}[31m`
          --> net.toml:12:8
           |
        12 | port = "\u001b[31m:0"
           |        ^^^^^^^^^^^^^^ expected the name of a node
    "#);
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
          |          ^^^^^^^^^^^^^ expected `blocked_us`, `delay_us`, `fill`, `framing`, `generation_periods`, `go_slack`, `hysteresis`, `interpretation_periods`, `length_m`, `rate_divisor`, `replies`, `reset`, `stop_slack` or `symbols`
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
