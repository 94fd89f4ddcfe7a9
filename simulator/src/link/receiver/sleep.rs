//! Characters that an input circuit ignores or only stores, so that it need not be processed
//! period by period.

use codec::character::{Character, DecodedCode, Symbol, decode_control};

use super::{OPEN, PortReceiver, ReceivingState, SilenceClock};
use crate::link::rx_trace::TraceNeed;
use crate::link::tagged_char::TaggedChar;
use crate::truth::{StopGo, TraceLevel};

impl PortReceiver {
    /// True if these characters, again and again, change nothing but by what they are: the link stays open
    /// or closed, and no GO is due.
    pub(crate) fn stays_calm(&self, cells: impl Iterator<Item = TaggedChar> + Clone) -> bool {
        let rises = self.buffer.is_low() && self.last_command == StopGo::Stop;
        self.stays(cells) && !rises
    }

    /// True if bytes of other virtual channels change nothing, again and again. C-7
    pub(crate) fn stays_calm_beside_bytes(&self) -> bool {
        self.silent < OPEN / 2 && !(self.buffer.is_low() && self.last_command == StopGo::Stop)
    }

    /// True if a character changes nothing and emits no event, however often it comes. `command` is the
    /// last one that the port's sender has received.
    pub(crate) fn ignores(&self, cell: TaggedChar, command: StopGo, level: TraceLevel) -> bool {
        let code = match cell.character() {
            Character::IDLE => return true,
            Character::Data(_) => return false,
            Character::Control(code) => code,
        };
        let symbol = match decode_control(code) {
            DecodedCode::Exact(symbol) => symbol,
            DecodedCode::Corrected(symbol) if level == TraceLevel::Nothing => symbol,
            DecodedCode::Invalid => return level == TraceLevel::Nothing,
            DecodedCode::Corrected(_) => return false,
        };
        let between =
            self.receiving == ReceivingState::Between && self.trace_need != TraceNeed::Framing;
        match command {
            StopGo::Go if symbol == Symbol::Go => true,
            StopGo::Stop if symbol == Symbol::Stop => true,
            StopGo::Go | StopGo::Stop => symbol == Symbol::Gap && between,
        }
    }

    /// Sets the state after ignored characters, this one the last.
    pub(crate) fn skip_ignored(&mut self, cell: TaggedChar) {
        if self.silent < OPEN {
            self.silent = u8::from(cell.character() == Character::IDLE);
        }
    }

    /// True if bytes within a packet change nothing but the slack buffer.
    pub(crate) fn absorbs(&self) -> bool {
        self.receiving == ReceivingState::Packet
            && self.silent < OPEN / 2
            && self.time != SilenceClock::Never
            && self.trace_need != TraceNeed::Framing
    }

    /// The number of the first byte from now on, 1 being the next, that does more than fill the
    /// slack buffer, if `taken` (0 or 1) is taken after each.
    pub(crate) fn next_event(&self, taken: u32) -> Option<u64> {
        self.buffer.next_event(self.last_command, taken)
    }

    /// The number of the first character from now on that finds the slack buffer at its lower
    /// threshold, if one is taken after each, and GO is due there.
    pub(crate) fn fall(&self) -> Option<u64> {
        self.buffer.fall(self.last_command)
    }

    /// The position in the slack buffer of the first character that is no byte within a packet.
    pub(crate) fn first_boundary(&self) -> Option<u32> {
        self.buffer.first_boundary()
    }

    /// Stores bytes of a packet, the first of a period of the channel. They fill the slack buffer up
    /// to `top` if some are taken meanwhile.
    pub(crate) fn absorb(&mut self, first: u64, cells: &[TaggedChar], top: Option<u32>) {
        if !cells.is_empty() {
            self.silent = 0;
        }
        self.trace.bytes(first, cells);
        self.buffer.span(cells, top);
    }

    /// Moves bytes within a packet from the slack buffer to a list.
    pub(crate) fn take_bytes(&mut self, count: usize, to: &mut Vec<TaggedChar>) {
        self.buffer.take(count, to);
    }
}
