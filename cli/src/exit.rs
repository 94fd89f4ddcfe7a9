//! Errors on standard error, and the exit status.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use analyzer::filter::{FilterError, FilterErrorStyle};
use anstyle::{AnsiColor, Style};
use codec::capture::{CaptureError, CaptureFault, decompress};
use codec::recording::format::{format_of, other_format};
use codec::words::escape_text;
use simulator::scenario::{ErrorStyle, ScenarioError};

use crate::interrupt;

/// Exit status for an invalid capture, scenario or command line, and for I/O errors.
pub(crate) const BAD_INPUT: u8 = 2;
/// Exit status of a check that found something.
const PROBLEM_FOUND: u8 = 1;

/// Result of a command that has printed its output, or the error that prevented it.
pub(crate) type CommandResult = Result<RunReport, CliError>;

/// Faults and errors that a command has met while reading, and what it found.
#[derive(Debug, Default)]
pub(crate) struct RunReport {
    file: String,
    /// Number of faults and the first of them, by block and field.
    faults: BTreeMap<(&'static str, &'static str), (u64, CaptureFault)>,
    errors: Vec<String>,
    warnings: Vec<String>,
    pub(crate) found: FoundProblem,
    /// Results of several files.
    files: Vec<CommandResult>,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FoundProblem {
    #[default]
    Nothing,
    /// None, but something was not seen.
    Unknown,
    Something,
}

#[derive(Debug)]
pub(crate) enum CliError {
    /// One sentence.
    Message(String),
    /// Lines with an excerpt of the input, complete as they are.
    Rendered(String),
}

impl RunReport {
    pub(crate) fn of(file: &Path) -> Self {
        Self { file: input_name(file), ..Self::default() }
    }

    pub(crate) fn fault(&mut self, fault: CaptureFault) {
        self.faults.entry((fault.block, fault.field)).or_insert((0, fault)).0 += 1;
    }

    pub(crate) fn error(&mut self, error: &impl Display) {
        self.errors.push(error.to_string());
    }

    pub(crate) fn failure(&self, error: &CaptureError) -> CliError {
        CliError::Message(format!("{}: {error}{}", self.file, command_help(&self.file, error)))
    }

    /// Adds the error that ended the reading.
    pub(crate) fn stopped(&mut self, error: &CaptureError) {
        self.errors.push(error.to_string() + &command_help(&self.file, error));
    }

    /// Adds a warning, which does not change the exit status.
    pub(crate) fn warning(&mut self, text: &impl Display) {
        self.warnings.push(text.to_string());
    }

    /// Adds the result of one of several files.
    pub(crate) fn add(&mut self, result: CommandResult) {
        self.files.push(result);
    }

    /// Numbers of the files in a sentence.
    pub(crate) fn total(&self) -> String {
        let with = |status: u8| self.files.iter().filter(|it| status_of(it) == status).count();
        let mut text =
            format!("{} files: {} without errors and warnings", self.files.len(), with(0));
        let is_unknown = |it: &&Self| it.found == FoundProblem::Unknown && it.is_clean();
        let unknown = self.files.iter().flatten().filter(is_unknown).count();
        if unknown > 0 {
            text += &format!(" ({unknown} of them: cannot tell)");
        }
        for (status, what) in [(PROBLEM_FOUND, "with"), (BAD_INPUT, "not read or damaged")] {
            if with(status) > 0 {
                text += &format!(", {} {what}", with(status));
            }
        }
        text
    }

    /// Exit status: of several files the worst.
    fn status(&self) -> u8 {
        let own = match self.found {
            _ if !self.is_clean() => BAD_INPUT,
            FoundProblem::Something => PROBLEM_FOUND,
            FoundProblem::Nothing | FoundProblem::Unknown => 0,
        };
        self.files.iter().map(status_of).fold(own, u8::max)
    }

    /// True after an error that ended the reading.
    pub(crate) const fn is_damaged(&self) -> bool {
        !self.errors.is_empty()
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.errors.is_empty()
    }

    /// Number of faults so far.
    pub(crate) fn count(&self) -> u64 {
        self.faults.values().map(|(count, _)| count).sum()
    }

