//! Characters that an input circuit ignores, for skipping idle periods.

use codec::character::{Character, DecodedCode, Symbol, decode_control};

use super::{OPEN, PortReceiver, ReceivingState};
use crate::link::rx_trace::TraceNeed;
use crate::link::tagged_char::TaggedChar;
use crate::truth::{StopGo, TraceLevel};

impl PortReceiver {
    /// True if receiving these two characters alternately for any time changes nothing and emits no
    /// event. `command` is the last one that the port's sender has received.
    pub(crate) fn ignores(
        &self,
        pair: [TaggedChar; 2],
        command: StopGo,
        level: TraceLevel,
    ) -> bool {
        let silences = pair.iter().filter(|cell| cell.character() == Character::IDLE).count();
        let life = match silences {
            0 => self.silent == 0,
            1 => self.silent < 2,
            _ => self.silent == OPEN,
        };
        let rises = self.buffer.is_low() && self.last_command == StopGo::Stop;
        life && !rises
            && !self.has_own_time()
            && pair.iter().all(|cell| self.ignores_one(*cell, command, level))
    }

    fn ignores_one(&self, cell: TaggedChar, command: StopGo, level: TraceLevel) -> bool {
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

    /// Sets the state after an ignored pair of characters, this one the last.
    pub(crate) fn skip_ignored(&mut self, cell: TaggedChar) {
        if self.silent < OPEN {
            self.silent = u8::from(cell.character() == Character::IDLE);
        }
    }
}
