//! Messages about command lines and files that cannot be used.

use crate::support::{bad, capture_bytes, piped, readers, refused};

#[test]
fn of_a_file_that_cannot_be_opened_nothing_is_printed() {
    for (file, reason) in [("not-there.pcapng", "No such file"), (".", "is a directory")] {
        let scenarios: [&[&str]; 2] = [&["simulate", "--stats"], &["sweep", "--vary", "x=1"]];
        for command in readers().chain(scenarios) {
            let error = bad(&[command, &[file]].concat());
            assert!(error.starts_with(&format!("myriscope: {file}: ")), "{command:?} {error}");
            assert!(error.contains(reason), "{command:?} {error}");
        }
    }
}

#[test]
fn a_file_that_is_no_capture_is_refused() {
    let empty = piped(&["-"], b"");
    assert_eq!((empty.status, empty.out.as_str()), (Some(2), ""));
    assert_eq!(empty.err, "myriscope: standard input: the file is empty\n");
    let text = piped(&["-"], b"hello, world");
    assert_eq!((text.status, text.out.as_str()), (Some(2), ""));
    assert!(text.err.starts_with("myriscope: standard input: byte 0: "), "{}", text.err);
    assert!(text.err.contains("68 65 6c 6c 6f 2c 20 77"), "{}", text.err);
}

#[test]
fn a_bad_command_line_is_explained() {
    for (arguments, word) in [
        (&["packets"][..], "FILE"),
        (&["packets", "x", "--from", "12"], "12"),
        (&["packets", "x", "--format", "xml"], "possible values"),
        (&["pakets", "x"], "a similar subcommand exists: 'packets'"),
        (&["demo", "rings"], "two-hosts"),
        (&["series", "x", "--every=0us"], "expected a time of at least a picosecond"),
        (&["series", "x", "--every=5ch"], "expected a time of at least a picosecond"),
        (&["series", "x", "--every=-1us"], "expected a time of at least a picosecond"),
    ] {
        refused(arguments, word);
    }
    for command in ["info", "packets", "events", "show", "blocking"] {
        let output = piped(&[command, "-", "--channel", "h9:0>s0:0"], &capture_bytes("link-1"));
        assert_eq!(output.status, Some(2));
        let expected = "no channel \"h9:0>s0:0\"; the capture has h1:0>s1:1, s1:1>h1:0\n\
                        did you mean `h1:0>s1:1`?\n";
        assert!(output.err.ends_with(expected), "{command}: {}", output.err);
    }
}
