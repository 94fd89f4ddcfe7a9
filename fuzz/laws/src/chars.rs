//! A chunk's payload: read, written, cut, and taken apart into runs and frames.

use std::cell::RefCell;

use codec::capture::{Chunk, ChunkContent};
use codec::character::{Character, Symbol};
use codec::chars::{CharBuf, CharRun, Chars};
use codec::framing::{Frame, FrameEnd, frames};
use codec::time::{Tick, Ticks};

use crate::reference::decode_symbol;
use crate::repair::SeededRng;

/// Places of a part that are looked at: its first, its last and these. *Chosen*: both sides of a byte
/// of the `d` plane.
const PLACES: [u64; 4] = [1, 7, 8, 9];

/// Kept from run to run, so that none begins with taking memory.
#[derive(Default)]
struct ScratchBuffers {
    bytes: Vec<u8>,
    chars: CharBuf,
    again: CharBuf,
}

thread_local! {
    static ROOM: RefCell<ScratchBuffers> = RefCell::default();
}

/// The format decides what is a chunk; parse undoes emit; characters are where the format puts them;
/// runs, frames and parts are those of the characters one at a time.
pub fn law(payload: &[u8]) {
    check(payload, Chunk::parse);
}

fn check<'a, E>(payload: &'a [u8], parse: impl Fn(&'a [u8]) -> Result<Chunk<'a>, E>) {
    let form = PayloadLayout::of(payload);
    let parsed = parse(payload);
    assert_eq!(parsed.is_ok(), form.is_some(), "the format decides what is a chunk");
    let (Ok(chunk), Some(form)) = (parsed, form) else { return };
    assert_eq!(chunk.first.0, form.first, "a chunk begins where it says");
    let (chars, count) = chunk.content.parts();
    assert_eq!(count, form.count, "rounds are as many as it says");
    let mut dice = SeededRng::new(payload);
    form.holds(chars, &mut dice);
    ROOM.with_borrow_mut(|room| {
        written(payload, &chunk, room);
        form.collected(chars, &mut dice, room);
    });
    form.runs(chars.runs());
    framing(chars, frames(chars));
    let from = place(&chunk, &mut dice);
    let to = place(&chunk, &mut dice);
    parts(&chunk, (from, to), chunk.between(from, to));
}

/// A payload as `docs/capture-format.md` lays it out.
struct PayloadLayout<'a> {
    first: u64,
    count: Option<u64>,
    low: &'a [u8],
    d: &'a [u8],
}

impl<'a> PayloadLayout<'a> {
    fn of(payload: &'a [u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(*payload.get(at..)?.first_chunk::<8>()?));
        let (n, first) = (number(0)? >> 32, number(8)?);
        let (count, planes) = match payload {
            [1, 0, ..] => (None, payload.get(16..)?),
            [1, 1, ..] if n <= 64 => (Some(number(16)?), payload.get(24..)?),
            _ => return None,
        };
        let end = u128::from(first) + u128::from(n) * u128::from(count.unwrap_or(1));
        let (low, d) = planes.split_at_checked(usize::try_from(n).ok()?)?;
        let whole = n > 0 && count != Some(0) && end <= u128::from(u64::MAX);
        (whole && d.len() == low.len().div_ceil(8)).then_some(Self { first, count, low, d })
    }

    fn is_data(&self, at: usize) -> bool {
        self.d.get(at / 8).is_some_and(|d| d >> (at % 8) & 1 == 1)
    }

    /// The `d` plane with nothing beyond the last character, a byte a piece.
    fn d_plane(&self) -> impl Iterator<Item = u8> {
        let unused = self.d.len() * 8 - self.low.len();
        let last = self.d.len().saturating_sub(1);
        let masked =
            move |(at, d): (usize, &u8)| if at == last { d << unused >> unused } else { *d };
        self.d.iter().enumerate().map(masked)
    }

    /// Its characters are these: low bytes all, and what is data at some places.
    fn holds(&self, chars: Chars<'_>, dice: &mut SeededRng) {
        assert_eq!(chars.low(), self.low, "low bytes are the low plane");
        for _ in 0..PLACES.len() {
            let at = usize::try_from(dice.below(self.low.len() as u64)).unwrap_or_default();
            let expected = self.low.get(at).map(|low| {
                if self.is_data(at) { Character::Data(*low) } else { Character::Control(*low) }
            });
            assert_eq!(chars.get(at), expected, "a character is what the planes say");
            let rest = chars.split_at(at).1;
            assert_eq!(rest.iter().next(), expected, "and so it is behind a cut");
        }
        let data: u32 = self.d_plane().map(u8::count_ones).sum();
        assert_eq!(chars.data_count(), data as usize, "data is counted");
    }

