//! `watch`: pictures of a capture; a terminal is not tested here.

use crate::support::{capture, capture_bytes, good, piped};

#[test]
fn without_a_terminal_the_end_is_shown_of_a_file_and_of_a_pipe() {
    let file = good(&["watch", &capture("demo-glitch")]);
    assert_eq!(piped(&["watch", "-"], &capture_bytes("demo-glitch")).out, file);
    insta::assert_snapshot!(file);
}

#[test]
fn channels_are_selected() {
    let some = good(&["watch", &capture("demo-glitch"), "--channel", "h0:0>s0:0"]);
    assert!(some.starts_with("1 channel, 3200 characters") && !some.contains("h1:0"), "{some}");
}

#[test]
fn the_end_of_a_pipe_ends_a_list_that_follows() {
    let rows = piped(&["packets", "-f", "-"], &capture_bytes("link-1"));
    assert_eq!((rows.status, rows.out), (Some(0), good(&["packets", &capture("link-1")])));
}
