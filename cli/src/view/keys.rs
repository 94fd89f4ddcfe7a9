//! Keys and the mouse.

use std::ops::ControlFlow;

use analyzer::event::Picoseconds;
use analyzer::window::WindowEdge;
use ratatui_crossterm::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::list::{RowGoal, RowList};
use super::prompt::{LinePrompt, PromptKind};
use super::row::RowPosition;
use super::screen::{HEAD, help_end};
use super::{CaptureViewer, ViewKind, time_of};

/// Lines that the wheel of the mouse moves.
const WHEEL: usize = 3;

/// A key that waits for the letter of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingKey {
    Mark,
    GoToMark,
}

const UP: &[KeyCode] = &[KeyCode::Up, KeyCode::Char('k')];
const DOWN: &[KeyCode] = &[KeyCode::Down, KeyCode::Char('j')];

/// Effect of a key.
type KeyCommand = fn(&mut CaptureViewer);

#[rustfmt::skip]
const COMMANDS: [(&[KeyCode], KeyCommand); 25] = [
    (UP, |viewer| viewer.shown().move_up(1)),
    (DOWN, |viewer| viewer.shown().move_down(1)),
    (&[KeyCode::PageUp, KeyCode::Char('b')], |viewer| { let page = viewer.page(); viewer.shown().move_up(page); }),
    (&[KeyCode::PageDown, KeyCode::Char(' ')], |viewer| { let page = viewer.page(); viewer.shown().move_down(page); }),
    (&[KeyCode::Home], CaptureViewer::home),
    (&[KeyCode::End], |viewer| viewer.shown().move_down(usize::MAX)),
    (&[KeyCode::Left], CaptureViewer::left),
    (&[KeyCode::Right], CaptureViewer::right),
    (&[KeyCode::Enter], CaptureViewer::enter),
    (&[KeyCode::Backspace, KeyCode::Esc], CaptureViewer::go_back),
    (&[KeyCode::Tab], |viewer| viewer.switch(viewer.kind.index() + 1)),
    (&[KeyCode::BackTab], |viewer| viewer.switch(viewer.kind.index() + ViewKind::ALL.len() - 1)),
    (&[KeyCode::Char('p')], |viewer| viewer.go_here(ViewKind::Packets)),
    (&[KeyCode::Char('o')], |viewer| viewer.go_here(ViewKind::Journeys)),
    (&[KeyCode::Char('[')], |viewer| viewer.follow(viewer.hops.1.wrapping_sub(1))),
    (&[KeyCode::Char(']')], |viewer| viewer.follow(viewer.hops.1 + 1)),
    (&[KeyCode::Char('/')], |viewer| viewer.prompt_for(PromptKind::Search, String::new())),
    (&[KeyCode::Char('n')], |viewer| viewer.find(RowList::find)),
    (&[KeyCode::Char('N')], |viewer| viewer.find(RowList::find_above)),
    (&[KeyCode::Char('f')], CaptureViewer::prompt_for_filter),
    (&[KeyCode::Char('g')], |viewer| viewer.prompt_for(PromptKind::Time, String::new())),
    (&[KeyCode::Char('m')], |viewer| viewer.pending = Some(PendingKey::Mark)),
    (&[KeyCode::Char('\'')], |viewer| viewer.pending = Some(PendingKey::GoToMark)),
    (&[KeyCode::Char('r')], CaptureViewer::reread),
    (&[KeyCode::Char('?'), KeyCode::Char('h')], |viewer| viewer.help = Some(0)),
];

