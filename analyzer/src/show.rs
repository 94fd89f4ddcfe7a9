//! The characters of both directions of a link side by side, time down, as a logic analyser shows
//! them: every row is a stretch of time, and each side has just what it carried then.

use std::collections::{BTreeMap, VecDeque};

use codec::capture::{Channel, ChannelId, Chunk, Content, Item};
use codec::character::{Character, Heard, Symbol, hear};
use codec::fold::{Fold, Folder};
use codec::tick::Tick;
use codec::{CharBuf, Chars};

use crate::text::{Line, Role};
use crate::window::Window;

/// Columns of a side: two, the place and what parts them make 80.
const SIDE: usize = 32;
/// Columns of the place.
const PLACE: usize = 11;
/// Columns that one more character may take: ` REPL15`, ` STOP!07`.
const WORD: usize = 8;
/// Fewest periods of repeats on both sides that are taken at once. *Chosen*.
const BULK_MIN: u128 = 64;

/// Which link is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The first channel, and its opposite.
    First,
    /// The channel of that name on the left, and its opposite.
    Of(String),
}

/// Picoseconds since the capture's time zero.
type Time = u128;

/// See the module's head.
#[derive(Debug)]
pub struct Show {
    pair: Pair,
    sides: [Side; 2],
    newest: Time,
    row: Option<Stretch>,
    /// When the last row ended.
    covered: Time,
    headed: bool,
    /// All channels of the section.
    channels: BTreeMap<ChannelId, Channel>,
}

/// What makes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    at: Time,
    /// Whether it is repeats on both sides, and may go on as long as they do.
    pace: Pace,
    recorded: [Recorded; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Single,
    Bulk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorded {
    Yes,
    No,
}

/// One direction.
#[derive(Debug, Default)]
struct Side {
    channel: Option<(ChannelId, Channel)>,
    pieces: VecDeque<Piece>,
    /// When its last character ended.
    covered: Time,
    inside: Inside,
    /// What the row has so far, and what is not yet folded.
    words: String,
    folder: Folder,
}

/// Where a direction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Between,
    Packet,
}

/// What is left of a chunk.
#[derive(Debug)]
struct Piece {
    next: Tick,
    pattern: CharBuf,
    /// Place of the next character in the pattern.
    place: usize,
    /// Rounds left, the one under way included.
    rounds: u64,
}

impl Show {
    /// A view of one link, before the first item of its capture.
    #[must_use]
    pub fn new(pair: Pair) -> Self {
        Self {
            pair,
            sides: Default::default(),
            newest: 0,
            row: None,
            covered: 0,
            headed: false,
            channels: BTreeMap::new(),
        }
    }

