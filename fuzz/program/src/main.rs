//! `myriscope-laws`: the commands `storm` and `reproduce`, which `myriscope` runs through this program.

#[path = "../../../cli/src/args/laws.rs"]
mod arguments;
#[path = "../../../cli/src/interrupt/signal.rs"]
mod interrupt;
mod output;
mod reproduce;
mod storm;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use self::arguments::{ReproduceArgs, StormArgs};
use self::output::{LawsError, LawsOutput};

/// Checks the laws of Myriscope: on random networks, or on an input of a fuzz target.
#[derive(Debug, Parser)]
#[command(name = "myriscope", version)]
struct LawsArguments {
    #[command(subcommand)]
    command: LawsCommand,
    /// Use of colours in the output.
    #[arg(long, global = true, value_enum, default_value_t = ColourWhen::Auto, value_name = "WHEN")]
    color: ColourWhen,
}

#[derive(Debug, Subcommand)]
enum LawsCommand {
    /// Checks an input of a fuzz target, and writes its capture, scenario, truth and report.
    #[command(after_help = "Exit status 1: the law is broken.")]
    Reproduce(ReproduceArgs),
    /// Simulates random networks with injected faults, checks every law, and minimizes the first
    /// failing network.
    #[command(after_help = "Exit status 1: a law is broken.")]
    Storm(StormArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColourWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Text for people.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line.
    Jsonl,
}

fn main() -> ExitCode {
    let arguments = LawsArguments::parse();
    let ran = match &arguments.command {
        LawsCommand::Reproduce(arguments) => reproduce::run(arguments),
        LawsCommand::Storm(arguments) => storm::run(arguments),
    };
    ran.and_then(|output: LawsOutput| output.print(arguments.color))
        .unwrap_or_else(|error: LawsError| error.print())
}
