//! Counts of the characters of a recording, as a receiver reads them.

use crate::character::DecodedCode;
use crate::chars::{CharBuf, Chars};
use crate::crc::Crc8;
use crate::framing::{FrameEnd, FrameEvent, Framer};
use crate::time::{OPEN_LINK, Tick};

/// Frames and codes of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentCounts {
    /// Frames of which beginning and end are known.
    pub frames: u64,
    /// Frames that a GAP ends and whose CRC is good. P-1, P-4
    pub good: u64,
    /// Control codes outside the table. C-5
    pub invalid: u64,
}

/// Counter of a channel's frames and codes.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentCounter {
    framer: Framer,
    pub(super) counts: ContentCounts,
    crc: Option<Crc8>,
    /// Bytes of the frame.
    length: u64,
    is_synchronized: bool,
}

impl ContentCounter {
    /// Takes the next characters.
    pub(super) fn feed(&mut self, chars: Chars<'_>) {
        let (mut framer, own) = (std::mem::take(&mut self.framer), &mut *self);
        framer.feed(chars, &mut |_: Tick, event| own.count(event));
        self.framer = framer;
    }

    /// Passes over periods that were not recorded.
    pub(super) fn skip_hole(&mut self, periods: u64) {
        let (mut framer, own) = (std::mem::take(&mut self.framer), &mut *self);
        let next = framer.position().unwrap_or_default().0 + periods;
        framer.seek(Tick(next), &mut |_: Tick, event| own.count(event));
        self.framer = framer;
    }

    fn count(&mut self, event: FrameEvent<'_>) {
        let Self { counts, crc, length, is_synchronized, .. } = self;
        match event {
            FrameEvent::Start(bytes) => {
                *crc = is_synchronized.then(|| Crc8::NEW.feed(bytes));
                *length = bytes.len() as u64;
            }
            FrameEvent::Data(bytes) => {
                *crc = crc.map(|crc| crc.feed(bytes));
                *length += bytes.len() as u64;
            }
            FrameEvent::End(end) => {
                if let Some(crc) = crc.take().filter(|_| end != FrameEnd::Hole) {
                    let is_good = end == FrameEnd::Gap && *length >= 2 && crc.value() == 0;
                    counts.frames += 1;
                    counts.good += u64::from(is_good);
                }
            }
            FrameEvent::Synchronized => *is_synchronized = true,
            FrameEvent::Control { decoded: DecodedCode::Invalid, .. } => counts.invalid += 1,
            FrameEvent::Hole { .. } => *is_synchronized = false,
            FrameEvent::Control { .. }
            | FrameEvent::Begin
            | FrameEvent::LinkRestored
            | FrameEvent::Discarded(_)
            | FrameEvent::Idle(_)
            | FrameEvent::Fill(_)
            | FrameEvent::LinkOpen
            | FrameEvent::Reset
            | FrameEvent::ResetEnded => {}
        }
    }

    /// Takes silent periods: beyond those that open the link, more change nothing. F-7
    pub(super) fn skip_silence(&mut self, periods: u64) {
        let shown = periods.min(OPEN_LINK.0 + 1);
        let idle: CharBuf = (0..shown).map(|_| crate::character::Character::IDLE).collect();
        self.feed(idle.chars());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    #[test]
    fn a_silence_that_opens_the_link_ends_a_frame() {
        // The CRC of 81 05 aa is 7e. F-7
        for (periods, good) in [(0, 1), (15, 1), (16, 0), (1 << 40, 0)] {
            let mut counter = ContentCounter::default();
            counter.feed(parse("GAP 81 05").unwrap().chars());
            counter.skip_silence(periods);
            counter.feed(parse("aa 7e GAP").unwrap().chars());
            assert_eq!(counter.counts.good, good, "{periods}");
        }
    }
}
