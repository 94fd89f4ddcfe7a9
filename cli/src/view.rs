//! `myriscope view`: lists of a capture on a terminal. All work is done in small parts between two keys, so that the
//! program needs no threads of its own and keys are never late.

mod keys;
mod list;
mod network;
mod overview;
mod prompt;
mod row;
mod screen;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use analyzer::channel_selector::{ChannelPatterns, ChannelSelector};
use analyzer::event::Picoseconds;
use analyzer::filter::{Filter, FilterError, RowKind};
use analyzer::render::TimeUnit;
use analyzer::window::WindowEdge;
use codec::capture::{CaptureError, CaptureIndexer, ReadProgress, virtual_channel_name};
use codec::time::CharacterPeriod;
use codec::virtual_channels::{LinkProfile, VIRTUAL_CHANNELS_MAX};

use crate::args::BrowsedList as ViewKind;
use crate::input::open_file;
use crate::output::TerminalLook;

use self::list::{ListStart, RowGoal, RowList};
use self::overview::CaptureOverview;
use self::prompt::LinePrompt;
use self::row::{RowChoice, RowPosition, RowReader};

/// Time between two looks at findings and links while the capture is read.
const REFRESH: Duration = Duration::from_millis(500);
/// Places of the index that are read before a row, so that what spans several channels is complete.
const PLACES_BEFORE: usize = 1;
/// Time before a place of which characters are shown: 2048 periods at the full rate. *Chosen*: some screens.
const CHARACTERS_BEFORE: Picoseconds = 25_600_000;
/// Blocks that are indexed in one part.
const BLOCKS: usize = 64;

impl ViewKind {
    const fn row_kind(self) -> RowKind {
        match self {
            Self::Findings => RowKind::Findings,
            Self::Links => RowKind::Links,
            Self::Packets => RowKind::Packets,
            Self::Events => RowKind::Events,
            Self::Characters | Self::Wires => RowKind::Characters,
            Self::Journeys => RowKind::Journeys,
            Self::Conversations => RowKind::Conversations,
            Self::Network => RowKind::Intervals,
        }
    }

    /// True for lists that are read at the place that is looked at; others are of the whole capture.
    const fn is_of_place(self) -> bool {
        !matches!(self, Self::Findings | Self::Links | Self::Conversations)
    }

    fn index(self) -> usize {
        Self::ALL.iter().position(|kind| *kind == self).unwrap_or(0)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ViewerOptions {
    pub(crate) unit: TimeUnit,
    pub(crate) channels: Vec<ChannelPatterns>,
    /// End of all lists except that of links.
    pub(crate) to: Option<WindowEdge>,
    /// Codes of virtual channels on links without a profile of their own. C-7
    pub(crate) profile: Option<LinkProfile>,
    pub(crate) look: TerminalLook,
    /// Name of the capture on the screen.
    pub(crate) name: String,
}

/// Time of a position; characters are those of a channel at the full rate.
pub(crate) fn time_of(position: WindowEdge) -> Picoseconds {
    match position {
        WindowEdge::Picoseconds(time) => time,
        WindowEdge::Character(at) => CharacterPeriod::FULL_RATE.time(at.0),
    }
}

/// Result of a part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkProgress {
    More,
    /// Nothing is to be done until a key is pressed.
    Done,
}

#[derive(Debug)]
pub(crate) struct CaptureViewer {
    /// The capture, not compressed.
    path: PathBuf,
    options: ViewerOptions,
    bytes: u64,
    indexer: CaptureIndexer<File>,
    is_indexed: bool,
    overview: CaptureOverview,
    /// Time of the last look at the overview.
    refreshed: Option<Instant>,
    kind: ViewKind,
    lists: [RowList; ViewKind::ALL.len()],
    /// Cell of the lanes at the cursor.
    cell: usize,
    prompt: Option<LinePrompt>,
    help: Option<usize>,
    search: String,
    notice: String,
    /// Views and rows before.
    back: Vec<(ViewKind, Option<RowGoal>)>,
    marks: BTreeMap<char, (ViewKind, RowGoal)>,
    /// The hops that are followed, and the number of the current one.
    hops: (Vec<RowPosition>, usize),
    pending: Option<keys::PendingKey>,
    size: (usize, usize),
}

impl CaptureViewer {
    /// Opens a capture and reads up to its first characters.
    pub(crate) fn open(path: &Path, options: ViewerOptions) -> Result<Self, CaptureError> {
        let reading = |source| CaptureError::Read { offset: 0, source };
        let file = || open_file(path).map_err(reading);
        let bytes = file()?.metadata().map_err(reading)?.len();
        let mut indexer = CaptureIndexer::new(file()?);
        let mut is_indexed = false;
        while !is_indexed && indexer.index().at(0).is_none() {
            is_indexed = match indexer.step() {
                Ok(progress) => progress == ReadProgress::Done,
                // What was read before the damage is shown.
                Err(CaptureError::Damaged(_)) if indexer.index().names().next().is_some() => true,
                Err(error) => return Err(error),
            };
        }
        Ok(Self {
            path: path.to_owned(),
            bytes,
            indexer,
            is_indexed,
            overview: CaptureOverview::new(file()?, options.profile.clone()),
            options,
            refreshed: None,
            kind: ViewKind::Findings,
            lists: Default::default(),
            cell: 0,
            prompt: None,
            help: None,
            search: String::new(),
            notice: String::new(),
            back: Vec::new(),
            marks: BTreeMap::new(),
            hops: (Vec::new(), 0),
            pending: None,
            size: (80, 24),
        })
    }

