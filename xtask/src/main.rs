//! `cargo xtask`: what a developer runs beside cargo's own commands.

mod coverage;
mod fuzz;
mod planted;
mod workspace;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Hammers Myriscope, and measures how hard.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct XtaskArguments {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Debug, Subcommand)]
enum XtaskCommand {
    /// Tells which part of each crate the tests reach, and which the replay of the corpus alone.
    Coverage(coverage::CoverageArgs),
    /// Runs the fuzz targets side by side, and tells what they did.
    #[command(after_help = "Exit status 1: something was found; it is in fuzz/artifacts/TARGET/.")]
    Fuzz(fuzz::FuzzArgs),
    /// Plants known faults, and tells what finds them, how fast.
    #[command(after_help = "Exit status 1: a fault is found by nothing.")]
    Planted(planted::PlantedArgs),
    /// Runs the fuzz targets before a change is taken: the same inputs on every machine.
    #[command(after_help = "Exit status 1: something was found; it is in fuzz/artifacts/TARGET/.")]
    Smoke(fuzz::SmokeArgs),
}

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskOutcome {
    /// All is well.
    Well,
    /// What was looked for was found.
    Found,
}

fn main() -> ExitCode {
    let ended = match XtaskArguments::parse().command {
        XtaskCommand::Coverage(arguments) => coverage::run(&arguments),
        XtaskCommand::Fuzz(arguments) => fuzz::run(&arguments),
        XtaskCommand::Planted(arguments) => planted::run(&arguments),
        XtaskCommand::Smoke(arguments) => fuzz::smoke(&arguments),
    };
    match ended {
        Ok(TaskOutcome::Well) => ExitCode::SUCCESS,
        Ok(TaskOutcome::Found) => ExitCode::from(1),
        Err(error) => {
            // Nothing is left to tell it with if this fails.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
