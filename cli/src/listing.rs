//! Rows on standard output: those that are asked for, as many, and of them what is asked for, in the form
//! that is asked for.

use analyzer::captured::CapturedRow;
use analyzer::filter::{Columns, Filter, FilterError, RowKind};
use analyzer::text::{self, Line};
use codec::capture::{CaptureError, Channel, Progress};
use serde::Serialize;

use crate::args::{Format, View};
use crate::output::Output;
use crate::picked::picked;
use crate::report::{Failure, Report};

/// Origin of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Number of its capture in the file.
    pub(crate) capture: u32,
    /// Period of the channel of its places; 1 if they are on several channels.
    pub(crate) period_ps: u64,
}

impl Origin {
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
pub(crate) struct Choice {
    filter: Option<Filter>,
    columns: Option<Columns>,
}

impl Choice {
    /// What the command line asks of rows of a kind; none if it asks only for the list of fields,
    /// which is printed then.
    ///
    /// # Errors
    /// It asks for what there is not; so this comes before any file is opened.
    pub(crate) fn of(
        view: &View,
        kind: RowKind,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        if view.list_fields {
            list_fields(kind, view.format, output);
            return Ok(None);
        }
        let wrong = |error: FilterError| Failure::filter(&error);
        let filter = view.filter.as_deref().map(|text| Filter::parse(text, kind));
        let columns = view.fields.as_deref().map(|list| Columns::parse(list, kind));
        Ok(Some(Self {
            filter: filter.transpose().map_err(wrong)?,
            columns: columns.transpose().map_err(wrong)?,
        }))
    }

    /// Whether the filter or the columns need a field.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.asks_for(name)) || self.shows(name)
    }

    /// Whether a field is among the columns.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.have(name))
    }

    /// Whether a row passes the filter.
    pub(crate) fn keeps(&mut self, row: &impl Serialize, origin: Origin) -> bool {
        let Origin { capture, period_ps } = origin;
        let row = CapturedRow { row, capture };
        self.filter.as_mut().is_none_or(|filter| filter.keeps(&row, period_ps))
    }

    /// Whether there is a filter.
    pub(crate) const fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// The columns, where not all are asked for.
    pub(crate) const fn columns(&mut self) -> Option<&mut Columns> {
        self.columns.as_mut()
    }
}

/// Prints the fields that rows of a kind have.
fn list_fields(kind: RowKind, format: Format, output: &mut Output) {
    match format {
        Format::Text => text::fields(kind, &mut |line| output.line(&line)),
        Format::Json => {
            output.text("{\"fields\":");
            output.json(&kind.fields(), "}\n");
        }
        Format::Jsonl => kind.fields().iter().for_each(|field| output.json(field, "\n")),
    }
}

/// A list of rows on its way out. Nothing is printed before there is something to print: a capture
/// that cannot be opened has no list.
pub(crate) struct Listing<'a> {
    view: &'a View,
    choice: Choice,
    output: &'a mut Output,
    opening: Opening,
    printed: u64,
    /// Capture of the newest row.
    capture: u32,
}

/// What a list starts with.
enum Opening {
    /// Still to be printed: the list's name, and what stands above its rows.
    Due {
        name: &'static str,
        head: Vec<Line>,
    },
    Printed,
}

impl<'a> Listing<'a> {
    /// Starts a list; `name` is what it is called as a JSON object.
    pub(crate) fn new(
        view: &'a View,
        choice: Choice,
        name: &'static str,
        output: &'a mut Output,
    ) -> Self {
        let opening = Opening::Due { name, head: Vec::new() };
        Self { view, choice, output, opening, printed: 0, capture: 0 }
    }

    /// Takes what stands above the rows: for people only.
    pub(crate) fn head(&mut self, lines: impl FnOnce(&mut dyn FnMut(Line))) {
        let mut above = Vec::new();
        match self.choice.columns().map(|columns| columns.head()) {
            Some(line) => above.push(line),
            None => lines(&mut |line| above.push(line)),
        }
        match &mut self.opening {
            Opening::Due { head, .. } => head.append(&mut above),
            Opening::Printed => above.iter().for_each(|line| self.line(line)),
        }
    }

    /// Prints a line between rows: for people only.
    pub(crate) fn line(&mut self, line: &Line) {
        if self.view.format == Format::Text {
            self.open();
            self.output.line(line);
        }
    }

    /// Prints what the list starts with, once.
    fn open(&mut self) {
        let Opening::Due { name, head } = std::mem::replace(&mut self.opening, Opening::Printed)
        else {
            return;
        };
        match self.view.format {
            Format::Text => head.iter().for_each(|line| self.output.line(line)),
            Format::Json => self.output.text(&format!("{{\"{name}\":[")),
            Format::Jsonl => {}
        }
    }

    /// Whether a row is asked for: see [`Choice::keeps`].
    pub(crate) fn keeps(&mut self, row: &impl Serialize, origin: Origin) -> bool {
        self.choice.keeps(row, origin)
    }

    /// Prints a line between the rows of two captures: for people only.
    pub(crate) fn enter(&mut self, capture: u32) {
        if self.capture != capture && !self.choice.shows("capture") {
            self.capture = capture;
            self.line(&text::capture_line(capture));
        }
    }

    /// Prints a row of a capture: its lines for people, or the row itself for programs.
    pub(crate) fn row(
        &mut self,
        row: &impl Serialize,
        capture: u32,
        lines: impl FnOnce(&mut dyn FnMut(Line)),
    ) {
        if !self.wants_more() {
            return;
        }
        self.open();
        self.enter(capture);
        let row = &CapturedRow { row, capture };
        if self.view.format == Format::Json && self.printed > 0 {
            self.output.text(",\n");
        }
        let end = if self.view.format == Format::Jsonl { "\n" } else { "" };
        match (self.view.format, self.choice.columns()) {
            (Format::Text, None) => lines(&mut |line| self.output.line(&line)),
            (Format::Text, Some(columns)) => self.output.line(&columns.line(row)),
            (Format::Json | Format::Jsonl, None) => self.output.json(row, end),
            (Format::Json | Format::Jsonl, Some(columns)) => {
                self.output.text(&(picked(row, columns.names()) + end));
            }
        }
        self.printed += 1;
    }

    /// Whether more rows are asked for, and somebody is there to read them.
    pub(crate) fn wants_more(&self) -> bool {
        self.output.is_open() && self.view.limit.is_none_or(|limit| self.printed < limit)
    }

    /// Ends the list.
    pub(crate) fn finish(mut self) {
        self.open();
        if self.view.format == Format::Json {
            self.output.text("]}\n");
        }
    }
}

/// Reads a capture to its end, or as far as it can be read.
///
/// # Errors
/// The file has no channel, so that there is nothing to print.
pub(crate) fn read_on(
    report: &mut Report,
    mut step: impl FnMut(&mut Report) -> Result<Progress, CaptureError>,
) -> Result<(), Failure> {
    loop {
        match step(report) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => return Ok(()),
            Err(error @ CaptureError::NoChannel { .. }) => return Err(report.failure(&error)),
            Err(error) => {
                report.error(&error);
                return Ok(());
            }
        }
    }
}
