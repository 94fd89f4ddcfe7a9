//! Traffic and raw characters.

use super::{check, check_with};

#[test]
fn traffic_from_an_unknown_host_is_refused() {
    let text = r#"[[traffic]]
from = "h9"
to = "h1"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: unknown host `h9`
          --> net.toml:12:8
           |
        12 | from = "h9"
           |        ^^^^ expected the name of a host
           |
           = help: did you mean `h0`?
    "#);
}

#[test]
fn traffic_to_a_switch_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "s0"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `s0` is no host
          --> net.toml:13:6
           |
        13 | to = "s0"
           |      ^^^^ expected a host
           |
           = help: did you mean `h0`?
    "#);
}

#[test]
fn a_misspelt_pattern_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "unifrom"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: unknown host or pattern `unifrom`
          --> net.toml:13:6
           |
        13 | to = "unifrom"
           |      ^^^^^^^^^ expected the name of a host, or a pattern
           |
           = help: did you mean `uniform`?
    "#);
}

#[test]
fn traffic_to_oneself_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h0"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `h0` has no other host to send to
          --> net.toml:13:6
           |
        13 | to = "h0"
           |      ^^^^ expected hosts with routes between them
    "#);
}

#[test]
fn traffic_from_a_host_without_a_cable_is_refused() {
    let text = r#"[[host]]
name = "h2"
[[traffic]]
from = "h2"
to = "h1"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `h2` has no cable
          --> net.toml:14:8
           |
        14 | from = "h2"
           |        ^^^^ expected one with a cable
    "#);
}

#[test]
fn a_destination_that_is_not_connected_is_refused() {
    let text = r#"[[switch]]
name = "s1"
[[host]]
name = "h2"
at = "s1:0"
[[traffic]]
from = "h0"
to = "h2"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: there is no route from `h0` to `h2`
          --> net.toml:18:6
           |
        18 | to = "h2"
           |      ^^^^ expected hosts with routes between them
    "#);
}

#[test]
fn a_pattern_of_one_host_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "switch"
hosts = 1
[[traffic]]
from = "h0"
to = "bisect"
payload = 64
every_us = 20"#;
    insta::assert_snapshot!(check(text), @r#"
        error: too few hosts for the pattern: 1
         --> net.toml:6:8
          |
        6 | from = "h0"
          |        ^^^^ expected two at least
    "#);
}

#[test]
fn traffic_without_a_law_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = 64"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: [[traffic]] is not complete
          --> net.toml:11:1
           |
        11 | [[traffic]]
           | ^^^^^^^^^^^ expected one of `every_us`, `load`, `saturate` and `window`
    ");
}

#[test]
fn traffic_with_two_laws_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = 64
every_us = 20
load = 0.5"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: traffic comes by two laws
          --> net.toml:16:8
           |
        16 | load = 0.5
           |        ^^^ expected one of `every_us`, `load`, `saturate` and `window`
    ");
}

#[test]
fn a_load_above_the_link_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = 64
load = 1.5"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `load` is 1.5
          --> net.toml:15:8
           |
        15 | load = 1.5
           |        ^^^ expected a share from 0.000001 to 1, nine decimals at most
    ");
}

#[test]
fn traffic_without_a_payload_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: [[traffic]] is not complete
          --> net.toml:11:1
           |
        11 | [[traffic]]
           | ^^^^^^^^^^^ expected the key `payload`
    ");
}

#[test]
fn a_payload_that_is_no_size_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = "big"
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `payload` is "big"
          --> net.toml:14:11
           |
        14 | payload = "big"
           |           ^^^^^ expected bytes, like `1024`, `[64, 1024]` or `{ small = 16, large = 1024, large_share = 0.1 }`
    "#);
}

#[test]
fn a_negative_payload_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = -64
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `payload` is -64
          --> net.toml:14:11
           |
        14 | payload = -64
           |           ^^^ expected bytes, like `1024`, `[64, 1024]` or `{ small = 16, large = 1024, large_share = 0.1 }`
    ");
}

#[test]
fn sizes_from_large_to_small_are_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = [64, 32]
every_us = 20"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `payload` is 32
          --> net.toml:14:16
           |
        14 | payload = [64, 32]
           |                ^^ expected 64 or more
    ");
}

#[test]
fn bursts_by_a_law_are_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = 64
every_us = 20
burst = 8
law = "poisson""#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `burst` is 8
          --> net.toml:16:9
           |
        16 | burst = 8
           |         ^ expected `law` or `burst`, not both
    ");
}

#[test]
fn a_start_after_the_end_is_refused() {
    let text = r#"[[traffic]]
from = "h0"
to = "h1"
payload = 64
every_us = 20
start_us = 500"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `start_us` is 500
          --> net.toml:16:12
           |
        16 | start_us = 500
           |            ^^^ expected a time from 0 to 499.9875 µs, nine decimals at most
    ");
}

#[test]
fn raw_characters_that_mean_nothing_are_refused() {
    let text = r#"[[raw]]
from = "h0"
chars = "GAP 81 QAP""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `chars`: column 8: "QAP" is no byte, symbol or control code
          --> net.toml:13:9
           |
        13 | chars = "GAP 81 QAP"
           |         ^^^^^^^^^^^^ expected characters in notation
    "#);
}
