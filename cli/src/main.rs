//! `myriscope`: a protocol analyzer and simulator for Myrinet.

mod analyze;
mod args;
mod atomic_file;
mod catalog;
mod commands;
mod exit;
mod help;
mod input;
mod interrupt;
mod output;
mod plot;
mod progress;
mod report;
mod rows;
mod run_simulation;
mod selection;
mod statistics;
mod table_fit;
mod text_table;
#[cfg(feature = "view")]
mod view;

use std::env;
use std::io;
use std::panic::{self, UnwindSafe};
use std::process::{self, ExitCode};

use clap::FromArgMatches;

use crate::args::CliArguments;
use crate::output::StandardOutput;

fn main() -> ExitCode {
    let arguments = help::command()
        .try_get_matches_from(help::with_command(env::args_os()))
        .and_then(|matches| CliArguments::from_arg_matches(&matches))
        .unwrap_or_else(|error| print_and_exit(&error));
    guarded(move || {
        let mut output = StandardOutput::new(arguments.color, arguments.width);
        let report = commands::run(arguments, &mut output);
        match (output.finish(), report) {
            (Err(error), _) => {
                exit::print_error(&format!("standard output: {error}"));
                ExitCode::from(exit::BAD_INPUT)
            }
            (Ok(()), Ok(report)) => report.finish(),
            (Ok(()), Err(failure)) => failure.finish(),
        }
    })
}

/// Prints help or an error of the command line, and exits.
fn print_and_exit(error: &clap::Error) -> ! {
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            exit::print_error(&format!("standard output: {error}"));
            process::exit(exit::BAD_INPUT.into())
        }
        Ok(()) | Err(_) => process::exit(error.exit_code()),
    }
}

/// Runs the program and turns a panic into an error message.
fn guarded(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        exit::print_error(&format!(
            "internal error{place}; please report it, with the capture if possible"
        ));
    }));
    panic::catch_unwind(program).unwrap_or_else(|_| ExitCode::from(exit::BAD_INPUT))
}
