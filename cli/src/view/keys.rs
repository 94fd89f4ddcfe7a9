//! Keys and the mouse.

use std::ops::ControlFlow;

use analyzer::window::WindowEdge;
use ratatui_crossterm::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::list::RowGoal;
use super::prompt::{LinePrompt, PromptKind};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyCommand {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Left,
    Right,
    Enter,
    Back,
    NextList,
    ListBefore,
    Packets,
    Journey,
    HopBefore,
    NextHop,
    Search,
    FindNext,
    FindBefore,
    Filter,
    Time,
    SetMark,
    GoToMark,
    Reread,
    Help,
}

#[rustfmt::skip]
const COMMANDS: [(KeyCommand, &[KeyCode]); 25] = [
    (KeyCommand::Up, &[KeyCode::Up, KeyCode::Char('k')]),
    (KeyCommand::Down, &[KeyCode::Down, KeyCode::Char('j')]),
    (KeyCommand::PageUp, &[KeyCode::PageUp, KeyCode::Char('b')]),
    (KeyCommand::PageDown, &[KeyCode::PageDown, KeyCode::Char(' ')]),
    (KeyCommand::Home, &[KeyCode::Home]),
    (KeyCommand::End, &[KeyCode::End]),
    (KeyCommand::Left, &[KeyCode::Left]),
    (KeyCommand::Right, &[KeyCode::Right]),
    (KeyCommand::Enter, &[KeyCode::Enter]),
    (KeyCommand::Back, &[KeyCode::Backspace, KeyCode::Esc]),
    (KeyCommand::NextList, &[KeyCode::Tab]),
    (KeyCommand::ListBefore, &[KeyCode::BackTab]),
    (KeyCommand::Packets, &[KeyCode::Char('p')]),
    (KeyCommand::Journey, &[KeyCode::Char('o')]),
    (KeyCommand::HopBefore, &[KeyCode::Char('[')]),
    (KeyCommand::NextHop, &[KeyCode::Char(']')]),
    (KeyCommand::Search, &[KeyCode::Char('/')]),
    (KeyCommand::FindNext, &[KeyCode::Char('n')]),
    (KeyCommand::FindBefore, &[KeyCode::Char('N')]),
    (KeyCommand::Filter, &[KeyCode::Char('f')]),
    (KeyCommand::Time, &[KeyCode::Char('g')]),
    (KeyCommand::SetMark, &[KeyCode::Char('m')]),
    (KeyCommand::GoToMark, &[KeyCode::Char('\'')]),
    (KeyCommand::Reread, &[KeyCode::Char('r')]),
    (KeyCommand::Help, &[KeyCode::Char('?'), KeyCode::Char('h')]),
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
            let command = command(code);
            self.help = match (command == Some(KeyCommand::Down), command == Some(KeyCommand::Up)) {
                (true, _) => Some((top + 1).min(help_end(self.size))),
                (_, true) => Some(top.saturating_sub(1)),
                (false, false) => None,
            };
        } else if code == KeyCode::Char('q') {
            return ControlFlow::Break(());
        } else if let Some(command) = command(code) {
            self.command(command);
        } else if let KeyCode::Char(char) = code {
            match (char as usize).checked_sub('1' as usize) {
                Some(number) if number < ViewKind::ALL.len() => self.switch(number),
                Some(_) | None => self.notice = format!("no key {char:?}: ? shows all"),
            }
        }
        ControlFlow::Continue(())
    }

    fn command(&mut self, command: KeyCommand) {
        let (kind, page) = (self.kind, self.rows().saturating_sub(1).max(1));
        match command {
            KeyCommand::Up => self.list_mut(kind).move_up(1),
            KeyCommand::Down => self.list_mut(kind).move_down(1),
            KeyCommand::PageUp => self.list_mut(kind).move_up(page),
            KeyCommand::PageDown => self.list_mut(kind).move_down(page),
            KeyCommand::Home if kind.is_of_place() => {
                let channel = self.here().and_then(|goal| goal.channel);
                self.read(kind, RowGoal { channel, ..RowGoal::default() }, 0);
            }
            KeyCommand::Home => self.list_mut(kind).move_up(usize::MAX),
            KeyCommand::End => self.list_mut(kind).move_down(usize::MAX),
            KeyCommand::Left | KeyCommand::Right if kind == ViewKind::Network => self.step(command),
            KeyCommand::Left => self.cell = self.cell.saturating_sub(1),
            KeyCommand::Right => self.cell = (self.cell + 1).min(self.size.0),
            KeyCommand::Enter => self.enter(),
            KeyCommand::Back => self.go_back(),
            KeyCommand::NextList => self.switch(kind.index() + 1),
            KeyCommand::ListBefore => self.switch(kind.index() + ViewKind::ALL.len() - 1),
            KeyCommand::Packets => self.go_here(ViewKind::Packets),
            KeyCommand::Journey => self.go_here(ViewKind::Journeys),
            KeyCommand::HopBefore => self.follow(self.hops.1.wrapping_sub(1)),
            KeyCommand::NextHop => self.follow(self.hops.1 + 1),
            KeyCommand::Search => self.prompt_for(PromptKind::Search, String::new()),
            KeyCommand::FindNext | KeyCommand::FindBefore => self.find(command),
            KeyCommand::Filter => {
                let text = self.list(kind).filter.as_ref().map(|(text, _)| text.clone());
                self.prompt_for(PromptKind::Filter(kind.row_kind()), text.unwrap_or_default());
            }
            KeyCommand::Time => self.prompt_for(PromptKind::Time, String::new()),
            KeyCommand::SetMark => self.pending = Some(PendingKey::Mark),
            KeyCommand::GoToMark => self.pending = Some(PendingKey::GoToMark),
            KeyCommand::Reread => {
                let goal = self.here().unwrap_or_default();
                self.read(kind, goal, 0);
                self.refreshed = None;
            }
            KeyCommand::Help => self.help = Some(0),
        }
    }

    /// Selects the next line with the text that was searched, or the one before.
    fn find(&mut self, command: KeyCommand) {
        let (kind, text) = (self.kind, self.search.clone());
        if text.is_empty() {
            "nothing to search: / asks for a text".clone_into(&mut self.notice);
        } else if command == KeyCommand::FindNext {
            self.list_mut(kind).find(&text);
        } else {
            self.list_mut(kind).find_above(&text);
        }
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

    /// Shows the network at the next change of a state, or at the one before.
    fn step(&mut self, command: KeyCommand) {
        let Some(here) = self.here() else { return };
        let (capture, now) = here.at;
        let states = self.list(self.kind).lines.iter().flat_map(|line| &line.row.parts);
        let time = if command == KeyCommand::Right {
            states.map(|state| state.end).filter(|end| *end > now).min()
        } else {
            // Behind a change, the one before; at it, the character before it.
            let starts = states.map(|state| state.time).filter(|start| *start <= now);
            starts.max().map(|start| if start == now { now.saturating_sub(1) } else { start })
        };
        if let Some(time) = time {
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
                let search = self.search.clone();
                if !search.is_empty() {
                    self.list_mut(view).find(&search);
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

fn command(code: KeyCode) -> Option<KeyCommand> {
    COMMANDS.iter().find(|(_, keys)| keys.contains(&code)).map(|(command, _)| *command)
}
