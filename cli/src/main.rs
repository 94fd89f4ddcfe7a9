//! `myriscope`: looks at Myrinet captures, below the packet and above it.

mod analyze;
mod annotate;
mod args;
mod atomic_file;
mod blocking;
mod check;
mod conversations;
mod demo;
mod demos;
mod exit;
mod experiment;
mod explain;
mod info;
mod input;
mod journeys;
mod json_select;
mod laws_program;
mod links;
mod listing;
mod output;
mod packets;
mod run_simulation;
mod score;
mod show;
mod simulate;
mod statistics;
mod topology;

use std::io;
use std::panic::{self, UnwindSafe};
use std::path::Path;
use std::process::ExitCode;

use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::args::{CliArguments, CliCommand, PacketsArgs};
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;

fn main() -> ExitCode {
    let arguments = CliArguments::try_parse().unwrap_or_else(|error| {
        let is_about_a_command = error.get(ContextKind::InvalidSubcommand).is_some();
        if error.kind() == ErrorKind::ArgumentConflict && is_about_a_command {
            // What looks like a file may be a command misspelt.
            let text = "a file and a command cannot stand together: a file alone means info, and \
                        options come after the command";
            CliArguments::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
        error.exit()
    });
    guarded(move || {
        let mut output = StandardOutput::new(arguments.color);
        let report = run(arguments, &mut output);
        match (output.finish(), report) {
            (Err(error), _) => {
                exit::print_error(&format!("cannot print: {error}"));
                ExitCode::from(exit::BAD_INPUT)
            }
            (Ok(()), Ok(report)) => report.finish(),
            (Ok(()), Err(failure)) => failure.finish(),
        }
    })
}

fn run(arguments: CliArguments, output: &mut StandardOutput) -> Result<RunReport, CliError> {
    match (arguments.command, arguments.info) {
        (Some(CliCommand::Info(view)), _) | (None, Some(view)) => info::run(&view, output),
        (Some(CliCommand::Packets(PacketsArgs { view, hex })), _) => {
            let bytes = if hex { ByteRetention::Keep } else { ByteRetention::Forget };
            packets::run(&view, EventFilter::Packets, bytes, output)
        }
        (Some(CliCommand::Events(view)), _) => {
            packets::run(&view, EventFilter::Events, ByteRetention::Forget, output)
        }
        (Some(CliCommand::Show(view)), _) => show::run(&view, output),
        (Some(CliCommand::Blocking(arguments)), _) => blocking::run(&arguments, output),
        (Some(CliCommand::Topology(arguments)), _) => topology::run(&arguments, output),
        (Some(CliCommand::Check(arguments)), _) => check::run(&arguments, output),
        (Some(CliCommand::Explain(arguments)), _) => explain::run(&arguments, output),
        (Some(CliCommand::Links(arguments)), _) => links::run(&arguments, output),
        (Some(CliCommand::Journeys(view)), _) => journeys::run(&view, output),
        (Some(CliCommand::Conversations(arguments)), _) => conversations::run(&arguments, output),
        (Some(CliCommand::Simulate(arguments)), _) => simulate::run(&arguments, output),
        (Some(CliCommand::Demo(arguments)), _) => demo::run(&arguments, output),
        (Some(CliCommand::Experiment(arguments)), _) => experiment::run(&arguments, output),
        (Some(CliCommand::Storm(_) | CliCommand::Reproduce(_)), _) => laws_program::run(),
        (Some(CliCommand::Annotate(arguments)), _) => annotate::run(&arguments, output),
        (Some(CliCommand::Score(arguments)), _) => score::run(&arguments, output),
        (Some(CliCommand::Completions { shell }), _) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CliArguments::command(), "myriscope", &mut script);
            output.text(&String::from_utf8_lossy(&script));
            Ok(RunReport::default())
        }
        (Some(CliCommand::Man { directory }), _) => {
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

/// Runs the program; should it panic, says so in words that help to mend it.
fn guarded(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        exit::print_error(&format!(
            "an error of this program{place}; please report it, with the capture if you can"
        ));
    }));
    panic::catch_unwind(program).unwrap_or_else(|_| ExitCode::from(exit::BAD_INPUT))
}
