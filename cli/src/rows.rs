//! Lists of rows on standard output: all options that select, arrange and format rows.

mod arrangement;
mod selection;
mod separated;
mod trailer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use analyzer::captured::CapturedRow;
use analyzer::filter::{ColumnList, RowKind, RowText};
use analyzer::finding::CaptureArgument;
use analyzer::render::{self, StyledLine, TextStyle};
use analyzer::row::ListRow;
use codec::time::CharacterPeriod;

use self::arrangement::{CapturePlace, RenderedRow, RowArrangement, count_text, separators};
pub(crate) use self::selection::{RowSelection, RowSource, parse_filter};
pub(crate) use self::separated::ValueSeparator;
use self::trailer::ListTrailer;
use crate::args::{ListFormat, ViewArgs};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::table_fit::TableFit;

/// A list of rows of one file or several. Its head is printed with the first row or at the end, so that
/// nothing is printed for a capture that cannot be opened.
pub(crate) struct RowWriter<'a> {
    view: &'a ViewArgs,
    pub(crate) file: &'a Path,
    /// Files that are read with it as one capture.
    others: &'a [PathBuf],
    selection: RowSelection,
    output: &'a mut StandardOutput,
    opening: ListOpening,
    trailer: ListTrailer,
    printed: u64,
    /// File and capture of the latest row.
    place: CapturePlace,
    failure: Option<String>,
    /// Shortening of lines to the width of the output, which follows from the heading.
    fit: Option<TableFit>,
}

/// The start of a list: its name in JSON and its head lines, until they have been printed.
enum ListOpening {
    Due { name: &'static str, head: Vec<StyledLine> },
    Printed,
}

/// Lists the rows of each file, which `read` gives to the writer.
pub(crate) fn list_rows(
    view: &ViewArgs,
    kind: RowKind,
    output: &mut StandardOutput,
    mut read: impl FnMut(&mut RowWriter<'_>) -> CommandResult,
) -> CommandResult {
    let Some(selection) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let mut writer = RowWriter::new(view, selection, output);
    let mut reports = RunReport::default();
    let together = if view.join { view.files.len().max(1) } else { 1 };
    for files in view.files.chunks(together) {
        let Some((file, others)) = files.split_first() else { continue };
        (writer.file, writer.others) = (file, others);
        writer.trailer.file = writer.file_name();
        match read(&mut writer) {
            Err(failure) if !writer.is_of_several() => return Err(failure),
            result => reports.add(result),
        }
    }
    if writer.is_of_several() && matches!(kind, RowKind::Findings | RowKind::Cases) {
        writer.line(&StyledLine::of(TextStyle::Head, reports.total()));
    }
    writer.finish()?;
    Ok(reports)
}

impl<'a> RowWriter<'a> {
    fn new(
        view: &'a ViewArgs,
        mut selection: RowSelection,
        output: &'a mut StandardOutput,
    ) -> Self {
        if matches!(view.format, ListFormat::Csv | ListFormat::Tsv) {
            selection.set_columns(ColumnList::leaves);
        }
        let kind = selection.kind;
        let head = kind.head(view.unit()).filter(|_| selection.columns.is_none());
        let mut writer = Self {
            view,
            file: Path::new("-"),
            others: &[],
            selection,
            output,
            opening: ListOpening::Due { name: kind.list(), head: head.into_iter().collect() },
            trailer: ListTrailer::default(),
            printed: 0,
            place: (None, 0),
            failure: None,
            fit: None,
        };
        let has_lines = matches!(kind.text(), RowText::Lines(_));
        if view.format == ListFormat::Text && !has_lines && !writer.is_report() {
            writer.set_usual_columns();
        }
        writer
    }

    const fn is_of_several(&self) -> bool {
        self.view.files.len() > 1 && !self.view.join
    }

    /// Name of the file in its rows, if there are several files.
    pub(crate) fn file_name(&self) -> Option<String> {
        self.is_of_several().then(|| self.file.display().to_string())
    }

    pub(crate) const fn input(&self) -> InputFile<'a> {
        let (end, dialect) = (self.view.end(), self.view.dialect.value());
        let profile = self.view.profile.value();
        let others = self.others;
        InputFile { end, dialect, profile, others, ..InputFile::whole(self.file) }
    }

    /// The capture as an argument of another command.
    pub(crate) fn argument(&self) -> CaptureArgument<'a> {
        self.view.profile.argument(self.file, self.others)
    }

