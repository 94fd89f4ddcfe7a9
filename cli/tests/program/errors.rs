//! Messages about command lines and files that cannot be used.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{
    RunOutcome, ScratchDirectory, bad, capture_bytes, fixture, piped, program, readers,
};

/// Command lines in `fixtures/` that are refused, and a part of the message. OUT is a file that is not written.
const REFUSALS: &str = include_str!("refusals.txt");

#[test]
fn a_file_that_cannot_be_opened_or_is_no_capture_is_refused() {
    for (file, reason) in [("not-there.pcapng", "No such file"), (".", "is a directory")] {
        let scenarios: [&[&str]; 2] = [&["simulate", "--stats"], &["sweep", "--vary", "x=1"]];
        for command in readers().chain(scenarios) {
            let error = bad(&[command, &[file]].concat());
            assert!(error.starts_with(&format!("myriscope: {file}: ")), "{command:?} {error}");
            assert!(error.contains(reason), "{command:?} {error}");
        }
    }
    let empty = piped(&["-"], b"");
    assert_eq!((empty.status, empty.out.as_str()), (Some(2), ""));
    assert_eq!(empty.err, "myriscope: standard input: the file is empty\n");
    let text = piped(&["-"], b"hello, world");
    assert_eq!((text.status, text.out.as_str()), (Some(2), ""));
    assert!(text.err.starts_with("myriscope: standard input: byte 0: "), "{}", text.err);
    assert!(text.err.contains("68 65 6c 6c 6f 2c 20 77"), "{}", text.err);
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason_and_writes_nothing() {
    let directory = ScratchDirectory::new("refusals");
    for line in REFUSALS.lines() {
        let (command, reason) = line.split_once(" => ").unwrap();
        let command = command.replace("OUT", &directory.file("out"));
        let mut command = program(&command.split(' ').collect::<Vec<_>>());
        let done: RunOutcome = command.current_dir(fixture("")).output().unwrap().into();
        assert_eq!((done.status, done.out.as_str()), (Some(2), ""), "{line}");
        assert!(done.err.contains(reason), "{line}: {}", done.err);
    }
    assert!(directory.names().is_empty());
}

#[test]
fn a_channel_that_is_not_there_is_answered_with_those_that_are() {
    for command in ["info", "packets", "events", "show", "blocking"] {
        let output = piped(&[command, "-", "--channel", "h9:0>s0:0"], &capture_bytes("link-1"));
        assert_eq!(output.status, Some(2));
        let expected = "no channel \"h9:0>s0:0\"; the capture has h1:0>s1:1, s1:1>h1:0\n\
                        did you mean `h1:0>s1:1`?\n";
        assert!(output.err.ends_with(expected), "{command}: {}", output.err);
    }
}

/// `storm` and `reproduce` run the program `myriscope-laws`.
#[test]
fn without_the_program_of_the_laws_an_error_explains_how_to_build_it() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-laws");
    _ = fs::remove_file(&program);
    // A copy is busy while another test starts a program, which has its file open for a moment.
    fs::hard_link(env!("CARGO_BIN_EXE_myriscope"), &program).unwrap();
    let output = Command::new(&program).args(["storm", "--seed", "3"]).output().unwrap();
    let RunOutcome { status, err, .. } = output.into();
    assert_eq!(status, Some(2));
    let build = "`cargo build --release -p myriscope-laws` builds it";
    assert!(err.contains("cannot run myriscope-laws: ") && err.contains(build), "{err}");
}
