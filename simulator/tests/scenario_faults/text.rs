//! The text itself: TOML, keys, words, numbers and times.

use super::check;

#[test]
fn a_text_that_is_no_toml_is_refused() {
    let text = "duration_us = = 500";
    insta::assert_snapshot!(check(text), @r"
        error: extra `=`
         --> net.toml:1:15
          |
        1 | duration_us = = 500
          |               ^ expected nothing
    ");
}

#[test]
fn a_quote_that_never_ends_is_refused() {
    let text = r#"duration_us = 500
[[host]]
name = "h0"#;
    insta::assert_snapshot!(check(text), @r#"
        error: invalid basic string
         --> net.toml:3:11
          |
        3 | name = "h0
          |           ^ expected `"`
    "#);
}

#[test]
fn a_run_without_an_end_is_refused() {
    let text = "seed = 7";
    insta::assert_snapshot!(check(text), @r"
        error: the file is not complete
         --> net.toml:1:1
          |
        1 | seed = 7
          | ^ expected the key `duration_us`
    ");
}

#[test]
fn an_unknown_table_is_refused() {
    let text = r"duration_us = 500
[lnk]
length_m = 10";
    insta::assert_snapshot!(check(text), @r"
        error: unknown key `lnk` in the file
         --> net.toml:2:2
          |
        2 | [lnk]
          |  ^^^ expected `cable`, `costs`, `duration_us`, `endpoint`, `fault`, `host`, `interface`, `link`, `messages`, `raw`, `route`, `routes`, `seed`, `switch`, `switch_defaults`, `tap`, `topology`, `traffic` or `transport`
          |
          = help: did you mean `link`?
    ");
}

#[test]
fn an_unknown_key_is_refused() {
    let text = r#"duration_us = 500
[routes]
metod = "shortest""#;
    insta::assert_snapshot!(check(text), @r#"
        error: unknown key `metod` in [routes]
         --> net.toml:3:1
          |
        3 | metod = "shortest"
          | ^^^^^ expected `method`
          |
          = help: did you mean `method`?
    "#);
}

#[test]
fn an_unknown_word_is_refused() {
    let text = r#"duration_us = 500
[routes]
method = "updown""#;
    insta::assert_snapshot!(check(text), @r#"
        error: unknown `method` `updown`
         --> net.toml:3:10
          |
        3 | method = "updown"
          |          ^^^^^^^^ expected `shortest`, `up-down`, `dimension-order` or `given`
          |
          = help: did you mean `up-down`?
    "#);
}

#[test]
fn a_number_where_a_word_belongs_is_refused() {
    let text = r"duration_us = 500
[routes]
method = 3";
    insta::assert_snapshot!(check(text), @r"
        error: `method` is 3
         --> net.toml:3:10
          |
        3 | method = 3
          |          ^ expected `shortest`, `up-down`, `dimension-order` or `given`, in quotes
    ");
}

#[test]
fn a_word_where_a_number_belongs_is_refused() {
    let text = r#"duration_us = 500
[[switch]]
name = "s0"
ports = "eight""#;
    insta::assert_snapshot!(check(text), @r#"
        error: `ports` is "eight"
         --> net.toml:4:9
          |
        4 | ports = "eight"
          |         ^^^^^^^ expected an integer from 1 to 32
    "#);
}

#[test]
fn a_table_that_should_be_a_list_of_tables_is_refused() {
    let text = r#"duration_us = 500
[host]
name = "h0""#;
    insta::assert_snapshot!(check(text), @r"
        error: `host` is a table
         --> net.toml:2:1
          |
        2 | [host]
          | ^^^^^^ expected tables `[[host]]`
    ");
}

#[test]
fn a_negative_length_is_refused() {
    let text = r"duration_us = 500
[link]
length_m = -1";
    insta::assert_snapshot!(check(text), @r"
        error: `length_m` is -1
         --> net.toml:3:12
          |
        3 | length_m = -1
          |            ^^ expected a length from 0 to 2340571 m
    ");
}

#[test]
fn an_absurd_duration_is_refused() {
    let text = "duration_us = 1e12";
    insta::assert_snapshot!(check(text), @r"
        error: `duration_us` is 1e12
         --> net.toml:1:15
          |
        1 | duration_us = 1e12
          |               ^^^^ expected a time from 0.0125 to 13743895347.2 µs, nine decimals at most
    ");
}

#[test]
fn a_duration_of_nothing_is_refused() {
    let text = "duration_us = 0.001";
    insta::assert_snapshot!(check(text), @r"
        error: `duration_us` is 0.001
         --> net.toml:1:15
          |
        1 | duration_us = 0.001
          |               ^^^^^ expected a time from 0.0125 to 13743895347.2 µs, nine decimals at most
    ");
}

#[test]
fn a_time_in_both_units_is_refused() {
    let text = r"duration_us = 500
duration_periods = 40_000";
    insta::assert_snapshot!(check(text), @r"
        error: both `duration_us` and `duration_periods` in the file
         --> net.toml:2:20
          |
        2 | duration_periods = 40_000
          |                    ^^^^^^ expected one of the two
    ");
}

#[test]
fn a_length_and_a_delay_are_refused() {
    let text = r"duration_us = 500
[link]
length_m = 25
delay_periods = 12";
    insta::assert_snapshot!(check(text), @r"
        error: `length_m` is 25
         --> net.toml:3:12
          |
        3 | length_m = 25
          |            ^^ expected a length or a delay, not both
    ");
}

#[test]
fn a_switch_with_too_many_ports_is_refused() {
    let text = r#"duration_us = 500
[[switch]]
name = "s0"
ports = 99"#;
    insta::assert_snapshot!(check(text), @r"
        error: `ports` is 99
         --> net.toml:4:9
          |
        4 | ports = 99
          |         ^^ expected an integer from 1 to 32
    ");
}

#[test]
fn a_slack_buffer_of_millions_is_refused() {
    let text = r"duration_us = 500
[link]
go_slack = 16_777_216";
    insta::assert_snapshot!(check(text), @r"
        error: `go_slack` is 16_777_216
         --> net.toml:3:12
          |
        3 | go_slack = 16_777_216
          |            ^^^^^^^^^^ expected an integer from 0 to 1048576
    ");
}
