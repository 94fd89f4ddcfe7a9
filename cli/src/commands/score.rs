//! `myriscope score`: the analysis of a simulated capture compared with the truth.

use std::io::{self, BufReader};
use std::path::Path;

use analyzer::link::parameters::LinkAssumptions;
use analyzer::render;
use analyzer::score::{ScoreError, ScoreReport, score};

use crate::args::{OutputFormat, ScoreArgs};
use crate::exit::{CliError, CommandResult, FoundProblem, RunReport, is_standard_input};
use crate::input::{self, InputFile};
use crate::output::StandardOutput;

pub(crate) fn run(arguments: &ScoreArgs, output: &mut StandardOutput) -> CommandResult {
    let ScoreArgs { capture, truth, format } = arguments;
    if is_standard_input(capture) {
        return Err(CliError::reading(capture, &"score reads the capture twice: name a file"));
    }
    let mut report = RunReport::of(capture);
    let open = || InputFile::whole(capture).open_capture();
    let mut fault = |fault| report.fault(fault);
    let result = if is_standard_input(truth) {
        score(open, io::stdin().lock(), LinkAssumptions::default(), &mut fault)
    } else {
        let truth = input::open_file(truth).map_err(|error| CliError::reading(truth, &error))?;
        score(open, BufReader::new(truth), LinkAssumptions::default(), &mut fault)
    };
    let found = result.map_err(|error| failure(capture, truth, &error))?;
    print(&found, *format, output);
    if !found.is_perfect() {
        report.found = FoundProblem::Something;
    }
    Ok(report)
}

/// The error with the path of the file that caused it.
fn failure(capture: &Path, truth: &Path, error: &ScoreError) -> CliError {
    match error {
        ScoreError::Open(error) => CliError::reading(capture, error),
        ScoreError::Truth { .. } | ScoreError::Read { .. } => CliError::reading(truth, error),
        ScoreError::Capture(error) => RunReport::of(capture).failure(error),
        ScoreError::NoTap => CliError::reading(capture, error),
    }
}

fn print(score: &ScoreReport, format: OutputFormat, output: &mut StandardOutput) {
    match format {
        OutputFormat::Text => render::score(score, &mut |line| output.line(&line)),
        OutputFormat::Json => output.json(score, "\n"),
        OutputFormat::Jsonl => score.scores.iter().for_each(|row| output.json(row, "\n")),
    }
}
