//! Things that break.

use super::{check, check_with};

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
