//! `cargo xtask laws`: the tests with many more random cases than `cargo test` draws.

use std::num::NonZeroU32;
use std::process::Command;

use clap::Args;

use crate::TaskOutcome;
use crate::workspace::{TaskError, command, run_command};

/// Cases of a property test in `cargo test`, proptest's default.
const CASES: u32 = 256;

#[derive(Debug, Args)]
pub(crate) struct LawsArgs {
    /// Multiple of the cases in `cargo test`.
    #[arg(long, value_name = "N", default_value = "20")]
    times: NonZeroU32,
    /// Seed of the property tests; `cargo test` has 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Runs all tests of the libraries, the simulator and the laws.
pub(crate) fn run(arguments: &LawsArgs) -> Result<TaskOutcome, TaskError> {
    run_command(&mut tests(arguments.times.get(), arguments.seed)).map(|()| TaskOutcome::Well)
}

/// The tests with a multiple of the cases, and a seed.
pub(crate) fn tests(times: u32, seed: u64) -> Command {
    let mut cargo = command("cargo");
    cargo.args(["test", "--workspace", "--exclude", "myriscope", "--lib", "--tests"]);
    cargo.args(["--no-fail-fast", "--locked"]);
    cargo.env("MYRISCOPE_LAWS", times.to_string());
    cargo.env("PROPTEST_CASES", CASES.saturating_mul(times).to_string());
    cargo.env("PROPTEST_RNG_SEED", seed.to_string());
    cargo
}
