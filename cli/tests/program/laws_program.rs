//! `storm` and `reproduce`, which the program `myriscope-laws` runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::RunOutcome;

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
