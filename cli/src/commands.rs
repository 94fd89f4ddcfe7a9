//! The commands, one file each.

mod annotate;
mod blocking;
mod check;
mod conversations;
mod demo;
mod experiment;
mod explain;
mod info;
mod journeys;
mod laws_program;
mod links;
mod packets;
mod score;
mod show;
mod simulate;
mod topology;

use std::io;
use std::path::Path;

use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use clap::CommandFactory;

use crate::args::{CliArguments, CliCommand, PacketsArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// Runs the command of a command line.
pub(crate) fn run(arguments: CliArguments, output: &mut StandardOutput) -> CommandResult {
    use CliCommand as Cli;
    match (arguments.command, arguments.info) {
        (Some(Cli::Info(view)), _) | (None, Some(view)) => info::run(&view, output),
        (Some(Cli::Packets(PacketsArgs { view, hex })), _) => {
            let bytes = if hex { ByteRetention::Keep } else { ByteRetention::Forget };
            packets::run(&view, EventFilter::Packets, bytes, output)
        }
        (Some(Cli::Events(view)), _) => {
            packets::run(&view, EventFilter::Events, ByteRetention::Forget, output)
        }
        (Some(Cli::Show(view)), _) => show::run(&view, output),
        (Some(Cli::Blocking(arguments)), _) => blocking::run(&arguments, output),
        (Some(Cli::Topology(arguments)), _) => topology::run(&arguments, output),
        (Some(Cli::Check(arguments)), _) => check::run(&arguments, output),
        (Some(Cli::Explain(arguments)), _) => explain::run(&arguments, output),
        (Some(Cli::Links(arguments)), _) => links::run(&arguments, output),
        (Some(Cli::Journeys(view)), _) => journeys::run(&view, output),
        (Some(Cli::Conversations(arguments)), _) => conversations::run(&arguments, output),
        (Some(Cli::Simulate(arguments)), _) => simulate::run(&arguments, output),
        (Some(Cli::Demo(arguments)), _) => demo::run(&arguments, output),
        (Some(Cli::Experiment(arguments)), _) => experiment::run(&arguments, output),
        (Some(Cli::Storm(_) | Cli::Reproduce(_)), _) => laws_program::run(),
        (Some(Cli::Annotate(arguments)), _) => annotate::run(&arguments, output),
        (Some(Cli::Score(arguments)), _) => score::run(&arguments, output),
        (Some(Cli::Completions { shell }), _) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CliArguments::command(), "myriscope", &mut script);
            output.text(&String::from_utf8_lossy(&script));
            Ok(RunReport::default())
        }
        (Some(Cli::Man { directory }), _) => {
            manual(&directory).map_err(|error| CliError::file(&directory, &error))?;
            Ok(RunReport::default())
        }
        (None, None) => {
            output.text(&CliArguments::command().render_help().to_string());
            Ok(RunReport::default())
        }
    }
}

fn manual(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(CliArguments::command(), directory)
}
