//! One channel: what a receiver at the tap makes of its characters. P-1, P-7..P-9, F-7, R-2, C-4, C-5

use codec::Chars;
use codec::character::{Heard, Symbol, hear};
use codec::chars::Run;
use codec::tick::{OPEN_LINK, Tick};

use crate::event::Event;
use crate::packet::{Bytes, EndedBy, Incoming, PacketSeen};

/// What a receiver notices, each at one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The first character that was recorded.
    Begins,
    /// From here on it is known where packets begin and end: the first GAP, FRES or sixteenth silent
    /// period since the first character, or since a hole. P-1, F-7, R-2
    Framed,
    /// A packet begins with this byte. P-3, P-7
    Head(u8),
    /// So many bytes of a packet, one a period from this place on. Where the characters were cut into
    /// chunks a run of them may be told in parts.
    Data(u64),
    /// A packet was closed.
    Packet(Box<PacketSeen>),
    /// Something else happened.
    Event(Event),
    /// The opposite channel's sender is told to pause or to go on. F-1
    Command(Command),
}

/// STOP or GO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Go on.
    Go,
    /// Pause.
    Stop,
}

/// A receiver at the tap: fed with the characters of a channel in order, it hands out what it
/// notices and where. Every run of characters is one step; nothing in it grows with their number.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Place of the next character; none before the first.
    next: Option<Tick>,
    silence: Silence,
    receiving: Receiving,
    framing: Framing,
    /// What the channel told the opposite sender last.
    command: Option<Command>,
    /// Packets closed.
    packets: u64,
    bytes: Bytes,
}

/// How long nothing but IDLE has come. F-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// For so many periods, fewer than 16.
    Periods(u64),
    /// For longer: the link is open.
    Open,
}

/// Whether what stands between two packets has been seen, so that bytes have a place in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Unknown,
    Known,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of each channel")]
enum Receiving {
    /// Nothing: the next data character heads a packet. P-7
    Between,
    Packet(Incoming),
    /// Data is dropped until a GAP. R-2
    Reset,
}

/// What a round of a repeat left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// Whether it left the receiver as it had found it. If it brought nothing either, no further
    /// round will bring anything, but for STOP said again.
    pub(crate) left: Left,
    /// Packets closed in it.
    pub(crate) packets: u64,
    /// Other notices in it, but for STOP, and what there is inside packets.
    pub(crate) others: u64,
    /// Bytes of packets in it.
    pub(crate) data: u64,
}

/// How a round leaves a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Same,
    Changed,
}

impl Round {
    /// Whether further rounds bring nothing, but for STOP said again.
    pub(crate) fn is_settled(&self) -> bool {
        self.left == Left::Same && self.packets == 0 && self.others == 0
    }
}

impl Receiver {
    /// A receiver before its first character.
    #[must_use]
    pub const fn new(bytes: Bytes) -> Self {
        Self {
            next: None,
            silence: Silence::Periods(0),
            receiving: Receiving::Between,
            framing: Framing::Unknown,
            command: None,
            packets: 0,
            bytes,
        }
    }

    /// Place of the next character, once there was one.
    #[must_use]
    pub const fn next(&self) -> Option<Tick> {
        self.next
    }

    /// Says where the next characters stand, not before those that were fed. If some were not
    /// recorded, all that was known of the channel's state is forgotten.
    pub fn seek(&mut self, first: Tick, out: &mut impl FnMut(Tick, Notice)) {
        match self.next.replace(first) {
            Some(expected) if expected < first => {
                self.close(first, EndedBy::Hole, out);
                let missing = first.since(expected).0;
                out(first, Notice::Event(Event::Hole { missing }));
                self.silence = Silence::Periods(0);
                self.receiving = Receiving::Between;
                self.framing = Framing::Unknown;
                self.command = None;
            }
            None => out(first, Notice::Begins),
            Some(_) => {}
        }
    }

    /// Takes the next characters: O(runs + bytes to check), not O(characters).
    pub fn feed(&mut self, chars: Chars<'_>, out: &mut impl FnMut(Tick, Notice)) {
        let mut at = self.next.unwrap_or_default();
        for run in chars.runs() {
            match run {
                Run::Data(data) => {
                    self.data(at, data, out);
                    at.0 += data.len() as u64;
                }
                Run::Control(codes) => {
                    self.control(at, codes, out);
                    at.0 += codes.len() as u64;
                }
            }
        }
        self.next = Some(at);
    }

