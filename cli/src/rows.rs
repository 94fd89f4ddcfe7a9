//! Lists of rows on standard output: all options that select, arrange and format rows.

mod arrangement;
mod selection;
mod separated;

use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::filter::{ColumnList, RowKind};
use analyzer::render::{self, StyledLine};
use analyzer::row::{ListRow, json_at};
use codec::capture::{CaptureError, ReadProgress};
use serde::Serialize;

use self::arrangement::{RenderedRow, RowArrangement};
pub(crate) use self::selection::{RowSelection, RowSource};
pub(crate) use self::separated::ValueSeparator;
use crate::args::{ListFormat, ViewArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// A list of rows. Its head is printed with the first row or at the end, so that nothing is printed
/// for a capture that cannot be opened.
pub(crate) struct RowWriter<'a> {
    view: &'a ViewArgs,
    selection: RowSelection,
    output: &'a mut StandardOutput,
    opening: ListOpening,
    /// JSON behind the list: members of the object, or lines.
    trailer: String,
    printed: u64,
    /// Capture of the latest row.
    capture: u32,
    failure: Option<String>,
}

/// The start of a list: its name in JSON and its head lines, until they have been printed.
enum ListOpening {
    Due { name: &'static str, head: Vec<StyledLine> },
    Printed,
}

/// Lists the rows that `read` gives to the writer; `name` is the list's member name in JSON.
pub(crate) fn list_rows(
    view: &ViewArgs,
    (kind, name): (RowKind, &'static str),
    output: &mut StandardOutput,
    read: impl FnOnce(&mut RowWriter<'_>) -> CommandResult,
) -> CommandResult {
    let Some(selection) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let mut writer = RowWriter::new(view, selection, name, output);
    let report = read(&mut writer)?;
    writer.finish()?;
    Ok(report)
}

impl<'a> RowWriter<'a> {
    fn new(
        view: &'a ViewArgs,
        mut selection: RowSelection,
        name: &'static str,
        output: &'a mut StandardOutput,
    ) -> Self {
        if matches!(view.format, ListFormat::Csv | ListFormat::Tsv) {
            selection.set_columns(ColumnList::leaves);
        }
        Self {
            view,
            selection,
            output,
            opening: ListOpening::Due { name, head: Vec::new() },
            trailer: String::new(),
            printed: 0,
            capture: 0,
            failure: None,
        }
    }

    /// Standard output, if the text of the command stands for the whole list: a report of its own
    /// instead of a line for each row.
    pub(crate) fn report(&mut self) -> Option<&mut StandardOutput> {
        if self.is_report() {
            self.opening = ListOpening::Printed;
            return Some(self.output);
        }
        None
    }

    /// Replaces the report of the command by a line for each row.
    pub(crate) fn list_instead(&mut self) {
        if self.is_report() {
            self.selection.set_columns(ColumnList::usual);
        }
    }

    /// True if a row passes the filter and, in a report, the limit has not been reached.
    pub(crate) fn admits(&mut self, row: &impl ListRow, source: RowSource) -> bool {
        let is_admitted = self.keeps(row, source) && (!self.is_report() || self.accepts_more());
        if is_admitted && self.is_report() {
            self.printed += 1;
        }
        is_admitted
    }

    /// True if the command prints a report of its own. Otherwise rows without lines are printed as
    /// columns.
    pub(crate) fn is_report(&mut self) -> bool {
        let is_report = self.view.format == ListFormat::Text && self.selection.is_everything();
        if !is_report && self.view.format == ListFormat::Text {
            self.selection.set_columns(ColumnList::usual);
        }
        is_report
    }

    pub(crate) const fn selection(&self) -> &RowSelection {
        &self.selection
    }

    /// Sets the head lines of the text format.
    pub(crate) fn head(&mut self, lines: impl FnOnce(&mut dyn FnMut(StyledLine))) {
        let mut above = Vec::new();
        if self.selection.columns().is_none() {
            lines(&mut |line| above.push(line));
        }
        match &mut self.opening {
            ListOpening::Due { head, .. } => head.append(&mut above),
            ListOpening::Printed => above.iter().for_each(|line| self.line(line)),
        }
    }

    /// Prints a line between rows, in the text format only.
    pub(crate) fn line(&mut self, line: &StyledLine) {
        let is_in_order = matches!(self.selection.arrangement(), RowArrangement::AsRead);
        if self.view.format == ListFormat::Text && is_in_order {
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
        let columns = self.selection.columns();
        match self.view.format {
            ListFormat::Json => self.output.text(&format!("{{\"{name}\":[")),
            ListFormat::Jsonl => {}
            ListFormat::Text | ListFormat::Csv | ListFormat::Tsv if !self.view.arrange.has_head => {
            }
            ListFormat::Text => {
                let head = columns.map(|columns| vec![columns.head()]).unwrap_or(head);
                self.table_lines(head);
            }
            ListFormat::Csv | ListFormat::Tsv => {
                let names = columns.into_iter().flat_map(|columns| columns.names());
                self.output.text(&separator(self.view.format).line(names));
            }
        }
    }

    /// True if a row passes the filter.
    pub(crate) fn keeps(&mut self, row: &impl ListRow, source: RowSource) -> bool {
        self.selection.keeps(row, source)
    }

    /// Prints a separating line when the capture changes, in the text format only.
    pub(crate) fn enter(&mut self, capture: u32) {
        if self.capture != capture && !self.selection.shows("capture") {
            self.capture = capture;
            if self.view.format == ListFormat::Text {
                self.open();
                self.output.line(&render::capture_line(capture));
            }
        }
    }

    /// Prints a row if it passes the filter; `lines` are its text.
    pub(crate) fn select(
        &mut self,
        row: &impl ListRow,
        source: RowSource,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) {
        if self.keeps(row, source) {
            self.row(row, source, lines);
        }
    }

    /// Prints a row, or keeps it for its place in the order; `lines` are its text.
    pub(crate) fn row(
        &mut self,
        row: &impl ListRow,
        RowSource { capture, period_ps }: RowSource,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) {
        if !self.accepts_more() {
            return;
        }
        let row = &CapturedRow::new(row, capture, period_ps);
        let result = match self.selection.arrangement() {
            RowArrangement::Count(count) => {
                *count += 1;
                Ok(())
            }
            RowArrangement::Groups(groups) => groups.add(row),
            RowArrangement::Sorted(rows) => match rows.key(row, period_ps) {
                Some(key) => {
                    let text = self.rendered(row, lines);
                    match self.selection.arrangement() {
                        RowArrangement::Sorted(rows) => rows.add(key, capture, text),
                        RowArrangement::AsRead
                        | RowArrangement::Count(_)
                        | RowArrangement::Groups(_) => Ok(()),
                    }
                }
                None => Ok(()),
            },
            RowArrangement::AsRead => {
                let text = self.rendered(row, lines);
                self.print(capture, text);
                Ok(())
            }
        };
        self.failure = result.err();
    }

    fn rendered(
        &mut self,
        row: &impl ListRow,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) -> RenderedRow {
        match (self.view.format, self.selection.columns()) {
            (ListFormat::Text, None) => {
                let mut kept = Vec::new();
                lines(&mut |line| kept.push(line));
                RenderedRow::Lines(kept)
            }
            (ListFormat::Text, Some(columns)) => RenderedRow::Lines(vec![columns.line(row)]),
            (ListFormat::Json | ListFormat::Jsonl, Some(columns)) => {
                let members = columns.names().filter_map(|name| {
                    json_at(row, name).map(|value| format!("\"{name}\":{value}"))
                });
                RenderedRow::Text(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
            }
            (ListFormat::Csv | ListFormat::Tsv, Some(columns)) => {
                RenderedRow::Text(separator(self.view.format).row(row, columns.names()))
            }
            (_, None) => RenderedRow::Text(serde_json::to_string(row).unwrap_or_default()),
        }
    }

    fn print(&mut self, capture: u32, row: RenderedRow) {
        self.open();
        self.enter(capture);
        if self.view.format == ListFormat::Json && self.printed > 0 {
            self.output.text(",\n");
        }
        match row {
            RenderedRow::Lines(lines) => self.table_lines(lines),
            RenderedRow::Text(text) => self.output.text(&text),
        }
        if self.view.format == ListFormat::Jsonl {
            self.output.text("\n");
        }
        self.printed += 1;
    }

    /// Prints the lines of a row or of the heading. The first, a line of the table, is shortened to the
    /// width of the output.
    fn table_lines(&mut self, lines: Vec<StyledLine>) {
        let kind = self.selection.kind();
        // Lines of characters have a width of their own.
        let width = self.output.width().filter(|_| kind != RowKind::Characters);
        let is_whole_path = kind != RowKind::Journeys || self.selection.columns().is_some();
        for (number, line) in lines.into_iter().enumerate() {
            let line = match width {
                Some(width) if number == 0 && is_whole_path => line.fitted(width),
                Some(width) if number == 0 => {
                    line.shortened(render::journey_excess(width)).fitted(width)
                }
                Some(_) | None => line,
            };
            self.output.line(&line);
        }
    }

    /// False once the limit is reached, standard output is closed, or there are too many rows to sort.
    pub(crate) fn accepts_more(&mut self) -> bool {
        let is_in_order = matches!(self.selection.arrangement(), RowArrangement::AsRead);
        let has_room = !is_in_order || self.view.limit.is_none_or(|limit| self.printed < limit);
        self.output.is_open() && self.failure.is_none() && has_room
    }

    pub(crate) fn flow(&mut self) -> ControlFlow<()> {
        if self.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Adds a member to the JSON object, behind the list.
    pub(crate) fn member(&mut self, name: &str, value: &impl Serialize) {
        if self.view.format == ListFormat::Json && self.selection.columns().is_none() {
            let json = serde_json::to_string(value).unwrap_or_default();
            self.trailer += &format!(",\n\"{name}\":{json}");
        }
    }

    /// Adds a list of other rows behind the list: a member in JSON, and lines in JSONL.
    pub(crate) fn other_rows(&mut self, name: &str, rows: &[impl Serialize]) {
        self.member(name, &rows);
        if self.view.format == ListFormat::Jsonl && self.selection.columns().is_none() {
            let lines = rows.iter().filter_map(|row| serde_json::to_string(row).ok());
            lines.for_each(|line| self.trailer += &(line + "\n"));
        }
    }

    /// Prints the rows kept for an order, and the end of the list.
    fn finish(mut self) -> Result<(), CliError> {
        if let Some(failure) = self.failure {
            return Err(CliError::reading(&self.view.file, &failure));
        }
        let format = self.view.format;
        match std::mem::replace(self.selection.arrangement(), RowArrangement::AsRead) {
            RowArrangement::AsRead => {}
            RowArrangement::Count(count) => {
                self.output.text(&match format {
                    ListFormat::Text => format!("{count}\n"),
                    ListFormat::Json | ListFormat::Jsonl => format!("{{\"count\":{count}}}\n"),
                    ListFormat::Csv | ListFormat::Tsv if self.view.arrange.has_head => {
                        format!("count\n{count}\n")
                    }
                    ListFormat::Csv | ListFormat::Tsv => format!("{count}\n"),
                });
                return Ok(());
            }
            RowArrangement::Sorted(rows) => {
                rows.into_rows().for_each(|(capture, row)| self.print(capture, row));
            }
            RowArrangement::Groups(groups) => {
                self.opening = ListOpening::Due { name: "groups", head: Vec::new() };
                self.trailer.clear();
                self.selection.replace_columns(groups.columns.with_count());
                for group in groups.into_rows() {
                    let row = self.rendered(&group, |_| {});
                    self.print(self.capture, row);
                }
            }
        }
        self.open();
        match format {
            ListFormat::Json => self.output.text(&format!("]{}}}\n", self.trailer)),
            ListFormat::Jsonl => self.output.text(&self.trailer),
            ListFormat::Text | ListFormat::Csv | ListFormat::Tsv => {}
        }
        Ok(())
    }
}

const fn separator(format: ListFormat) -> ValueSeparator {
    if matches!(format, ListFormat::Tsv) { ValueSeparator::Tab } else { ValueSeparator::Comma }
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
