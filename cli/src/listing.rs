//! Rows on standard output, as many as are asked for, in the form that is asked for.

use analyzer::text::Line;
use codec::capture::{CaptureError, Progress};
use serde::Serialize;

use crate::args::{Format, View};
use crate::output::Output;
use crate::report::Report;

/// A list of rows on its way out.
pub(crate) struct Listing<'a> {
    view: &'a View,
    output: &'a mut Output,
    printed: u64,
}

impl<'a> Listing<'a> {
    /// Starts a list; `name` is what it is called as a JSON object.
    pub(crate) fn new(view: &'a View, name: &str, output: &'a mut Output) -> Self {
        if view.format == Format::Json {
            output.text(&format!("{{\"{name}\":["));
        }
        Self { view, output, printed: 0 }
    }

    /// Prints a line above or between rows: for people only.
    pub(crate) fn line(&mut self, line: &Line) {
        if self.view.format == Format::Text {
            self.output.line(line);
        }
    }

    /// Prints a row: its lines for people, or the row itself for programs.
    pub(crate) fn row(&mut self, row: &impl Serialize, lines: impl FnOnce(&mut dyn FnMut(Line))) {
        if !self.wants_more() {
            return;
        }
        match self.view.format {
            Format::Text => lines(&mut |line| self.output.line(&line)),
            Format::Json if self.printed == 0 => self.output.json(row, ""),
            Format::Json => {
                self.output.text(",\n");
                self.output.json(row, "");
            }
            Format::Jsonl => self.output.json(row, "\n"),
        }
        self.printed += 1;
    }

    /// Whether more rows are asked for, and somebody is there to read them.
    pub(crate) fn wants_more(&self) -> bool {
        self.output.is_open() && self.view.limit.is_none_or(|limit| self.printed < limit)
    }

    /// Ends the list.
    pub(crate) fn finish(self) {
        if self.view.format == Format::Json {
            self.output.text("]}\n");
        }
    }
}

/// Reads a capture to its end, or as far as it can be read.
pub(crate) fn read_on(
    report: &mut Report,
    mut step: impl FnMut(&mut Report) -> Result<Progress, CaptureError>,
) {
    loop {
        match step(report) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => return,
            Err(error) => return report.error(&error),
        }
    }
}