    /// Sets the size of the screen.
    pub(crate) fn resize(&mut self, (width, height): (usize, usize)) {
        let is_new_width = self.size.0 != width;
        self.size = (width, height);
        if is_new_width {
            self.refreshed = None;
            if matches!(self.kind, ViewKind::Characters | ViewKind::Wires) {
                let goal = self.here().unwrap_or_default();
                self.read(self.kind, goal, 0);
            }
        }
    }

    /// Shows a list, at a time if one is given, with a filter if one is given.
    pub(crate) fn start(
        &mut self,
        kind: ViewKind,
        from: Option<Picoseconds>,
        filter: Option<&str>,
    ) -> Result<(), FilterError> {
        if let Some(text) = filter {
            self.set_filter(kind, text)?;
        }
        self.kind = kind;
        if kind.is_of_place() || from.is_some() {
            let kind = if kind.is_of_place() { kind } else { ViewKind::Packets };
            self.go(kind, RowGoal::at((0, from.unwrap_or(0))));
        }
        Ok(())
    }

    fn set_filter(&mut self, kind: ViewKind, text: &str) -> Result<(), FilterError> {
        let filter = match text.trim() {
            "" => None,
            text => Some((text.to_owned(), Filter::parse(text, kind.row_kind())?)),
        };
        self.list_mut(kind).filter = filter;
        self.refreshed = None;
        Ok(())
    }

    #[expect(clippy::indexing_slicing, reason = "a list for each kind")]
    fn list(&self, kind: ViewKind) -> &RowList {
        &self.lists[kind.index()]
    }

    #[expect(clippy::indexing_slicing, reason = "a list for each kind")]
    fn list_mut(&mut self, kind: ViewKind) -> &mut RowList {
        &mut self.lists[kind.index()]
    }

    fn choice(&self, kind: ViewKind) -> RowChoice {
        let filter = self.list(kind).filter.as_ref().map(|(_, filter)| filter.clone());
        let ViewerOptions { unit, channels, to, .. } = &self.options;
        RowChoice { unit: *unit, channels: channels.clone(), to: *to, filter }
    }

    /// The selected row.
    fn here(&self) -> Option<RowGoal> {
        self.list(self.kind).selected().map(|row| RowGoal::of(row))
    }

    /// Shows a list at a row, and keeps the current one for the way back.
    fn go(&mut self, kind: ViewKind, goal: RowGoal) {
        self.back.push((self.kind, self.here()));
        self.kind = kind;
        if kind.is_of_place() {
            self.read(kind, goal, 0);
        } else {
            self.refresh();
        }
    }

