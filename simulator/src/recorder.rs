//! Records the characters of channels, and writes them as the chunks of a capture file
//! (`docs/capture-format.md`).
//!
//! Fill costs a comparison and no memory, however long it lasts; all else is kept until it is
//! flushed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use codec::Character;
use codec::capture::{ChannelId, Chunk, ChunkContent, FILL_MIN, fill_cycle, split_into_chunks};
use codec::character::{Symbol, decode_control};
use codec::chars::CharBuf;
use codec::time::{CharacterPeriod, Tick, Ticks};

use crate::link::cell_cycle::CellCycle;
use crate::link::tagged_char::TaggedChar;

/// Number of pending characters at which the recorder should be flushed. *Chosen*: 1.2 MB, and a
/// thousand packets between two flushes.
pub(crate) const KEPT_MAX: usize = 1 << 20;
/// Weight of a piece besides its characters. *Chosen*: about its size in bytes.
const PIECE: usize = 32;

/// Recorder of many channels, one character a period each.
///
/// The chunks of all flushes are in the order of a file, by time of the first character and then by
/// channel, as long as no character is recorded that begins before the time flushed. A channel that
/// is received some time after its character's period has begun requires that the newest chunks are
/// held back: [`Self::flush_before`].
#[derive(Clone, Debug, Default)]
pub(crate) struct CaptureRecorder {
    tracks: Vec<ChannelRecorder>,
    /// Pending characters, plus [`PIECE`] for each piece.
    kept: usize,
}

#[derive(Clone, Debug)]
struct ChannelRecorder {
    period: CharacterPeriod,
    /// The chunks to flush, without `bytes` and `tail`.
    kept: PendingChunks,
    /// The newest bytes of a packet, before the tail, which is empty if there are any.
    bytes: Vec<u8>,
    tail: FillRun,
    frame: PacketPosition,
}

#[derive(Clone, Debug, Default)]
struct PendingChunks {
    pieces: Vec<PendingPiece>,
    /// The characters of all pieces.
    chars: CharBuf,
}

/// Inside a packet, the next GAP belongs to it, so that a chunk is a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketPosition {
    Inside,
    Outside,
}

/// Consecutive characters of the buffer.
#[derive(Clone, Copy, Debug)]
struct PendingPiece {
    first: Tick,
    /// Number of characters in the buffer.
    len: usize,
    kind: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Literal,
    /// The number of repetitions.
    Repeat(u64),
}

/// The newest control codes of a channel.
#[derive(Clone, Debug, Default)]
struct FillRun {
    first: Tick,
    /// The period of the next character, unless there is a hole.
    next: Tick,
    /// Fewer than [`FILL_MIN`]; or those of one cycle, once as many have come that repeat.
    codes: Vec<u8>,
    /// The place in the cycle of the code with which it goes on.
    expected: Option<usize>,
}

impl CaptureRecorder {
    /// A recorder of channels 0, 1, …, given their character periods.
    pub(crate) fn new(periods: Vec<CharacterPeriod>) -> Self {
        Self { tracks: periods.into_iter().map(ChannelRecorder::new).collect(), kept: 0 }
    }

    /// Records a character of a channel. Periods are the channel's own, and must increase; a
    /// missing one is a hole. Ignores unknown channels.
    #[inline]
    pub(crate) fn push(&mut self, channel: usize, at: Tick, character: Character) {
        if let Some(track) = self.tracks.get_mut(channel)
            && !track.tail.take(at, character)
        {
            self.kept += track.put(at, character);
        }
    }

    /// Records bytes of consecutive periods from `first` on.
    pub(crate) fn push_bytes(&mut self, channel: usize, first: Tick, bytes: &[u8]) {
        let Some((byte, rest)) = bytes.split_first() else { return };
        self.push(channel, first, Character::Data(*byte));
        if let Some(track) = self.tracks.get_mut(channel) {
            track.bytes.extend_from_slice(rest);
            track.tail = FillRun::at(first.after(Ticks(bytes.len() as u64)));
            self.kept += rest.len();
        }
    }

