//! Nodes and their names, ports and cables.

use super::check_with;

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