    /// Characters are kept as they come, alone and behind others.
    fn collected(&self, chars: Chars<'_>, dice: &mut SeededRng, room: &mut ScratchBuffers) {
        let ScratchBuffers { chars: kept, again, .. } = room;
        kept.clear();
        let before = usize::try_from(dice.below(9)).unwrap_or_default();
        kept.push_data([0xff; 9].get(..before).unwrap_or_default());
        kept.push_chars(chars);
        again.clear();
        again.push_chars(kept.chars().split_at(before).1);
        assert_eq!(again.chars().low(), self.low, "what is added is kept");
        assert!(again.d_plane().iter().copied().eq(self.d_plane()), "data and control alike");
    }

    /// Runs alternate, each of one kind to its ends, and change where the planes do.
    fn runs<'b>(&self, runs: impl Iterator<Item = CharRun<'b>>) {
        let (mut at, mut count) = (0, 0);
        let mut last = None;
        for run in runs {
            let (low, is_data) = match run {
                CharRun::Data(bytes) => (bytes, true),
                CharRun::Control(codes) => (codes, false),
            };
            assert_ne!(last.replace(is_data), Some(is_data), "runs alternate");
            let end = at + low.len();
            assert!(self.low.get(at..end) == Some(low) && end > at, "runs are the characters");
            let ends = [self.is_data(at), self.is_data(end - 1)];
            assert_eq!(ends, [is_data; 2], "a run is of one kind");
            at = end;
            count += 1;
        }
        assert_eq!(at, self.low.len(), "runs are all of the characters");
        // Kinds alternate and are right at both ends, so with as many changes they are right between.
        assert_eq!(count, 1 + self.changes(), "a run ends where the kind changes");
    }

    /// Places at which the kind of character is another than before.
    fn changes(&self) -> usize {
        let mut before = self.is_data(0);
        let mut changes = 0;
        for byte in self.d_plane() {
            changes += (byte ^ (byte << 1 | u8::from(before))).count_ones() as usize;
            before = byte >> 7 == 1;
        }
        // Behind the last character stand zeros.
        let padded = !self.low.len().is_multiple_of(8) && self.is_data(self.low.len() - 1);
        changes - usize::from(padded)
    }
}

fn written(payload: &[u8], chunk: &Chunk<'_>, room: &mut ScratchBuffers) {
    room.bytes.clear();
    chunk.emit(&mut room.bytes);
    assert_eq!(room.bytes.len(), payload.len(), "emit writes what parse read");
    assert_eq!(Chunk::parse(&room.bytes).as_ref(), Ok(chunk), "parse undoes emit");
}

/// P-1, P-7, P-8, F-7, R-2
fn framing<'a>(chars: Chars<'_>, mut frames: impl Iterator<Item = Frame<'a>>) {
    // The frame that is open, and how many of its bytes have come.
    let mut open: Option<(Frame<'a>, usize)> = None;
    let ends = |(frame, bytes): (Frame<'a>, usize), end| {
        assert_eq!((frame.bytes.len(), frame.end), (bytes, end), "a frame ends with its mark");
    };
    let (mut at, mut silent, mut reset) = (0, 0, false);
    for run in chars.runs() {
        match run {
            CharRun::Data(data) => {
                silent = 0;
                if !reset {
                    let (frame, bytes) = open.get_or_insert_with(|| {
                        let next = frames.next().filter(|frame| frame.start == Tick(at));
                        assert!(next.is_some(), "a frame begins with the data behind a mark: {at}");
                        (next.unwrap_or(NO_FRAME), 0)
                    });
                    let own = frame.bytes.get(*bytes..*bytes + data.len());
                    assert_eq!(own, Some(data), "its bytes are the data: {at}");
                    *bytes += data.len();
                }
                at += data.len() as u64;
            }
            CharRun::Control(codes) => {
                for code in codes {
                    silent = if *code == 0 { silent + 1 } else { 0 };
                    let end = frame_end(*code, silent);
                    if let Some(end) = end {
                        open.take().into_iter().for_each(|frame| ends(frame, end));
                    }
                    reset = reset && end != Some(FrameEnd::Gap) || end == Some(FrameEnd::Reset);
                }
                at += codes.len() as u64;
            }
        }
    }
    open.into_iter().for_each(|frame| ends(frame, FrameEnd::CaptureEnd));
    assert_eq!(frames.next(), None, "frames are what stands between marks");
}

const NO_FRAME: Frame<'_> =
    Frame { start: Tick(0), bytes: std::borrow::Cow::Borrowed(&[]), end: FrameEnd::CaptureEnd };

/// The mark of a code, as the last of a run of IDLEs.
fn frame_end(code: u8, silent: u32) -> Option<FrameEnd> {
    match decode_symbol(code) {
        Some((Symbol::Gap, _)) => Some(FrameEnd::Gap),
        Some((Symbol::ForwardReset, _)) => Some(FrameEnd::Reset),
        Some(_) | None => (silent == 16).then_some(FrameEnd::OpenLink),
    }
}

/// A place in a chunk or near its ends.
fn place(chunk: &Chunk<'_>, dice: &mut SeededRng) -> Tick {
    let from = chunk.first.0.saturating_sub(2);
    Tick(from.saturating_add(dice.below(chunk.periods().saturating_add(4))))
}