    /// Reads a list from a number of places before a row.
    fn read(&mut self, kind: ViewKind, goal: RowGoal, before: usize) {
        let index = self.indexer.index();
        let goal = if kind == ViewKind::Network { self.moment(goal) } else { goal };
        let (capture, time) = goal.at;
        let shown = CHARACTERS_BEFORE.saturating_mul(before as u128 + 1);
        let from = (capture, time.saturating_sub(shown));
        let is_link = matches!(kind, ViewKind::Characters | ViewKind::Wires);
        let place = if is_link {
            index.place(from).saturating_sub(PLACES_BEFORE)
        } else {
            index.place(goal.at).saturating_sub(before + PLACES_BEFORE)
        };
        // Characters are those of one capture.
        let is_first = if is_link { from.1 == 0 } else { place == 0 };
        let (start, complete) = match (is_first, is_link) {
            (true, true) => (ListStart::Beginning, from),
            (true, false) => (ListStart::Beginning, (0, 0)),
            (false, true) => (ListStart::Before(before), from),
            (false, false) => {
                (ListStart::Before(before), index.at(place + PLACES_BEFORE).unwrap_or_default())
            }
        };
        let file = match open_file(&self.path) {
            Ok(file) => file,
            Err(error) => return self.notice = error.to_string(),
        };
        let capture = index.resume(place, file).with_virtual_channels(self.options.profile.clone());
        let choice = self.choice(kind);
        let channel = || goal.channel.clone().or_else(|| self.selected_channel());
        let layout = (choice.unit, self.size.0);
        let reader = if kind == ViewKind::Characters {
            Some(RowReader::characters(capture, channel(), layout, complete))
        } else if kind == ViewKind::Wires {
            Some(RowReader::wires(capture, channel(), layout))
        } else {
            RowReader::new(kind, capture, goal.at)
        };
        let Some(reader) = reader else { return };
        let head = kind.row_kind().head(choice.unit).unwrap_or_default();
        let list = self.list_mut(kind);
        list.head = head;
        list.read((reader, choice), goal, (complete, start));
    }

    /// The first channel of those that the options select. The index has links, of which each may have several
    /// virtual channels. C-7
    fn selected_channel(&self) -> Option<String> {
        let selector = ChannelSelector { patterns: &self.options.channels, capture: None };
        self.indexer.index().names().find_map(|name| {
            let split = (0..VIRTUAL_CHANNELS_MAX).map(|number| virtual_channel_name(name, number));
            let mut names = std::iter::once(name.to_owned()).chain(split);
            names.find(|name| selector.selects_name(name))
        })
    }

    /// Works for some time, and returns when it is over or nothing is to be done.
    pub(crate) fn work(&mut self, time: Duration) -> WorkProgress {
        let started = Instant::now();
        while self.work_once().is_continue() {
            // The row that is looked for is shown as soon as it is found.
            if started.elapsed() >= time {
                return WorkProgress::More;
            }
        }
        WorkProgress::Done
    }

    fn work_once(&mut self) -> ControlFlow<()> {
        let kind = self.kind;
        let list = self.list_mut(kind);
        if list.is_due() {
            list.advance();
            return ControlFlow::Continue(());
        }
        let missing = list.missing;
        if missing > 0
            && let ListStart::Before(before) = list.start
            && let Some(first) = list.lines.front()
        {
            let goal = RowGoal { up: missing, ..RowGoal::of(&first.row) };
            self.read(kind, goal, before * 2 + 1);
            return ControlFlow::Continue(());
        }
        if !self.is_indexed {
            for _ in 0..BLOCKS {
                self.is_indexed |= !matches!(self.indexer.step(), Ok(ReadProgress::More));
            }
            return ControlFlow::Continue(());
        }
        let was_ended = self.overview.is_ended;
        if !was_ended {
            self.overview.advance();
        }
        let is_due = self.refreshed.is_none_or(|at| at.elapsed() >= REFRESH && !was_ended);
        if is_due || was_ended != self.overview.is_ended {
            self.refresh();
        }
        if self.overview.is_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Sets the lines of the list, if it is one of the whole capture.
    fn refresh(&mut self) {
        self.refreshed = Some(Instant::now());
        let (kind, width) = (self.kind, self.size.0);
        let mut choice = self.choice(kind);
        let mut list = std::mem::take(self.list_mut(kind));
        self.overview.show(kind, &mut choice, width, &mut list);
        *self.list_mut(kind) = list;
    }

    /// Hundredths of the index that are complete.
    fn indexed(&self) -> u64 {
        if self.is_indexed {
            return 100;
        }
        (self.indexer.offset() * 100).checked_div(self.bytes).unwrap_or(100).min(99)
    }
}
