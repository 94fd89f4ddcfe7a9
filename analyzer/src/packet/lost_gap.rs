//! Where a GAP may have been lost, in rounds of a repeat that are passed over. P-1

use codec::Chars;
use codec::character::{DecodedCode, decode_control};
use codec::chars::CharRun;
use codec::crc::Crc8;
use codec::time::Tick;

/// Rounds after which nothing new comes: what a round does to a CRC it does to all 256 in turn, and a
/// seam shows at the next byte.
const ROUNDS_MAX: u64 = (1 << 8) + 1;

/// A packet on its way through rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostGapSearch {
    /// Of the packet's bytes so far, two at least.
    pub(super) crc: Crc8,
    /// Where it might have ended, if no data came after that.
    pub(super) pause: Option<Tick>,
    /// Where it might, though data came.
    pub(super) seam: Option<Tick>,
}

/// Whether a code may have been a GAP, and be none now.
pub(super) fn is_pause(code: u8) -> bool {
    code == 0 || decode_control(code) == DecodedCode::Invalid
}

impl LostGapSearch {
    /// Goes through so many rounds of a pattern that has data, from a place on. `last` is the CRC
    /// before the last round.
    pub(super) fn pass(&mut self, pattern: Chars<'_>, first: Tick, rounds: u64, last: Crc8) {
        let may_pause =
            |run| matches!(run, CharRun::Control(codes) if codes.iter().copied().any(is_pause));
        if self.pause.is_none() && !pattern.runs().any(may_pause) {
            return;
        }
        let len = pattern.len() as u64;
        let place = |round: u64| Tick(first.0 + round * len);
        for round in 0..rounds.min(ROUNDS_MAX) {
            self.round(pattern, place(round));
        }
        if rounds > ROUNDS_MAX {
            (self.crc, self.pause) = (last, None);
            self.round(pattern, place(rounds - 1));
        }
    }

    fn round(&mut self, pattern: Chars<'_>, mut at: Tick) {
        for run in pattern.runs() {
            match run {
                CharRun::Data(data) => {
                    let pause = self.pause.take();
                    self.seam = self.seam.or(pause);
                    self.crc = self.crc.feed(data);
                    at.0 += data.len() as u64;
                }
                CharRun::Control(codes) => {
                    let pause = codes.iter().position(|code| is_pause(*code));
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

    /// The seam of the one packet of a repeat, and of the same rounds one by one.
    fn seams(pattern: &str, rounds: u64) -> [Option<Tick>; 2] {
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
    fn a_seam_in_rounds_that_are_passed_over_is_found() {
        // P-4: 254 times 01 is a multiple of the generator, and no fewer are; the IDLE behind the
        // 254th stands at 507.
        assert_eq!(seams("01 IDLE", 254), [None; 2]);
        assert_eq!(seams("01 IDLE", 255), [Some(Tick(507)); 2]);
        assert_eq!(seams("01 IDLE", 1000), [Some(Tick(507)); 2]);
        assert_eq!(seams("01 GO", 1000), [None; 2]);
    }
}
