//! `cargo xtask features`: the programs and libraries with features other than the default ones.

use crate::TaskOutcome;
use crate::workspace::{TaskError, command, run_command};

/// Arguments of `cargo check`, each with a choice of features that the documents offer.
const CHOICES: [&[&str]; 4] = [
    &["-p", "myriscope-codec", "--no-default-features"],
    &["-p", "myriscope-analyzer", "--no-default-features"],
    &["-p", "myriscope", "--no-default-features"],
    &["-p", "myriscope", "--features", "parquet", "--all-targets"],
];

/// Compiles each choice, with warnings as errors.
pub(crate) fn run() -> Result<TaskOutcome, TaskError> {
    for choice in CHOICES {
        let mut check = command("cargo");
        run_command(
            check.args(["clippy", "--locked"]).args(choice).args(["--", "-D", "warnings"]),
        )?;
    }
    Ok(TaskOutcome::Well)
}
