//! A list of the viewer: the lines around a place, read on as far as they are looked at.

use std::collections::VecDeque;
use std::sync::Arc;

use analyzer::event::Picoseconds;
use analyzer::filter::Filter;
use analyzer::render::StyledLine;
use codec::capture::{CaptureError, ReadProgress};
use codec::time::Tick;

use super::row::{RowChoice, RowItem, RowReader, ViewedEntry, ViewedLine};

/// Lines that are kept before the one that is looked for, and that are read ahead of the selected one.
/// *Chosen*: more than a screen.
const CONTEXT: usize = 200;
const AHEAD: usize = 400;
/// Lines above a row that was looked for, on the screen.
const ABOVE: usize = 6;
/// Lines of a list. *Chosen*: some 10 MB.
const LINES_MAX: usize = 20_000;
/// Lines behind a time among which a row that contains it is looked for. Journeys are in order of their ends.
const SEARCHED_MAX: usize = 5_000;

#[derive(Debug, Default)]
pub(super) struct RowList {
    pub(super) head: StyledLine,
    pub(super) lines: VecDeque<ViewedLine>,
    pub(super) selected: usize,
    /// First line on the screen.
    pub(super) top: usize,
    pub(super) filter: Option<(String, Filter)>,
    pub(super) notice: Option<String>,
    reading: Option<RowReading>,
    goal: Option<RowGoal>,
    /// Capture and time from which it was read.
    pub(super) place: (u32, Picoseconds),
    /// Lines that the selection could not move up.
    pub(super) missing: usize,
    pub(super) start: ListStart,
}

/// The first row of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListStart {
    /// That of the capture.
    #[default]
    Beginning,
    /// One behind this number of places of the index before the goal.
    Before(usize),
}

#[derive(Debug)]
struct RowReading {
    reader: RowReader,
    choice: RowChoice,
    /// Rows that begin earlier may be incomplete.
    from: (u32, Picoseconds),
    /// Number of rows behind the end of the list.
    beyond: usize,
}

/// The row that is looked for, and selected.
#[derive(Clone, Debug, Default)]
pub(super) struct RowGoal {
    pub(super) at: (u32, Picoseconds),
    /// Its channel, or that of the characters to show.
    pub(super) channel: Option<String>,
    pub(super) character: Option<Tick>,
    pub(super) text: Option<String>,
    /// Lines to move up from it.
    pub(super) up: usize,
    /// The first line at its time.
    pub(super) nearest: Option<usize>,
}

impl RowGoal {
    pub(super) fn of(row: &ViewedEntry) -> Self {
        let position = &row.position;
        let channel = Some(position.channel.clone());
        let (at, character) = ((position.capture, position.time), Some(position.first));
        Self { at, channel, character, ..Self::default() }
    }

    pub(super) const fn at(at: (u32, Picoseconds)) -> Self {
        Self { at, channel: None, character: None, text: None, up: 0, nearest: None }
    }

    fn is_behind(&self, row: &ViewedEntry) -> bool {
        (row.position.capture, row.position.end) >= self.at
    }

    fn is_reached(&self, row: &ViewedEntry, lines: &[StyledLine]) -> bool {
        match (&self.text, &self.channel, self.character) {
            (Some(text), ..) => lines.iter().any(|line| has_text(line, text)),
            (None, Some(channel), Some(at)) => row.contains(self.at.0, channel, at),
            (None, ..) => self.is_behind(row),
        }
    }
}

/// True if a line contains a text in small letters.
pub(super) fn has_text(line: &StyledLine, text: &str) -> bool {
    line.to_string().to_lowercase().contains(text)
}

impl RowList {
    /// Reads anew, up to a row; `from` is the time of the first complete row.
    pub(super) fn read(
        &mut self,
        (reader, choice): (RowReader, RowChoice),
        goal: RowGoal,
        (from, start): ((u32, Picoseconds), ListStart),
    ) {
        self.lines.clear();
        (self.selected, self.top, self.missing, self.notice) = (0, 0, 0, None);
        self.reading = Some(RowReading { reader, choice, from, beyond: 0 });
        (self.place, self.goal, self.start) = (goal.at, Some(goal), start);
    }

    pub(super) fn selected(&self) -> Option<&Arc<ViewedEntry>> {
        self.lines.get(self.selected).map(|line| &line.row)
    }

    /// True if lines are to be read.
    pub(super) fn is_due(&self) -> bool {
        let is_short = self.lines.len() < self.selected.saturating_add(AHEAD);
        self.reading.is_some() && (is_short || self.goal.is_some())
    }

    pub(super) const fn is_read(&self) -> bool {
        self.reading.is_some() || self.goal.is_some()
    }

