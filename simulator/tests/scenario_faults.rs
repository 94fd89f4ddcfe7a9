//! What the reader of scenario files says of each thing that can be wrong with one.

use simulator::scenario::{Scenario, Style};

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

#[test]
fn a_host_without_a_name_is_refused() {
    let text = r#"[[host]]
at = "s0:2""#;
    insta::assert_snapshot!(check_with(text), @r"
        error: [[host]] is not complete
          --> net.toml:11:1
           |
        11 | [[host]]
           | ^^^^^^^^ expected the key `name`
    ");
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let text = r#"[[host]]
name = "s0"
at = "s0:2""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `s0` is the name of two nodes
          --> net.toml:12:8
           |
        12 | name = "s0"
           |        ^^^^ expected another name: line 3 has this one
    "#);
}

#[test]
fn a_name_with_a_colon_is_refused() {
    let text = r#"[[host]]
name = "h:2""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `h:2` is no name
          --> net.toml:12:8
           |
        12 | name = "h:2"
           |        ^^^^^ expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    "#);
}

#[test]
fn a_name_that_is_a_word_of_the_form_is_refused() {
    let text = r#"[[host]]
name = "uniform""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `uniform` is no name of a node
          --> net.toml:12:8
           |
        12 | name = "uniform"
           |        ^^^^^^^^^ expected another name: this word means several
    "#);
}

#[test]
fn an_unknown_node_is_refused() {
    let text = r#"[[host]]
name = "h2"
at = "s1:2""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: unknown node `s1`
          --> net.toml:13:6
           |
        13 | at = "s1:2"
           |      ^^^^^^ expected the name of a node
           |
           = help: did you mean `s0`?
    "#);
}

#[test]
fn a_port_out_of_range_is_refused() {
    let text = r#"[[host]]
name = "h2"
at = "s0:4""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: there is no port `s0:4`
          --> net.toml:13:6
           |
        13 | at = "s0:4"
           |      ^^^^^^ expected a port from 0 to 3
    "#);
}

#[test]
fn a_port_without_a_number_is_refused() {
    let text = r#"[[host]]
name = "h2"
at = "s0""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `s0` is no port
          --> net.toml:13:6
           |
        13 | at = "s0"
           |      ^^^^ expected node and port, like `s0:3`
    "#);
}

#[test]
fn a_port_used_twice_is_refused() {
    let text = r#"[[host]]
name = "h2"
at = "s0:1""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: port `s0:1` is used twice
          --> net.toml:13:6
           |
        13 | at = "s0:1"
           |      ^^^^^^ expected another port: the cable of line 8 ends here
    "#);
}

#[test]
fn a_host_with_two_cables_is_refused() {
    let text = r#"[[cable]]
ends = ["s0:2", "h0:0"]"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: port `h0:0` is used twice
          --> net.toml:12:17
           |
        12 | ends = ["s0:2", "h0:0"]
           |                 ^^^^^^ expected another port: the cable of line 5 ends here
    "#);
}

#[test]
fn a_second_port_of_a_host_is_refused() {
    let text = r#"[[cable]]
ends = ["s0:2", "h0:1"]"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: there is no port `h0:1`
          --> net.toml:12:17
           |
        12 | ends = ["s0:2", "h0:1"]
           |                 ^^^^^^ expected port 0, the only one of `h0`
    "#);
}

#[test]
fn a_cable_from_a_port_to_itself_is_refused() {
    let text = r#"[[cable]]
ends = ["s0:2", "s0:2"]"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: both ends of the cable are `s0:2`
          --> net.toml:12:17
           |
        12 | ends = ["s0:2", "s0:2"]
           |                 ^^^^^^ expected another port
    "#);
}

#[test]
fn a_cable_with_one_end_is_refused() {
    let text = r#"[[cable]]
ends = ["s0:2"]"#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `ends` is a list
          --> net.toml:12:8
           |
        12 | ends = ["s0:2"]
           |        ^^^^^^^^ expected two ports, like `["s0:7", "s1:7"]`
    "#);
}

#[test]
fn a_generator_that_does_not_exist_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "fattree"
levels = 2"#;
    insta::assert_snapshot!(check(text), @r#"
        error: unknown `kind` `fattree`
         --> net.toml:3:8
          |
        3 | kind = "fattree"
          |        ^^^^^^^^^ expected `switch`, `line`, `ring`, `mesh`, `fat-tree`, `now-subcluster`, `now-cluster` or `random`
          |
          = help: did you mean `fat-tree`?
    "#);
}

#[test]
fn a_mesh_without_a_height_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "mesh"
width = 4"#;
    insta::assert_snapshot!(check(text), @r"
        error: [topology] is not complete
         --> net.toml:2:1
          |
        2 | [topology]
          | ^^^^^^^^^^ expected the key `height`
    ");
}

#[test]
fn a_shape_that_needs_more_ports_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "line"
switches = 3
hosts_per_switch = 7"#;
    insta::assert_snapshot!(check(text), @r"
        error: switch s0: no port 8 for the shape (it has 0..8)
         --> net.toml:2:1
          |
        2 | [topology]
          | ^^^^^^^^^^ expected fewer hosts or links, or switches with more ports
    ");
}

#[test]
fn a_network_that_no_memory_holds_is_refused() {
    // A ring of 64 switches with a host each: 128 cables, each with 2 · (2²⁰ + 3 · 2¹⁸) cells.
    let text = r#"duration_us = 500
[link]
delay_periods = 1048576
go_slack = 262144
hysteresis = 262144
stop_slack = 262144
[topology]
kind = "ring"
switches = 64"#;
    insta::assert_snapshot!(check(text), @r"
    error: the network has 469762048 characters on cables and in slack buffers
     --> net.toml:7:1
      |
    7 | [topology]
      | ^^^^^^^^^^ expected 134217728 at most
    ");
}

#[test]
fn a_network_of_too_many_hosts_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "mesh"
width = 20
height = 20
hosts_per_switch = 4"#;
    insta::assert_snapshot!(check(text), @r"
        error: the network has 1600 hosts
         --> net.toml:2:1
          |
        2 | [topology]
          | ^^^^^^^^^^ expected 512 at most
    ");
}

#[test]
fn a_port_that_the_generator_has_used_is_refused() {
    let text = r#"duration_us = 500
[topology]
kind = "switch"
ports = 4
[[host]]
name = "x"
at = "s0:3""#;
    insta::assert_snapshot!(check(text), @r#"
        error: port `s0:3` is used twice
         --> net.toml:7:6
          |
        7 | at = "s0:3"
          |      ^^^^^^ expected another port: the cable of line 2 ends here
    "#);
}

#[test]
fn a_method_that_does_not_fit_the_network_is_refused() {
    let text = r#"duration_us = 500
[routes]
method = "dimension-order"
[[switch]]
name = "s0""#;
    insta::assert_snapshot!(check(text), @r"
        error: switch s0: `s0` is no place in a mesh (`sX.Y`)
         --> net.toml:2:1
          |
        2 | [routes]
          | ^^^^^^^^ expected a network for the method, or another method in [routes]
    ");
}

#[test]
fn route_bytes_without_the_high_bit_are_refused() {
    let text = r#"[[route]]
from = "h0"
to = "h1"
bytes = "81 05""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `bytes` is "81 05"
          --> net.toml:14:9
           |
        14 | bytes = "81 05"
           |         ^^^^^^^ expected at most 1024 bytes from 80 to ff, like `83 bf`
    "#);
}

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

#[test]
fn a_fault_of_no_kind_is_refused() {
    let text = r"[[fault]]
at_us = 120";
    insta::assert_snapshot!(check_with(text), @r"
        error: [[fault]] is not complete
          --> net.toml:11:1
           |
        11 | [[fault]]
           | ^^^^^^^^^ expected one of `noise`, `flip`, `open_wire`, `cut`, `lose_gap`, `forward_reset`, `backward_reset`, `probe`, `power_off`, `dead_port`, `consume` or `restart`
    ");
}

#[test]
fn a_fault_of_two_kinds_is_refused() {
    let text = r#"[[fault]]
at_us = 120
cut = "s0:0"
flip = "s0:1""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: a fault of two kinds
          --> net.toml:13:7
           |
        13 | cut = "s0:0"
           |       ^^^^^^ expected one of `flip` and `cut`
    "#);
}

#[test]
fn a_fault_without_a_time_is_refused() {
    let text = r#"[[fault]]
cut = "s0:0""#;
    insta::assert_snapshot!(check_with(text), @r"
        error: [[fault]] is not complete
          --> net.toml:11:1
           |
        11 | [[fault]]
           | ^^^^^^^^^ expected `at_us`, or `every_us` for faults at random
    ");
}

#[test]
fn a_fault_at_a_port_without_a_cable_is_refused() {
    let text = r#"[[fault]]
at_us = 120
cut = "s0:3""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `s0:3` has no cable
          --> net.toml:13:7
           |
        13 | cut = "s0:3"
           |       ^^^^^^ expected one with a cable
    "#);
}

#[test]
fn a_flip_that_lasts_is_refused() {
    let text = r#"[[fault]]
at_us = 120
flip = "s0:1"
bits = 0x100
for_us = 5"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: unknown key `for_us` in [[fault]]
          --> net.toml:15:1
           |
        15 | for_us = 5
           | ^^^^^^ expected `at_us`, `backward_reset`, `bits`, `consume`, `cut`, `dead_port`, `flip`, `forward_reset`, `lose_gap`, `noise`, `open_wire`, `power_off`, `probe` or `restart`
    ");
}

#[test]
fn a_tenth_wire_is_refused() {
    let text = r#"[[fault]]
at_us = 120
open_wire = "s0:1"
wire = 9"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `wire` is 9
          --> net.toml:14:8
           |
        14 | wire = 9
           |        ^ expected an integer from 0 to 8
    ");
}

#[test]
fn a_dead_port_of_a_host_is_refused() {
    let text = r#"[[fault]]
at_us = 120
dead_port = "h0:0""#;
    insta::assert_snapshot!(check_with(text), @r#"
        error: `h0:0` is a port of a host
          --> net.toml:13:13
           |
        13 | dead_port = "h0:0"
           |             ^^^^^^ expected a port of a switch
    "#);
}

#[test]
fn a_host_that_consumes_in_no_known_way_is_refused() {
    let text = r#"[[fault]]
at_us = 120
consume = "h0"
how = 0"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `how` is 0
          --> net.toml:14:7
           |
        14 | how = 0
           |       ^ expected `always`, `never`, `adversary`, or one character in 1 to 1048576 periods
    ");
}

#[test]
fn too_many_random_faults_are_refused() {
    let text = r#"duration_us = 1_000_000
[topology]
kind = "switch"
[[fault]]
every_periods = 1
cut = "any""#;
    insta::assert_snapshot!(check(text), @r#"
        error: more than 262144 faults in all
         --> net.toml:6:7
          |
        6 | cut = "any"
          |       ^^^^^ expected a longer time between them
    "#);
}

#[test]
fn a_tap_without_a_port_is_refused() {
    let text = r"[[tap]]
from_us = 10";
    insta::assert_snapshot!(check_with(text), @r"
        error: [[tap]] is not complete
          --> net.toml:11:1
           |
        11 | [[tap]]
           | ^^^^^^^ expected the key `port` or `all`
    ");
}

#[test]
fn a_tap_that_ends_before_it_begins_is_refused() {
    let text = r#"[[tap]]
port = "h0:0"
from_us = 20
to_us = 10"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: the tap ends before it begins
          --> net.toml:14:9
           |
        14 | to_us = 10
           |         ^^ expected a later time
    ");
}

#[test]
fn a_port_tapped_twice_is_refused() {
    let text = r#"[[tap]]
port = "h0:0"
to_us = 20
[[tap]]
port = "h0:0"
from_us = 19"#;
    insta::assert_snapshot!(check_with(text), @r"
        error: `h0:0` is tapped twice
          --> net.toml:14:1
           |
        14 | [[tap]]
           | ^^^^^^^ expected another port or time than those of line 11
    ");
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
          |          ^^^^^^^^^^^^^ expected `blocked_us`, `delay_us`, `generation_periods`, `go_slack`, `hysteresis`, `interpretation_periods`, `length_m`, `rate_divisor`, `stop_slack` or `symbols`
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
    assert!(error.render(Style::Coloured).contains('\u{1b}'));
    assert!(!error.render(Style::Plain).contains('\u{1b}'));
    assert_eq!(error.problems().len(), 2);
}