/// The part of a chunk from one place up to another, in pieces.
fn parts<'a>(chunk: &Chunk<'_>, (from, to): (Tick, Tick), parts: impl Iterator<Item = Chunk<'a>>) {
    let from = from.max(chunk.first);
    let to = to.min(chunk.end()).max(from);
    let mut next = from;
    for part in parts {
        assert_eq!(part.first, next, "parts follow one another");
        assert!(part.periods() > 0, "a part has a character");
        let last = part.periods() - 1;
        for at in PLACES.into_iter().filter(|at| *at < last).chain([0, last]) {
            let there = part.first.0 - chunk.first.0 + at;
            assert_eq!(nth(&part, at), nth(chunk, there), "a part has the chunk's characters");
        }
        next = part.end();
    }
    assert_eq!(next, to, "parts are all that was asked for");
}

/// A chunk's character, by its number.
fn nth(chunk: &Chunk<'_>, at: u64) -> Option<Character> {
    match chunk.content {
        ChunkContent::Literal(chars) => chars.get(usize::try_from(at).ok()?),
        ChunkContent::Repeat { pattern, .. } => {
            pattern.get(usize::try_from(at % pattern.len() as u64).ok()?)
        }
    }
}

/// The chunk in pieces of 1 to 32 periods.
pub(crate) fn pieces<'a>(chunk: Chunk<'a>, dice: &mut SeededRng) -> Vec<Chunk<'a>> {
    let mut pieces = Vec::new();
    let mut from = chunk.first;
    while from < chunk.end() {
        let to = from.after(Ticks(1 + dice.below(32)));
        pieces.extend(chunk.between(from, to));
        from = to;
    }
    pieces
}

/// The characters of a chunk with their places, one by one.
pub fn expansion(chunk: &Chunk<'_>) -> Vec<(u64, Character)> {
    let (pattern, count) = chunk.content.parts();
    let count = count.unwrap_or(1);
    let rounds = (0..count).flat_map(|_| pattern.iter());
    // A chunk may end at the last place there is, and nothing counts beyond it.
    rounds.zip(chunk.first.0..=u64::MAX).map(|(character, at)| (at, character)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;
    use codec::notation::parse;

    /// A reader that takes a repeat of no rounds for one.
    pub(crate) fn a_reader_of_no_rounds_is_caught() {
        let mut payload = corpus::chunk("GAP 83", Some(9));
        payload[16] = 0;
        check(&payload, |payload| {
            let (head, planes) = payload.split_at(24);
            let low_and_d = planes.split_at(2);
            let chars = Chars::from_planes(low_and_d.0, low_and_d.1);
            let first = Tick(u64::from(head[8]));
            let of = |pattern| Chunk { first, content: ChunkContent::Repeat { pattern, count: 1 } };
            chars.map(of).ok_or(())
        });
    }

    pub(crate) fn a_reader_that_begins_late_is_caught() {
        check(&corpus::chunk("GAP 83", None), |payload| {
            Chunk::parse(payload).map(|chunk| Chunk { first: Tick(chunk.first.0 + 1), ..chunk })
        });
    }

    pub(crate) fn a_run_that_loses_its_last_character_is_caught() {
        let payload = corpus::chunk("83×65 GAP", None);
        let chars = parse("83×65 GAP").unwrap();
        PayloadLayout::of(&payload).unwrap().runs(chars.chars().slice(0..65).runs());
    }

    pub(crate) fn a_run_of_two_kinds_is_caught() {
        let payload = corpus::chunk("83 05 IDLE×3 GAP 07", None);
        let runs = [CharRun::Data(&[0x83, 0x05, 0, 0, 0, 0x0c, 0x07])];
        PayloadLayout::of(&payload).unwrap().runs(runs.into_iter());
    }

    pub(crate) fn a_bit_that_moves_is_caught() {
        let (payload, other) = (corpus::chunk("83 GAP×8", None), parse("83 GAP×7 0c").unwrap());
        let form = PayloadLayout::of(&payload).unwrap();
        form.collected(
            other.chars(),
            &mut SeededRng::new(b"which"),
            &mut ScratchBuffers::default(),
        );
    }

    pub(crate) fn frames_that_go_on_behind_a_weakened_gap_are_caught() {
        let (sent, heard) = (parse("83 GAP!04 05 GAP").unwrap(), parse("83 !a6 05 GAP").unwrap());
        framing(sent.chars(), frames(heard.chars()));
    }

    pub(crate) fn a_cut_that_turns_a_repeat_is_caught() {
        let (pattern, turned) = (parse("GAP 83").unwrap(), parse("83 GAP").unwrap());
        let of = |pattern| Chunk {
            first: Tick(7),
            content: ChunkContent::Repeat { pattern, count: 40 },
        };
        let (from, to) = (Tick(8), Tick(80));
        parts(&of(pattern.chars()), (from, to), of(turned.chars()).between(from, to));
    }
}
