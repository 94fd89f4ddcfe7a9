//! `myriscope`: looks at Myrinet captures, below the packet and above it.

mod analysing;
mod annotate;
mod args;
mod blocking;
mod check;
mod conversations;
mod demo;
mod demos;
mod experiment;
mod explain;
mod files;
mod info;
mod journeys;
mod links;
mod listing;
mod output;
mod picked;
mod report;
mod reproduce;
mod rows;
mod running;
mod score;
mod show;
mod simulate;
mod statistics;
mod storm;
mod target;
mod topology;

use std::io;
use std::panic::{self, UnwindSafe};
use std::path::Path;
use std::process::ExitCode;

use analyzer::packet::Bytes;
use analyzer::timeline::Want;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::args::{Arguments, Command, Packets};
use crate::output::Output;
use crate::report::{Failure, Report};

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        let is_about_a_command = error.get(ContextKind::InvalidSubcommand).is_some();
        if error.kind() == ErrorKind::ArgumentConflict && is_about_a_command {
            // What looks like a file may be a command misspelt.
            let text = "a file and a command cannot stand together: a file alone means info, and \
                        options come after the command";
            Arguments::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
        error.exit()
    });
    guarded(move || {
        let mut output = Output::new(arguments.color);
        let report = run(arguments, &mut output);
        match (output.finish(), report) {
            (Err(error), _) => {
                report::complain(&format!("cannot print: {error}"));
                ExitCode::from(report::BAD_INPUT)
            }
            (Ok(()), Ok(report)) => report.finish(),
            (Ok(()), Err(failure)) => failure.finish(),
        }
    })
}

fn run(arguments: Arguments, output: &mut Output) -> Result<Report, Failure> {
    match (arguments.command, arguments.info) {
        (Some(Command::Info(view)), _) | (None, Some(view)) => info::run(&view, output),
        (Some(Command::Packets(Packets { view, hex })), _) => {
            let bytes = if hex { Bytes::Keep } else { Bytes::Forget };
            rows::run(&view, Want::Packets, bytes, output)
        }
        (Some(Command::Events(view)), _) => rows::run(&view, Want::Events, Bytes::Forget, output),
        (Some(Command::Show(view)), _) => show::run(&view, output),
        (Some(Command::Blocking(arguments)), _) => blocking::run(&arguments, output),
        (Some(Command::Topology(arguments)), _) => topology::run(&arguments, output),
        (Some(Command::Check(arguments)), _) => check::run(&arguments, output),
        (Some(Command::Explain(arguments)), _) => explain::run(&arguments, output),
        (Some(Command::Links(arguments)), _) => links::run(&arguments, output),
        (Some(Command::Journeys(view)), _) => journeys::run(&view, output),
        (Some(Command::Conversations(arguments)), _) => conversations::run(&arguments, output),
        (Some(Command::Simulate(arguments)), _) => simulate::run(&arguments, output),
        (Some(Command::Demo(arguments)), _) => demo::run(&arguments, output),
        (Some(Command::Experiment(arguments)), _) => experiment::run(&arguments, output),
        (Some(Command::Storm(arguments)), _) => storm::run(&arguments, output),
        (Some(Command::Annotate(arguments)), _) => annotate::run(&arguments, output),
        (Some(Command::Score(arguments)), _) => score::run(&arguments, output),
        (Some(Command::Reproduce(arguments)), _) => reproduce::run(&arguments, output),
        (Some(Command::Completions { shell }), _) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "myriscope", &mut script);
            output.text(&String::from_utf8_lossy(&script));
            Ok(Report::default())
        }
        (Some(Command::Man { directory }), _) => {
            manual(&directory).map_err(|error| Failure::file(&directory, &error))?;
            Ok(Report::default())
        }
        (None, None) => {
            output.text(&Arguments::command().render_help().to_string());
            Ok(Report::default())
        }
    }
}

fn manual(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Arguments::command(), directory)
}

/// Runs the program; should it panic, says so in words that help to mend it.
fn guarded(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        report::complain(&format!(
            "an error of this program{place}; please report it, with the capture if you can"
        ));
    }));
    panic::catch_unwind(program).unwrap_or_else(|_| ExitCode::from(report::BAD_INPUT))
}
