//! `storm` and `reproduce`, which the program `myriscope-laws` runs.

use std::fs;
use std::process::Command;

use crate::support::{RunOutcome, ScratchDirectory};

#[test]
fn without_the_program_of_the_laws_an_error_explains_how_to_build_it() {
    let directory = ScratchDirectory::new("without-laws");
    let program = directory.file("myriscope");
    fs::copy(env!("CARGO_BIN_EXE_myriscope"), &program).unwrap();
    let output = Command::new(&program).args(["storm", "--seed", "3"]).output().unwrap();
    let RunOutcome { status, err, .. } = output.into();
    assert_eq!(status, Some(2));
    let build = "`cargo build --release -p myriscope-laws` builds it";
    assert!(err.contains("cannot run myriscope-laws: ") && err.contains(build), "{err}");
}
