//! Writes rows to standard output, applying --filter, --limit, --fields and --format.

use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::filter::{ColumnList, Filter, FilterError, RowKind};
use analyzer::render::{self, StyledLine};
use codec::capture::{CaptureError, Channel, ReadProgress};
use serde::Serialize;

use crate::args::{OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::json_select::selected_members;
use crate::output::StandardOutput;

/// Capture and time base of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSource {
    /// Number of the capture in the file.
    pub(crate) capture: u32,
    /// Character period of the row's channel; 1 if its positions are on several channels.
    pub(crate) period_ps: u64,
}

impl RowSource {
    /// Source of a row whose positions are on one channel.
    pub(crate) fn on(channel: Option<&Channel>) -> Self {
        let source = |it: &Channel| Self { capture: it.capture, period_ps: it.period_ps.get() };
        channel.map_or(Self { capture: 0, period_ps: 1 }, source)
    }

    /// Source of a row whose positions are on this channel and others.
    pub(crate) fn across(channel: Option<&Channel>) -> Self {
        Self { period_ps: 1, ..Self::on(channel) }
    }
}

/// The options --filter and --fields.
#[derive(Clone, Debug)]
pub(crate) struct RowSelection {
    filter: Option<Filter>,
    columns: Option<ColumnList>,
}

impl RowSelection {
    /// Parses the options for rows of a kind; with --list-fields prints the fields and returns none.
    /// To be called before any file is opened.
    pub(crate) fn of(
        view: &ViewArgs,
        kind: RowKind,
        output: &mut StandardOutput,
    ) -> Result<Option<Self>, CliError> {
        if view.list_fields {
            list_fields(kind, view.format, output);
            return Ok(None);
        }
        let wrong = |error: FilterError| CliError::filter(&error);
        let filter = view.filter.as_deref().map(|text| Filter::parse(text, kind));
        let columns = view.fields.as_deref().map(|list| ColumnList::parse(list, kind));
        Ok(Some(Self {
            filter: filter.transpose().map_err(wrong)?,
            columns: columns.transpose().map_err(wrong)?,
        }))
    }

    /// True if the filter or the columns use a field.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.uses_field(name)) || self.shows(name)
    }

    pub(crate) fn shows(&self, name: &str) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.have(name))
    }

    pub(crate) fn keeps(&mut self, row: &impl Serialize, source: RowSource) -> bool {
        let RowSource { capture, period_ps } = source;
        let row = CapturedRow { row, capture };
        self.filter.as_mut().is_none_or(|filter| filter.keeps(&row, period_ps))
    }

    pub(crate) const fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// The columns of --fields.
    pub(crate) const fn columns(&mut self) -> Option<&mut ColumnList> {
        self.columns.as_mut()
    }
}

fn list_fields(kind: RowKind, format: OutputFormat, output: &mut StandardOutput) {
    match format {
        OutputFormat::Text => analyzer::filter::list_fields(kind, &mut |line| output.line(&line)),
        OutputFormat::Json => {
            output.text("{\"fields\":");
            output.json(&kind.fields(), "}\n");
        }
        OutputFormat::Jsonl => kind.fields().iter().for_each(|field| output.json(field, "\n")),
    }
}

/// A list of rows. Its head is printed with the first row or at the end, so that nothing is printed
/// for a capture that cannot be opened.
pub(crate) struct RowWriter<'a> {
    view: &'a ViewArgs,
    selection: RowSelection,
    output: &'a mut StandardOutput,
    opening: ListOpening,
    printed: u64,
    /// Capture of the latest row.
    capture: u32,
}

/// The start of a list: its name in JSON and its head lines, until they have been printed.
enum ListOpening {
    Due { name: &'static str, head: Vec<StyledLine> },
    Printed,
}

impl<'a> RowWriter<'a> {
    /// Starts a list; `name` is its member name in JSON.
    pub(crate) fn new(
        view: &'a ViewArgs,
        selection: RowSelection,
        name: &'static str,
        output: &'a mut StandardOutput,
    ) -> Self {
        let opening = ListOpening::Due { name, head: Vec::new() };
        Self { view, selection, output, opening, printed: 0, capture: 0 }
    }

