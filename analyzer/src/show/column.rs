//! One direction of a shown link.

use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::character::{Character, Symbol, VirtualRole, decode_control};
use codec::folding::{FoldedRun, RunFolder};
use codec::time::{CharacterPeriod, Tick};
use codec::virtual_channels::VIRTUAL_CHANNELS_MAX;
use codec::{CharBuf, Chars};

use crate::event::Picoseconds;

/// Maximum width of one more character: ` REPL15`, ` STOP!07`.
const WORD: usize = 8;

#[derive(Debug, Default)]
pub(super) struct ChannelColumn {
    pub(super) channel: Option<(ChannelId, Channel)>,
    width: usize,
    chunks: VecDeque<ColumnChunk>,
    /// End of the last character.
    pub(super) covered: Picoseconds,
    inside: ColumnState,
    /// Folded characters of the row, and those that are not folded yet.
    words: String,
    folder: RunFolder,
    /// Codes of selections, as they are written without a profile and with it. C-7
    selections: Vec<[String; 2]>,
}

/// Position of a direction relative to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ColumnState {
    #[default]
    Between,
    Packet,
}

/// Remaining part of a chunk.
#[derive(Debug)]
struct ColumnChunk {
    next: Tick,
    pattern: CharBuf,
    /// Index of the next character in the pattern.
    index: usize,
    /// Iterations left, including the current one.
    rounds: u64,
}

impl ChannelColumn {
    pub(super) fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    pub(super) fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.selections = selections(channel);
        self.channel = Some((id, channel.clone()));
    }

    pub(super) fn period(&self) -> CharacterPeriod {
        self.channel.as_ref().map_or(CharacterPeriod::PICOSECOND, |(_, channel)| channel.period)
    }

    pub(super) fn time(&self, at: Tick) -> Picoseconds {
        self.period().time(at.0)
    }

    /// Time of the next character, if known.
    pub(super) fn next(&self) -> Option<Picoseconds> {
        self.chunks.front().map(|chunk| self.time(chunk.next))
    }

    pub(super) fn is_recorded(&self, now: Picoseconds) -> bool {
        now < self.covered || self.next() == Some(now)
    }

    pub(super) fn add(&mut self, chunk: Chunk<'_>) {
        self.chunks.push_back(ColumnChunk::new(chunk));
    }

    /// End of whole iterations of a repeat, or of a hole.
    pub(super) fn repeats_until(&self, now: Picoseconds) -> Option<Picoseconds> {
        let chunk = self.chunks.front()?;
        let next = self.time(chunk.next);
        let rounds = match (chunk.index, chunk.rounds) {
            (0, 2..) => chunk.rounds,
            // The current iteration is not whole, and a single one repeats nothing.
            _ => chunk.rounds.saturating_sub(1),
        };
        let left = rounds * chunk.pattern.len() as u64;
        Some(if next > now { next } else { self.time(Tick(chunk.next.0 + left)) })
    }

    /// True if the character that begins now requires a new row: the first of a packet, or one
    /// without room.
    pub(super) fn needs_row(&self, now: Picoseconds) -> bool {
        let Some(chunk) = self.chunks.front().filter(|_| self.next() == Some(now)) else {
            return false;
        };
        let heads =
            self.inside == ColumnState::Between && chunk.head().is_some_and(Character::is_data);
        heads || self.text().chars().count() + WORD > self.width
    }

    /// True if the row is full, without a repetition that may continue.
    pub(super) fn is_full(&self) -> bool {
        self.words.chars().count() + WORD > self.width
    }

    /// Text of the row so far.
    fn text(&self) -> String {
        let mut text = self.words.clone();
        self.folder.clone().finish(&mut |fold| add(&mut text, &fold, &self.selections));
        text
    }

    /// Processes the characters of the first chunk that begin before a time.
    pub(super) fn take(&mut self, end: Picoseconds) {
        let period = self.period();
        let Some(chunk) = self.chunks.front_mut() else { return };
        let mut count = period.periods_up(end).saturating_sub(chunk.next.0);
        if count == 0 {
            return;
        }
        let (words, selections) = (&mut self.words, &self.selections);
        let mut out = |fold: FoldedRun| add(words, &fold, selections);
        while count > 0 {
            let len = chunk.pattern.len() as u64;
            if chunk.index == 0 && count >= len {
                let rounds = (count / len).min(chunk.rounds);
                self.folder.feed_repeated(chunk.pattern.chars(), rounds, &mut out);
                self.inside = inside(self.inside, chunk.pattern.chars());
                count -= rounds * len;
                chunk.rounds -= rounds;
                chunk.next.0 += rounds * len;
                if chunk.rounds == 0 {
                    break;
                }
            } else {
                let Some(character) = chunk.head() else { break };
                self.folder.feed(character, &mut out);
                self.inside =
                    inside(self.inside, chunk.pattern.chars().slice(chunk.index..chunk.index + 1));
                count -= 1;
                if !chunk.advance() {
                    break;
                }
            }
        }
        self.covered = period.time(chunk.next.0);
        if chunk.rounds == 0 {
            self.chunks.pop_front();
        }
    }

    pub(super) fn end_row(&mut self) -> String {
        let (words, selections) = (&mut self.words, &self.selections);
        self.folder.finish(&mut |fold| add(words, &fold, selections));
        std::mem::take(words)
    }
}

impl ColumnChunk {
    fn new(chunk: Chunk<'_>) -> Self {
        let (pattern, rounds) = chunk.content.parts();
        let rounds = rounds.unwrap_or(1);
        Self { next: chunk.first, pattern: pattern.iter().collect(), index: 0, rounds }
    }

    fn head(&self) -> Option<Character> {
        self.pattern.chars().get(self.index)
    }

    /// Advances to the next character; `false` if there is none.
    fn advance(&mut self) -> bool {
        self.next.0 += 1;
        self.index += 1;
        if self.index == self.pattern.len() {
            self.index = 0;
            self.rounds -= 1;
        }
        self.rounds > 0
    }
}

/// Codes of selections of a channel, as they are written without a profile and with it. C-7
pub(super) fn selections(channel: &Channel) -> Vec<[String; 2]> {
    let profile = channel.profile().filter(|_| channel.virtual_channel().is_some());
    let (role, numbers) = (VirtualRole::Select, 0..VIRTUAL_CHANNELS_MAX);
    let codes = numbers.filter_map(|number| Some((number, profile.as_ref()?.code(role, number)?)));
    let names = codes.map(|(number, code)| {
        let symbol = Symbol::Virtual { role, channel: number };
        [Character::Control(code).to_string(), symbol.to_string()]
    });
    names.collect()
}

/// Notation with the names of selections.
pub(super) fn named(text: String, selections: &[[String; 2]]) -> String {
    selections.iter().fold(text, |text, [code, name]| text.replace(code, name))
}

fn add(words: &mut String, fold: &FoldedRun, selections: &[[String; 2]]) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&named(fold.to_string(), selections));
}

/// Position of a direction after some characters.
fn inside(before: ColumnState, chars: Chars<'_>) -> ColumnState {
    chars.iter().fold(before, |inside, character| match character {
        Character::Data(_) => ColumnState::Packet,
        Character::Control(code) if decode_control(code).symbol() == Some(Symbol::Gap) => {
            ColumnState::Between
        }
        Character::Control(_) => inside,
    })
}
