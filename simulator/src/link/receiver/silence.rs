//! Silence of a link: counted in the periods of the received characters, or in the port's own. F-7,
//! W-6

use codec::Character;
use codec::framing::FrameEnd;

use super::{OPEN, PortReceiver, PortRequest, ReceivingState, SilenceClock};
use crate::link::tagged_char::TaggedChar;
use crate::truth::{RuleId, StopGo, TraceContext, TruthEventKind};

impl PortReceiver {
    /// Lets its caller count the silence: characters come in at another rate than the port's own. W-6
    pub fn with_own_time(self) -> Self {
        match self.time {
            SilenceClock::Never => self,
            SilenceClock::OfCharacters | SilenceClock::Own { .. } => {
                Self { time: SilenceClock::Own { alive: false }, ..self }
            }
        }
    }

    /// True if [`Self::tick`] must be called in the port's own periods.
    #[inline]
    pub(crate) const fn has_own_time(&self) -> bool {
        matches!(self.time, SilenceClock::Own { .. })
    }

    /// Counts a period of the port itself, after the character that arrived at its beginning. F-7
    pub fn tick(&mut self, trace: &mut TraceContext<'_>) -> PortRequest {
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, trace);
        }
        let alive = std::mem::replace(&mut self.time, SilenceClock::Own { alive: false });
        if alive == (SilenceClock::Own { alive: true }) {
            return PortRequest::Nothing;
        }
        self.silent_period(trace)
    }

    /// Ends a silence. F-7
    pub(super) fn alive(&mut self, trace: &mut TraceContext<'_>) {
        if self.silent == OPEN {
            trace.emit(None, || TruthEventKind::LinkRestored);
        }
        self.end_silence();
    }

    #[inline]
    pub(super) const fn end_silence(&mut self) {
        self.silent = 0;
        if let SilenceClock::Own { alive } = &mut self.time {
            *alive = true;
        }
    }

    /// Counts periods of the port itself that it has slept, after the last of some characters. F-7
    pub(crate) fn pass_time(&mut self, characters: u64, periods: u64) {
        let SilenceClock::Own { alive } = &mut self.time else { return };
        if self.silent == OPEN {
            return;
        }
        if characters > 0 {
            (self.silent, *alive) = (0, true);
        }
        if periods > 0 {
            let silent = periods - u64::from(std::mem::take(alive));
            self.silent = self.silent.saturating_add(u8::try_from(silent).unwrap_or(OPEN));
        }
    }

    /// True if the link stays open or closed while these characters come again and again at the rate of
    /// the port, the first one next. F-7
    pub(super) fn stays(&self, mut cells: impl Iterator<Item = TaggedChar> + Clone) -> bool {
        let is_idle = |cell: TaggedChar| cell.character() == Character::IDLE;
        let idle = cells.clone().filter(|cell| is_idle(*cell)).count();
        match (self.time, idle) {
            (_, _) if cells.clone().all(is_idle) => {
                self.time == SilenceClock::Never || self.silent == OPEN
            }
            (SilenceClock::Never, _) => false,
            (SilenceClock::OfCharacters, 0) => self.silent == 0,
            (SilenceClock::OfCharacters, 1) => {
                self.silent <= u8::from(!cells.next().is_some_and(is_idle))
            }
            // A period without a character may be the next, and between two of them there are some.
            (SilenceClock::Own { .. }, 0) => self.silent < OPEN / 2,
            (SilenceClock::OfCharacters | SilenceClock::Own { .. }, _) => false,
        }
    }

    pub(super) fn silence(&mut self, trace: &mut TraceContext<'_>) -> PortRequest {
        match self.time {
            SilenceClock::OfCharacters => self.silent_period(trace),
            SilenceClock::Own { .. } | SilenceClock::Never => PortRequest::Nothing,
        }
    }

    /// Counts a silent period. F-7
    fn silent_period(&mut self, trace: &mut TraceContext<'_>) -> PortRequest {
        if self.silent == OPEN {
            return PortRequest::Nothing;
        }
        self.silent += 1;
        if self.silent < OPEN {
            return PortRequest::Nothing;
        }
        if self.receiving == ReceivingState::Packet {
            trace.emit(self.trace.current(), || TruthEventKind::Truncated(RuleId("F-7")));
            self.trace.end(FrameEnd::OpenLink, trace);
            self.receiving = ReceivingState::Between;
            self.mark(trace);
        }
        trace.emit(None, || TruthEventKind::LinkOpen);
        PortRequest::LinkOpen
    }
}
