//! Folds a stream of characters into runs and repetitions, for display.
//!
//! The result depends on the characters alone, not on the pieces in which they arrive.

use std::collections::VecDeque;
use std::fmt;

use crate::character::Character;
use crate::chars::{CharBuf, Chars};

/// Shortest run of one character that is written with a count. *Chosen*.
const RUN_MIN: u64 = 4;
/// Fewest repetitions of two characters that are folded. *Chosen*.
const ROUNDS_MIN: u64 = 3;

/// A pattern of characters with a count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldedRun {
    /// The pattern, at least one character.
    pub unit: CharBuf,
    /// Number of repetitions, at least one.
    pub count: u64,
}

impl FoldedRun {
    fn new(unit: impl IntoIterator<Item = Character>, count: u64) -> Self {
        Self { unit: unit.into_iter().collect(), count }
    }
}

impl fmt::Display for FoldedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.unit.chars().iter();
        let Some(first) = words.next() else { return Ok(()) };
        if self.unit.len() == 1 {
            return if self.count == 1 {
                write!(f, "{first}")
            } else {
                write!(f, "{first}×{}", self.count)
            };
        }
        write!(f, "({first}")?;
        words.try_for_each(|word| write!(f, " {word}"))?;
        write!(f, ")×{}", self.count)
    }
}

/// Streaming folder of one channel.
#[derive(Clone, Debug, Default)]
pub struct RunFolder {
    /// Pending runs of one character, neighbours different; at most four.
    runs: VecDeque<(Character, u64)>,
    /// Two alternating characters, at least two repetitions. `runs` is empty then.
    pair: Option<RunPair>,
    /// A longer repeated pattern. Nothing else is pending then.
    group: Option<FoldedRun>,
}

#[derive(Clone, Copy, Debug)]
struct RunPair {
    unit: [Character; 2],
    len: u64,
}

impl RunFolder {
    /// Takes the next character.
    pub fn feed(&mut self, character: Character, out: &mut impl FnMut(FoldedRun)) {
        self.group.take().into_iter().for_each(&mut *out);
        if let Some(RunPair { unit: [even, odd], len }) = &mut self.pair {
            if character == if *len % 2 == 0 { *even } else { *odd } {
                *len += 1;
                return;
            }
            self.end_pair(out);
        }
        match self.runs.back_mut() {
            Some((last, count)) if *last == character => *count += 1,
            _ => self.runs.push_back((character, 1)),
        }
        if let [(a, 1), (b, 1), (c, 1), (d, 1)] = *self.runs.make_contiguous()
            && (a, b) == (c, d)
        {
            self.runs.clear();
            self.pair = Some(RunPair { unit: [a, b], len: 4 });
        }
        if self.runs.len() > 3 {
            self.end_run(out);
        }
    }

    /// Takes characters that repeat, `count` times in all: O(pattern). Patterns that come down to
    /// one or two characters fold with what stands around them; longer ones stay as they are.
    pub fn feed_repeated(
        &mut self,
        pattern: Chars<'_>,
        count: u64,
        out: &mut impl FnMut(FoldedRun),
    ) {
        let (root, rounds) = root(pattern);
        let count = count.saturating_mul(rounds);
        match root.len() {
            0 => {}
            // Two rounds bring any state into the run or pair, which then only grows.
            len @ (1 | 2) => {
                let first = count.min(3);
                (0..first).for_each(|_| root.iter().for_each(|c| self.feed(c, out)));
                let more = (count - first).saturating_mul(len as u64);
                let grown = match &mut self.pair {
                    Some(pair) => Some(&mut pair.len),
                    None => self.runs.back_mut().map(|(_, count)| count),
                };
                grown.into_iter().for_each(|len| *len = len.saturating_add(more));
            }
            _ => {
                let fold = FoldedRun::new(root.iter(), count);
                match &mut self.group {
                    Some(group) if group.unit == fold.unit => {
                        group.count = group.count.saturating_add(count);
                    }
                    _ => {
                        self.finish(out);
                        self.group = Some(fold);
                    }
                }
            }
        }
    }

