//! Taps.

use super::check_with;

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
