//! The input circuit of a port: what it makes of the characters that arrive, and the slack buffer.
//! F-3, F-5, F-7, F-9, R-2, C-3..C-5

use codec::character::{Character, DecodedCode, ProbeNumber, ReplyStatus, Symbol, decode_control};
use codec::time::OPEN_LINK;

use crate::link::{PortParameters, SymbolSet};
use crate::rx_trace::{RxTrace, TraceNeed};
use crate::slack::{DelayedCommands, SlackBuffer};
use crate::tagged_char::{PacketId, TaggedChar};
use crate::truth::{
    FrameEnding, FrameTracker, RuleId, StopGo, TraceContext, TraceLevel, TruthEventKind,
};

/// An input circuit with its slack buffer.
#[derive(Clone, Debug)]
pub struct PortReceiver {
    receiving: ReceivingState,
    /// Periods since a character came, up to 16: then the link is open. F-7
    silent: u8,
    /// The last STOP or GO that the slack buffer has generated. F-3
    last_command: StopGo,
    /// STOP and GO on their way to the output circuit: two bits a period, the next lowest. F-4
    commands: DelayedCommands,
    generation: u8,
    symbols: SymbolSet,
    time: SilenceClock,
    buffer: SlackBuffer,
    /// What must be heeded beside what `hear` does.
    trace_need: TraceNeed,
    trace: Box<RxTrace>,
}

/// The clock that counts silent periods. F-7, W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SilenceClock {
    /// The characters themselves: they come in at the port's own rate.
    OfCharacters,
    /// The port's own, as characters come in at another rate; and whether one that is not IDLE has
    /// come since it last ticked.
    Own { alive: bool },
}

/// What an input circuit does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceivingState {
    /// The next byte heads a packet. P-7
    Between,
    /// It keeps data until the GAP that ends the packet.
    Packet,
    /// It drops data until a GAP. R-2
    Reset,
}

/// What an arriving character asks the rest of the port to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortRequest {
    /// Nothing.
    Nothing,
    /// STOP or GO, for the port's sender. F-1
    Command(StopGo),
    /// The open-link timeout: the port's sender goes on. F-7
    LinkOpen,
    /// FRES: the slack buffer has been emptied. R-3
    Reset,
    /// BRES: the port is to start a forward reset. R-5
    BackwardReset,
    /// A probe to answer. R-6
    Probe(ProbeNumber),
    /// The answer to a probe. R-6
    Reply(ReplyStatus),
    /// Something was lost for want of room: ORUN is due. F-9
    Overflow,
}

impl PortReceiver {
    /// An input circuit after power-up: nothing in the slack buffer, between packets.
    #[must_use]
    pub fn new(port: &PortParameters, account: Option<Box<FrameTracker>>) -> Self {
        Self {
            receiving: ReceivingState::Between,
            silent: 0,
            last_command: StopGo::Go,
            commands: DelayedCommands::default(),
            generation: port.generation,
            symbols: port.symbols,
            time: SilenceClock::OfCharacters,
            buffer: SlackBuffer::new(&port.slack),
            trace_need: if account.is_some() { TraceNeed::Data } else { TraceNeed::Nothing },
            trace: Box::new(RxTrace::new(account)),
        }
    }

    /// The same where characters come in at another rate than the port's own: silence is counted by
    /// its caller. W-6
    #[must_use]
    pub fn with_own_time(self) -> Self {
        Self { time: SilenceClock::Own { alive: false }, ..self }
    }

    /// Whether it counts its port's own periods.
    #[inline]
    #[must_use]
    pub const fn has_own_time(&self) -> bool {
        matches!(self.time, SilenceClock::Own { .. })
    }