    /// Takes characters that repeat: O(pattern) once a round no longer brings anything new. Rounds
    /// that do are handed out one by one, however many they are.
    pub fn feed_repeated(
        &mut self,
        pattern: Chars<'_>,
        mut count: u64,
        out: &mut impl FnMut(Tick, Notice),
    ) {
        while count > 0 {
            let round = self.round(pattern, out);
            count -= 1;
            if round.is_settled() {
                self.skip(pattern, count, round);
                return;
            }
        }
    }

    /// Takes one round of a repeat.
    pub(crate) fn round(
        &mut self,
        pattern: Chars<'_>,
        out: &mut impl FnMut(Tick, Notice),
    ) -> Round {
        let (before, packets) = (self.phase(), self.packets);
        let (mut others, mut data) = (0, 0);
        self.feed(pattern, &mut |at, notice| {
            match notice {
                Notice::Event(_) | Notice::Command(Command::Go) => others += 1,
                Notice::Data(len) => data += len,
                Notice::Begins | Notice::Framed => {}
                Notice::Head(_) | Notice::Packet(_) | Notice::Command(Command::Stop) => {}
            }
            out(at, notice);
        });
        let left = if before == self.phase() { Left::Same } else { Left::Changed };
        Round { left, packets: self.packets - packets, others, data }
    }

    /// All that decides what further characters bring, but for what a packet has taken in so far.
    const fn phase(&self) -> (Silence, u8, Framing, Option<Command>) {
        (self.silence, self.receiving.kind(), self.framing, self.command)
    }

    /// Passes over further rounds like the last, at least two of which have been taken unless it
    /// was settled. (What a symbol does to `receiving` it does again without effect, and so does a
    /// round; that is why rounds repeat.)
    pub(crate) fn skip(&mut self, pattern: Chars<'_>, rounds: u64, last: Round) {
        let len = pattern.len() as u64;
        let later = len * rounds;
        let next = self.next.unwrap_or_default();
        self.next = Some(Tick(next.0 + later));
        self.packets += last.packets * rounds;
        if let Receiving::Packet(packet) = &mut self.receiving {
            if next.since(packet.start()).0 > len {
                // It began before the last round: it takes in what every round brings.
                let data: Vec<u8> = pattern.runs().flat_map(data_of).copied().collect();
                packet.pass_over(next, (pattern, &data), rounds);
            } else {
                packet.shift(later);
            }
        }
    }

    /// The recording ends here: what is still being received ends too.
    pub fn finish(&mut self, out: &mut impl FnMut(Tick, Notice)) {
        let last = Tick(self.next.unwrap_or_default().0.saturating_sub(1));
        self.close(last, EndedBy::CaptureEnd, out);
    }

    fn data(&mut self, at: Tick, data: &[u8], out: &mut impl FnMut(Tick, Notice)) {
        self.alive(at, out);
        match &mut self.receiving {
            Receiving::Between => {
                let mut packet = Incoming::new(at, self.bytes);
                packet.add(at, data);
                self.receiving = Receiving::Packet(packet);
                data.first().into_iter().for_each(|first| out(at, Notice::Head(*first)));
            }
            Receiving::Packet(packet) => packet.add(at, data),
            Receiving::Reset => return,
        }
        out(at, Notice::Data(data.len() as u64));
    }

    fn control(&mut self, mut at: Tick, codes: &[u8], out: &mut impl FnMut(Tick, Notice)) {
        let mut rest = codes;
        while let Some((code, after)) = rest.split_first() {
            if *code == IDLE {
                let idle = rest.iter().position(|code| *code != IDLE).unwrap_or(rest.len());
                self.idle(at, idle as u64, out);
                at.0 += idle as u64;
                rest = rest.get(idle..).unwrap_or_default();
                continue;
            }
            self.alive(at, out);
            match hear(*code) {
                Heard::Exact(symbol) => self.symbol(at, symbol, out),
                Heard::Corrected(symbol) => {
                    out(at, Notice::Event(Event::CorrectedCode { code: *code, symbol }));
                    self.symbol(at, symbol, out);
                }
                Heard::Invalid => {
                    self.pause(at);
                    out(at, Notice::Event(Event::InvalidCode(*code)));
                }
            }
            at.0 += 1;
            rest = after;
        }
    }

