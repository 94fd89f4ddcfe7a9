//! The input circuit of a port: decodes the characters that arrive, and fills the slack buffer.
//! F-3, F-5, F-7, F-9, R-2, C-3..C-5

mod silence;
mod sleep;
pub(crate) mod stored;

use codec::character::{Character, DecodedCode, ProbeNumber, ReplyStatus, Symbol, decode_control};
use codec::framing::FrameEnd;
use codec::time::OPEN_LINK;

use crate::link::rx_trace::{RxTrace, TraceNeed};
use crate::link::slack_buffer::{DelayedCommands, SlackBuffer};
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::link::{FillMode, PortParameters, SymbolSet};
use crate::truth::{FrameTracker, RuleId, StopGo, TraceContext, TruthEventKind};

/// An input circuit with its slack buffer.
#[derive(Clone, Debug)]
pub struct PortReceiver {
    receiving: ReceivingState,
    /// Silent periods so far, at most 16: then the link is open. F-7
    silent: u8,
    /// The last STOP or GO that the slack buffer has generated. F-3
    last_command: StopGo,
    /// STOP and GO on their way to the output circuit. F-4
    commands: DelayedCommands,
    generation: u8,
    symbols: SymbolSet,
    time: SilenceClock,
    buffer: SlackBuffer,
    /// The characters that must be traced, which `receive_simple` leaves alone.
    trace_need: TraceNeed,
    trace: Box<RxTrace>,
}

/// The clock that counts silent periods. F-7, W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SilenceClock {
    /// The received characters, which come at the port's own rate.
    OfCharacters,
    /// The port's own clock, since characters come at another rate; `alive` if one other than IDLE
    /// has come since the last tick.
    Own { alive: bool },
    /// None: a handshake cable is silent between any two characters. B-1
    Never,
}

/// State of the input circuit between GAPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceivingState {
    /// The next byte begins a packet. P-7
    Between,
    /// Stores data until the GAP that ends the packet.
    Packet,
    /// Drops data until a GAP. R-2
    Reset,
}

/// Effect of a received character on the rest of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortRequest {
    /// None.
    Nothing,
    /// STOP or GO, for the port's sender. F-1
    Command(StopGo),
    /// The open-link timeout, which resumes the port's sender. F-7
    LinkOpen,
    /// FRES, which has emptied the slack buffer. R-3
    Reset,
    /// BRES, which starts a forward reset. R-5
    BackwardReset,
    /// A probe, to be answered. R-6
    Probe(ProbeNumber),
    /// The answer to a probe. R-6
    Reply(ReplyStatus),
    /// A character lost because the slack buffer was full: ORUN is due. F-9
    Overflow,
}

impl PortReceiver {
    /// An input circuit after power-up: empty, between packets.
    pub fn new(port: &PortParameters, account: Option<Box<FrameTracker>>) -> Self {
        Self {
            receiving: ReceivingState::Between,
            silent: 0,
            last_command: StopGo::Go,
            commands: DelayedCommands::default(),
            generation: port.generation,
            symbols: port.symbols,
            time: match port.fill {
                FillMode::Idle(0) => SilenceClock::Never,
                FillMode::Idle(_) | FillMode::Chip | FillMode::Commands | FillMode::Gaps => {
                    SilenceClock::OfCharacters
                }
            },
            buffer: SlackBuffer::new(&port.slack),
            trace_need: if account.is_some() { TraceNeed::Data } else { TraceNeed::Nothing },
            trace: Box::new(RxTrace::new(account)),
        }
    }