    /// A period of its port's own passes, after what came in at its beginning has been heard. F-7
    pub fn tick(&mut self, telling: &mut TraceContext<'_>) -> PortRequest {
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, telling);
        }
        let alive = std::mem::replace(&mut self.time, SilenceClock::Own { alive: false });
        if alive == (SilenceClock::Own { alive: true }) {
            return PortRequest::Nothing;
        }
        self.silent_period(telling)
    }

    /// Hears what arrives in a period, if that changes nothing but the slack buffer: fill, silence
    /// on an open link, bytes within a packet.
    #[inline]
    pub fn receive_simple(&mut self, cell: TaggedChar, gone: StopGo) -> Option<PortRequest> {
        // What was taken from the slack buffer since the last period may have made room.
        if self.buffer.is_low() && self.last_command == StopGo::Stop || self.has_own_time() {
            return None;
        }
        let told = match gone {
            StopGo::Go => TaggedChar::control(0x03),
            StopGo::Stop => TaggedChar::control(0x0f),
        };
        if cell == TaggedChar::IDLE && self.silent == OPEN {
            return Some(PortRequest::Nothing);
        }
        let fill =
            cell == told || cell == TaggedChar::GAP && self.receiving == ReceivingState::Between;
        if fill && self.silent < OPEN && self.trace_need != TraceNeed::Framing {
            self.silent = 0;
            return Some(PortRequest::Nothing);
        }
        let easy = cell.is_data()
            && !cell.is_head()
            && self.receiving == ReceivingState::Packet
            && self.trace_need == TraceNeed::Nothing
            && self.silent < OPEN
            && self.buffer.has_ease();
        if easy {
            self.silent = 0;
            self.buffer.push(cell);
            return Some(PortRequest::Nothing);
        }
        None
    }

    /// Whether it may hear two characters in turn for ever, and nothing comes of it that is told
    /// where rows are wanted. `gone` is what its port's sender has heard last.
    #[must_use]
    pub fn ignores(&self, pair: [TaggedChar; 2], gone: StopGo, wanted: TraceLevel) -> bool {
        let silences = pair.iter().filter(|cell| cell.character() == Character::IDLE).count();
        let life = match silences {
            0 => self.silent == 0,
            1 => self.silent < 2,
            _ => self.silent == OPEN,
        };
        let rises = self.buffer.is_low() && self.last_command == StopGo::Stop;
        life && !rises
            && !self.has_own_time()
            && pair.iter().all(|cell| self.ignores_one(*cell, gone, wanted))
    }

    fn ignores_one(&self, cell: TaggedChar, gone: StopGo, wanted: TraceLevel) -> bool {
        let code = match cell.character() {
            Character::IDLE => return true,
            Character::Data(_) => return false,
            Character::Control(code) => code,
        };
        let symbol = match decode_control(code) {
            DecodedCode::Exact(symbol) => symbol,
            DecodedCode::Corrected(symbol) if wanted == TraceLevel::Nothing => symbol,
            DecodedCode::Invalid => return wanted == TraceLevel::Nothing,
            DecodedCode::Corrected(_) => return false,
        };
        let between =
            self.receiving == ReceivingState::Between && self.trace_need != TraceNeed::Framing;
        match gone {
            StopGo::Go if symbol == Symbol::Go => true,
            StopGo::Stop if symbol == Symbol::Stop => true,
            StopGo::Go | StopGo::Stop => symbol == Symbol::Gap && between,
        }
    }

    /// It has heard two characters in turn that it ignores, this one last.
    pub fn skip_ignored(&mut self, cell: TaggedChar) {
        if self.silent < OPEN {
            self.silent = u8::from(cell.character() == Character::IDLE);
        }
    }

    /// Hears what arrives in a period, and the packet that begins with it: anything.
    pub fn receive(
        &mut self,
        cell: TaggedChar,
        head: Option<PacketId>,
        telling: &mut TraceContext<'_>,
    ) -> PortRequest {
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, telling);
        }
        if let Some(id) = head {
            let rule = if cell.is_data() { RuleId("F-9") } else { RuleId("W-5") };
            self.trace.begin(id, rule, telling);
        }
        let asked = match cell.character() {
            Character::IDLE => self.silence(telling),
            Character::Data(byte) => {
                self.alive(telling);
                self.data(byte, telling)
            }
            Character::Control(code) => {
                self.alive(telling);
                match decode_control(code) {
                    DecodedCode::Exact(symbol) => self.symbol(symbol, telling),
                    DecodedCode::Corrected(symbol) => {
                        telling.emit(None, || TruthEventKind::CorrectedCode { code, symbol });
                        self.symbol(symbol, telling)
                    }
                    DecodedCode::Invalid => {
                        telling.emit(None, || TruthEventKind::InvalidCode(code));
                        PortRequest::Nothing
                    }
                }
            }
        };
        self.trace_need = self.trace.heed();
        asked
    }

    /// F-7
    fn alive(&mut self, telling: &mut TraceContext<'_>) {
        if self.silent == OPEN {
            telling.emit(None, || TruthEventKind::LinkRestored);
        }
        self.silent = 0;
        if let SilenceClock::Own { alive } = &mut self.time {
            *alive = true;
        }
    }

    /// F-7
    fn silence(&mut self, telling: &mut TraceContext<'_>) -> PortRequest {
        match self.time {
            SilenceClock::OfCharacters => self.silent_period(telling),
            SilenceClock::Own { .. } => PortRequest::Nothing,
        }
    }

    /// F-7
    fn silent_period(&mut self, telling: &mut TraceContext<'_>) -> PortRequest {
        if self.silent == OPEN {
            return PortRequest::Nothing;
        }
        self.silent += 1;
        if self.silent < OPEN {
            return PortRequest::Nothing;
        }
        if self.receiving == ReceivingState::Packet {
            telling.emit(self.trace.current(), || TruthEventKind::Truncated(RuleId("F-7")));
            self.trace.end(FrameEnding::LinkOpen, telling);
            self.receiving = ReceivingState::Between;
            self.mark(telling);
        }
        telling.emit(None, || TruthEventKind::LinkOpen);
        PortRequest::LinkOpen
    }

    fn data(&mut self, byte: u8, telling: &mut TraceContext<'_>) -> PortRequest {
        if self.receiving == ReceivingState::Reset {
            self.trace.lose(RuleId("R-2"), telling);
            return PortRequest::Nothing;
        }
        self.receiving = ReceivingState::Packet;
        self.trace.byte(byte, telling);
        if self.buffer.is_full() {
            telling.emit(self.trace.current(), || TruthEventKind::Overflow);
            return PortRequest::Overflow;
        }
        let cell = TaggedChar::data(byte);
        let cell = if self.trace.keep().is_some() { cell.as_head() } else { cell };
        self.push(cell, telling);
        PortRequest::Nothing
    }

    fn symbol(&mut self, symbol: Symbol, telling: &mut TraceContext<'_>) -> PortRequest {
        match (symbol, self.symbols) {
            (Symbol::Gap, _) => self.gap(telling),
            (Symbol::Go, _) => PortRequest::Command(StopGo::Go),
            (Symbol::Stop, _) => PortRequest::Command(StopGo::Stop),
            (Symbol::ForwardReset, _) => {
                self.reset(telling);
                PortRequest::Reset
            }
            (Symbol::BackwardReset, symbols) => {
                telling.emit(None, || TruthEventKind::BackwardResetReceived);
                understood(symbols, PortRequest::BackwardReset)
            }
            (Symbol::OverrunAlarm, _) => {
                telling.emit(None, || TruthEventKind::OverrunAlarmReceived);
                PortRequest::Nothing
            }
            (Symbol::Probe(number), symbols) => {
                telling.emit(None, || TruthEventKind::ProbeReceived(number));
                understood(symbols, PortRequest::Probe(number))
            }
            (Symbol::Reply(status), _) => PortRequest::Reply(status),
            // C-3, C-7: what is not known is ignored.
            (Symbol::Idle | Symbol::Virtual { .. } | _, _) => PortRequest::Nothing,
        }
    }

    fn gap(&mut self, telling: &mut TraceContext<'_>) -> PortRequest {
        let before = std::mem::replace(&mut self.receiving, ReceivingState::Between);
        let asked = match before {
            ReceivingState::Between => PortRequest::Nothing,
            ReceivingState::Reset => {
                telling.emit(None, || TruthEventKind::ResetEnded);
                PortRequest::Nothing
            }
            ReceivingState::Packet => {
                let asked = self.mark(telling);
                self.trace.end(FrameEnding::Gap, telling);
                asked
            }
        };
        self.trace.lose_headless(telling);
        asked
    }

    /// The framing mark goes behind its data. F-5
    fn mark(&mut self, telling: &mut TraceContext<'_>) -> PortRequest {
        if self.buffer.is_full() {
            telling.emit(self.trace.current(), || TruthEventKind::Overflow);
            return PortRequest::Overflow;
        }
        self.push(TaggedChar::GAP, telling);
        PortRequest::Nothing
    }

    ///
    fn reset(&mut self, telling: &mut TraceContext<'_>) {
        self.trace.end(FrameEnding::Reset, telling);
        telling.emit(None, || TruthEventKind::ResetReceived);
        self.receiving = ReceivingState::Reset;
        self.clear(RuleId("R-2"), telling);
        if self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, telling);
        }
    }

    /// Empties the slack buffer; the packets that begin there end there.
    pub fn clear(&mut self, rule: RuleId, telling: &mut TraceContext<'_>) {
        self.buffer.clear();
        self.trace.clear(rule, telling);
        self.trace_need = self.trace.heed();
    }

    /// The run ends: tells of the frame that is being received.
    pub fn finish(&mut self, telling: &mut TraceContext<'_>) {
        self.trace.end(FrameEnding::RunEnd, telling);
    }

    fn push(&mut self, cell: TaggedChar, telling: &mut TraceContext<'_>) {
        self.buffer.push(cell);
        // Reading: STOP only after GO. Said again at every rise to the threshold, it could take
        // more of the channel than F-4 allows.
        if self.buffer.is_high() && self.last_command == StopGo::Go {
            self.threshold(StopGo::Stop, telling);
        }
    }

    /// F-3
    fn threshold(&mut self, command: StopGo, telling: &mut TraceContext<'_>) {
        self.last_command = command;
        self.commands.push(command, self.generation);
        let fill = self.buffer.fill();
        telling.emit(None, || TruthEventKind::Threshold { command, fill });
    }

    /// The STOP or GO that is to be sent in this period.
    #[inline]
    pub const fn due(&mut self) -> Option<StopGo> {
        self.commands.pop()
    }

    /// Whether no STOP or GO is under way to the output circuit.
    #[inline]
    #[must_use]
    pub const fn is_calm(&self) -> bool {
        self.commands.is_empty()
    }

    /// Full cells of the slack buffer: f. F-3
    #[inline]
    #[must_use]
    pub const fn fill(&self) -> u32 {
        self.buffer.fill()
    }

    /// The most cells that have been full.
    #[must_use]
    pub const fn fill_max(&self) -> u32 {
        self.buffer.fill_max()
    }

    /// The cell at a place of the slack buffer, the oldest at 0.
    #[inline]
    #[must_use]
    pub fn peek(&self, place: u32) -> Option<TaggedChar> {
        self.buffer.peek(place)
    }

    /// Takes the oldest cell from the slack buffer, and the packet that begins with it.
    #[inline]
    pub fn take(&mut self) -> Option<(TaggedChar, Option<PacketId>)> {
        let cell = self.buffer.pop()?;
        let head = if cell.is_head() { self.trace.take() } else { None };
        Some((cell, head))
    }

    /// Packets that begin in the slack buffer.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.trace.count()
    }

    /// The last STOP or GO that the slack buffer has generated. F-3
    #[inline]
    #[must_use]
    pub const fn last_command(&self) -> StopGo {
        self.last_command
    }

    /// Whether the link is open. F-7
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.silent == OPEN
    }

    /// Whether a packet is being received. L
    #[must_use]
    pub fn is_receiving(&self) -> bool {
        self.receiving == ReceivingState::Packet
    }

    /// Which symbols it understands. C-3
    #[must_use]
    pub const fn symbols(&self) -> SymbolSet {
        self.symbols
    }

    /// The power goes: all is as after power-up, packets are lost, and nobody has heard anything.
    pub fn power_up(&mut self, telling: &mut TraceContext<'_>) {
        self.trace.end(FrameEnding::LinkOpen, telling);
        self.clear(RuleId("F-7"), telling);
        self.receiving = ReceivingState::Between;
        self.silent = 0;
        self.last_command = StopGo::Go;
        self.commands.clear();
    }
}

/// 16 silent periods. F-7
const OPEN: u8 = 16;
const _: () = assert!(OPEN as u64 == OPEN_LINK.0, "the timeout is that of the specification");

/// C-3: optional symbols are ignored where they are not understood.
const fn understood(symbols: SymbolSet, asked: PortRequest) -> PortRequest {
    match symbols {
        SymbolSet::All => asked,
        SymbolSet::Mandatory => PortRequest::Nothing,
    }
}

#[cfg(test)]
mod tests;