    /// Prints faults, errors and warnings.
    pub(crate) fn finish(self) -> ExitCode {
        let status = if interrupt::ended_work() { interrupt::INTERRUPTED } else { self.status() };
        let file = &self.file;
        for (count, first) in self.faults.into_values() {
            match count - 1 {
                0 => print_error(&format!("{file}: {first}")),
                more => print_error(&format!("{file}: {first} (and {more} more like it)")),
            }
        }
        self.errors.iter().for_each(|error| print_error(&format!("{file}: {error}")));
        let warnings = self.warnings.iter();
        warnings.for_each(|warning| print_error(&format!("{file}: warning: {warning}")));
        for result in self.files {
            match result {
                Ok(report) => drop(report.finish()),
                Err(failure) => drop(failure.finish()),
            }
        }
        ExitCode::from(status)
    }
}

impl CliError {
    pub(crate) fn reading(file: &Path, error: &impl Display) -> Self {
        Self::Message(format!("{}: {error}", input_name(file)))
    }

    pub(crate) fn writing(file: &Path, error: &impl Display) -> Self {
        let name = if is_standard(file) { "standard output".to_owned() } else { input_name(file) };
        Self::Message(format!("{name}: {error}"))
    }

    pub(crate) fn scenario(error: &ScenarioError) -> Self {
        Self::Rendered(error.render(ErrorStyle::Coloured))
    }

    pub(crate) fn filter(error: &FilterError) -> Self {
        Self::Rendered(error.render(FilterErrorStyle::Coloured))
    }

    pub(crate) fn finish(self) -> ExitCode {
        match self {
            Self::Message(message) => print_error(&message),
            // A closed standard error leaves nowhere to report to.
            Self::Rendered(lines) => drop(writeln!(anstream::stderr(), "{lines}")),
        }
        let is_interrupted = interrupt::ended_work();
        ExitCode::from(if is_interrupted { interrupt::INTERRUPTED } else { BAD_INPUT })
    }
}

fn status_of(result: &CommandResult) -> u8 {
    result.as_ref().map_or(BAD_INPUT, RunReport::status)
}

/// True for `-`: standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// True for standard input under any of its names.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    is_standard(path) || path == Path::new("/dev/stdin")
}

fn input_name(file: &Path) -> String {
    if is_standard_input(file) {
        "standard input".to_owned()
    } else {
        escape_text(file.display().to_string())
    }
}

/// Prints a message on standard error, in colour on a terminal.
pub(crate) fn print_error(message: &impl Display) {
    const STYLE: Style = AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{STYLE}myriscope:{STYLE:#} {message}");
}

/// The beginning of a file, which shows the format of a recording. *Chosen*
pub(crate) fn format_head(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(65_536).read_to_end(&mut head)?;
    Ok(head)
}

/// The command that takes a file which is no capture, if that is known.
fn command_help(file: &str, error: &CaptureError) -> String {
    let CaptureError::NotACapture { found } = error else { return String::new() };
    if file.ends_with(".toml") {
        return format!("; simulate a scenario first: myriscope simulate {file} -o FILE");
    }
    let again = || format_head(&mut decompress(File::open(file)?)?);
    let first = || found.split(' ').filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    // A pipe cannot be read again.
    let head = Path::new(file).is_file().then(again).and_then(Result::ok).unwrap_or_else(first);
    match (other_format(&head), format_of(&head)) {
        (Some(other), _) => format!("; {other}"),
        (None, Some(format)) if !head.is_empty() => {
            format!("; {} becomes a capture with `myriscope import`", format.name)
        }
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_files_the_worst_one_counts() {
        for (statuses, worst, text) in [
            (&[][..], 0, "0 files: 0 without errors and warnings"),
            (&[0, 0], 0, "2 files: 2 without errors and warnings"),
            (&[1, 0], 1, "2 files: 1 without errors and warnings, 1 with"),
            (&[0, 2], 2, "2 files: 1 without errors and warnings, 1 not read or damaged"),
            (&[0, 4], 2, "2 files: 1 without errors and warnings, 1 not read or damaged"),
            (
                &[3, 0, 1],
                1,
                "3 files: 2 without errors and warnings (1 of them: cannot tell), 1 with",
            ),
            (
                &[1, 2, 1],
                2,
                "3 files: 0 without errors and warnings, 2 with, 1 not read or damaged",
            ),
        ] {
            let mut all = RunReport::default();
            for status in statuses {
                // Damage counts for more than what was found before it, or could not be told.
                let errors = vec![String::new(); usize::from(matches!(status, 2 | 4))];
                let found = match status {
                    0 => FoundProblem::Nothing,
                    3 | 4 => FoundProblem::Unknown,
                    _ => FoundProblem::Something,
                };
                all.add(Ok(RunReport { found, errors, ..RunReport::default() }));
            }
            assert_eq!((all.status(), &*all.total()), (worst, text));
        }
    }
}
