//! The input circuit of a port: what it makes of the characters that arrive, and the slack buffer.
//! F-3, F-5, F-7, F-9, R-2, C-3..C-5

use codec::character::{Character, Heard, ProbeNumber, ReplyStatus, Symbol, hear};
use codec::tick::OPEN_LINK;

use crate::cell::{Cell, PacketId};
use crate::incoming::{Heed, Incoming};
use crate::link::{PortParameters, Symbols};
use crate::slack::{Delayed, SlackBuffer};
use crate::truth::{Command, FrameAccount, FrameEnd, Rule, Telling, Wanted, What};

/// An input circuit with its slack buffer.
#[derive(Clone, Debug)]
pub struct Receiver {
    receiving: Receiving,
    /// Periods since a character came, up to 16: then the link is open. F-7
    silent: u8,
    /// The last STOP or GO that the slack buffer has generated. F-3
    commanded: Command,
    /// STOP and GO on their way to the output circuit: two bits a period, the next lowest. F-4
    commands: Delayed,
    generation: u8,
    symbols: Symbols,
    time: Time,
    buffer: SlackBuffer,
    /// What must be heeded beside what `hear` does.
    heed: Heed,
    incoming: Box<Incoming>,
}

/// The clock that counts silent periods. F-7, W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// The characters themselves: they come in at the port's own rate.
    OfCharacters,
    /// The port's own, as characters come in at another rate; and whether one that is not IDLE has
    /// come since it last ticked.
    Own { alive: bool },
}

/// What an input circuit does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiving {
    /// The next byte heads a packet. P-7
    Between,
    /// It keeps data until the GAP that ends the packet.
    Packet,
    /// It drops data until a GAP. R-2
    Reset,
}

/// What an arriving character asks the rest of the port to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// STOP or GO, for the port's sender. F-1
    Command(Command),
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

impl Receiver {
    /// An input circuit after power-up: nothing in the slack buffer, between packets.
    #[must_use]
    pub fn new(port: &PortParameters, account: Option<Box<FrameAccount>>) -> Self {
        Self {
            receiving: Receiving::Between,
            silent: 0,
            commanded: Command::Go,
            commands: Delayed::default(),
            generation: port.generation,
            symbols: port.symbols,
            time: Time::OfCharacters,
            buffer: SlackBuffer::new(&port.slack),
            heed: if account.is_some() { Heed::Data } else { Heed::Nothing },
            incoming: Box::new(Incoming::new(account)),
        }
    }

    /// The same where characters come in at another rate than the port's own: silence is counted by
    /// [`Receiver::tick`]. W-6
    #[must_use]
    pub fn with_own_time(self) -> Self {
        Self { time: Time::Own { alive: false }, ..self }
    }

    /// Whether it counts its port's own periods.
    #[inline]
    #[must_use]
    pub const fn has_own_time(&self) -> bool {
        matches!(self.time, Time::Own { .. })
    }

    /// A period of its port's own passes, after what came in at its beginning has been heard. F-7
    pub fn tick(&mut self, telling: &mut Telling<'_>) -> Asked {
        if self.buffer.is_low() && self.commanded == Command::Stop {
            self.threshold(Command::Go, telling);
        }
        let alive = std::mem::replace(&mut self.time, Time::Own { alive: false });
        if alive == (Time::Own { alive: true }) {
            return Asked::Nothing;
        }
        self.silent_period(telling)
    }

    /// Hears what arrives in a period, if that changes nothing but the slack buffer: fill, silence
    /// on an open link, bytes within a packet.
    #[inline]
    pub fn hear(&mut self, cell: Cell, gone: Command) -> Option<Asked> {
        // What was taken from the slack buffer since the last period may have made room.
        if self.buffer.is_low() && self.commanded == Command::Stop || self.has_own_time() {
            return None;
        }
        let told = match gone {
            Command::Go => Cell::control(0x03),
            Command::Stop => Cell::control(0x0f),
        };
        if cell == Cell::IDLE && self.silent == OPEN {
            return Some(Asked::Nothing);
        }
        let fill = cell == told || cell == Cell::GAP && self.receiving == Receiving::Between;
        if fill && self.silent < OPEN && self.heed != Heed::Framing {
            self.silent = 0;
            return Some(Asked::Nothing);
        }
        let easy = cell.is_data()
            && !cell.is_head()
            && self.receiving == Receiving::Packet
            && self.heed == Heed::Nothing
            && self.silent < OPEN
            && self.buffer.has_ease();
        if easy {
            self.silent = 0;
            self.buffer.push(cell);
            return Some(Asked::Nothing);
        }
        None
    }