    /// The channels of the section so far, by name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.channels.values().map(|channel| channel.name.as_str())
    }

    /// The names of the channels shown: left, right.
    #[must_use]
    pub fn shown(&self) -> [Option<&str>; 2] {
        self.sides.each_ref().map(|side| Some(side.channel.as_ref()?.1.name.as_str()))
    }

    /// Takes an item of the capture, and hands out the rows that are complete by it.
    pub fn feed(&mut self, item: &Item<'_>, window: &Window, out: &mut impl FnMut(Line)) {
        match item {
            Item::Section => {
                self.finish(out);
                *self = Self::new(self.pair.clone());
            }
            Item::Channel(id, channel) => self.declare(*id, channel),
            Item::Link(one, other) => self.link(*one, *other),
            Item::Chunk(id, chunk) => self.chunk(*id, chunk, window, out),
            Item::Fault(_) => {}
        }
    }

    fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let wanted = match &self.pair {
            Pair::First => true,
            Pair::Of(name) => *name == channel.name,
        };
        if wanted && self.sides[0].channel.is_none() {
            self.sides[0].channel = Some((id, channel.clone()));
        }
        self.channels.insert(id, channel.clone());
    }

    fn link(&mut self, one: ChannelId, other: ChannelId) {
        let left = self.sides[0].channel.as_ref().map(|(id, _)| *id);
        let right = if left == Some(one) { other } else { one };
        if left == Some(one) || left == Some(other) {
            self.sides[1].channel = self.channels.get(&right).map(|found| (right, found.clone()));
        }
    }

    fn chunk(
        &mut self,
        id: ChannelId,
        chunk: &Chunk<'_>,
        window: &Window,
        out: &mut impl FnMut(Line),
    ) {
        let belongs = |side: &&mut Side| side.channel.as_ref().is_some_and(|(own, _)| *own == id);
        let Some(side) = self.sides.iter_mut().find(belongs) else { return };
        let Some((_, channel)) = &side.channel else { return };
        let (from, to) = window.on(channel);
        side.pieces.extend(chunk.between(from, to).map(Piece::new));
        self.newest = self.newest.max(side.time(chunk.first));
        self.advance(self.newest, out);
    }

    /// The capture, or its section, ends: hands out the rest.
    pub fn finish(&mut self, out: &mut impl FnMut(Line)) {
        self.advance(Time::MAX, out);
        self.end_row(out);
    }

    /// Takes all characters of before a time.
    fn advance(&mut self, until: Time, out: &mut impl FnMut(Line)) {
        while let Some(now) = self.sides.iter().filter_map(Side::next).min() {
            if now >= until {
                return;
            }
            let recorded = [self.sides[0].recorded(now), self.sides[1].recorded(now)];
            let bulk_end = self.bulk_end(now, until);
            let pace = if bulk_end.is_some() { Pace::Bulk } else { Pace::Single };
            let fits = self.row.is_some_and(|row| row.recorded == recorded && row.pace == pace)
                && (pace == Pace::Bulk || !self.sides.iter().any(|side| side.needs_row(now)));
            if !fits {
                self.end_row(out);
                self.start_row(Stretch { at: now, pace, recorded }, out);
            }
            let end = bulk_end.unwrap_or(now + 1);
            self.sides.iter_mut().for_each(|side| side.take(end));
        }
    }

    /// Up to when both sides do nothing but repeat, if that is long enough to be taken at once.
    fn bulk_end(&self, now: Time, until: Time) -> Option<Time> {
        let ends = self.sides.iter().filter_map(|side| {
            let piece = side.pieces.front()?;
            Some(if side.time(piece.next) > now {
                side.time(piece.next)
            } else {
                side.repeats_until(piece)
            })
        });
        let end = ends.chain([until]).min()?;
        let periods =
            self.sides.iter().map(|side| (end.saturating_sub(now)) / side.period()).min()?;
        (periods >= BULK_MIN).then_some(end)
    }

    fn start_row(&mut self, row: Stretch, out: &mut impl FnMut(Line)) {
        if !self.headed {
            self.headed = true;
            let name = |side: &Side| side.channel.as_ref().map_or("", |(_, c)| &c.name).to_owned();
            let [left, right] = &self.sides;
            out(line("character", &[(Role::Head, name(left))], &[(Role::Head, name(right))]));
        } else if self.covered < row.at {
            let missing = (row.at - self.covered) / self.sides[0].period();
            let text = format!("{missing} periods in which neither direction was recorded");
            out(Line::of(Role::Dim, format!("{:>PLACE$}  ", "·")).and(Role::Notice, text));
        }
        self.row = Some(row);
    }

    fn end_row(&mut self, out: &mut impl FnMut(Line)) {
        let Some(row) = self.row.take() else { return };
        self.covered = self.sides.iter().map(|side| side.covered).max().unwrap_or(row.at);
        let [left, right] = self.sides.each_mut().map(Side::end_row);
        let mut place = (row.at / self.sides[0].period()).to_string();
        for at in 0..left.len().max(right.len()).max(1) {
            let words = |side: &[String]| side.get(at).map_or(Vec::new(), |text| coloured(text));
            out(line(&place, &words(&left), &words(&right)));
            place.clear();
        }
    }
}

/// A row's line: place, left, right.
fn line(place: &str, left: &[(Role, String)], right: &[(Role, String)]) -> Line {
    let width: usize = left.iter().map(|(_, text)| text.chars().count()).sum();
    let start = Line::of(Role::Dim, format!("{place:>PLACE$}  "));
    let left = left.iter().fold(start, |line, (role, text)| line.and(*role, text));
    let bar = left.and(Role::Dim, format!("{:1$} │ ", "", SIDE.saturating_sub(width)));
    right.iter().fold(bar, |line, (role, text)| line.and(*role, text))
}

/// The words of a side, each by its role.
fn coloured(text: &str) -> Vec<(Role, String)> {
    text.split_inclusive(' ')
        .map(|word| {
            let symbol = word.trim_matches(['(', ' ']);
            let role = if word.contains('!') || symbol.starts_with("ORUN") {
                Role::Bad
            } else if ["STOP", "FRES", "BRES", "PRB", "REPL"].iter().any(|s| symbol.starts_with(s))
            {
                Role::Notice
            } else if ["GAP", "GO", "IDLE"].iter().any(|s| symbol.starts_with(s)) {
                Role::Dim
            } else {
                Role::Plain
            };
            (role, word.to_owned())
        })
        .collect()
}

