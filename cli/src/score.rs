//! `myriscope score`: what is read in a simulated capture against what really happened.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use analyzer::link::slack::Assumptions;
use analyzer::score::{Score, ScoreError, score};
use analyzer::text;

use crate::args;
use crate::args::Format;
use crate::files;
use crate::output::Output;
use crate::report::{Failure, Report};
use crate::target::is_standard;

pub(crate) fn run(arguments: &args::Score, output: &mut Output) -> Result<Report, Failure> {
    let args::Score { capture, truth, format } = arguments;
    if is_standard(capture) {
        return Err(Failure::reading(
            capture,
            &"a capture is read twice to be scored: name a file",
        ));
    }
    let mut report = Report::of(capture);
    let open = || files::open(capture);
    let mut fault = |fault| report.fault(fault);
    let result = if is_standard(truth) {
        score(open, io::stdin().lock(), Assumptions::default(), &mut fault)
    } else {
        let truth = file(truth).map_err(|error| Failure::file(truth, &error))?;
        score(open, BufReader::new(truth), Assumptions::default(), &mut fault)
    };
    let found = result.map_err(|error| failure(capture, truth, &error))?;
    print(&found, *format, output);
    if !found.is_perfect() {
        report.found_wrong();
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
fn failure(capture: &Path, truth: &Path, error: &ScoreError) -> Failure {
    match error {
        ScoreError::Open(error) => Failure::file(capture, error),
        ScoreError::Truth { .. } | ScoreError::Read { .. } => Failure::reading(truth, error),
        ScoreError::Capture(_) | ScoreError::NoTap => Failure::reading(capture, error),
    }
}

fn print(score: &Score, format: Format, output: &mut Output) {
    match format {
        Format::Text => text::score(score, &mut |line| output.line(&line)),
        Format::Json => output.json(score, "\n"),
        Format::Jsonl => score.scores.iter().for_each(|row| output.json(row, "\n")),
    }
}
