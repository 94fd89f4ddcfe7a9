//! Splits characters into chunks for a writer.

use super::chunk::{Chunk, ChunkContent};
use crate::character::{Symbol, decode_control};
use crate::chars::{CharRun, Chars};
use crate::time::Tick;
use crate::virtual_channels::VIRTUAL_CHANNELS_MAX;

/// Fewest periods of repeated fill that become a repeat.
pub const FILL_MIN: usize = 64;
/// Most periods after which fill repeats: GAP, and STOP or GO of each virtual channel. F-8, C-7
const CYCLE_MAX: usize = VIRTUAL_CHANNELS_MAX as usize + 1;
/// Most characters of a literal chunk.
pub const LITERAL_MAX: usize = 65_536;

/// Splits characters that begin at `first` into chunks: fill (control codes that repeat within
/// five periods) as repeats, the rest as literals, one per packet with its GAP where possible.
pub fn split_into_chunks(first: Tick, chars: Chars<'_>) -> impl Iterator<Item = Chunk<'_>> {
    let mut at = first;
    let mut rest = chars;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let fill = fill(rest.split_at(rest.control_len()).0.low());
        let (len, content) = if let Some((period, len)) = fill {
            let count = (len / period) as u64;
            (len, ChunkContent::Repeat { pattern: rest.split_at(period).0, count })
        } else {
            let len = literal(rest);
            (len, ChunkContent::Literal(rest.split_at(len).0))
        };
        let chunk = Chunk { first: at, content };
        at = chunk.end();
        rest = rest.split_at(len).1;
        Some(chunk)
    })
}

/// Number of periods after which the control codes at the head repeat, if [`FILL_MIN`] of them are fill.
pub fn fill_cycle(codes: &[u8]) -> Option<usize> {
    let head = codes.get(..FILL_MIN)?;
    (1..=CYCLE_MAX).find(|period| head.iter().zip(head.iter().skip(*period)).all(|(a, b)| a == b))
}

/// The fill at the head of some control codes: its period and, in whole periods, its length.
fn fill(codes: &[u8]) -> Option<(usize, usize)> {
    let period = fill_cycle(codes)?;
    let same = codes.iter().zip(codes.iter().skip(period)).take_while(|(a, b)| a == b).count();
    Some((period, (same + period) / period * period))
}

/// Length of the literal chunk at the head: up to the GAP that ends its packet, or to fill.
fn literal(chars: Chars<'_>) -> usize {
    let mut len = 0;
    let mut packet = false;
    for run in chars.split_at(LITERAL_MAX).0.runs() {
        match run {
            CharRun::Data(bytes) => {
                packet = true;
                len += bytes.len();
            }
            CharRun::Control(codes) => {
                for (at, code) in codes.iter().enumerate() {
                    if packet && decode_control(*code).symbol() == Some(Symbol::Gap) {
                        return len + at + 1;
                    }
                    let ahead = codes.get(at..).unwrap_or_default();
                    if len + at > 0 && fill_cycle(ahead).is_some() {
                        return len + at;
                    }
                }
                len += codes.len();
            }
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    fn check(text: &str) -> Vec<(u64, String)> {
        let chars = parse(text).unwrap();
        let shown = |chunk: Chunk<'_>| match chunk.content {
            ChunkContent::Literal(chars) => (chunk.first.0, chars.to_string()),
            ChunkContent::Repeat { pattern, count } => {
                (chunk.first.0, format!("{count} of {pattern}"))
            }
        };
        split_into_chunks(Tick(100), chars.chars()).map(shown).collect()
    }

    #[test]
    fn a_packet_with_its_gap_is_a_chunk_fill_a_repeat_and_long_literals_are_cut() {
        let row = |first, text: &str| (first, text.to_owned());
        assert_eq!(
            check("GAP 83 STOP 05 92 GAP 05 07 GAP (GO GAP)×32 GO 01"),
            [
                row(100, "GAP 83 STOP 05 92 GAP"),
                row(106, "05 07 GAP"),
                row(109, "32 of GO GAP"),
                row(173, "GO 01")
            ]
        );
        assert_eq!(check("83 IDLE×64"), [row(100, "83"), row(101, "64 of IDLE")]);
        assert_eq!(check("(GO !60 GAP)×22 05"), [row(100, "22 of GO !60 GAP"), row(166, "05")]);
        assert_eq!(check("83 IDLE×63"), [row(100, "83 IDLE×63")]);
        // Control codes before the GAP, and before the fill, are the packet's.
        assert_eq!(check("83 STOP GAP 05"), [row(100, "83 STOP GAP"), row(103, "05")]);
        assert_eq!(check("83 STOP IDLE×64"), [row(100, "83 STOP"), row(102, "64 of IDLE")]);
        assert_eq!(check("00×65537"), [(100, "00×65536".to_owned()), (65636, "00".to_owned())]);
    }
}