impl Side {
    fn period(&self) -> Time {
        self.channel.as_ref().map_or(1, |(_, channel)| channel.period_ps.get().into())
    }

    fn time(&self, at: Tick) -> Time {
        Time::from(at.0) * self.period()
    }

    /// When its next character begins, if that is known.
    fn next(&self) -> Option<Time> {
        self.pieces.front().map(|piece| self.time(piece.next))
    }

    fn recorded(&self, now: Time) -> Recorded {
        if now < self.covered || self.next() == Some(now) { Recorded::Yes } else { Recorded::No }
    }

    /// When the repeat at its head is over, as far as whole rounds go.
    fn repeats_until(&self, piece: &Piece) -> Time {
        let left = piece.rounds.saturating_sub(1) * piece.pattern.len() as u64;
        self.time(Tick(piece.next.0 + left))
    }

    /// Whether the character that begins now should stand in a row of its own: a packet's first,
    /// or one for which there is no room.
    fn needs_row(&self, now: Time) -> bool {
        let Some(piece) = self.pieces.front().filter(|_| self.next() == Some(now)) else {
            return false;
        };
        let heads = self.inside == Inside::Between && piece.head().is_some_and(Character::is_data);
        heads || self.text().chars().count() + WORD > SIDE
    }

    /// What the row has so far.
    fn text(&self) -> String {
        let mut text = self.words.clone();
        self.folder.clone().finish(&mut |fold| add(&mut text, &fold));
        text
    }

    /// Takes the characters that begin before a time, of the piece at its head.
    fn take(&mut self, end: Time) {
        let period = self.period();
        let Some(piece) = self.pieces.front_mut() else { return };
        let start = Time::from(piece.next.0) * period;
        let Ok(mut count) = u64::try_from(end.saturating_sub(start).div_ceil(period)) else {
            return;
        };
        let words = &mut self.words;
        let mut out = |fold: Fold| add(words, &fold);
        while count > 0 {
            let len = piece.pattern.len() as u64;
            if piece.place == 0 && count >= len && piece.rounds > 1 {
                let rounds = (count / len).min(piece.rounds - 1);
                self.folder.feed_repeated(piece.pattern.chars(), rounds, &mut out);
                self.inside = inside(self.inside, piece.pattern.chars());
                count -= rounds * len;
                piece.rounds -= rounds;
                piece.next.0 += rounds * len;
            } else {
                let Some(character) = piece.head() else { break };
                self.folder.feed(character, &mut out);
                self.inside =
                    inside(self.inside, piece.pattern.chars().slice(piece.place..piece.place + 1));
                count -= 1;
                if !piece.advance() {
                    break;
                }
            }
        }
        self.covered = Time::from(piece.next.0) * period;
        if piece.rounds == 0 {
            self.pieces.pop_front();
        }
    }

    /// What the row had, in lines that fit.
    fn end_row(&mut self) -> Vec<String> {
        let words = &mut self.words;
        self.folder.finish(&mut |fold| add(words, &fold));
        let mut lines: Vec<String> = Vec::new();
        for word in self.words.split(' ').filter(|word| !word.is_empty()) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= SIDE => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        self.words.clear();
        lines
    }
}

impl Piece {
    fn new(chunk: Chunk<'_>) -> Self {
        let (pattern, rounds) = match chunk.content {
            Content::Literal(chars) => (chars, 1),
            Content::Repeat { pattern, count } => (pattern, count),
        };
        Self { next: chunk.first, pattern: pattern.iter().collect(), place: 0, rounds }
    }

    fn head(&self) -> Option<Character> {
        self.pattern.chars().get(self.place)
    }

    /// Goes on to the next character; `false` if there is none.
    fn advance(&mut self) -> bool {
        self.next.0 += 1;
        self.place += 1;
        if self.place == self.pattern.len() {
            self.place = 0;
            self.rounds -= 1;
        }
        self.rounds > 0
    }
}

fn add(words: &mut String, fold: &Fold) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&fold.to_string());
}

/// Where a direction is after some characters.
fn inside(before: Inside, chars: Chars<'_>) -> Inside {
    chars.iter().fold(before, |inside, character| match character {
        Character::Data(_) => Inside::Packet,
        Character::Control(code) => match hear(code) {
            Heard::Exact(Symbol::Gap) | Heard::Corrected(Symbol::Gap) => Inside::Between,
            Heard::Exact(_) | Heard::Corrected(_) | Heard::Invalid => inside,
        },
    })
}
