//! `myriscope score`: what is read in a simulated capture against what really happened.

use analyzer::link::parameters::LinkAssumptions;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use analyzer::render;
use analyzer::score::{ScoreError, ScoreReport, score};

use crate::args;
use crate::args::OutputFormat;
use crate::atomic_file::is_standard;
use crate::exit::{CliError, RunReport};
use crate::input;
use crate::output::StandardOutput;

pub(crate) fn run(
    arguments: &args::ScoreArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let args::ScoreArgs { capture, truth, format } = arguments;
    if is_standard(capture) {
        return Err(CliError::reading(
            capture,
            &"a capture is read twice to be scored: name a file",
        ));
    }
    let mut report = RunReport::of(capture);
    let open = || input::open(capture);
    let mut fault = |fault| report.fault(fault);
    let result = if is_standard(truth) {
        score(open, io::stdin().lock(), LinkAssumptions::default(), &mut fault)
    } else {
        let truth = file(truth).map_err(|error| CliError::file(truth, &error))?;
        score(open, BufReader::new(truth), LinkAssumptions::default(), &mut fault)
    };
    let found = result.map_err(|error| failure(capture, truth, &error))?;
    print(&found, *format, output);
    if !found.is_perfect() {
        report.problem_found();
    }
    Ok(report)
}

fn file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(file)
}

/// Which of the two files is to blame.
fn failure(capture: &Path, truth: &Path, error: &ScoreError) -> CliError {
    match error {
        ScoreError::Open(error) => CliError::file(capture, error),
        ScoreError::Truth { .. } | ScoreError::Read { .. } => CliError::reading(truth, error),
        ScoreError::Capture(_) | ScoreError::NoTap => CliError::reading(capture, error),
    }
}

fn print(score: &ScoreReport, format: OutputFormat, output: &mut StandardOutput) {
    match format {
        OutputFormat::Text => render::score(score, &mut |line| output.line(&line)),
        OutputFormat::Json => output.json(score, "\n"),
        OutputFormat::Jsonl => score.scores.iter().for_each(|row| output.json(row, "\n")),
    }
}
