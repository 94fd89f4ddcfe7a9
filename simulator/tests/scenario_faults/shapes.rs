//! Generated networks and routes.

use super::{check, check_with};

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
fn keys_that_no_end_of_a_cable_has_are_refused() {
    let text = r#"duration_us = 500
switch = [{ name = "s", length_m = 3 }]
[[host]]
name = "h"
at = "s:0"
a = { fill = "idle-16", delay_us = 1 }"#;
    insta::assert_snapshot!(check(text), @r#"
        error: unknown key `length_m` in [[switch]]
         --> net.toml:2:25
          |
        2 | switch = [{ name = "s", length_m = 3 }]
          |                         ^^^^^^^^ expected `addressing`, `blocked_us`, `extensions`, `fill`, `framing`, `generation_periods`, `go_slack`, `hysteresis`, `interpretation_periods`, `name`, `ports`, `rate_divisor`, `replies`, `reset`, `routing_us`, `stop_slack`, `symbols` or `token_step_us`

        error: unknown `fill` `idle-16`
         --> net.toml:6:14
          |
        6 | a = { fill = "idle-16", delay_us = 1 }
          |              ^^^^^^^^^ expected `chip`, `stop-go`, `gap`, `idle-2`, `idle-3`, `idle-4`, `idle-5`, `idle-6`, `idle-7`, `idle-8`, `idle-9`, `idle-10`, `idle-11`, `idle-12`, `idle-13`, `idle-14` or `idle-15`
          |
          = help: did you mean `idle-10`?

        error: unknown key `delay_us` in [a]
         --> net.toml:6:25
          |
        6 | a = { fill = "idle-16", delay_us = 1 }
          |                         ^^^^^^^^ expected `blocked_us`, `fill`, `framing`, `generation_periods`, `go_slack`, `hysteresis`, `interpretation_periods`, `rate_divisor`, `replies`, `reset`, `stop_slack` or `symbols`
    "#);
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
