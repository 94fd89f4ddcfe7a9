//! `cargo xtask`: what a developer runs beside cargo's own commands.

mod campaign;
mod coverage;
mod fuzz;
mod laws;
mod readme;
mod source;
mod tidy;
mod workspace;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of Myriscope: fuzzing, coverage, house style.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct XtaskArguments {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Debug, Subcommand)]
enum XtaskCommand {
    /// Runs fuzzers, storms, laws and mutants in turn for hours; goes on after an interruption.
    #[command(after_help = "Exit status 1: something was found; the report names its place.")]
    Campaign(campaign::CampaignArgs),
    /// Measures line coverage of all tests, and of the replay of the corpus alone.
    Coverage(coverage::CoverageArgs),
    /// Runs the fuzz targets in parallel and prints their statistics.
    #[command(
        after_help = "Exit status 1: a target failed; its input is in fuzz/artifacts/TARGET/."
    )]
    Fuzz(fuzz::FuzzArgs),
    /// Runs the tests with many more random cases than `cargo test` draws.
    Laws(laws::LawsArgs),
    /// Regenerates the outputs in README.md.
    #[command(after_help = "Exit status 1: with --check, an output differs.")]
    Readme(readme::ReadmeArgs),
    /// Checks type names, doc comments and file sizes, and prints the measured figures.
    #[command(after_help = "Exit status 1: a limit is exceeded; exceptions are in xtask/tidy.txt.")]
    Tidy,
}

/// Result of a task that has run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskOutcome {
    /// Nothing was found.
    Well,
    /// A failure, a fault or a difference was found.
    Found,
}

fn main() -> ExitCode {
    let ended = match XtaskArguments::parse().command {
        XtaskCommand::Campaign(arguments) => campaign::run(&arguments),
        XtaskCommand::Coverage(arguments) => coverage::run(&arguments),
        XtaskCommand::Fuzz(arguments) => fuzz::run(&arguments),
        XtaskCommand::Laws(arguments) => laws::run(&arguments),
        XtaskCommand::Readme(arguments) => readme::run(&arguments),
        XtaskCommand::Tidy => tidy::run(),
    };
    match ended {
        Ok(TaskOutcome::Well) => ExitCode::SUCCESS,
        Ok(TaskOutcome::Found) => ExitCode::from(1),
        Err(error) => {
            // A closed standard error leaves nowhere to report to.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
