//! The screen: title, tabs, heading, list, text about the selected row, and a line for messages and input.

use std::ops::Range;

use analyzer::render::{StyledLine, TextStyle, count, wrapped};
use codec::words::escape_text;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Span};

use super::list::RowList;
use super::prompt::LinePrompt;
use super::{CaptureViewer, ViewKind};
use crate::output::TerminalLook;
use crate::table_fit::TableFit;

/// Lines above the list: title, tabs, and heading.
pub(super) const HEAD: usize = 3;
/// Lines of text about the selected row.
const DETAIL: usize = 3;

impl CaptureViewer {
    /// Tabs with their columns.
    pub(super) fn tabs() -> impl Iterator<Item = (ViewKind, Range<usize>)> {
        let mut at = 0;
        ViewKind::ALL.into_iter().map(move |kind| {
            let columns = at..at + kind.name().len() + 3;
            at = columns.end;
            (kind, columns)
        })
    }

    /// Lines of the list on the screen.
    pub(super) fn rows(&self) -> usize {
        let detail = if self.has_detail() { DETAIL + 1 } else { 0 };
        self.size.1.saturating_sub(HEAD + 1 + detail)
    }

    fn has_detail(&self) -> bool {
        use ViewKind::{Findings, Journeys, Links, Network};
        matches!(self.kind, Findings | Links | Journeys | Network)
    }

    pub(crate) fn draw(&mut self, buffer: &mut Buffer) {
        let area = buffer.area;
        let (kind, rows) = (self.kind, self.rows());
        let list = self.list_mut(kind);
        let first = (list.selected + 1).saturating_sub(rows.max(1));
        list.top = list.top.clamp(first, list.selected);
        let mut screen = ScreenLines { buffer, area, look: self.options.look, next: 0 };
        screen.line(&self.title(screen.width()));
        let tabs = self.tab_line(screen.look);
        screen.styled(&tabs);
        if let Some(top) = self.help {
            return draw_help(top, &mut screen);
        }
        let list = self.list(kind);
        self.draw_list(list, rows, &mut screen);
        screen.next = usize::from(area.height).saturating_sub(1);
        match &self.prompt {
            Some(prompt) => draw_prompt(prompt, &mut screen),
            None => screen.line(&self.status()),
        }
    }

    fn title(&self, width: usize) -> StyledLine {
        let (channels, characters, packets) = self.overview.counts();
        let mut state = match self.indexed() {
            100 => String::new(),
            indexed => format!("  index {indexed} %"),
        };
        if !self.overview.is_ended && self.is_indexed {
            state += &format!("  analysis {} %", self.overview.progress(self.bytes));
        }
        let counts =
            [count(channels, "channel"), count(characters, "character"), count(packets, "packet")];
        let counts = format!("  {}", counts.join(", "));
        let unread = self.overview.unread(self.options.unit).map(|text| format!("  ✗ {text}"));
        let room = width.saturating_sub(counts.chars().count() + state.len());
        let name = StyledLine::of(TextStyle::Head, &self.options.name).fitted(room.max(12));
        name.and(TextStyle::Plain, counts)
            .and(TextStyle::Notice, state)
            .and(TextStyle::Bad, unread.unwrap_or_default())
    }

    fn tab_line(&self, look: TerminalLook) -> Line<'static> {
        let tabs = Self::tabs().enumerate().map(|(number, (kind, _))| {
            let (role, modifier) = if kind == self.kind {
                (TextStyle::Head, Modifier::REVERSED)
            } else {
                (TextStyle::Dim, Modifier::empty())
            };
            let style = Style::from((look.style)(role)).add_modifier(modifier);
            Span::styled(format!("{} {} ", number + 1, kind.name()), style)
        });
        tabs.collect()
    }

    fn draw_list(&self, list: &RowList, rows: usize, screen: &mut ScreenLines<'_>) {
        let width = screen.width();
        let fit = TableFit::of(width, Some(self.kind.row_kind()), &list.head);
        screen.line(&fit.apply(0, list.head.clone()));
        let cursor = (self.kind == ViewKind::Links).then(|| self.overview.cell(self.cell, width));
        if let Some((_, time)) = cursor {
            let time = format!(
                "┆ {} {}",
                self.options.unit.elapsed(time),
                self.options.unit.of_times().name()
            );
            screen.over((width + 18).saturating_sub(time.chars().count()) / 2, &time);
        }
        for (number, shown) in list.lines.iter().enumerate().skip(list.top).take(rows) {
            screen.line(&fit.apply(shown.number, shown.line.clone()));
            if number == list.selected {
                screen.select(cursor.map(|(column, _)| column));
            }
        }
        if list.lines.is_empty() {
            screen.line(&StyledLine::of(TextStyle::Dim, self.empty_text(list)));
        }
        if !self.has_detail() {
            return;
        }
        screen.next = usize::from(screen.area.height).saturating_sub(DETAIL + 2);
        screen.line(&StyledLine::of(TextStyle::Dim, "─".repeat(width)));
        let detail = list.selected().map(|row| row.detail.as_str()).unwrap_or_default();
        let lines = wrapped(detail.split_whitespace(), " ", width);
        for text in lines.iter().take(DETAIL) {
            screen.line(&StyledLine::of(TextStyle::Plain, text));
        }
    }

    fn empty_text(&self, list: &RowList) -> &'static str {
        let is_busy = list.is_read() || !self.kind.is_of_place() && !self.overview.is_ended;
        match (is_busy, &list.filter, self.kind) {
            (true, ..) => "reading …",
            (false, Some(_), _) => "no row passes the filter",
            (false, None, ViewKind::Findings) => "✓ no findings",
            (false, None, _) => "none",
        }
    }

    fn status(&self) -> StyledLine {
        let list = self.list(self.kind);
        let filter = list.filter.as_ref().map(|(text, _)| format!("filter: {text}  "));
        let line = StyledLine::of(TextStyle::Notice, filter.unwrap_or_default());
        let pending = self.pending.map(|_| "the letter of the mark …".to_owned());
        let seeking = list.is_due().then(|| format!("reading on … {}", self.position(list)));
        let notice = (!self.notice.is_empty()).then(|| self.notice.clone());
        match pending.or(notice).or(seeking).or_else(|| list.notice.clone()) {
            Some(text) => line.and(TextStyle::Notice, text),
            None => {
                let own = match self.kind {
                    ViewKind::Links => "←→ time  Enter characters",
                    ViewKind::Packets => "Enter characters  o journey",
                    ViewKind::Journeys => "Enter first hop  [ ] hops",
                    ViewKind::Characters | ViewKind::Wires => "[ ] hops  o journey  p packets",
                    ViewKind::Network => "←→ change  Enter characters",
                    ViewKind::Findings | ViewKind::Events => "Enter characters  p packets",
                    ViewKind::Conversations => "Enter characters  p packets",
                };
                line.and(TextStyle::Dim, format!("{own}  / search  f filter  g time  ? help"))
            }
        }
    }

    /// Time of the last line of a list.
    fn position(&self, list: &RowList) -> String {
        let time = list.lines.back().map_or(0, |line| line.row.position.time);
        format!("{} {}", self.options.unit.elapsed(time), self.options.unit.of_times().name())
    }
}

