//! A chunk: consecutive characters of one channel, the payload of a packet block.

use nom::error::context;
use nom::number::complete::{le_u16, le_u32, le_u64, u8 as byte};
use nom::{IResult, Parser};

use crate::chars::{CharBuf, Chars};
use crate::error::{DecodeError, ParseTrace, cut_short, unexpected};
use crate::time::Tick;

/// Most bytes of a payload: Wireshark's limit.
pub const PAYLOAD_MAX: usize = 262_144;
/// Most characters of a repeated pattern.
pub const PATTERN_MAX: usize = 64;

const VERSION: u8 = 1;
const LITERAL: u8 = 0;
const REPEAT: u8 = 1;

/// Consecutive characters of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Index of the first character: periods of this channel since the capture's time zero.
    pub first: Tick,
    /// The characters.
    pub content: ChunkContent<'a>,
}

/// The characters of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkContent<'a> {
    /// Characters, at least one.
    Literal(Chars<'a>),
    /// A repeated pattern.
    Repeat {
        /// 1..=64 characters.
        pattern: Chars<'a>,
        /// Number of repetitions, at least one.
        count: u64,
    },
}

impl<'a> ChunkContent<'a> {
    /// A literal, or `count` repetitions of a pattern.
    pub const fn new(chars: Chars<'a>, count: Option<u64>) -> Self {
        match count {
            None => Self::Literal(chars),
            Some(count) => Self::Repeat { pattern: chars, count },
        }
    }

    /// Undoes [`ChunkContent::new`].
    pub const fn parts(self) -> (Chars<'a>, Option<u64>) {
        match self {
            Self::Literal(chars) => (chars, None),
            Self::Repeat { pattern, count } => (pattern, Some(count)),
        }
    }
}

impl<'a> Chunk<'a> {
    /// Character periods covered. A chunk that was parsed ends at or before period 2⁶⁴ − 1.
    pub const fn periods(&self) -> u64 {
        match self.content {
            ChunkContent::Literal(chars) => chars.len() as u64,
            ChunkContent::Repeat { pattern, count } => count.saturating_mul(pattern.len() as u64),
        }
    }

    /// Index of the first character after the chunk.
    pub const fn end(&self) -> Tick {
        Tick(self.first.0.saturating_add(self.periods()))
    }

    /// The part of the chunk from one place up to another. Complete repetitions stay a repeat.
    pub fn between(self, from: Tick, to: Tick) -> impl Iterator<Item = Self> {
        let (from, to) = (from.max(self.first), to.min(self.end()));
        let part =
            |first: Tick, end: Tick, content| (first < end).then_some(Self { first, content });
        let at =
            |place: Tick, start: Tick| usize::try_from(place.since(start).0).unwrap_or(usize::MAX);
        match self.content {
            ChunkContent::Literal(chars) => {
                let chars = chars.slice(at(from, self.first)..at(to, self.first));
                [part(from, to, ChunkContent::Literal(chars)), None, None]
            }
            ChunkContent::Repeat { pattern, .. } => {
                let len = pattern.len() as u64;
                // The rounds in which the part begins and ends.
                let round = |place: Tick| Tick(place.0 - place.since(self.first).0 % len);
                let (head, tail) = (round(from), round(to));
                let literal = |from: Tick, to: Tick, start: Tick| {
                    let chars = pattern.slice(at(from, start)..at(to, start));
                    part(from, to, ChunkContent::Literal(chars))
                };
                let whole = if head == from { head } else { Tick(head.0.saturating_add(len)) };
                let count = tail.since(whole).0 / len;
                if tail <= head {
                    return [literal(from, to, head), None, None].into_iter().flatten();
                }
                [
                    literal(from, whole, head),
                    part(whole, tail, ChunkContent::Repeat { pattern, count }),
                    literal(tail, to, tail),
                ]
            }
        }
        .into_iter()
        .flatten()
    }

    /// Parses a payload.
    ///
    /// # Errors
    /// The field at fault and its place in the payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let (planes, head) = head(payload).map_err(|stop| cut_short(payload, &stop))?;
        head.check()?;
        let at = payload.len() - planes.len();
        let n = head.length as usize;
        let low = planes.get(..n).ok_or(DecodeError::CutShort { at, field: "low plane" })?;
        let d = planes.get(n..).unwrap_or_default();
        let Some(chars) = Chars::from_planes(low, d) else {
            return Err(if d.len() < n.div_ceil(8) {
                DecodeError::CutShort { at: at + n, field: "d plane" }
            } else {
                unexpected(4, "length", n as u64, "what the payload holds")
            });
        };
        let content = ChunkContent::new(chars, head.count);
        Ok(Self { first: Tick(head.first), content })
    }

    /// Writes what [`Chunk::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (chars, count) = self.content.parts();
        let kind = if count.is_some() { REPEAT } else { LITERAL };
        // Chunks beyond 4 Gi characters are far beyond the payload's limit, which writers check.
        let length = u32::try_from(chars.len()).unwrap_or(u32::MAX);
        out.extend([VERSION, kind, 0, 0]);
        out.extend(length.to_le_bytes());
        out.extend(self.first.0.to_le_bytes());
        out.extend(count.into_iter().flat_map(u64::to_le_bytes));
        let mut aligned = CharBuf::new();
        aligned.push_chars(chars);
        out.extend_from_slice(chars.low());
        out.extend_from_slice(aligned.d_plane());
    }
}

struct ChunkHeader {
    version: u8,
    kind: u8,
    length: u32,
    first: u64,
    count: Option<u64>,
}

