//! What went wrong, told on standard error, and the exit status that it gives.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use analyzer::filter::{self, FilterError};
use anstyle::{AnsiColor, Style};
use codec::capture::{CaptureError, CaptureFault};
use simulator::scenario::{ErrorStyle as Look, ScenarioError};

use crate::atomic_file::is_standard;

/// The capture or the command line was bad.
pub(crate) const BAD_INPUT: u8 = 2;
/// What was looked for was found wrong.
const PROBLEM_FOUND: u8 = 1;

/// What was wrong with a capture.
#[derive(Debug, Default)]
pub(crate) struct RunReport {
    file: String,
    /// By block and field: how many faults, and the first.
    faults: BTreeMap<(&'static str, &'static str), (u64, CaptureFault)>,
    /// What ended the reading, and other things that a reader should know of.
    errors: Vec<String>,
    looked: CheckOutcome,
}

/// What came of looking for something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CheckOutcome {
    /// Nothing was wrong, or nothing was looked for.
    #[default]
    Fine,
    Wrong,
}

/// Why nothing could be done.
#[derive(Debug)]
pub(crate) enum CliError {
    /// In a sentence.
    Message(String),
    /// In lines that speak for themselves.
    Rendered(String),
}

impl RunReport {
    pub(crate) fn of(file: &Path) -> Self {
        Self { file: name(file), ..Self::default() }
    }

    pub(crate) fn fault(&mut self, fault: CaptureFault) {
        self.faults.entry((fault.block, fault.field)).or_insert((0, fault)).0 += 1;
    }

    pub(crate) fn error(&mut self, error: &CaptureError) {
        self.errors.push(error.to_string());
    }

    /// The failure that an error of the capture is.
    pub(crate) fn failure(&self, error: &CaptureError) -> CliError {
        CliError::Message(format!("{}: {error}", self.file))
    }

    /// Something that was left out.
    pub(crate) fn left_out(&mut self, what: String) {
        self.errors.push(what);
    }

    /// No channel has the name that was asked for.
    pub(crate) fn no_channel<'a>(&mut self, asked: &str, names: impl Iterator<Item = &'a str>) {
        const SHOWN: usize = 8;
        let names: Vec<&str> = names.collect();
        let shown = names.get(..SHOWN).unwrap_or(&names).join(", ");
        self.errors.push(match names.len() {
            0 => format!("no channel {asked:?}: the capture has none"),
            count if count > SHOWN => {
                format!("no channel {asked:?}: there are {shown} and {} more", count - SHOWN)
            }
            _ => format!("no channel {asked:?}: there are {shown}"),
        });
    }

    /// What was looked for was found wrong.
    pub(crate) const fn problem_found(&mut self) {
        self.looked = CheckOutcome::Wrong;
    }

    /// Whether something has ended the reading.
    pub(crate) const fn is_damaged(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether nothing was wrong so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.errors.is_empty()
    }

    /// Faults so far.
    pub(crate) fn count(&self) -> u64 {
        self.faults.values().map(|(count, _)| count).sum()
    }

    /// Tells what was wrong.
    pub(crate) fn finish(self) -> ExitCode {
        let status = match self.looked {
            _ if !self.is_clean() => BAD_INPUT,
            CheckOutcome::Fine => 0,
            CheckOutcome::Wrong => PROBLEM_FOUND,
        };
        let Self { file, faults, errors, looked: _ } = self;

        for (count, first) in faults.into_values() {
            match count - 1 {
                0 => print_error(&format!("{file}: {first}")),
                more => print_error(&format!("{file}: {first} (and {more} more like it)")),
            }
        }
        errors.iter().for_each(|error| print_error(&format!("{file}: {error}")));
        ExitCode::from(status)
    }
}

impl CliError {
    /// Something that a sentence says.
    pub(crate) const fn message(what: String) -> Self {
        Self::Message(what)
    }

    /// A file could not be used.
    pub(crate) fn file(file: &Path, error: &io::Error) -> Self {
        // A lone word may have been meant for a command.
        let word = file.extension().is_none() && file.components().count() == 1;
        let hint = if word && error.kind() == io::ErrorKind::NotFound {
            " (nor is it a command: see --help)"
        } else {
            ""
        };
        Self::Message(format!("{}: {error}{hint}", name(file)))
    }

    /// Something is wrong with a file that was to be read.
    pub(crate) fn reading(file: &Path, what: &impl Display) -> Self {
        Self::Message(format!("{}: {what}", name(file)))
    }

    /// Something is wrong with a file that was to be written.
    pub(crate) fn writing(file: &Path, what: &impl Display) -> Self {
        let name = if is_standard(file) { "standard output".to_owned() } else { name(file) };
        Self::Message(format!("{name}: {what}"))
    }

    /// A scenario is wrong: its lines, and what belongs there.
    pub(crate) fn scenario(error: &ScenarioError) -> Self {
        Self::Rendered(error.render(Look::Coloured))
    }

    /// An expression or a list of names on the command line is wrong.
    pub(crate) fn filter(error: &FilterError) -> Self {
        Self::Rendered(error.render(filter::FilterErrorStyle::Coloured))
    }

    pub(crate) fn finish(self) -> ExitCode {
        match self {
            Self::Message(what) => print_error(&what),
            // If nobody listens, so be it.
            Self::Rendered(lines) => drop(writeln!(anstream::stderr(), "{lines}")),
        }
        ExitCode::from(BAD_INPUT)
    }
}

fn name(file: &Path) -> String {
    if is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Says something on standard error, in colour on a terminal. If nobody listens, so be it.
pub(crate) fn print_error(what: &impl Display) {
    const STYLE: Style = AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{STYLE}myriscope:{STYLE:#} {what}");
}
