//! One direction of the link that is shown.

use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId, Chunk, ChunkContent};
use codec::character::{Character, Symbol, decode_control};
use codec::folding::{FoldedRun, RunFolder};
use codec::time::Tick;
use codec::{CharBuf, Chars};

use super::{RecordedState, SIDE, Time};

/// Columns that one more character may take: ` REPL15`, ` STOP!07`.
const WORD: usize = 8;

/// One direction.
#[derive(Debug, Default)]
pub(super) struct ChannelColumn {
    pub(super) channel: Option<(ChannelId, Channel)>,
    pieces: VecDeque<ColumnChunk>,
    /// When its last character ended.
    pub(super) covered: Time,
    inside: ColumnState,
    /// What the row has so far, and what is not yet folded.
    words: String,
    folder: RunFolder,
}

/// Where a direction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ColumnState {
    #[default]
    Between,
    Packet,
}

/// What is left of a chunk.
#[derive(Debug)]
struct ColumnChunk {
    next: Tick,
    pattern: CharBuf,
    /// Place of the next character in the pattern.
    place: usize,
    /// Rounds left, the one under way included.
    rounds: u64,
}

impl ChannelColumn {
    pub(super) fn period(&self) -> Time {
        self.channel.as_ref().map_or(1, |(_, channel)| channel.period_ps.get().into())
    }

    pub(super) fn time(&self, at: Tick) -> Time {
        Time::from(at.0) * self.period()
    }

    /// When its next character begins, if that is known.
    pub(super) fn next(&self) -> Option<Time> {
        self.pieces.front().map(|piece| self.time(piece.next))
    }

    pub(super) fn recorded(&self, now: Time) -> RecordedState {
        if now < self.covered || self.next() == Some(now) {
            RecordedState::Yes
        } else {
            RecordedState::No
        }
    }

    /// Adds what comes next.
    pub(super) fn add(&mut self, chunk: Chunk<'_>) {
        self.pieces.push_back(ColumnChunk::new(chunk));
    }

    /// Up to when it does nothing but repeat whole rounds, or is not recorded.
    pub(super) fn repeats_until(&self, now: Time) -> Option<Time> {
        let piece = self.pieces.front()?;
        let next = self.time(piece.next);
        let rounds = match (piece.place, piece.rounds) {
            (0, 2..) => piece.rounds,
            // The round under way is no whole one, and one round alone repeats nothing.
            _ => piece.rounds.saturating_sub(1),
        };
        let left = rounds * piece.pattern.len() as u64;
        Some(if next > now { next } else { self.time(Tick(piece.next.0 + left)) })
    }

    /// Whether the character that begins now should stand in a row of its own: a packet's first,
    /// or one for which there is no room.
    pub(super) fn needs_row(&self, now: Time) -> bool {
        let Some(piece) = self.pieces.front().filter(|_| self.next() == Some(now)) else {
            return false;
        };
        let heads =
            self.inside == ColumnState::Between && piece.head().is_some_and(Character::is_data);
        heads || self.text().chars().count() + WORD > SIDE
    }

    /// Whether what the row has, but for a repetition that may still go on, takes up its room.
    pub(super) fn is_full(&self) -> bool {
        self.words.chars().count() + WORD > SIDE
    }

    /// What the row has so far.
    fn text(&self) -> String {
        let mut text = self.words.clone();
        self.folder.clone().finish(&mut |fold| add(&mut text, &fold));
        text
    }

    /// Takes the characters that begin before a time, of the piece at its head.
    pub(super) fn take(&mut self, end: Time) {
        let period = self.period();
        let Some(piece) = self.pieces.front_mut() else { return };
        let start = Time::from(piece.next.0) * period;
        let Ok(mut count) = u64::try_from(end.saturating_sub(start).div_ceil(period)) else {
            return;
        };
        if count == 0 {
            return;
        }
        let words = &mut self.words;
        let mut out = |fold: FoldedRun| add(words, &fold);
        while count > 0 {
            let len = piece.pattern.len() as u64;
            if piece.place == 0 && count >= len {
                let rounds = (count / len).min(piece.rounds);
                self.folder.feed_repeated(piece.pattern.chars(), rounds, &mut out);
                self.inside = inside(self.inside, piece.pattern.chars());
                count -= rounds * len;
                piece.rounds -= rounds;
                piece.next.0 += rounds * len;
                if piece.rounds == 0 {
                    break;
                }
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

    /// What the row had.
    pub(super) fn end_row(&mut self) -> String {
        let words = &mut self.words;
        self.folder.finish(&mut |fold| add(words, &fold));
        std::mem::take(words)
    }
}

impl ColumnChunk {
    fn new(chunk: Chunk<'_>) -> Self {
        let (pattern, rounds) = match chunk.content {
            ChunkContent::Literal(chars) => (chars, 1),
            ChunkContent::Repeat { pattern, count } => (pattern, count),
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

fn add(words: &mut String, fold: &FoldedRun) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&fold.to_string());
}

/// Where a direction is after some characters.
fn inside(before: ColumnState, chars: Chars<'_>) -> ColumnState {
    chars.iter().fold(before, |inside, character| match character {
        Character::Data(_) => ColumnState::Packet,
        Character::Control(code) if decode_control(code).symbol() == Some(Symbol::Gap) => {
            ColumnState::Between
        }
        Character::Control(_) => inside,
    })
}