    /// Receives a character that changes nothing but the slack buffer: fill, silence on an open
    /// link, or a byte within a packet. Returns `None` for all others, which [`Self::receive`]
    /// handles. `command` is the last one that the port's sender has received.
    #[inline]
    pub fn receive_simple(&mut self, cell: TaggedChar, command: StopGo) -> Option<PortRequest> {
        // What was taken from the slack buffer since the last period may have made room.
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            return None;
        }
        let expected = match command {
            StopGo::Go => TaggedChar::control(0x03),
            StopGo::Stop => TaggedChar::control(0x0f),
        };
        if cell == TaggedChar::IDLE && self.silent == OPEN {
            return Some(PortRequest::Nothing);
        }
        let fill = cell == expected
            || cell == TaggedChar::GAP && self.receiving == ReceivingState::Between;
        if fill && self.silent < OPEN && self.trace_need != TraceNeed::Framing {
            self.end_silence();
            return Some(PortRequest::Nothing);
        }
        let easy = cell.is_data()
            && !cell.is_head()
            && self.receiving == ReceivingState::Packet
            && self.trace_need == TraceNeed::Nothing
            && self.silent < OPEN
            && self.buffer.has_ease();
        if easy {
            self.end_silence();
            self.buffer.push(cell);
            return Some(PortRequest::Nothing);
        }
        None
    }

    /// Receives any character, and the packet that begins with it.
    pub fn receive(
        &mut self,
        cell: TaggedChar,
        head: Option<PacketId>,
        trace: &mut TraceContext<'_>,
    ) -> PortRequest {
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, trace);
        }
        if let Some(id) = head {
            let rule = if cell.is_data() { RuleId("F-9") } else { RuleId("W-5") };
            self.trace.begin(id, rule, trace);
        }
        let request = match cell.character() {
            Character::IDLE => self.silence(trace),
            Character::Data(byte) => {
                self.alive(trace);
                self.data(byte, trace)
            }
            Character::Control(code) => {
                self.alive(trace);
                match decode_control(code) {
                    DecodedCode::Exact(symbol) => self.symbol(symbol, trace),
                    DecodedCode::Corrected(symbol) => {
                        trace.emit(None, || TruthEventKind::CorrectedCode { code, symbol });
                        self.symbol(symbol, trace)
                    }
                    DecodedCode::Invalid => {
                        trace.emit(None, || TruthEventKind::InvalidCode(code));
                        PortRequest::Nothing
                    }
                }
            }
        };
        self.trace_need = self.trace.trace_need();
        request
    }

    /// Receives a character of another virtual channel, or a selection: the line is not silent. C-7
    pub(crate) fn receive_other(&mut self, trace: &mut TraceContext<'_>) {
        if self.buffer.is_low() && self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, trace);
        }
        self.alive(trace);
    }

    fn data(&mut self, byte: u8, trace: &mut TraceContext<'_>) -> PortRequest {
        if self.receiving == ReceivingState::Reset {
            self.trace.lose(RuleId("R-2"), trace);
            return PortRequest::Nothing;
        }
        self.receiving = ReceivingState::Packet;
        self.trace.byte(byte, trace);
        if self.buffer.is_full() {
            trace.emit(self.trace.current(), || TruthEventKind::Overflow);
            return PortRequest::Overflow;
        }
        let cell = TaggedChar::data(byte);
        let cell = if self.trace.keep().is_some() { cell.as_head() } else { cell };
        self.push(cell, trace);
        PortRequest::Nothing
    }

    fn symbol(&mut self, symbol: Symbol, trace: &mut TraceContext<'_>) -> PortRequest {
        match (symbol, self.symbols) {
            (Symbol::Gap, _) => self.gap(trace),
            (Symbol::Go, _) => PortRequest::Command(StopGo::Go),
            (Symbol::Stop, _) => PortRequest::Command(StopGo::Stop),
            (Symbol::ForwardReset, _) => {
                self.reset(trace);
                PortRequest::Reset
            }
            (Symbol::BackwardReset, symbols) => {
                trace.emit(None, || TruthEventKind::BackwardResetReceived);
                understood(symbols, PortRequest::BackwardReset)
            }
            (Symbol::OverrunAlarm, _) => {
                trace.emit(None, || TruthEventKind::OverrunAlarmReceived);
                PortRequest::Nothing
            }
            (Symbol::Probe(number), symbols) => {
                trace.emit(None, || TruthEventKind::ProbeReceived(number));
                understood(symbols, PortRequest::Probe(number))
            }
            (Symbol::Reply(status), _) => PortRequest::Reply(status),
            // C-3, C-7: what is not known is ignored.
            (Symbol::Idle | Symbol::Virtual { .. } | _, _) => PortRequest::Nothing,
        }
    }

    fn gap(&mut self, trace: &mut TraceContext<'_>) -> PortRequest {
        let before = std::mem::replace(&mut self.receiving, ReceivingState::Between);
        let request = match before {
            ReceivingState::Between => PortRequest::Nothing,
            ReceivingState::Reset => {
                trace.emit(None, || TruthEventKind::ResetEnded);
                PortRequest::Nothing
            }
            ReceivingState::Packet => {
                let request = self.mark(trace);
                self.trace.end(FrameEnd::Gap, trace);
                request
            }
        };
        self.trace.lose_headless(trace);
        request
    }

    /// Stores the framing mark behind its data. F-5
    fn mark(&mut self, trace: &mut TraceContext<'_>) -> PortRequest {
        if self.buffer.is_full() {
            trace.emit(self.trace.current(), || TruthEventKind::Overflow);
            return PortRequest::Overflow;
        }
        self.push(TaggedChar::GAP, trace);
        PortRequest::Nothing
    }

    /// Handles FRES. R-2
    fn reset(&mut self, trace: &mut TraceContext<'_>) {
        self.trace.end(FrameEnd::Reset, trace);
        trace.emit(None, || TruthEventKind::ResetReceived);
        self.receiving = ReceivingState::Reset;
        self.clear(RuleId("R-2"), trace);
        if self.last_command == StopGo::Stop {
            self.threshold(StopGo::Go, trace);
        }
    }

    /// Empties the slack buffer, and drops the packets in it.
    pub fn clear(&mut self, rule: RuleId, trace: &mut TraceContext<'_>) {
        self.buffer.clear();
        self.trace.clear(rule, trace);
        self.trace_need = self.trace.trace_need();
    }

    /// Ends the frame being received at the end of the run.
    pub fn finish(&mut self, trace: &mut TraceContext<'_>) {
        self.trace.end(FrameEnd::CaptureEnd, trace);
    }

    fn push(&mut self, cell: TaggedChar, trace: &mut TraceContext<'_>) {
        self.buffer.push(cell);
        // Reading: STOP only after GO. Said again at every rise to the threshold, it could take
        // more of the channel than F-4 allows.
        // A handshake cable has no STOP.
        let commands = self.time != SilenceClock::Never;
        if commands && self.buffer.is_high() && self.last_command == StopGo::Go {
            self.threshold(StopGo::Stop, trace);
        }
    }

    /// Generates STOP or GO. F-3
    fn threshold(&mut self, command: StopGo, trace: &mut TraceContext<'_>) {
        self.last_command = command;
        self.commands.push(command, self.generation);
        let fill = self.buffer.fill();
        trace.emit(None, || TruthEventKind::Threshold { command, fill });
    }

    /// The STOP or GO to send in this period.
    #[inline]
    pub const fn due(&mut self) -> Option<StopGo> {
        self.commands.pop()
    }

    /// True if no STOP or GO is on its way to the output circuit.
    #[inline]
    pub const fn is_calm(&self) -> bool {
        self.commands.is_empty()
    }

    /// Fill of the slack buffer, f. F-3
    #[inline]
    pub fn fill(&self) -> u32 {
        self.buffer.fill()
    }

    /// True if it can store another character.
    pub(crate) fn has_room(&self) -> bool {
        !self.buffer.is_full()
    }

    /// Highest fill so far.
    pub(crate) const fn fill_max(&self) -> u32 {
        self.buffer.fill_max()
    }

    /// The character at a position of the slack buffer, 0 being the oldest.
    #[inline]
    pub fn peek(&self, place: u32) -> Option<TaggedChar> {
        self.buffer.peek(place)
    }

    /// Removes the oldest character from the slack buffer; returns the packet that begins with it
    /// too.
    #[inline]
    pub fn take(&mut self) -> Option<(TaggedChar, Option<PacketId>)> {
        let cell = self.buffer.pop()?;
        let head = if cell.is_head() { self.trace.take() } else { None };
        Some((cell, head))
    }

    /// Number of packets that begin in the slack buffer.
    pub(crate) fn heads(&self) -> usize {
        self.trace.count()
    }

    /// The last STOP or GO that the slack buffer has generated. F-3
    #[inline]
    pub const fn last_command(&self) -> StopGo {
        self.last_command
    }

    /// True after 16 silent periods. F-7
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.silent == OPEN
    }

    /// True within a packet. L
    pub fn is_receiving(&self) -> bool {
        self.receiving == ReceivingState::Packet
    }

    /// The symbols that it supports. C-3
    pub(crate) const fn symbols(&self) -> SymbolSet {
        self.symbols
    }

    /// Resets the circuit at a loss or return of power: packets are lost.
    pub(crate) fn power_up(&mut self, trace: &mut TraceContext<'_>) {
        self.trace.end(FrameEnd::OpenLink, trace);
        self.clear(RuleId("F-7"), trace);
        self.receiving = ReceivingState::Between;
        self.silent = 0;
        self.last_command = StopGo::Go;
        self.commands.clear();
    }
}

/// 16 silent periods. F-7
const OPEN: u8 = 16;
const _: () = assert!(OPEN as u64 == OPEN_LINK.0, "the timeout is that of the specification");

/// Ignores optional symbols that are not supported. C-3
const fn understood(symbols: SymbolSet, request: PortRequest) -> PortRequest {
    match symbols {
        SymbolSet::All => request,
        SymbolSet::Mandatory => PortRequest::Nothing,
    }
}

#[cfg(test)]
mod tests;
