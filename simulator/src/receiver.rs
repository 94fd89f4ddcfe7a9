//! The input circuit of a port: what it makes of the characters that arrive, and the slack buffer.
//! F-3, F-5, F-7, F-9, R-2, C-3..C-5

use codec::character::{Character, Heard, ProbeNumber, ReplyStatus, Symbol, hear};
use codec::tick::OPEN_LINK;

use crate::cell::{Cell, PacketId};
use crate::incoming::{Heed, Incoming};
use crate::link::{LinkParameters, Symbols};
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
    buffer: SlackBuffer,
    /// What must be heeded beside what `hear` does.
    heed: Heed,
    incoming: Box<Incoming>,
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
    pub fn new(link: &LinkParameters, account: Option<Box<FrameAccount>>) -> Self {
        Self {
            receiving: Receiving::Between,
            silent: 0,
            commanded: Command::Go,
            commands: Delayed::default(),
            generation: link.generation,
            symbols: link.symbols,
            buffer: SlackBuffer::new(&link.slack),
            heed: if account.is_some() { Heed::Data } else { Heed::Nothing },
            incoming: Box::new(Incoming::new(account)),
        }
    }

    /// Hears what arrives in a period, if that changes nothing but the slack buffer: fill, silence
    /// on an open link, bytes within a packet.
    #[inline]
    pub fn hear(&mut self, cell: Cell, gone: Command) -> Option<Asked> {
        // What was taken from the slack buffer since the last period may have made room.
        if self.buffer.is_low() && self.commanded == Command::Stop {
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
        life && !rises && pair.iter().all(|cell| self.ignores_one(*cell, gone, wanted))
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
    }

    /// F-7
    fn silence(&mut self, telling: &mut Telling<'_>) -> Asked {
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
mod tests {
    use super::*;
    use crate::link::Slack;
    use crate::topology::{NodeId, Port};
    use crate::truth::{Log, Wanted};
    use codec::route::PortId;

    /// A receiver of `k_g` = 2, h = 2, `k_s` = 2, with what it tells.
    struct Bench {
        receiver: Receiver,
        log: Log,
        slot: u64,
    }

    impl Bench {
        fn new(symbols: Symbols) -> Self {
            let slack = Slack { go_slack: 2, hysteresis: 2, stop_slack: 2 };
            let link = LinkParameters { slack, symbols, ..LinkParameters::default() };
            let receiver = Receiver::new(&link, Some(Box::default()));
            Self { receiver, log: Log::new(Wanted::Everything), slot: 0 }
        }

        /// Hears some characters; what it asked for, but for nothing.
        fn hear(&mut self, text: &str) -> Vec<(u64, Asked)> {
            let mut asked = Vec::new();
            for character in codec::notation::parse(text).unwrap().chars() {
                let place = Port { node: NodeId(0), port: PortId(0) };
                let (now, log) = (self.slot, &mut self.log);
                let telling = &mut Telling { now, slot: now, place, log };
                let cell = Cell::of(character);
                let quick = self.receiver.hear(cell, Command::Go);
                let did = quick.unwrap_or_else(|| self.receiver.hear_any(cell, None, telling));
                if did != Asked::Nothing && did != Asked::Command(Command::Go) {
                    asked.push((self.slot, did));
                }
                self.slot += 1;
            }
            asked
        }

        /// Takes so many cells from the slack buffer.
        fn take(&mut self, cells: usize) -> String {
            let taken = std::iter::from_fn(|| self.receiver.take()).take(cells);
            taken.map(|(cell, _)| cell.character()).collect::<codec::CharBuf>().to_string()
        }

        fn told(&mut self) -> Vec<(u64, &'static str)> {
            self.log.drain().map(|row| (row.at, row.what.kind())).collect()
        }

        fn commands(&mut self, periods: usize) -> Vec<Option<Command>> {
            (0..periods).map(|_| self.receiver.due()).collect()
        }
    }

    #[test]
    fn the_mark_follows_its_data_and_redundant_gaps_take_no_cell() {
        // F-5, P-7, P-8
        let mut bench = Bench::new(Symbols::Mandatory);
        assert_eq!(bench.hear("GAP GAP 83 GO 05 IDLE GAP GAP GO GAP"), []);
        assert_eq!(bench.receiver.fill(), 3);
        assert_eq!(bench.take(9), "83 05 GAP");
    }

    #[test]
    fn a_rise_to_the_upper_threshold_is_stop_and_a_fall_to_the_lower_go() {
        // F-3: r − k_s = 4, k_g = 2; out two periods later, F-4.
        let mut bench = Bench::new(Symbols::Mandatory);
        bench.hear("83 05 01");
        assert_eq!(bench.commands(3), [None; 3]);
        bench.hear("02");
        assert_eq!(bench.commands(4), [None, None, Some(Command::Stop), None]);
        // Down to 3 and up to 4 again: no STOP is said twice.
        bench.take(1);
        bench.hear("03");
        assert_eq!(bench.commands(4), [None; 4]);
        bench.take(2);
        assert_eq!(bench.receiver.fill(), 2);
        bench.hear("GO");
        assert_eq!(bench.commands(4), [None, None, Some(Command::Go), None]);
        assert_eq!(bench.told(), [(3, "threshold"), (5, "threshold")]);
    }

    #[test]
    fn what_meets_a_full_slack_buffer_is_lost_and_told() {
        // F-9: six cells. A lost mark joins two packets.
        let mut bench = Bench::new(Symbols::Mandatory);
        assert_eq!(
            bench.hear("83 01 02 03 04 05 06 GAP"),
            [(6, Asked::Overflow), (7, Asked::Overflow)]
        );
        assert_eq!(
            bench.told(),
            [(3, "threshold"), (6, "overflow"), (7, "overflow"), (7, "received")]
        );
        assert_eq!(bench.take(9), "83 01 02 03 04 05");
    }

    #[test]
    fn sixteen_silent_periods_end_the_packet_and_open_the_link() {
        // F-7: the 16th in a row, periods 2 to 17.
        let mut bench = Bench::new(Symbols::Mandatory);
        assert_eq!(bench.hear("83 05 IDLE×15"), []);
        assert_eq!(bench.hear("IDLE×20"), [(17, Asked::LinkOpen)]);
        assert!(bench.receiver.is_open());
        assert_eq!(bench.take(9), "83 05 GAP");
        bench.hear("GAP");
        assert!(!bench.receiver.is_open());
        let told = bench.told();
        assert_eq!(
            told,
            [(17, "truncated"), (17, "received"), (17, "open-link"), (37, "link-restored")]
        );
    }

    #[test]
    fn a_reset_empties_the_buffer_and_drops_data_up_to_a_gap() {
        // STOP and GO are heard all the same; f falls to 0, so GO is due.
        let mut bench = Bench::new(Symbols::Mandatory);
        bench.hear("83 01 02 03");
        assert_eq!(bench.commands(3), [None, None, Some(Command::Stop)]);
        assert_eq!(
            bench.hear("FRES 04 STOP 05 GAP 83 GAP"),
            [(4, Asked::Reset), (6, Asked::Command(Command::Stop))]
        );
        assert_eq!(bench.commands(3), [None, None, Some(Command::Go)]);
        assert_eq!(bench.take(9), "83 GAP");
    }

    #[test]
    fn optional_symbols_are_told_but_obeyed_only_where_they_are_known() {
        // C-3, C-4, C-5
        let text = "BRES PRB3 REPL5 ORUN GO!01 !a6 BRES!1c";
        let reply = Asked::Reply(ReplyStatus::new(5).unwrap());
        assert_eq!(Bench::new(Symbols::Mandatory).hear(text), [(2, reply)]);
        let mut bench = Bench::new(Symbols::All);
        let probe = Asked::Probe(ProbeNumber::new(3).unwrap());
        assert_eq!(
            bench.hear(text),
            [(0, Asked::BackwardReset), (1, probe), (2, reply), (6, Asked::BackwardReset)]
        );
        assert_eq!(
            bench.told(),
            [
                (0, "backward-reset"),
                (1, "probe"),
                (3, "overrun-alarm"),
                (4, "corrected-code"),
                (5, "invalid-code"),
                (6, "corrected-code"),
                (6, "backward-reset")
            ]
        );
    }

    #[test]
    fn a_packet_whose_first_byte_is_lost_begins_with_the_next() {
        let id = PacketId { host: NodeId(7), number: 0 };
        let mut bench = Bench::new(Symbols::Mandatory);
        let place = Port { node: NodeId(0), port: PortId(0) };
        let telling = &mut Telling { now: 0, slot: 0, place, log: &mut bench.log };
        // Its wire d was open: a control code came, and then the rest.
        bench.receiver.hear_any(Cell::control(0x83).as_head(), Some(id), telling);
        bench.hear("05 GAP");
        assert_eq!(bench.receiver.take(), Some((Cell::data(5).as_head(), Some(id))));
        // If all of it is lost, the packet is.
        let telling = &mut Telling { now: 9, slot: 9, place, log: &mut bench.log };
        bench.receiver.hear_any(Cell::control(0x83).as_head(), Some(id), telling);
        bench.told();
        bench.hear("GAP");
        assert_eq!(bench.told().last(), Some(&(2, "dropped")));
    }

    /// A receiver that accounts for nothing, of the same slack buffer, after some characters.
    fn after(text: &str) -> Bench {
        let mut bench = Bench::new(Symbols::Mandatory);
        bench.receiver.incoming = Box::default();
        bench.receiver.heed = Heed::Nothing;
        bench.hear(text);
        bench
    }

    /// GO, STOP, GAP, IDLE, a byte, one that heads a packet, BRES, a weakened GO, no symbol.
    const ALL: [(&str, Cell); 9] = [
        ("GO", Cell::control(0x03)),
        ("STOP", Cell::control(0x0f)),
        ("GAP", Cell::GAP),
        ("IDLE", Cell::IDLE),
        ("byte", Cell::data(7)),
        ("head", Cell::data(7).as_head()),
        ("BRES", Cell::control(0x3c)),
        ("weak", Cell::control(0x01)),
        ("none", Cell::control(0xa6)),
    ];

    /// What it hears in passing; that leaves it as hearing it with care does.
    fn passing(bench: &Bench, gone: Command) -> String {
        let heard = |(name, cell): &(&'static str, Cell)| {
            let (mut quick, mut slow) = (bench.receiver.clone(), bench.receiver.clone());
            quick.hear(*cell, gone)?;
            let place = Port { node: NodeId(0), port: PortId(0) };
            let mut log = Log::new(Wanted::Everything);
            slow.hear_any(*cell, None, &mut Telling { now: 0, slot: 0, place, log: &mut log });
            assert_eq!((format!("{quick:?}"), log.drain().count()), (format!("{slow:?}"), 0));
            Some(*name)
        };
        ALL.iter().filter_map(heard).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fill_and_bytes_within_a_packet_are_heard_in_passing() {
        use Command::{Go, Stop};
        // Between packets; the command that was heard last is only said again. F-8
        assert_eq!([passing(&after(""), Go), passing(&after(""), Stop)], ["GO GAP", "STOP GAP"]);
        assert_eq!(passing(&after("IDLE×15"), Go), "GO GAP");
        // Within a packet, while there is ease: STOP is due at four cells. F-3
        assert_eq!(passing(&after("83 05"), Go), "GO byte");
        assert_eq!(passing(&after("83 05 IDLE×3"), Stop), "STOP byte");
        assert_eq!(passing(&after("83 05 06"), Go), "GO");
        assert_eq!(passing(&after("83 05 06 07"), Go), "GO");
        // GO is due in the period after the buffer has fallen to two. F-3
        let mut fallen = after("83 05 06 07");
        fallen.take(2);
        assert_eq!(passing(&fallen, Go), "");
        // In a reset GAP ends it. R-2
        assert_eq!(passing(&after("FRES"), Go), "GO");
        // On an open link all but silence is news. F-7
        assert_eq!(passing(&after("IDLE×16"), Go), "IDLE");
        // Bytes that are accounted for are not, nor GAP where a packet has lost its first byte.
        let mut accounting = Bench::new(Symbols::Mandatory);
        accounting.hear("83 05");
        assert_eq!(passing(&accounting, Go), "GO");
        let mut headless = after("");
        headless.receiver.heed = Heed::Framing;
        assert_eq!(passing(&headless, Go), "");
    }

    /// With which characters in turn with this one it may be left alone.
    fn ignored(bench: &Bench, one: &str, gone: Command, wanted: Wanted) -> String {
        let one = ALL.iter().find(|(name, _)| *name == one).unwrap().1;
        let ignored = |(name, cell): &(&'static str, Cell)| {
            let pairs = [[one, *cell], [*cell, one]];
            let [this, other] = pairs.map(|pair| bench.receiver.ignores(pair, gone, wanted));
            assert_eq!(this, other, "in whichever order");
            this.then_some(*name)
        };
        ALL.iter().filter_map(ignored).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_may_be_heard_for_ever_is_fill_and_what_nobody_is_told_of() {
        use Command::{Go, Stop};
        use Wanted::{Everything, Nothing};
        let fresh = after("");
        assert_eq!(ignored(&fresh, "GO", Go, Everything), "GO GAP IDLE");
        assert_eq!(ignored(&fresh, "STOP", Stop, Everything), "STOP GAP IDLE");
        assert_eq!(ignored(&fresh, "STOP", Go, Everything), "");
        assert_eq!(ignored(&fresh, "GO", Stop, Everything), "");
        // Codes that are weakened, or none, are told. C-4, C-5
        assert_eq!(ignored(&fresh, "GAP", Go, Nothing), "GO GAP IDLE weak none");
        assert_eq!(ignored(&fresh, "GAP", Stop, Nothing), "STOP GAP IDLE none");
        // Within a packet and in a reset GAP ends it.
        assert_eq!(ignored(&after("83 05"), "GO", Go, Everything), "GO IDLE");
        assert_eq!(ignored(&after("FRES"), "GO", Go, Everything), "GO IDLE");
        // GO is due. F-3
        let mut fallen = after("83 05 06 07");
        assert_eq!(ignored(&fallen, "GO", Go, Everything), "GO IDLE");
        fallen.take(2);
        assert_eq!(ignored(&fallen, "GO", Go, Everything), "");
        let mut headless = after("");
        headless.receiver.heed = Heed::Framing;
        assert_eq!(ignored(&headless, "GO", Go, Everything), "GO IDLE");
    }

    #[test]
    fn a_silence_under_way_is_not_ignored() {
        // F-7: 16 silent periods in a row are news, and so is what ends them.
        let silence = |text, one| ignored(&after(text), one, Command::Go, Wanted::Everything);
        assert_eq!(silence("IDLE", "GO"), "IDLE");
        assert_eq!(silence("IDLE", "IDLE"), "GO GAP");
        assert_eq!(silence("IDLE IDLE", "GO"), "");
        assert_eq!(silence("IDLE IDLE", "IDLE"), "");
        assert_eq!(silence("IDLE×16", "GO"), "");
        assert_eq!(silence("IDLE×16", "IDLE"), "IDLE");
    }

    #[test]
    fn of_what_was_ignored_the_last_period_counts() {
        // F-7
        let open_after = |last: Cell| {
            let mut bench = after("IDLE");
            bench.receiver.heard_last(last);
            bench.hear("IDLE×20").first().copied()
        };
        assert_eq!(open_after(Cell::GAP), Some((16, Asked::LinkOpen)));
        assert_eq!(open_after(Cell::IDLE), Some((15, Asked::LinkOpen)));
        let mut open = after("IDLE×16");
        open.receiver.heard_last(Cell::IDLE);
        assert!(open.receiver.is_open());
    }

    #[test]
    fn what_comes_with_the_power_is_a_receiver_that_has_heard_nothing() {
        let mut bench = Bench::new(Symbols::All);
        bench.hear("83 05 06 07 08");
        let receiver = &bench.receiver;
        assert_eq!((receiver.commanded(), receiver.is_calm()), (Command::Stop, false));
        assert_eq!((receiver.fill(), receiver.fill_max()), (5, 5));
        assert!(receiver.is_receiving() && receiver.symbols() == Symbols::All);
        assert_eq!(receiver.peek(4), Some(Cell::data(8)));
        bench.told();
        let place = Port { node: NodeId(0), port: PortId(0) };
        let telling = &mut Telling { now: 9, slot: 9, place, log: &mut bench.log };
        bench.receiver.power_up(telling);
        let receiver = &bench.receiver;
        assert_eq!((receiver.commanded(), receiver.is_calm()), (Command::Go, true));
        assert_eq!((receiver.fill(), receiver.fill_max(), receiver.is_receiving()), (0, 5, false));
        assert_eq!(bench.told(), [(9, "received")]);
        // The silence begins anew, too. F-7
        assert_eq!(bench.hear("IDLE×20"), [(20, Asked::LinkOpen)]);
    }

    #[test]
    fn at_the_end_of_a_run_the_frame_that_comes_in_is_told() {
        let mut bench = Bench::new(Symbols::Mandatory);
        bench.hear("83 05");
        let place = Port { node: NodeId(0), port: PortId(0) };
        let telling = &mut Telling { now: 2, slot: 2, place, log: &mut bench.log };
        bench.receiver.finish(telling);
        assert_eq!(bench.told(), [(2, "received")]);
    }

    #[test]
    fn packets_are_counted_by_where_they_begin() {
        let mut bench = Bench::new(Symbols::Mandatory);
        let place = Port { node: NodeId(0), port: PortId(0) };
        for number in 0..3 {
            let id = PacketId { host: NodeId(7), number };
            let telling = &mut Telling { now: 0, slot: 0, place, log: &mut bench.log };
            // Of the last one the first byte is lost.
            let cell = if number < 2 { Cell::data(5) } else { Cell::control(0x05) };
            bench.receiver.hear_any(cell.as_head(), Some(id), telling);
        }
        assert_eq!(bench.receiver.heads(), 3);
        bench.take(1);
        assert_eq!(bench.receiver.heads(), 2);
    }
}