fn head(payload: &[u8]) -> IResult<&[u8], ChunkHeader, ParseTrace<&[u8]>> {
    let (rest, (version, kind, _reserved, length, first)) = (
        context("version", byte),
        context("kind", byte),
        context("reserved", le_u16),
        context("length", le_u32),
        context("first", le_u64),
    )
        .parse(payload)?;
    let (rest, count) =
        if kind == REPEAT { context("count", le_u64).map(Some).parse(rest)? } else { (rest, None) };
    Ok((rest, ChunkHeader { version, kind, length, first, count }))
}

impl ChunkHeader {
    fn check(&self) -> Result<(), DecodeError> {
        if self.version != VERSION {
            return Err(unexpected(0, "version", self.version, "1"));
        }
        if self.kind > REPEAT {
            return Err(unexpected(1, "kind", self.kind, "0 (literal) or 1 (repeat)"));
        }
        let length = u64::from(self.length);
        match self.count {
            _ if length == 0 => return Err(unexpected(4, "length", 0_u8, "1 or more")),
            Some(_) if self.length as usize > PATTERN_MAX => {
                return Err(unexpected(4, "length", length, "1..=64 (a repeated pattern)"));
            }
            Some(0) => return Err(unexpected(16, "count", 0_u8, "1 or more")),
            _ => {}
        }
        let periods = length.checked_mul(self.count.unwrap_or(1));
        if periods.and_then(|periods| self.first.checked_add(periods)).is_none() {
            let (at, field, found) = match self.count {
                Some(count) if periods.is_none() => (16, "count", count),
                _ => (8, "first", self.first),
            };
            return Err(unexpected(at, field, found, "a chunk that ends before period 2^64"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    fn payload(text: &str, count: Option<u64>) -> Vec<u8> {
        let chars = parse(text).unwrap();
        let content = ChunkContent::new(chars.chars(), count);
        let mut out = Vec::new();
        Chunk { first: Tick(5), content }.emit(&mut out);
        out
    }

    #[test]
    fn the_layout_is_the_format_s() {
        assert_eq!(
            payload("GAP 83 GO", None),
            [1, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x0c, 0x83, 0x03, 0b010]
        );
        assert_eq!(
            payload("GAP GO", Some(0x0102)),
            [1, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0x0c, 0x03, 0]
        );
    }

    #[test]
    fn a_part_of_a_chunk_has_the_same_characters() {
        let pattern = parse("GAP 83 GO").unwrap();
        let chunk = |content| Chunk { first: Tick(10), content };
        let repeat = chunk(ChunkContent::Repeat { pattern: pattern.chars(), count: 4 });
        let whole = parse("(GAP 83 GO)×4").unwrap();
        let literal = chunk(ChunkContent::Literal(whole.chars()));
        let ranges = (8..24).flat_map(|from| (8..24).map(move |to| (from, to)));
        for (chunk, (from, to)) in ranges.flat_map(|range| [(repeat, range), (literal, range)]) {
            let mut parts = CharBuf::new();
            let mut next = Tick(from.clamp(10, 22));
            for part in chunk.between(Tick(from), Tick(to)) {
                assert!(part.first == next && part.periods() > 0, "{from}..{to}");
                next = part.end();
                match part.content {
                    ChunkContent::Literal(chars) => parts.push_chars(chars),
                    ChunkContent::Repeat { pattern, count } => {
                        (0..count).for_each(|_| parts.push_chars(pattern));
                    }
                }
            }
            let range = from.clamp(10, 22) - 10..to.clamp(10, 22) - 10;
            let expected = whole
                .chars()
                .slice(usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap());
            assert_eq!(parts.chars(), expected, "{from}..{to}");
        }
    }

    #[test]
    fn every_fault_names_its_field_and_place() {
        let literal = payload("GAP 83 GO", None);
        let repeat = payload("GAP GO", Some(40));
        let fault = |payload: &[u8], at: usize, bytes: &[u8]| {
            let mut payload = payload.to_vec();
            payload.splice(at..at + bytes.len(), bytes.iter().copied());
            Chunk::parse(&payload).unwrap_err().to_string()
        };
        let beyond = "is 18446744073709551615, not a chunk that ends before period 2^64";
        for (payload, at, bytes, expected) in [
            (&literal, 0, &[2][..], "byte 0: version is 2, not 1"),
            (&literal, 1, &[9], "byte 1: kind is 9, not 0 (literal) or 1 (repeat)"),
            (&literal, 4, &[0], "byte 4: length is 0, not 1 or more"),
            (&literal, 4, &[2], "byte 4: length is 2, not what the payload holds"),
            (&literal, 4, &[5], "byte 16: low plane is cut short"),
            (&literal, 4, &[4], "byte 20: d plane is cut short"),
            (&repeat, 4, &[65], "byte 4: length is 65, not 1..=64 (a repeated pattern)"),
            (&repeat, 16, &[0], "byte 16: count is 0, not 1 or more"),
            (&repeat, 16, &[0xff; 8], &format!("byte 16: count {beyond}")),
            (&literal, 8, &[0xff; 8], &format!("byte 8: first {beyond}")),
            (&vec![1, 0, 0], 0, &[], "byte 2: reserved is cut short"),
            (&vec![], 0, &[], "byte 0: version is cut short"),
            (&repeat[..20].to_vec(), 0, &[], "byte 16: count is cut short"),
        ] {
            assert_eq!(fault(payload, at, bytes), expected);
        }
    }
}