impl CaptureViewer {
    /// Processes an event; breaks at the end of the program.
    pub(crate) fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => return self.key(*key),
            Event::Mouse(mouse) => self.mouse(*mouse),
            Event::Resize(width, height) => self.resize(((*width).into(), (*height).into())),
            Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Paste(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn key(&mut self, KeyEvent { code, modifiers, .. }: KeyEvent) -> ControlFlow<()> {
        let is_control = modifiers.contains(KeyModifiers::CONTROL);
        if is_control && code == KeyCode::Char('c') {
            return ControlFlow::Break(());
        }
        self.notice.clear();
        if self.prompt.is_some() {
            self.type_key(code);
        } else if let Some(pending) = self.pending.take() {
            self.mark(pending, code);
        } else if let Some(top) = self.help {
            self.help = match (DOWN.contains(&code), UP.contains(&code)) {
                (true, _) => Some((top + 1).min(help_end(self.size))),
                (_, true) => Some(top.saturating_sub(1)),
                (false, false) => None,
            };
        } else if code == KeyCode::Char('q') {
            return ControlFlow::Break(());
        } else if let Some((_, command)) = COMMANDS.iter().find(|(keys, _)| keys.contains(&code)) {
            command(self);
        } else if let KeyCode::Char(char) = code {
            match (char as usize).checked_sub('1' as usize) {
                Some(number) if number < ViewKind::ALL.len() => self.switch(number),
                Some(_) | None => self.notice = format!("no key {char:?}: ? shows all"),
            }
        }
        ControlFlow::Continue(())
    }

    fn shown(&mut self) -> &mut RowList {
        self.list_mut(self.kind)
    }

    fn page(&self) -> usize {
        self.rows().saturating_sub(1).max(1)
    }

    fn home(&mut self) {
        if !self.kind.is_of_place() {
            return self.shown().move_up(usize::MAX);
        }
        let channel = self.here().and_then(|goal| goal.channel);
        self.read(self.kind, RowGoal { channel, ..RowGoal::default() }, 0);
    }

    fn reread(&mut self) {
        let goal = self.here().unwrap_or_default();
        self.read(self.kind, goal, 0);
        self.refreshed = None;
    }

    /// Selects a line with the text that was searched.
    fn find(&mut self, find: fn(&mut RowList, &str)) {
        if self.search.is_empty() {
            return "nothing to search: / asks for a text".clone_into(&mut self.notice);
        }
        let text = self.search.clone();
        find(self.shown(), &text);
    }

    fn prompt_for_filter(&mut self) {
        let text = self.list(self.kind).filter.as_ref().map(|(text, _)| text.clone());
        self.prompt_for(PromptKind::Filter(self.kind.row_kind()), text.unwrap_or_default());
    }

    fn prompt_for(&mut self, kind: PromptKind, text: String) {
        self.prompt = Some(LinePrompt::new(kind, text));
    }

    /// Shows another list, at the place of the selected row.
    fn switch(&mut self, number: usize) {
        let count = ViewKind::ALL.len();
        let Some(kind) = ViewKind::ALL.get(number % count).copied() else { return };
        if kind != self.kind {
            self.go_here(kind);
        }
    }

    fn go_here(&mut self, kind: ViewKind) {
        // A lane begins with the capture.
        let goal = if self.kind == ViewKind::Links { self.at_cell() } else { self.here() };
        if goal.is_some() || !self.list(kind).is_read() {
            self.go(kind, goal.unwrap_or_default());
        }
    }

    /// The place of the cursor on a lane.
    fn at_cell(&self) -> Option<RowGoal> {
        let RowGoal { at: (capture, _), channel, .. } = self.here()?;
        let (_, time) = self.overview.cell(self.cell, self.size.0);
        Some(RowGoal { channel, ..RowGoal::at((capture, time)) })
    }

    fn enter(&mut self) {
        match self.list(self.kind).selected() {
            Some(row) if self.kind == ViewKind::Journeys => {
                self.hops = (row.parts.clone(), 0);
                self.follow(0);
            }
            Some(_) | None => self.go_here(ViewKind::Characters),
        }
    }

    /// Moves the cursor on the lanes, or shows the network at the change of a state before.
    fn left(&mut self) {
        if self.kind != ViewKind::Network {
            return self.cell = self.cell.saturating_sub(1);
        }
        // Behind a change, the one before; at it, the character before it.
        self.step(|now, states| {
            let start = states.map(|state| state.time).filter(|start| *start <= now).max()?;
            Some(if start == now { now.saturating_sub(1) } else { start })
        });
    }

    /// As [`Self::left`], in the other direction.
    fn right(&mut self) {
        if self.kind != ViewKind::Network {
            return self.cell = (self.cell + 1).min(self.size.0);
        }
        self.step(|now, states| states.map(|state| state.end).filter(|end| *end > now).min());
    }

    /// Shows the network at another time, which follows from the time and the states that are shown.
    fn step(
        &mut self,
        to: fn(Picoseconds, &mut dyn Iterator<Item = &RowPosition>) -> Option<Picoseconds>,
    ) {
        let Some(here) = self.here() else { return };
        let (capture, now) = here.at;
        let mut states = self.list(self.kind).lines.iter().flat_map(|line| &line.row.parts);
        if let Some(time) = to(now, &mut states) {
            self.read(self.kind, RowGoal { at: (capture, time), ..here }, 0);
        }
    }

    /// Shows the characters at a hop of the journey.
    fn follow(&mut self, number: usize) {
        let (hops, current) = &mut self.hops;
        let Some(hop) = hops.get(number) else {
            let text = if hops.is_empty() {
                "no journey is followed: Enter on a journey begins"
            } else {
                "the journey has no more hops in this direction"
            };
            return text.clone_into(&mut self.notice);
        };
        *current = number;
        let (count, text) = (hops.len(), hop.channel.clone());
        let goal = RowGoal { channel: Some(text.clone()), ..RowGoal::at((hop.capture, hop.time)) };
        let goal = RowGoal { character: Some(hop.first), ..goal };
        self.notice = format!("hop {} of {count}: {text}", number + 1);
        self.go(ViewKind::Characters, goal);
    }

    fn go_back(&mut self) {
        let Some((kind, goal)) = self.back.pop() else { return };
        self.kind = kind;
        self.refreshed = None;
        if let Some(goal) = goal.filter(|_| kind.is_of_place()) {
            self.read(kind, goal, 0);
        }
    }

    fn mark(&mut self, pending: PendingKey, code: KeyCode) {
        let KeyCode::Char(letter) = code else { return };
        match pending {
            PendingKey::Mark => {
                if let Some(goal) = self.here() {
                    self.marks.insert(letter, (self.kind, goal));
                    self.notice = format!("mark {letter} is here");
                }
            }
            PendingKey::GoToMark => match self.marks.get(&letter).cloned() {
                Some((kind, goal)) => self.go(kind, goal),
                None => self.notice = format!("no mark {letter}: m {letter} sets it"),
            },
        }
    }

    fn type_key(&mut self, code: KeyCode) {
        let Some(prompt) = &mut self.prompt else { return };
        let is_empty = prompt.text.is_empty();
        if let KeyCode::Char(char) = code {
            prompt.text.push(char);
        } else if code == KeyCode::Esc || code == KeyCode::Backspace && is_empty {
            self.prompt = None;
        } else if code == KeyCode::Backspace {
            prompt.text.pop();
        } else if code == KeyCode::Tab {
            prompt.complete();
        } else if code == KeyCode::Enter {
            self.answer();
        }
    }

    /// Applies the line that was typed; with an error it stays.
    fn answer(&mut self) {
        let Some(LinePrompt { kind, text, .. }) = self.prompt.take() else { return };
        let view = self.kind;
        let error = match kind {
            PromptKind::Search => {
                self.search = text.to_lowercase();
                if !self.search.is_empty() {
                    self.find(RowList::find);
                }
                None
            }
            PromptKind::Filter(_) => match self.set_filter(view, &text) {
                Ok(()) => {
                    let at = self.here().map_or(self.list(view).place, |goal| goal.at);
                    self.read(view, RowGoal::at(at), 0);
                    None
                }
                Err(error) => Some(error.message().to_owned()),
            },
            PromptKind::Time => match text.trim().parse::<WindowEdge>() {
                Ok(edge) => {
                    self.go_to_time(time_of(edge));
                    None
                }
                Err(error) => Some(error.to_string()),
            },
        };
        if let Some(hint) = error {
            self.prompt = Some(LinePrompt { kind, text, hint });
        }
    }

    fn go_to_time(&mut self, time: u128) {
        let here = self.here().unwrap_or_default();
        let kind = if self.kind.is_of_place() { self.kind } else { ViewKind::Packets };
        self.go(kind, RowGoal { channel: here.channel, ..RowGoal::at((here.at.0, time)) });
    }

    fn mouse(&mut self, MouseEvent { kind, row, column, .. }: MouseEvent) {
        let view = self.kind;
        let above = HEAD;
        let row = usize::from(row);
        if kind == MouseEventKind::ScrollUp {
            self.list_mut(view).move_up(WHEEL);
        } else if kind == MouseEventKind::ScrollDown {
            self.list_mut(view).move_down(WHEEL);
        } else if kind == MouseEventKind::Down(MouseButton::Left) && row == 1 {
            let tab = Self::tabs().find(|(_, columns)| columns.contains(&column.into()));
            let number = tab.map(|(kind, _)| kind.index());
            if let Some(number) = number {
                self.switch(number);
            }
        } else if kind == MouseEventKind::Down(MouseButton::Left) && row >= above {
            let list = self.list_mut(view);
            list.selected = (list.top + row - above).min(list.lines.len().saturating_sub(1));
        }
    }
}