    pub(crate) fn run_report(&self) -> RunReport {
        RunReport::of(self.file)
    }

    /// Standard output for a report that stands for the whole list, below the name of one of several files.
    pub(crate) fn report(&mut self) -> Option<&mut StandardOutput> {
        let name = self.file_name();
        let output = self.report_output()?;
        name.iter().for_each(|name| output.line(&render::file_line(name)));
        Some(output)
    }

    /// As [`RowWriter::report`], without the name of the file.
    pub(crate) fn report_output(&mut self) -> Option<&mut StandardOutput> {
        if self.is_report() {
            self.opening = ListOpening::Printed;
            return Some(self.output);
        }
        None
    }

    /// Replaces the report of the command by a line for each row.
    pub(crate) fn list_instead(&mut self) {
        if self.is_report() {
            self.set_usual_columns();
        }
    }

    /// True if a row passes the filter and, in a report, the limit has not been reached.
    pub(crate) fn admits(&mut self, row: &dyn ListRow, source: RowSource) -> bool {
        let is_admitted = self.keeps(row, source) && (!self.is_report() || self.accepts_more());
        if is_admitted && self.is_report() {
            self.printed += 1;
        }
        is_admitted
    }

    /// True if the command prints a report of its own.
    pub(crate) const fn is_report(&self) -> bool {
        matches!(self.view.format, ListFormat::Text)
            && matches!(self.selection.kind.text(), RowText::Report(_))
            && self.selection.is_everything()
    }

    fn set_usual_columns(&mut self) {
        let (unit, width) = (Some(self.view.unit()), self.output.width());
        self.selection.set_columns(|kind| ColumnList::usual(kind).in_unit(unit).fitting(width));
    }

    pub(crate) const fn selection(&self) -> &RowSelection {
        &self.selection
    }

    /// Sets the head lines of the text format, of a kind whose rows have none in common.
    pub(crate) fn head(&mut self, lines: impl FnOnce(&mut dyn FnMut(StyledLine))) {
        let mut above = Vec::new();
        if self.selection.columns.is_none() {
            lines(&mut |line| above.push(line));
        }
        match &mut self.opening {
            ListOpening::Due { head, .. } => *head = above,
            // Each capture of `show` has a head of its own, other lists one.
            ListOpening::Printed if self.selection.kind == RowKind::Characters => {
                above.iter().for_each(|line| self.line(line));
            }
            ListOpening::Printed => {}
        }
    }

    /// Prints a line between rows, in the text format only.
    pub(crate) fn line(&mut self, line: &StyledLine) {
        let is_in_order = matches!(self.selection.arrangement, RowArrangement::AsRead);
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
        let (kind, has_columns) = (self.selection.kind, self.selection.columns.is_some());
        let columns = self.selection.columns.as_mut();
        match self.view.format {
            ListFormat::Json => self.output.text(&format!("{{\"{name}\":[")),
            ListFormat::Jsonl => {}
            ListFormat::Text => {
                let head = columns.map(|columns| vec![columns.head()]).unwrap_or(head);
                // Lines of characters have a width of their own.
                let width = self.output.width().filter(|_| kind != RowKind::Characters);
                let heading = head.first().cloned().unwrap_or_default();
                let kind = (!has_columns).then_some(kind);
                self.fit = width.map(|width| TableFit::of(width, kind, &heading));
                if self.view.arrange.has_head {
                    self.table_lines(head);
                }
            }
            ListFormat::Csv | ListFormat::Tsv if !self.view.arrange.has_head => {}
            ListFormat::Csv | ListFormat::Tsv => {
                let names = columns.into_iter().flat_map(|columns| columns.names());
                self.output.text(&ValueSeparator::of(self.view.format).line(names));
            }
        }
    }

    /// True if a row passes the filter.
    pub(crate) fn keeps(&mut self, row: &dyn ListRow, source: RowSource) -> bool {
        let RowSource { capture, period } = source;
        let file = self.file_name();
        let row = CapturedRow::new(row, capture, period).of_file(file.as_deref());
        self.selection.keeps(&row, period)
    }

    /// Prints a separating line when the file or the capture changes, in the text format only.
    pub(crate) fn enter(&mut self, capture: u32) {
        self.enter_place((self.file_name(), capture));
    }