    /// Emits the pending runs.
    pub fn finish(&mut self, out: &mut impl FnMut(FoldedRun)) {
        self.group.take().into_iter().for_each(&mut *out);
        self.end_pair(out);
        while !self.runs.is_empty() {
            self.end_run(out);
        }
    }

    fn end_run(&mut self, out: &mut impl FnMut(FoldedRun)) {
        match self.runs.pop_front() {
            Some((character, count)) if count >= RUN_MIN => out(FoldedRun::new([character], count)),
            Some((character, count)) => {
                (0..count).for_each(|_| out(FoldedRun::new([character], 1)));
            }
            None => {}
        }
    }

    fn end_pair(&mut self, out: &mut impl FnMut(FoldedRun)) {
        let Some(RunPair { unit, len }) = self.pair.take() else { return };
        if len / 2 >= ROUNDS_MIN {
            out(FoldedRun::new(unit, len / 2));
        } else {
            (0..len / 2).for_each(|_| unit.iter().for_each(|c| out(FoldedRun::new([*c], 1))));
        }
        if len % 2 == 1 {
            self.runs.push_back((unit[0], 1));
        }
    }
}

/// The shortest pattern of which this one is a repetition, and the number of repetitions.
fn root(pattern: Chars<'_>) -> (Chars<'_>, u64) {
    let len = pattern.len();
    let repeats = |period: &usize| {
        len.is_multiple_of(*period)
            && pattern.slice(*period..len) == pattern.slice(0..len - *period)
    };
    let folded = |period| (pattern.slice(0..period), (len / period) as u64);
    (1..len).find(repeats).map_or((pattern, 1), folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    fn folded(pieces: &[(&str, u64)]) -> String {
        let mut folds = Vec::new();
        let mut folder = RunFolder::default();
        let mut out = |fold: FoldedRun| folds.push(fold.to_string());
        for (pattern, count) in pieces {
            folder.feed_repeated(parse(pattern).unwrap().chars(), *count, &mut out);
        }
        folder.finish(&mut out);
        folds.join(" ")
    }

    #[test]
    fn repeats_literals_and_pairs_that_break_off_fold_alike() {
        assert_eq!(folded(&[("IDLE IDLE", 1), ("IDLE", 1_000_000_000_000)]), "IDLE×1000000000002");
        assert_eq!(folded(&[("GAP", 1), ("GO GAP", 50), ("GO", 1), ("83", 1)]), "(GAP GO)×51 83");
        assert_eq!(folded(&[("83", 1), ("GAP GO", 1_000_000)]), "83 (GAP GO)×1000000");
        assert_eq!(folded(&[("GAP GO GAP GO", 2), ("STOP", 1)]), "(GAP GO)×4 STOP");
        assert_eq!(folded(&[("GAP 01 02", 4), ("GAP 01 02", 5)]), "(GAP 01 02)×9");
        assert_eq!(folded(&[("GAP 01 02", 4), ("GAP 01 03", 5)]), "(GAP 01 02)×4 (GAP 01 03)×5");
        assert_eq!(folded(&[("GAP", 2), ("", 3), ("GAP", 2)]), "GAP×4");
        assert_eq!(folded(&[("GAP GO GAP GO GAP GO", 2)]), "(GAP GO)×6");
        assert_eq!(folded(&[("GAP 01 02 GAP 01 02 GAP 01 02", 2)]), "(GAP 01 02)×6");
        let several = folded(&[("GAP 01 02", 4), ("GAP", 1), ("01 GAP GAP", 2)]);
        assert_eq!(several, "(GAP 01 02)×4 GAP (01 GAP GAP)×2");
        assert_eq!(folded(&[("GAP GO", 3), ("GAP", 1), ("GAP", 1)]), "(GAP GO)×3 GAP GAP");
        assert_eq!(folded(&[("GAP GO", 2), ("STOP", 1)]), "GAP GO GAP GO STOP");
    }
}
