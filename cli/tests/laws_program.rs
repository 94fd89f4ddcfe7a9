//! Commands of the program `myriscope-laws`.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::path::Path;
use std::process::Command;

#[test]
fn without_the_program_of_the_laws_an_error_says_how_to_build_it() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-laws");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let program = directory.join("myriscope");
    std::fs::hard_link(env!("CARGO_BIN_EXE_myriscope"), &program).unwrap();
    let output = Command::new(&program).args(["storm", "--seed", "3"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let build = "`cargo build --release -p myriscope-laws` builds it";
    assert!(error.contains("cannot run myriscope-laws: ") && error.contains(build), "{error}");
}