    /// Reads a part.
    pub(super) fn advance(&mut self) {
        let Some(RowReading { reader, choice, beyond, .. }) = &mut self.reading else { return };
        let mut items = Vec::new();
        let progress = reader.step(choice, &mut |item| items.push(item));
        *beyond += items.iter().filter(|item| matches!(item, RowItem::Beyond)).count();
        // Rows are in order of their ends: some that begin earlier may come among these.
        let is_over = *beyond > SEARCHED_MAX;
        for item in items {
            match item {
                RowItem::Head(head) => self.head = head,
                RowItem::Row(row, lines) => self.add(row, lines),
                RowItem::Beyond => {}
            }
        }
        if is_over || !matches!(progress, Ok(ReadProgress::More)) {
            self.finish(progress.err());
        }
    }

    /// Adds a row, and ends the search if it is the one.
    fn add(&mut self, row: ViewedEntry, lines: Vec<StyledLine>) {
        let is_reached = self.goal.as_ref().is_some_and(|goal| goal.is_reached(&row, &lines));
        let from = self.reading.as_ref().map(|reading| reading.from);
        if !is_reached && from.is_some_and(|from| (row.position.capture, row.position.end) < from) {
            return;
        }
        let place = self.lines.len();
        if let Some(goal) = &mut self.goal
            && goal.nearest.is_none()
            && goal.text.is_none()
            && goal.is_behind(&row)
        {
            goal.nearest = Some(place);
        }
        let row = Arc::new(row);
        let lines = lines.into_iter().enumerate();
        self.lines.extend(lines.map(|(number, line)| ViewedLine {
            line,
            row: Arc::clone(&row),
            number,
        }));
        let nearest = self.goal.as_ref().map(|goal| goal.nearest);
        if is_reached {
            self.reached(place);
        } else if let Some(Some(nearest)) = nearest
            && place - nearest > SEARCHED_MAX
        {
            self.reached(nearest);
        }
        let most = if nearest == Some(None) { CONTEXT } else { LINES_MAX };
        while self.lines.len() > most && !is_reached {
            self.lines.pop_front();
            self.start = match self.start {
                ListStart::Beginning => ListStart::Before(0),
                before @ ListStart::Before(_) => before,
            };
            self.selected = self.selected.saturating_sub(1);
            self.top = self.top.saturating_sub(1);
        }
    }

    fn reached(&mut self, place: usize) {
        (self.selected, self.top) = (place, place.saturating_sub(ABOVE));
        if let Some(goal) = self.goal.take()
            && goal.up > 0
        {
            self.move_up(goal.up);
            self.top = self.selected;
        }
    }

    fn finish(&mut self, error: Option<CaptureError>) {
        self.reading = None;
        let last = self.lines.len().saturating_sub(1);
        if let Some(goal) = &self.goal {
            if let Some(text) = &goal.text {
                self.notice = Some(format!("not found: {text}"));
            }
            self.reached(goal.nearest.unwrap_or(last));
        }
        if let Some(error) = error {
            self.notice = Some(error.to_string());
        }
    }

    pub(super) fn move_up(&mut self, lines: usize) {
        self.missing = match self.start {
            // Nothing is above the first row of the capture.
            ListStart::Beginning => 0,
            ListStart::Before(_) => lines.saturating_sub(self.selected),
        };
        self.selected = self.selected.saturating_sub(lines);
    }

    pub(super) fn move_down(&mut self, lines: usize) {
        self.missing = 0;
        let last = self.lines.len().saturating_sub(1);
        self.selected = self.selected.saturating_add(lines).min(last);
    }

    /// Selects the next line with a text: in the list, or farther on.
    pub(super) fn find(&mut self, text: &str) {
        self.missing = 0;
        let mut lines = self.lines.iter().enumerate().skip(self.selected + 1);
        if let Some((place, _)) = lines.find(|(_, line)| has_text(&line.line, text)) {
            self.selected = place;
        } else if self.reading.is_some() {
            self.goal = Some(RowGoal { text: Some(text.to_owned()), ..RowGoal::default() });
            self.selected = self.lines.len().saturating_sub(1);
        } else {
            self.notice = Some(format!("not found below: {text}"));
        }
    }

    /// Selects the line before with a text, in the list.
    pub(super) fn find_above(&mut self, text: &str) {
        self.missing = 0;
        let mut lines = self.lines.iter().enumerate().take(self.selected);
        match lines.rfind(|(_, line)| has_text(&line.line, text)) {
            Some((place, _)) => self.selected = place,
            None => self.notice = Some(format!("not found above: {text}")),
        }
    }
}