    /// Sets the head lines of the text format.
    pub(crate) fn head(&mut self, lines: impl FnOnce(&mut dyn FnMut(StyledLine))) {
        let mut above = Vec::new();
        match self.selection.columns().map(|columns| columns.head()) {
            Some(line) => above.push(line),
            None => lines(&mut |line| above.push(line)),
        }
        match &mut self.opening {
            ListOpening::Due { head, .. } => head.append(&mut above),
            ListOpening::Printed => above.iter().for_each(|line| self.line(line)),
        }
    }

    /// Prints a line between rows, in the text format only.
    pub(crate) fn line(&mut self, line: &StyledLine) {
        if self.view.format == OutputFormat::Text {
            self.open();
            self.output.line(line);
        }
    }

    /// Prints the head, once.
    fn open(&mut self) {
        let ListOpening::Due { name, head } =
            std::mem::replace(&mut self.opening, ListOpening::Printed)
        else {
            return;
        };
        match self.view.format {
            OutputFormat::Text => {
                let columns = self.selection.columns().filter(|_| head.is_empty());
                let head = columns.map(|columns| vec![columns.head()]).unwrap_or(head);
                head.iter().for_each(|line| self.output.line(line));
            }
            OutputFormat::Json => self.output.text(&format!("{{\"{name}\":[")),
            OutputFormat::Jsonl => {}
        }
    }

    /// True if a row passes the filter.
    pub(crate) fn keeps(&mut self, row: &impl Serialize, source: RowSource) -> bool {
        self.selection.keeps(row, source)
    }

    /// Prints a separating line when the capture changes, in the text format only.
    pub(crate) fn enter(&mut self, capture: u32) {
        if self.capture != capture && !self.selection.shows("capture") {
            self.capture = capture;
            self.line(&render::capture_line(capture));
        }
    }

    /// Prints a row if it passes the filter; `lines` are its text.
    pub(crate) fn select(
        &mut self,
        row: &impl Serialize,
        source: RowSource,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) {
        if self.keeps(row, source) {
            self.row(row, source.capture, lines);
        }
    }

    /// Prints a row; `lines` are its text.
    pub(crate) fn row(
        &mut self,
        row: &impl Serialize,
        capture: u32,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) {
        if !self.accepts_more() {
            return;
        }
        self.open();
        self.enter(capture);
        let row = &CapturedRow { row, capture };
        if self.view.format == OutputFormat::Json && self.printed > 0 {
            self.output.text(",\n");
        }
        let end = if self.view.format == OutputFormat::Jsonl { "\n" } else { "" };
        match (self.view.format, self.selection.columns()) {
            (OutputFormat::Text, None) => lines(&mut |line| self.output.line(&line)),
            (OutputFormat::Text, Some(columns)) => self.output.line(&columns.line(row)),
            (OutputFormat::Json | OutputFormat::Jsonl, None) => self.output.json(row, end),
            (OutputFormat::Json | OutputFormat::Jsonl, Some(columns)) => {
                self.output.text(&(selected_members(row, columns.names()) + end));
            }
        }
        self.printed += 1;
    }

    /// False once the limit is reached or standard output is closed.
    pub(crate) fn accepts_more(&self) -> bool {
        self.output.is_open() && self.view.limit.is_none_or(|limit| self.printed < limit)
    }

    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    pub(crate) fn finish(mut self) {
        self.open();
        if self.view.format == OutputFormat::Json {
            self.output.text("]}\n");
        }
    }
}

/// Reads a capture to its end, or to the first error that ends the reading. A file without a channel
/// is an error of the command.
pub(crate) fn read_all(
    report: &mut RunReport,
    mut step: impl FnMut(&mut RunReport) -> Result<ReadProgress, CaptureError>,
) -> Result<(), CliError> {
    loop {
        match step(report) {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => return Ok(()),
            Err(error @ CaptureError::NoChannel { .. }) => return Err(report.failure(&error)),
            Err(error) => {
                report.error(&error);
                return Ok(());
            }
        }
    }
}
