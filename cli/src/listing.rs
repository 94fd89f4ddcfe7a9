//! Rows on standard output: those that are asked for, as many, and of them what is asked for, in the form
//! that is asked for.

use analyzer::captured::CapturedRow;
use analyzer::filter::{ColumnList, Filter, FilterError, RowKind};
use analyzer::render::{self, StyledLine};
use codec::capture::{CaptureError, Channel, ReadProgress};
use serde::Serialize;

use crate::args::{OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::json_select::selected_members;
use crate::output::StandardOutput;

/// Origin of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSource {
    /// Number of its capture in the file.
    pub(crate) capture: u32,
    /// Period of the channel of its places; 1 if they are on several channels.
    pub(crate) period_ps: u64,
}

impl RowSource {
    /// Origin of a row whose places are on a channel.
    pub(crate) fn on(channel: Option<&Channel>) -> Self {
        let origin = |it: &Channel| Self { capture: it.capture, period_ps: it.period_ps.get() };
        channel.map_or(Self { capture: 0, period_ps: 1 }, origin)
    }

    /// Origin of a row whose places are on this channel and others.
    pub(crate) fn across(channel: Option<&Channel>) -> Self {
        Self { period_ps: 1, ..Self::on(channel) }
    }
}

/// Which rows are asked for by what they have, and what of them.
#[derive(Clone, Debug)]
pub(crate) struct RowSelection {
    filter: Option<Filter>,
    columns: Option<ColumnList>,
}

impl RowSelection {
    /// What the command line asks of rows of a kind; none if it asks only for the list of fields,
    /// which is printed then.
    ///
    /// # Errors
    /// It asks for what there is not; so this comes before any file is opened.
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

    /// Whether the filter or the columns need a field.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.uses_field(name)) || self.shows(name)
    }

    /// Whether a field is among the columns.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.have(name))
    }

    /// Whether a row passes the filter.
    pub(crate) fn keeps(&mut self, row: &impl Serialize, origin: RowSource) -> bool {
        let RowSource { capture, period_ps } = origin;
        let row = CapturedRow { row, capture };
        self.filter.as_mut().is_none_or(|filter| filter.keeps(&row, period_ps))
    }

    /// Whether there is a filter.
    pub(crate) const fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// The columns, where not all are asked for.
    pub(crate) const fn columns(&mut self) -> Option<&mut ColumnList> {
        self.columns.as_mut()
    }
}

/// Prints the fields that rows of a kind have.
fn list_fields(kind: RowKind, format: OutputFormat, output: &mut StandardOutput) {
    match format {
        OutputFormat::Text => render::fields(kind, &mut |line| output.line(&line)),
        OutputFormat::Json => {
            output.text("{\"fields\":");
            output.json(&kind.fields(), "}\n");
        }
        OutputFormat::Jsonl => kind.fields().iter().for_each(|field| output.json(field, "\n")),
    }
}

/// A list of rows on its way out. Nothing is printed before there is something to print: a capture
/// that cannot be opened has no list.
pub(crate) struct RowWriter<'a> {
    view: &'a ViewArgs,
    choice: RowSelection,
    output: &'a mut StandardOutput,
    opening: ListOpening,
    printed: u64,
    /// Capture of the newest row.
    capture: u32,
}

/// What a list starts with.
enum ListOpening {
    /// Still to be printed: the list's name, and what stands above its rows.
    Due {
        name: &'static str,
        head: Vec<StyledLine>,
    },
    Printed,
}

impl<'a> RowWriter<'a> {
    /// Starts a list; `name` is what it is called as a JSON object.
    pub(crate) fn new(
        view: &'a ViewArgs,
        choice: RowSelection,
        name: &'static str,
        output: &'a mut StandardOutput,
    ) -> Self {
        let opening = ListOpening::Due { name, head: Vec::new() };
        Self { view, choice, output, opening, printed: 0, capture: 0 }
    }

    /// Takes what stands above the rows: for people only.
    pub(crate) fn head(&mut self, lines: impl FnOnce(&mut dyn FnMut(StyledLine))) {
        let mut above = Vec::new();
        match self.choice.columns().map(|columns| columns.head()) {
            Some(line) => above.push(line),
            None => lines(&mut |line| above.push(line)),
        }
        match &mut self.opening {
            ListOpening::Due { head, .. } => head.append(&mut above),
            ListOpening::Printed => above.iter().for_each(|line| self.line(line)),
        }
    }

    /// Prints a line between rows: for people only.
    pub(crate) fn line(&mut self, line: &StyledLine) {
        if self.view.format == OutputFormat::Text {
            self.open();
            self.output.line(line);
        }
    }

    /// Prints what the list starts with, once.
    fn open(&mut self) {
        let ListOpening::Due { name, head } =
            std::mem::replace(&mut self.opening, ListOpening::Printed)
        else {
            return;
        };
        match self.view.format {
            OutputFormat::Text => head.iter().for_each(|line| self.output.line(line)),
            OutputFormat::Json => self.output.text(&format!("{{\"{name}\":[")),
            OutputFormat::Jsonl => {}
        }
    }

    /// Whether a row is asked for: see [`RowSelection::keeps`].
    pub(crate) fn keeps(&mut self, row: &impl Serialize, origin: RowSource) -> bool {
        self.choice.keeps(row, origin)
    }

    /// Prints a line between the rows of two captures: for people only.
    pub(crate) fn enter(&mut self, capture: u32) {
        if self.capture != capture && !self.choice.shows("capture") {
            self.capture = capture;
            self.line(&render::capture_line(capture));
        }
    }

    /// Prints a row of a capture: its lines for people, or the row itself for programs.
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
        match (self.view.format, self.choice.columns()) {
            (OutputFormat::Text, None) => lines(&mut |line| self.output.line(&line)),
            (OutputFormat::Text, Some(columns)) => self.output.line(&columns.line(row)),
            (OutputFormat::Json | OutputFormat::Jsonl, None) => self.output.json(row, end),
            (OutputFormat::Json | OutputFormat::Jsonl, Some(columns)) => {
                self.output.text(&(selected_members(row, columns.names()) + end));
            }
        }
        self.printed += 1;
    }

    /// Whether more rows are asked for, and somebody is there to read them.
    pub(crate) fn accepts_more(&self) -> bool {
        self.output.is_open() && self.view.limit.is_none_or(|limit| self.printed < limit)
    }

    /// Ends the list.
    pub(crate) fn finish(mut self) {
        self.open();
        if self.view.format == OutputFormat::Json {
            self.output.text("]}\n");
        }
    }
}

/// Reads a capture to its end, or as far as it can be read.
///
/// # Errors
/// The file has no channel, so that there is nothing to print.
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