/// The lines of a screen, from above.
struct ScreenLines<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    look: TerminalLook,
    next: usize,
}

impl ScreenLines<'_> {
    fn width(&self) -> usize {
        self.area.width.into()
    }

    fn row(&self, line: usize) -> Option<u16> {
        u16::try_from(line).ok().filter(|line| *line < self.area.height)
    }

    fn line(&mut self, line: &StyledLine) {
        let (look, line) = (self.look, self.look.line(line));
        let spans = line
            .pieces()
            .map(|(role, text)| Span::styled(text.to_owned(), Style::from((look.style)(role))));
        let line: Line<'static> = spans.collect();
        self.styled(&line);
    }

    fn styled(&mut self, line: &Line<'_>) {
        if let Some(row) = self.row(self.next) {
            self.buffer.set_line(0, row, line, self.area.width);
        }
        self.next += 1;
    }

    /// Writes over a part of the last line.
    fn over(&mut self, column: usize, text: &str) {
        if let (Some(row), Ok(column)) =
            (self.row(self.next.saturating_sub(1)), u16::try_from(column))
        {
            let text = self.look.line(&StyledLine::of(TextStyle::Head, text)).to_string();
            let style = Style::from((self.look.style)(TextStyle::Head));
            self.buffer.set_stringn(column, row, text, self.width(), style);
        }
    }

    /// Marks the last line as selected, or a column of it.
    fn select(&mut self, column: Option<usize>) {
        let Some(row) = self.row(self.next.saturating_sub(1)) else { return };
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        match column.and_then(|column| u16::try_from(column).ok()) {
            None => self
                .buffer
                .set_style(Rect { x: 0, y: row, width: self.area.width, height: 1 }, reversed),
            Some(column) => {
                let name = Rect { x: 0, y: row, width: 17.min(self.area.width), height: 1 };
                self.buffer.set_style(name, reversed);
                let cell = Rect { x: column, y: row, width: 1, height: 1 };
                self.buffer.set_style(cell.intersection(self.area), reversed);
            }
        }
    }
}

fn help_lines(width: usize) -> Vec<StyledLine> {
    let width = width.saturating_sub(26).max(20);
    let rows = include_str!("../../topics/view.md").lines().filter_map(|line| {
        let (keys, meaning) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        Some((keys, meaning.replace('`', "")))
    });
    let lines = rows.flat_map(|(keys, meaning)| {
        let lines = wrapped(meaning.split(' '), " ", width).into_iter().enumerate();
        lines.map(move |(number, text)| {
            let keys = if number == 0 { keys } else { "" };
            StyledLine::of(TextStyle::Head, format!("  {keys:<22}  ")).and(TextStyle::Plain, text)
        })
    });
    lines.collect()
}

/// Lines of the help above the last ones, on a screen of this size.
pub(super) fn help_end((width, height): (usize, usize)) -> usize {
    help_lines(width).len().saturating_sub(height.saturating_sub(3))
}

fn draw_help(top: usize, screen: &mut ScreenLines<'_>) {
    let lines = help_lines(screen.width());
    let room = usize::from(screen.area.height).saturating_sub(3);
    let top = top.min(lines.len().saturating_sub(room));
    screen.line(&StyledLine::default());
    lines.iter().skip(top).take(room).for_each(|line| screen.line(line));
}

fn draw_prompt(prompt: &LinePrompt, screen: &mut ScreenLines<'_>) {
    let width = screen.width();
    let text = escape_text(prompt.text.clone());
    let label = format!("{}: ", prompt.kind.label());
    let room = width.saturating_sub(label.chars().count() + 1);
    let skipped = text.chars().count().saturating_sub(room);
    let text: String = text.chars().skip(skipped).collect();
    screen.next = screen.next.saturating_sub(1);
    screen.line(&StyledLine::of(TextStyle::Dim, format!("{:<width$}", prompt.hint)).fitted(width));
    screen.line(
        &StyledLine::of(TextStyle::Head, label)
            .and(TextStyle::Plain, text)
            .and(TextStyle::Notice, format!("▏{:width$}", "")),
    );
}