    /// Records control characters that come again and again from `first` to before `end`.
    pub(crate) fn fill(&mut self, channel: usize, first: Tick, cycle: &CellCycle, end: Tick) {
        for at in first.0..end.0 {
            if let Some(track) = self.tracks.get_mut(channel)
                && track.tail.take_all(Tick(at), cycle, end)
            {
                return;
            }
            self.push(channel, Tick(at), cycle.at(at).character());
        }
    }

    /// True if more than [`KEPT_MAX`] is pending.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.kept > KEPT_MAX
    }

    /// Writes the chunks that begin before a moment (picoseconds since time zero), in the order of
    /// a file. Later chunks stay, and new characters follow them.
    ///
    /// # Errors
    /// The first error of `out`; the remaining chunks are lost.
    pub(crate) fn flush_before<E>(
        &mut self,
        moment_ps: u128,
        out: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tracks.iter_mut().for_each(ChannelRecorder::close);
        let mut left = vec![PendingChunks::default(); self.tracks.len()];
        let result = self.merge(moment_ps, &mut left, out);
        self.kept = left.iter().map(PendingChunks::weight).sum();
        for (track, left) in self.tracks.iter_mut().zip(left) {
            track.kept = left;
        }
        result
    }

    /// Writes the chunks of all channels before a moment, and moves the others to `left`.
    fn merge<E>(
        &self,
        moment_ps: u128,
        left: &mut [PendingChunks],
        out: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = |track: &ChannelRecorder, index: u32, chunk: &Chunk<'_>| {
            Reverse((track.period.time(chunk.first.0), index))
        };
        let mut channels = Vec::new();
        // When each channel's next chunk begins, if it has one.
        let mut next = BinaryHeap::new();
        for ((index, track), left) in (0..).zip(&self.tracks).zip(left) {
            let mut chunks = track.kept.chunks().peekable();
            next.extend(chunks.peek().map(|chunk| start(track, index, chunk)));
            channels.push((track, chunks, left));
        }
        while let Some(Reverse((start_ps, index))) = next.pop() {
            let Some((track, chunks, left)) = channels.get_mut(index as usize) else { continue };
            if start_ps >= moment_ps {
                chunks.for_each(|chunk| left.add(&chunk));
                continue;
            }
            if let Some(chunk) = chunks.next() {
                out(ChannelId(index), &chunk)?;
            }
            next.extend(chunks.peek().map(|chunk| start(track, index, chunk)));
        }
        Ok(())
    }
}

impl FillRun {
    /// An empty run at this place.
    fn at(place: Tick) -> Self {
        Self { first: place, next: place, ..Self::default() }
    }

    /// Adds a character, if it continues the cycle.
    #[inline]
    fn take(&mut self, at: Tick, character: Character) -> bool {
        let Some(place) = self.expected.filter(|_| at == self.next) else { return false };
        let fits = self.codes.get(place).is_some_and(|it| Character::Control(*it) == character);
        if fits {
            self.next = after(at);
            self.expected = Some(if place + 1 == self.codes.len() { 0 } else { place + 1 });
        }
        fits
    }

    /// Adds characters that come again and again up to `end`, if they continue the cycle.
    fn take_all(&mut self, at: Tick, cycle: &CellCycle, end: Tick) -> bool {
        let Some(place) = self.expected.filter(|_| at == self.next) else { return false };
        let len = self.codes.len();
        let expected = self.codes.iter().cycle().skip(place).map(|code| Character::Control(*code));
        let fits = usize::from(cycle.len()).is_multiple_of(len)
            && cycle.from(at.0).map(TaggedChar::character).zip(expected).all(|(a, b)| a == b);
        if fits {
            self.next = end;
            let more = end.since(at).0 % len as u64;
            self.expected = usize::try_from(more).ok().map(|more| (place + more) % len);
        }
        fits
    }
}

impl ChannelRecorder {
    fn new(period: CharacterPeriod) -> Self {
        let tail = FillRun::at(Tick(0));
        Self {
            period,
            kept: PendingChunks::default(),
            bytes: Vec::new(),
            tail,
            frame: PacketPosition::Outside,
        }
    }

