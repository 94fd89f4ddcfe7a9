//! What is said of every published fixture, as a person sees it.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

use std::fmt::Write as _;
use std::process::Command;

/// What a command prints of every fixture, and its exit status.
fn check(name: &str, arguments: &[&str]) {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope"));
        command.arg(name).args(arguments).arg(path).env_remove("CLICOLOR_FORCE");
        let output = command.output().unwrap();
        let mut said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{name} {}", path.display());
        writeln!(said, "exit status {}", output.status.code().unwrap()).unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, said);
        });
    });
}

#[test]
fn journeys() {
    check("journeys", &["--limit", "30"]);
}

#[test]
fn findings_and_verdicts() {
    check("check", &[]);
}