    /// Whether it may hear two characters in turn for ever, and nothing comes of it that is told
    /// where rows are wanted. `gone` is what its port's sender has heard last.
    #[must_use]
    pub fn ignores(&self, pair: [Cell; 2], gone: Command, wanted: Wanted) -> bool {
        let silences = pair.iter().filter(|cell| cell.character() == Character::IDLE).count();
        let life = match silences {
            0 => self.silent == 0,
            1 => self.silent < 2,
            _ => self.silent == OPEN,
        };
        let rises = self.buffer.is_low() && self.commanded == Command::Stop;
        life && !rises
            && !self.has_own_time()
            && pair.iter().all(|cell| self.ignores_one(*cell, gone, wanted))
    }

    fn ignores_one(&self, cell: Cell, gone: Command, wanted: Wanted) -> bool {
        let code = match cell.character() {
            Character::IDLE => return true,
            Character::Data(_) => return false,
            Character::Control(code) => code,
        };
        let symbol = match hear(code) {
            Heard::Exact(symbol) => symbol,
            Heard::Corrected(symbol) if wanted == Wanted::Nothing => symbol,
            Heard::Invalid => return wanted == Wanted::Nothing,
            Heard::Corrected(_) => return false,
        };
        let between = self.receiving == Receiving::Between && self.heed != Heed::Framing;
        match gone {
            Command::Go if symbol == Symbol::Go => true,
            Command::Stop if symbol == Symbol::Stop => true,
            Command::Go | Command::Stop => symbol == Symbol::Gap && between,
        }
    }

    /// It has heard two characters in turn that it ignores, this one last.
    pub fn heard_last(&mut self, cell: Cell) {
        if self.silent < OPEN {
            self.silent = u8::from(cell.character() == Character::IDLE);
        }
    }

    /// Hears what arrives in a period, and the packet that begins with it: anything.
    pub fn hear_any(
        &mut self,
        cell: Cell,
        head: Option<PacketId>,
        telling: &mut Telling<'_>,
    ) -> Asked {
        if self.buffer.is_low() && self.commanded == Command::Stop {
            self.threshold(Command::Go, telling);
        }
        if let Some(id) = head {
            let rule = if cell.is_data() { Rule("F-9") } else { Rule("W-5") };
            self.incoming.begin(id, rule, telling);
        }
        let asked = match cell.character() {
            Character::IDLE => self.silence(telling),
            Character::Data(byte) => {
                self.alive(telling);
                self.data(byte, telling)
            }
            Character::Control(code) => {
                self.alive(telling);
                match hear(code) {
                    Heard::Exact(symbol) => self.symbol(symbol, telling),
                    Heard::Corrected(symbol) => {
                        telling.tell(None, || What::CorrectedCode { code, symbol });
                        self.symbol(symbol, telling)
                    }
                    Heard::Invalid => {
                        telling.tell(None, || What::InvalidCode(code));
                        Asked::Nothing
                    }
                }
            }
        };
        self.heed = self.incoming.heed();
        asked
    }

    /// F-7
    fn alive(&mut self, telling: &mut Telling<'_>) {
        if self.silent == OPEN {
            telling.tell(None, || What::LinkRestored);
        }
        self.silent = 0;
        if let Time::Own { alive } = &mut self.time {
            *alive = true;
        }
    }

    /// F-7
    fn silence(&mut self, telling: &mut Telling<'_>) -> Asked {
        match self.time {
            Time::OfCharacters => self.silent_period(telling),
            Time::Own { .. } => Asked::Nothing,
        }
    }

    /// F-7
    fn silent_period(&mut self, telling: &mut Telling<'_>) -> Asked {
        if self.silent == OPEN {
            return Asked::Nothing;
        }
        self.silent += 1;
        if self.silent < OPEN {
            return Asked::Nothing;
        }
        if self.receiving == Receiving::Packet {
            telling.tell(self.incoming.current(), || What::Truncated(Rule("F-7")));
            self.incoming.end(FrameEnd::LinkOpen, telling);
            self.receiving = Receiving::Between;
            self.mark(telling);
        }
        telling.tell(None, || What::LinkOpen);
        Asked::LinkOpen
    }

    fn data(&mut self, byte: u8, telling: &mut Telling<'_>) -> Asked {
        if self.receiving == Receiving::Reset {
            self.incoming.lose(Rule("R-2"), telling);
            return Asked::Nothing;
        }
        self.receiving = Receiving::Packet;
        self.incoming.byte(byte, telling);
        if self.buffer.is_full() {
            telling.tell(self.incoming.current(), || What::Overflow);
            return Asked::Overflow;
        }
        let cell = Cell::data(byte);
        let cell = if self.incoming.keep().is_some() { cell.as_head() } else { cell };
        self.push(cell, telling);
        Asked::Nothing
    }