    /// Records a character that does not continue the run; returns the increase in weight.
    fn put(&mut self, at: Tick, character: Character) -> usize {
        let before = self.weight();
        if at != self.tail.next {
            self.close();
            self.tail = FillRun::at(at);
            self.frame = PacketPosition::Outside;
        }
        match (character, self.frame) {
            (Character::Data(byte), _) => {
                if self.bytes.is_empty() {
                    self.close();
                    self.frame = PacketPosition::Inside;
                }
                self.bytes.push(byte);
                self.tail = FillRun::at(after(at));
            }
            (Character::Control(code), PacketPosition::Inside)
                if decode_control(code).symbol() == Some(Symbol::Gap) =>
            {
                self.close();
                self.kept.literal(at, character);
                self.tail = FillRun::at(after(at));
                self.frame = PacketPosition::Outside;
            }
            (Character::Control(code), _) => {
                self.close_bytes();
                self.close_cycle();
                self.tail.codes.push(code);
                self.tail.next = after(at);
                if self.tail.codes.len() == FILL_MIN {
                    self.find_cycle();
                }
            }
        }
        self.weight() - before
    }

    const fn weight(&self) -> usize {
        self.kept.weight() + self.bytes.len()
    }

    /// Makes a cycle of the codes if they repeat, or else a piece of the first one.
    fn find_cycle(&mut self) {
        let codes = &mut self.tail.codes;
        if let Some(len) = fill_cycle(codes) {
            self.tail.expected = Some(codes.len() % len);
            codes.truncate(len);
        } else {
            self.kept.literal(self.tail.first, Character::Control(codes.remove(0)));
            self.tail.first = after(self.tail.first);
        }
    }

    /// Makes a piece of the bytes.
    fn close_bytes(&mut self) {
        if !self.bytes.is_empty() {
            let first = self.tail.first.0.saturating_sub(self.bytes.len() as u64);
            self.kept.data(Tick(first), &self.bytes);
            self.bytes.clear();
        }
    }

    /// Makes a piece of the whole cycles, and leaves the codes behind them.
    fn close_cycle(&mut self) {
        let Some(rest) = self.tail.expected.take() else { return };
        let FillRun { first, next, codes, .. } = &mut self.tail;
        let len = codes.len();
        let count = next.since(*first).0 / len as u64;
        self.kept.chars.extend(codes.iter().map(|code| Character::Control(*code)));
        self.kept.pieces.push(PendingPiece { first: *first, len, kind: PieceKind::Repeat(count) });
        *first = first.after(Ticks(count * len as u64));
        codes.truncate(rest);
    }

    /// Makes pieces of all characters.
    fn close(&mut self) {
        self.close_bytes();
        self.close_cycle();
        let FillRun { first, next, codes, .. } = &mut self.tail;
        for (at, code) in (first.0..).zip(codes.drain(..)) {
            self.kept.literal(Tick(at), Character::Control(code));
        }
        *first = *next;
    }
}

impl PendingChunks {
    const fn weight(&self) -> usize {
        self.chars.len() + PIECE * self.pieces.len()
    }

    fn literal(&mut self, at: Tick, character: Character) {
        self.chars.push(character);
        self.lengthen(at, 1);
    }

    fn data(&mut self, first: Tick, bytes: &[u8]) {
        self.chars.push_data(bytes);
        self.lengthen(first, bytes.len());
    }

    /// Extends the last literal piece, or begins a new one.
    fn lengthen(&mut self, at: Tick, more: usize) {
        match self.pieces.last_mut() {
            Some(PendingPiece { first, len, kind: PieceKind::Literal })
                if first.after(Ticks(*len as u64)) == at =>
            {
                *len += more;
            }
            _ => self.pieces.push(PendingPiece { first: at, len: more, kind: PieceKind::Literal }),
        }
    }

    fn add(&mut self, chunk: &Chunk<'_>) {
        let (chars, kind) = match chunk.content {
            ChunkContent::Literal(chars) => (chars, PieceKind::Literal),
            ChunkContent::Repeat { pattern, count } => (pattern, PieceKind::Repeat(count)),
        };
        self.chars.push_chars(chars);
        self.pieces.push(PendingPiece { first: chunk.first, len: chars.len(), kind });
    }

    fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut rest = self.chars.chars();
        self.pieces.iter().flat_map(move |piece| {
            let (chars, behind) = rest.split_at(piece.len);
            rest = behind;
            let (literal, repeat) = match piece.kind {
                PieceKind::Literal => (Some(split_into_chunks(piece.first, chars)), None),
                PieceKind::Repeat(count) => {
                    let content = ChunkContent::Repeat { pattern: chars, count };
                    (None, Some(Chunk { first: piece.first, content }))
                }
            };
            literal.into_iter().flatten().chain(repeat)
        })
    }
}

const fn after(at: Tick) -> Tick {
    at.after(Ticks(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use codec::capture::{
        ByteOrder, CaptureItem, CaptureReader, CaptureWriter, Channel, ReadProgress,
    };
    use codec::notation::parse;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const PERIOD: u64 = 12_500;

    fn recorder(periods: &[u64]) -> CaptureRecorder {
        let period = |period: &u64| CharacterPeriod::from_ps(*period).unwrap();
        CaptureRecorder::new(periods.iter().map(period).collect())
    }

    /// The chunks of characters recorded on one channel from period 100 on.
    fn check(text: &str) -> Vec<(u64, String)> {
        let mut recorder = recorder(&[PERIOD]);
        for (at, character) in (100..).zip(parse(text).unwrap().chars().iter()) {
            recorder.push(0, Tick(at), character);
        }
        flushed(&mut recorder).into_iter().map(|(_, first, text)| (first, text)).collect()
    }

    fn flushed(recorder: &mut CaptureRecorder) -> Vec<(u32, u64, String)> {
        let mut rows = Vec::new();
        recorder
            .flush_before(u128::MAX, &mut |channel, chunk| {
                rows.push(row_of(channel.0, chunk));
                Ok::<(), Infallible>(())
            })
            .unwrap();
        rows
    }

    fn row_of(channel: u32, chunk: &Chunk<'_>) -> (u32, u64, String) {
        let text = match chunk.content {
            ChunkContent::Literal(chars) => chars.to_string(),
            ChunkContent::Repeat { pattern, count } => format!("{count} of {pattern}"),
        };
        (channel, chunk.first.0, text)
    }

    fn row(first: u64, text: &str) -> (u64, String) {
        (first, text.to_owned())
    }

    #[test]
    fn fill_becomes_a_repeat_from_64_periods_on() {
        assert_eq!(
            check("05 07 GAP (GO GAP)×32 05"),
            [row(100, "05 07 GAP"), row(103, "32 of GO GAP"), row(167, "05")]
        );
        assert_eq!(check("05 IDLE×63 05"), [row(100, "05 IDLE×63 05")]);
        assert_eq!(
            check("05 IDLE×64 05"),
            [row(100, "05"), row(101, "64 of IDLE"), row(165, "05")]
        );
        assert_eq!(
            check("IDLE×65 (GAP STOP)×40"),
            [row(100, "65 of IDLE"), row(165, "40 of GAP STOP")]
        );
        // Of two and of four virtual channels.
        assert_eq!(
            check("!60 (GAP GO !60)×30 GAP 05"),
            [row(100, "30 of !60 GAP GO"), row(190, "!60 GAP 05")]
        );
        assert_eq!(check("05 (GO !60 !61 !62)×15 GO !60 !61 05").len(), 1, "63");
        assert_eq!(
            check("(GAP GO !60 !61 !62)×12 GAP GO !60 !61 05"),
            [row(100, "12 of GAP GO !60 !61 !62"), row(160, "GAP GO !60 !61 05")]
        );
    }

    #[test]
    fn chunks_come_in_order_of_time_and_then_of_channel() {
        let mut recorder = recorder(&[PERIOD, 2 * PERIOD, PERIOD]);
        for at in 0..8 {
            let character = if at % 4 == 3 { Character::GAP } else { Character::Data(1) };
            recorder.push(2, Tick(at), character);
            recorder.push(0, Tick(at), character);
            if at < 4 {
                recorder.push(1, Tick(at), Character::Data(2));
            }
        }
        let order: Vec<_> =
            flushed(&mut recorder).into_iter().map(|(channel, at, _)| (channel, at)).collect();
        assert_eq!(order, [(0, 0), (1, 0), (2, 0), (0, 4), (2, 4)]);
    }

    #[test]
    fn what_begins_after_the_moment_is_held_back() {
        let mut recorder = recorder(&[PERIOD, 2 * PERIOD]);
        for (at, character) in (0..).zip(parse("05 GAP 06 GAP").unwrap().chars().iter()) {
            recorder.push(0, Tick(at), character);
        }
        recorder.push(1, Tick(0), Character::IDLE);
        let mut rows = Vec::new();
        let mut out = |channel: ChannelId, chunk: &Chunk<'_>| {
            rows.push((channel.0, chunk.first.0));
            Ok::<(), Infallible>(())
        };
        recorder.flush_before(u128::from(2 * PERIOD), &mut out).unwrap();
        recorder.push(1, Tick(1), Character::IDLE);
        recorder.flush_before(u128::MAX, &mut out).unwrap();
        assert_eq!(rows, [(0, 0), (1, 0), (0, 2), (1, 1)]);
    }

    #[test]
    fn only_what_takes_memory_makes_it_full() {
        let mut recorder = recorder(&[PERIOD]);
        (0..2 << 20).for_each(|at| recorder.push(0, Tick(at), Character::IDLE));
        assert!(!recorder.is_full());
        let data = (2 << 20)..(3 << 20) + 1;
        data.for_each(|at| recorder.push(0, Tick(at), Character::Data(0)));
        assert!(recorder.is_full());
        assert_eq!(flushed(&mut recorder).len(), 1 + 17);
        assert!(!recorder.is_full());
        recorder.push(1, Tick(0), Character::GAP);
        assert_eq!(flushed(&mut recorder), []);
    }

    fn writer(periods: &[u64]) -> CaptureWriter<Vec<u8>> {
        let channel = |(index, period): (usize, &u64)| Channel {
            period: CharacterPeriod::from_ps(*period).unwrap(),
            peer: Some(index ^ 1)
                .filter(|peer| *peer < periods.len())
                .map(|p| u32::try_from(p).unwrap()),
            tap: Some("h0:0".to_owned()),
            ..Channel::named(if index % 2 == 0 {
                format!("h{index}:0>s0:{index}")
            } else {
                format!("s0:{}>h{}:0", index - 1, index - 1)
            })
        };
        let channels: Vec<_> = periods.iter().enumerate().map(channel).collect();
        CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap()
    }

    #[test]
    fn idle_channels_make_a_small_file() {
        let periods = [PERIOD; 24];
        let (mut recorder, mut file) = (recorder(&periods), writer(&periods));
        for at in 0..1 << 22 {
            let character = if at % 2 == 0 { Character::GAP } else { Character::Control(3) };
            (0..24).for_each(|channel| recorder.push(channel, Tick(at), character));
        }
        recorder.flush_before(u128::MAX, &mut |channel, chunk| file.write(channel, chunk)).unwrap();
        let len = file.finish().unwrap().len();
        assert!(len < 5_000, "{len}");
    }

    /// The characters by channel and period.
    type Model = BTreeMap<(u32, u64), Character>;

    fn expand(channel: ChannelId, chunk: &Chunk<'_>, model: &mut Model) {
        let (chars, count) = chunk.content.parts();
        let count = count.unwrap_or(1);
        for (at, character) in (chunk.first.0..).zip((0..count).flat_map(|_| chars.iter())) {
            assert_eq!(model.insert((channel.0, at), character), None);
        }
    }

    /// Stretches of a channel: fill, data, any characters, holes.
    fn stretches() -> impl Strategy<Value = Vec<Option<Character>>> {
        let code = prop::sample::select(vec![0x00, 0x0c, 0x03, 0x0f]).prop_map(Character::Control);
        let data = any::<u8>().prop_map(Character::Data);
        let any = prop_oneof![code.clone(), data.clone()];
        let stretch = prop_oneof![
            4 => (vec(code, 1..7), 1..150_usize)
                .prop_map(|(unit, len)| unit.into_iter().map(Some).cycle().take(len).collect()),
            2 => vec(data.prop_map(Some), 1..40),
            2 => vec(any.prop_map(Some), 1..20),
            1 => (1..10_usize).prop_map(|len| vec![None; len]),
        ];
        vec(stretch, 0..12).prop_map(|stretches: Vec<Vec<_>>| stretches.concat())
    }

    proptest! {
        /// Codes one by one, or as cycles of a sender, are split as the same codes of a recording are.
        #[test]
        fn codes_are_split_as_those_of_a_recording(
            fills in vec((vec(prop::sample::select(vec![0_u8, 3, 12]), 2..=5), 1..200_u64, any::<bool>()), 1..8),
        ) {
            let (mut recorder, mut codes, mut at) = (recorder(&[PERIOD]), CharBuf::new(), 0);
            for (cells, len, is_cycle) in fills {
                let next = |place: usize| cells.get(place).map(|code| TaggedChar::control(*code));
                let cycle = CellCycle::new(at, u8::try_from(cells.len()).unwrap(), next).unwrap();
                let places = at..at + len;
                codes.extend(places.clone().map(|at| cycle.at(at).character()));
                if is_cycle {
                    recorder.fill(0, Tick(at), &cycle, Tick(places.end));
                } else {
                    let each = places.clone().map(|at| (Tick(at), cycle.at(at).character()));
                    each.for_each(|(at, character)| recorder.push(0, at, character));
                }
                at = places.end;
            }
            let split = split_into_chunks(Tick(0), codes.chars()).map(|chunk| row_of(0, &chunk));
            prop_assert_eq!(flushed(&mut recorder), split.collect::<Vec<_>>());
        }

        /// Tests any flush times, channel rates and delays.
        #[test]
        fn a_file_holds_what_was_pushed(
            channels in vec((stretches(), 1..4_u64, 0..4_u64), 1..4),
            flushes in vec(1..200_u64, 0..8),
        ) {
            let periods: Vec<_> = channels.iter().map(|(_, divisor, _)| divisor * PERIOD).collect();
            let (mut recorder, mut file) = (recorder(&periods), writer(&periods));
            let (mut pushed, mut read) = (Model::new(), Model::new());
            let mut flushes = flushes.into_iter().scan(0, |at, more| { *at += more; Some(*at) }).peekable();
            for now in 0..12 * 150 * 3 {
                for (channel, (stretches, divisor, late)) in channels.iter().enumerate() {
                    let at = now / divisor;
                    let character = stretches.get(usize::try_from(at).unwrap()).copied().flatten();
                    if let Some(character) = character.filter(|_| now % divisor == late % divisor) {
                        recorder.push(channel, Tick(at), character);
                        pushed.insert((u32::try_from(channel).unwrap(), at), character);
                    }
                }
                if flushes.next_if_eq(&now).is_some() {
                    // Every character that begins before has been pushed.
                    let moment = u128::from(now.saturating_sub(2) * PERIOD);
                    let out = &mut |channel, chunk: &Chunk<'_>| file.write(channel, chunk);
                    recorder.flush_before(moment, out).unwrap();
                }
            }
            recorder.flush_before(u128::MAX, &mut |channel, chunk| file.write(channel, chunk)).unwrap();
            let bytes = file.finish().unwrap();
            let mut reader = CaptureReader::new(bytes.as_slice());
            let mut out = |item: CaptureItem<'_>| match item {
                CaptureItem::Chunk(channel, chunk) => expand(channel, &chunk, &mut read),
                CaptureItem::Fault(fault) => panic!("{fault}"),
                CaptureItem::Section | CaptureItem::Channel(..) | CaptureItem::Link(..) => {}
            };
            while reader.step(&mut out).unwrap() == ReadProgress::More {}
            prop_assert_eq!(read, pushed);
        }
    }
}