    fn symbol(&mut self, at: Tick, symbol: Symbol, out: &mut impl FnMut(Tick, Notice)) {
        match symbol {
            Symbol::Gap => {
                self.framed(at, out);
                match self.receiving {
                    Receiving::Between => {}
                    Receiving::Packet(_) => self.close(at, EndedBy::Gap, out),
                    Receiving::Reset => {
                        self.receiving = Receiving::Between;
                        out(at, Notice::Event(Event::ResetEnded));
                    }
                }
            }
            // GO said again changes nothing: only a STOP from here could have.
            Symbol::Go if self.command == Some(Command::Go) => {}
            Symbol::Go => self.command(at, Command::Go, out),
            Symbol::Stop => self.command(at, Command::Stop, out),
            Symbol::ForwardReset => {
                self.framed(at, out);
                self.close(at, EndedBy::Reset, out);
                self.receiving = Receiving::Reset;
                out(at, Notice::Event(Event::ForwardReset));
            }
            Symbol::BackwardReset => out(at, Notice::Event(Event::BackwardReset)),
            Symbol::OverrunAlarm => out(at, Notice::Event(Event::OverrunAlarm)),
            Symbol::Probe(number) => out(at, Notice::Event(Event::Probe(number))),
            Symbol::Reply(status) => out(at, Notice::Event(Event::Reply(status))),
            // IDLE is no character (C-6); symbols that are not known are ignored (C-3, C-7).
            Symbol::Idle | Symbol::Virtual { .. } | _ => {}
        }
    }

    fn command(&mut self, at: Tick, command: Command, out: &mut impl FnMut(Tick, Notice)) {
        self.command = Some(command);
        out(at, Notice::Command(command));
    }

    /// A character other than IDLE has come. F-7
    fn alive(&mut self, at: Tick, out: &mut impl FnMut(Tick, Notice)) {
        if self.silence == Silence::Open {
            out(at, Notice::Event(Event::LinkRestored));
        }
        self.silence = Silence::Periods(0);
    }

    /// So many silent periods, from `at` on. F-7
    fn idle(&mut self, at: Tick, periods: u64, out: &mut impl FnMut(Tick, Notice)) {
        let Silence::Periods(before) = self.silence else { return };
        if before + periods < OPEN_LINK.0 {
            self.pause(at);
            self.silence = Silence::Periods(before + periods);
            return;
        }
        let sixteenth = Tick(at.0 + OPEN_LINK.0 - before - 1);
        self.silence = Silence::Open;
        self.framed(sixteenth, out);
        self.close(sixteenth, EndedBy::OpenLink, out);
        out(sixteenth, Notice::Event(Event::OpenLink));
    }

    /// No packet goes on across this character. P-1
    fn framed(&mut self, at: Tick, out: &mut impl FnMut(Tick, Notice)) {
        if self.framing == Framing::Unknown {
            self.framing = Framing::Known;
            out(at, Notice::Framed);
        }
    }

    /// Something stands inside a packet that may have been a GAP. P-1
    fn pause(&mut self, at: Tick) {
        if let Receiving::Packet(packet) = &mut self.receiving {
            packet.pause(at);
        }
    }

    /// Ends the packet that is being received, if one is.
    fn close(&mut self, at: Tick, ended_by: EndedBy, out: &mut impl FnMut(Tick, Notice)) {
        if let Receiving::Packet(_) = self.receiving {
            let received = std::mem::replace(&mut self.receiving, Receiving::Between);
            if let Receiving::Packet(packet) = received {
                let packet = Box::new(packet.close(self.packets, ended_by));
                out(at, Notice::Packet(packet));
                self.packets += 1;
            }
        }
    }
}

const IDLE: u8 = 0;

const fn data_of(run: Run<'_>) -> &[u8] {
    match run {
        Run::Data(data) => data,
        Run::Control(_) => &[],
    }
}

impl Receiving {
    const fn kind(&self) -> u8 {
        match self {
            Self::Between => 0,
            Self::Packet(_) => 1,
            Self::Reset => 2,
        }
    }
}