    fn enter_place(&mut self, place: CapturePlace) {
        if self.view.format != ListFormat::Text || self.place == place {
            return;
        }
        self.open();
        let before = std::mem::replace(&mut self.place, place);
        for line in separators(&before, &self.place, &self.selection) {
            self.output.line(&line);
        }
    }

    /// Prints a row if it passes the filter; `lines` are its text.
    pub(crate) fn select(
        &mut self,
        row: &dyn ListRow,
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
        row: &dyn ListRow,
        RowSource { capture, period }: RowSource,
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) {
        if !self.accepts_more() {
            return;
        }
        let file = self.file_name();
        let row = &CapturedRow::new(row, capture, period).of_file(file.as_deref());
        let key = match &mut self.selection.arrangement {
            RowArrangement::Count(count) => return *count += 1,
            RowArrangement::Groups(groups) => return self.failure = groups.add(row).err(),
            RowArrangement::Sorted(rows) => match rows.key(row, period) {
                Some(key) => Some(key),
                None => return,
            },
            RowArrangement::AsRead => None,
        };
        let format = self.view.format;
        let text = RenderedRow::of(format, self.selection.columns.as_mut(), (row, period), lines);
        let place = (file.clone(), capture);
        let Some(key) = key else { return self.print(place, text) };
        if let RowArrangement::Sorted(rows) = &mut self.selection.arrangement {
            self.failure = rows.add(key, place, text).err();
        }
    }

    fn print(&mut self, place: CapturePlace, row: RenderedRow) {
        self.open();
        self.enter_place(place);
        if self.view.format == ListFormat::Json && self.printed > 0 {
            self.output.text(",\n");
        }
        match row {
            RenderedRow::Lines(lines) => self.table_lines(lines),
            RenderedRow::Text(mut text) => {
                text.push_str(if self.view.format == ListFormat::Jsonl { "\n" } else { "" });
                self.output.text(&text);
            }
        }
        self.printed += 1;
    }

    fn table_lines(&mut self, lines: Vec<StyledLine>) {
        for (number, line) in lines.into_iter().enumerate() {
            let fit = self.fit.as_ref();
            self.output.line(&fit.map_or(line.clone(), |fit| fit.apply(number, line)));
        }
    }

    /// False once the limit is reached, standard output is closed, or there are too many rows to sort.
    pub(crate) fn accepts_more(&mut self) -> bool {
        let is_in_order = matches!(self.selection.arrangement, RowArrangement::AsRead);
        let has_room = !is_in_order || self.view.limit.is_none_or(|limit| self.printed < limit);
        self.output.is_open() && self.failure.is_none() && has_room
    }

    pub(crate) fn flow(&mut self) -> ControlFlow<()> {
        if self.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Members behind the list in JSON.
    pub(crate) const fn trailer(&mut self) -> &mut ListTrailer {
        &mut self.trailer
    }

    /// Prints the rows kept for an order, and the end of the list.
    fn finish(mut self) -> Result<(), CliError> {
        if let Some(failure) = self.failure {
            return Err(CliError::reading(self.file, &failure));
        }
        let format = self.view.format;
        match std::mem::replace(&mut self.selection.arrangement, RowArrangement::AsRead) {
            RowArrangement::AsRead => {}
            RowArrangement::Count(count) => {
                self.output.text(&count_text(count, format, &self.view.arrange));
                return Ok(());
            }
            RowArrangement::Sorted(rows) => {
                rows.into_rows().for_each(|(place, row)| self.print(place, row));
            }
            RowArrangement::Groups(groups) => {
                self.opening = ListOpening::Due { name: "groups", head: Vec::new() };
                self.trailer = ListTrailer::default();
                self.selection.columns = Some(groups.columns.with_count());
                for group in groups.into_rows() {
                    let row = RenderedRow::of(
                        self.view.format,
                        self.selection.columns.as_mut(),
                        (&group, CharacterPeriod::PICOSECOND),
                        |_| {},
                    );
                    self.print(self.place.clone(), row);
                }
            }
        }
        self.open();
        let is_whole = self.selection.columns.is_none();
        match format {
            ListFormat::Json if is_whole => {
                self.output.text(&format!("]{}}}\n", self.trailer.members()));
            }
            ListFormat::Json => self.output.text("]}\n"),
            ListFormat::Jsonl if is_whole => self.output.text(&self.trailer.lines),
            ListFormat::Jsonl => {}
            ListFormat::Text | ListFormat::Csv | ListFormat::Tsv => {}
        }
        Ok(())
    }
}