    fn symbol(&mut self, symbol: Symbol, telling: &mut Telling<'_>) -> Asked {
        match (symbol, self.symbols) {
            (Symbol::Gap, _) => self.gap(telling),
            (Symbol::Go, _) => Asked::Command(Command::Go),
            (Symbol::Stop, _) => Asked::Command(Command::Stop),
            (Symbol::ForwardReset, _) => {
                self.reset(telling);
                Asked::Reset
            }
            (Symbol::BackwardReset, symbols) => {
                telling.tell(None, || What::BackwardResetReceived);
                understood(symbols, Asked::BackwardReset)
            }
            (Symbol::OverrunAlarm, _) => {
                telling.tell(None, || What::OverrunAlarmReceived);
                Asked::Nothing
            }
            (Symbol::Probe(number), symbols) => {
                telling.tell(None, || What::ProbeReceived(number));
                understood(symbols, Asked::Probe(number))
            }
            (Symbol::Reply(status), _) => Asked::Reply(status),
            // C-3, C-7: what is not known is ignored.
            (Symbol::Idle | Symbol::Virtual { .. } | _, _) => Asked::Nothing,
        }
    }

    fn gap(&mut self, telling: &mut Telling<'_>) -> Asked {
        let before = std::mem::replace(&mut self.receiving, Receiving::Between);
        let asked = match before {
            Receiving::Between => Asked::Nothing,
            Receiving::Reset => {
                telling.tell(None, || What::ResetEnded);
                Asked::Nothing
            }
            Receiving::Packet => {
                let asked = self.mark(telling);
                self.incoming.end(FrameEnd::Gap, telling);
                asked
            }
        };
        self.incoming.lose_headless(telling);
        asked
    }

    /// The framing mark goes behind its data. F-5
    fn mark(&mut self, telling: &mut Telling<'_>) -> Asked {
        if self.buffer.is_full() {
            telling.tell(self.incoming.current(), || What::Overflow);
            return Asked::Overflow;
        }
        self.push(Cell::GAP, telling);
        Asked::Nothing
    }

    ///
    fn reset(&mut self, telling: &mut Telling<'_>) {
        self.incoming.end(FrameEnd::Reset, telling);
        telling.tell(None, || What::ResetReceived);
        self.receiving = Receiving::Reset;
        self.clear(Rule("R-2"), telling);
        if self.commanded == Command::Stop {
            self.threshold(Command::Go, telling);
        }
    }

    /// Empties the slack buffer; the packets that begin there end there.
    pub fn clear(&mut self, rule: Rule, telling: &mut Telling<'_>) {
        self.buffer.clear();
        self.incoming.clear(rule, telling);
        self.heed = self.incoming.heed();
    }

    /// The run ends: tells of the frame that is being received.
    pub fn finish(&mut self, telling: &mut Telling<'_>) {
        self.incoming.end(FrameEnd::RunEnd, telling);
    }

    fn push(&mut self, cell: Cell, telling: &mut Telling<'_>) {
        self.buffer.push(cell);
        // Reading: STOP only after GO. Said again at every rise to the threshold, it could take
        // more of the channel than F-4 allows.
        if self.buffer.is_high() && self.commanded == Command::Go {
            self.threshold(Command::Stop, telling);
        }
    }

    /// F-3
    fn threshold(&mut self, command: Command, telling: &mut Telling<'_>) {
        self.commanded = command;
        self.commands.push(command, self.generation);
        let fill = self.buffer.fill();
        telling.tell(None, || What::Threshold { command, fill });
    }

    /// The STOP or GO that is to be sent in this period.
    #[inline]
    pub const fn due(&mut self) -> Option<Command> {
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
    pub fn peek(&self, place: u32) -> Option<Cell> {
        self.buffer.peek(place)
    }

    /// Takes the oldest cell from the slack buffer, and the packet that begins with it.
    #[inline]
    pub fn take(&mut self) -> Option<(Cell, Option<PacketId>)> {
        let cell = self.buffer.pop()?;
        let head = if cell.is_head() { self.incoming.take() } else { None };
        Some((cell, head))
    }

    /// Packets that begin in the slack buffer.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.incoming.count()
    }

    /// The last STOP or GO that the slack buffer has generated. F-3
    #[inline]
    #[must_use]
    pub const fn commanded(&self) -> Command {
        self.commanded
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
        self.receiving == Receiving::Packet
    }

    /// Which symbols it understands. C-3
    #[must_use]
    pub const fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// The power goes: all is as after power-up, packets are lost, and nobody has heard anything.
    pub fn power_up(&mut self, telling: &mut Telling<'_>) {
        self.incoming.end(FrameEnd::LinkOpen, telling);
        self.clear(Rule("F-7"), telling);
        self.receiving = Receiving::Between;
        self.silent = 0;
        self.commanded = Command::Go;
        self.commands.clear();
    }
}

/// 16 silent periods. F-7
const OPEN: u8 = 16;
const _: () = assert!(OPEN as u64 == OPEN_LINK.0, "the timeout is that of the specification");

/// C-3: optional symbols are ignored where they are not understood.
const fn understood(symbols: Symbols, asked: Asked) -> Asked {
    match symbols {
        Symbols::All => asked,
        Symbols::Mandatory => Asked::Nothing,
    }
}

#[cfg(test)]
mod tests;
