//! Search for a lost GAP in skipped iterations of a repeat. P-1

use codec::Chars;
use codec::character::DecodedCode;
use codec::chars::CharRun;
use codec::crc::Crc8;
use codec::framing::LinkRules;
use codec::time::Tick;

/// Iterations after which the search has seen all states: an iteration permutes the 256 CRCs, and a lost GAP
/// shows at the next byte.
const ROUNDS_MAX: u64 = (1 << 8) + 1;

#[derive(Clone, Copy, Debug)]
pub(super) struct LostGapSearch {
    /// CRC of the packet's bytes so far, at least two.
    pub(super) crc: Crc8,
    /// Position of a possible lost GAP, until data follows.
    pub(super) pause: Option<Tick>,
    /// Place of the possible GAP, once data has followed it.
    pub(super) possible_gap: Option<Tick>,
    pub(super) rules: LinkRules,
}

impl LostGapSearch {
    /// True for a code that is no symbol: it may have been a GAP.
    fn is_pause(&self, code: u8) -> bool {
        code == 0 || self.rules.decode(code) == DecodedCode::Invalid
    }

    /// Searches `rounds` iterations of a pattern that contains data. Once the place of the possible GAP is known, a later
    /// pause is of no use.
    pub(super) fn pass(&mut self, pattern: Chars<'_>, first: Tick, rounds: u64) {
        let is_pause = |code: &u8| self.is_pause(*code);
        let may_pause = |run| matches!(run, CharRun::Control(codes) if codes.iter().any(is_pause));
        if self.pause.is_none() && !pattern.runs().any(may_pause) {
            return;
        }
        let len = pattern.len() as u64;
        for round in 0..rounds.min(ROUNDS_MAX) {
            self.round(pattern, Tick(first.0 + round * len));
        }
    }

    fn round(&mut self, pattern: Chars<'_>, mut at: Tick) {
        for run in pattern.runs() {
            match run {
                CharRun::Data(data) => {
                    let pause = self.pause.take();
                    self.possible_gap = self.possible_gap.or(pause);
                    self.crc = self.crc.feed(data);
                    at.0 += data.len() as u64;
                }
                CharRun::Control(codes) => {
                    let pause = codes.iter().position(|code| self.is_pause(*code));
                    if let (None, 0, Some(pause)) = (self.pause, self.crc.syndrome(), pause) {
                        self.pause = Some(Tick(at.0 + pause as u64));
                    }
                    at.0 += codes.len() as u64;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use codec::notation::parse;

    use super::*;
    use crate::event::ChannelEvent;
    use crate::packet::ByteRetention;
    use crate::receiver::ChannelReceiver;

    /// The possible gap in the packet of a repeat, and of the same iterations one by one.
    fn possible_gaps(pattern: &str, rounds: u64) -> [Option<Tick>; 2] {
        let pattern = parse(pattern).unwrap();
        [&[rounds][..], &vec![1; usize::try_from(rounds).unwrap()]].map(|parts| {
            let mut seam = None;
            let mut out = |_, notice| {
                if let ChannelEvent::Packet(packet) = notice {
                    seam = packet.possible_gap;
                }
            };
            let mut receiver = ChannelReceiver::new(ByteRetention::Forget);
            receiver.seek(Tick(0), &mut out);
            parts.iter().for_each(|it| receiver.feed_repeated(pattern.chars(), *it, &mut out));
            receiver.finish(&mut out);
            seam
        })
    }

    #[test]
    fn a_lost_gap_in_skipped_iterations_is_found() {
        // P-4: 254 times 01 is a multiple of the generator, and no fewer are; the IDLE behind the
        // 254th stands at 507.
        assert_eq!(possible_gaps("01 IDLE", 254), [None; 2]);
        assert_eq!(possible_gaps("01 IDLE", 255), [Some(Tick(507)); 2]);
        assert_eq!(possible_gaps("01 IDLE", 1000), [Some(Tick(507)); 2]);
        assert_eq!(possible_gaps("01 GO", 1000), [None; 2]);
    }
}
