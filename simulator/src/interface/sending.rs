//! The sending engine: hands packets to the output circuit, character by character. I-1

use std::collections::VecDeque;

use codec::{CharBuf, Character};

use super::queue::{Interrupt, Outcome};
use crate::cell::{Cell, PacketId};
use crate::topology::Port;
use crate::traffic::Raw;
use crate::truth::{Log, Rule, What};

/// What an interface has next for its output circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Nothing,
    /// A byte of a packet, and which packet where one begins.
    Data(Cell, Option<PacketId>),
    /// The end of a packet: GAP. P-1
    Mark,
    /// Another control code, to go out as it stands.
    Symbol(u8),
}

/// A packet in send memory, from its route to its CRC byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// On whose behalf.
    pub behalf: Behalf,
}

/// On whose behalf a packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behalf {
    /// The host's, by a command.
    Host {
        /// The host's number for its command.
        number: u32,
        /// Whether to interrupt the host when it is sent.
        interrupt: Interrupt,
    },
    /// The firmware's that serves endpoints.
    Firmware,
}

/// The engine, and what waits for it.
#[derive(Clone, Debug)]
pub struct Sending {
    place: Port,
    /// Packets that this host has injected.
    count: u32,
    line: Line,
    ready: VecDeque<Outgoing>,
    /// In order of time.
    raw: VecDeque<Raw>,
}

/// What it is sending.
#[derive(Clone, Debug)]
enum Line {
    Idle,
    Packet {
        packet: Outgoing,
        at: usize,
    },
    Text {
        chars: CharBuf,
        at: usize,
        inside: Inside,
    },
    /// A text has ended inside a packet.
    Open,
    /// A packet has been broken off; its end is still to be sent.
    Ending,
}

/// Whether a packet has begun in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    Packet,
}

/// A packet that leaves send memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// On whose behalf it was sent.
    pub behalf: Behalf,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes that it took.
    pub bytes: usize,
}

impl Sending {
    /// Nothing to send yet, but these texts.
    #[must_use]
    pub fn new(place: Port, mut raw: Vec<Raw>) -> Self {
        raw.sort_by_key(|raw| raw.at);
        Self { place, count: 0, line: Line::Idle, ready: VecDeque::new(), raw: raw.into() }
    }

    /// Takes a packet to send after all others.
    pub fn push(&mut self, packet: Outgoing) {
        self.ready.push_back(packet);
    }

    /// Begins what is next, if nothing is being sent.
    pub fn step(&mut self, now: u64) {
        if !matches!(self.line, Line::Idle) {
            return;
        }
        if self.raw.front().is_some_and(|raw| raw.at <= now) {
            if let Some(Raw { chars, .. }) = self.raw.pop_front() {
                self.line = text(chars, 0);
            }
        } else if let Some(packet) = self.ready.pop_front() {
            self.line = Line::Packet { packet, at: 0 };
        }
    }

    /// When it next has something to begin.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match self.line {
            Line::Idle if !self.ready.is_empty() => Some(0),
            Line::Idle => self.raw.front().map(|raw| raw.at),
            Line::Packet { .. } | Line::Text { .. } | Line::Open | Line::Ending => None,
        }
    }

    /// What comes next.
    #[must_use]
    #[inline]
    pub fn offer(&self) -> Offer {
        match &self.line {
            Line::Packet { packet, at } => match packet.bytes.get(*at) {
                Some(byte) if *at > 0 => Offer::Data(Cell::data(*byte), None),
                Some(byte) => self.head(*byte),
                None => Offer::Mark,
            },
            Line::Idle | Line::Open => Offer::Nothing,
            Line::Ending => Offer::Mark,
            Line::Text { chars, at, inside } => match (chars.chars().get(*at), inside) {
                (Some(Character::GAP), _) => Offer::Mark,
                (Some(Character::Control(code)), _) => Offer::Symbol(code),
                (Some(Character::Data(byte)), Inside::Nothing) => self.head(byte),
                (Some(Character::Data(byte)), Inside::Packet) => {
                    Offer::Data(Cell::data(byte), None)
                }
                (None, _) => Offer::Nothing,
            },
        }
    }

    fn head(&self, byte: u8) -> Offer {
        Offer::Data(Cell::data(byte).as_head(), Some(self.id()))
    }

    /// Of the packet that begins next.
    const fn id(&self) -> PacketId {
        PacketId { host: self.place.node, number: self.count }
    }

    /// Takes back the firmware's packet, if its first byte has not been taken.
    pub fn withdraw(&mut self) -> bool {
        let its = |packet: &Outgoing| packet.behalf == Behalf::Firmware;
        if let Line::Packet { packet, at: 0 } = &self.line
            && its(packet)
        {
            self.line = Line::Idle;
            return true;
        }
        let waits = self.ready.len();
        self.ready.retain(|packet| !its(packet));
        self.ready.len() < waits
    }

    /// The packet whose first byte has just been taken goes on as this one, which begins with it.
    pub fn restamp(&mut self, bytes: Vec<u8>) {
        if let Line::Packet { packet, .. } = &mut self.line {
            packet.bytes = bytes;
        }
    }

    /// On whose behalf the packet is that is being sent, if it is not from a text.
    #[must_use]
    pub const fn behalf(&self) -> Option<Behalf> {
        match &self.line {
            Line::Packet { packet, .. } => Some(packet.behalf),
            Line::Idle | Line::Text { .. } | Line::Open | Line::Ending => None,
        }
    }

    /// Of the packet that began last.
    #[must_use]
    pub const fn last_id(&self) -> PacketId {
        PacketId { host: self.place.node, number: self.count.wrapping_sub(1) }
    }

    /// What was offered has been taken.
    #[inline]
    pub fn taken(&mut self, now: u64, log: &mut Log) -> Taken {
        match &mut self.line {
            Line::Packet { packet, at } if *at < packet.bytes.len() => {
                *at += 1;
                if *at > 1 {
                    return Taken::Part;
                }
                let length = packet.bytes.len();
                self.inject(now, length, log)
            }
            Line::Packet { .. } => Taken::End(self.finish(Line::Idle, Outcome::Sent)),
            Line::Ending => {
                self.line = Line::Idle;
                Taken::End(None)
            }
            Line::Text { .. } => self.taken_of_text(now, log),
            Line::Idle | Line::Open => Taken::Part,
        }
    }

    fn taken_of_text(&mut self, now: u64, log: &mut Log) -> Taken {
        let Line::Text { chars, at, inside } = &mut self.line else { return Taken::Part };
        if *at == 0 {
            log.tell(now, self.place, None, || What::Raw(chars.chars().to_string()));
        }
        let rest = chars.chars().split_at(*at).1;
        let taken = rest.get(0);
        let begins = matches!((taken, &inside), (Some(Character::Data(_)), Inside::Nothing));
        match taken {
            Some(Character::GAP) => *inside = Inside::Nothing,
            Some(Character::Data(_)) => *inside = Inside::Packet,
            Some(Character::Control(_)) | None => {}
        }
        let length = if begins { length_of_packet(rest) } else { 0 };
        *at += 1;
        let over = (rest.len() <= 1).then_some(*inside);
        match over {
            None => {}
            Some(Inside::Nothing) => self.line = Line::Idle,
            Some(Inside::Packet) => self.line = Line::Open,
        }
        match (begins, over) {
            (true, _) => self.inject(now, length, log),
            (false, None) => Taken::Part,
            (false, Some(_)) => Taken::End(None),
        }
    }

    fn inject(&mut self, now: u64, length: usize, log: &mut Log) -> Taken {
        let id = self.id();
        self.count = self.count.wrapping_add(1);
        log.tell(now, self.place, Some(id), || What::Injected { length: length as u64 });
        Taken::Head
    }

    /// Leaves the packet that is being sent.
    fn finish(&mut self, next: Line, outcome: Outcome) -> Option<Left> {
        match std::mem::replace(&mut self.line, next) {
            Line::Packet { packet: Outgoing { bytes, behalf }, .. } => {
                Some(Left { behalf, outcome, bytes: bytes.len() })
            }
            Line::Idle | Line::Text { .. } | Line::Open | Line::Ending => None,
        }
    }

    /// The output circuit has ended the packet by itself: its rest is dropped, its end is not
    /// offered again. What has not begun stays.
    pub fn cut(&mut self) -> Option<Left> {
        match &self.line {
            Line::Packet { at: 0, .. }
            | Line::Idle
            | Line::Text { inside: Inside::Nothing, .. } => None,
            Line::Packet { .. } => self.finish(Line::Idle, Outcome::Cut),
            Line::Open | Line::Ending => self.finish(Line::Idle, Outcome::Cut),
            Line::Text { chars, at, .. } => {
                let gap =
                    (*at..chars.len()).find(|at| chars.chars().get(*at) == Some(Character::GAP));
                let next = gap.map_or(Line::Idle, |gap| text(chars.clone(), gap + 1));
                self.finish(next, Outcome::Cut)
            }
        }
    }

    /// Breaks off what is being sent: a packet that was half sent is to be ended with a GAP. What has
    /// not begun stays, but for a text. R-3
    pub fn break_off(&mut self, now: u64, rule: Rule, log: &mut Log) -> Option<Left> {
        let whole = |packet: &Outgoing, at: usize| at == packet.bytes.len();
        match &self.line {
            Line::Packet { at: 0, .. } | Line::Idle | Line::Ending => None,
            Line::Text { inside: Inside::Nothing, .. } => self.finish(Line::Idle, Outcome::Cut),
            Line::Packet { packet, at } if whole(packet, *at) => {
                self.finish(Line::Ending, Outcome::Sent)
            }
            Line::Packet { .. } | Line::Text { .. } | Line::Open => {
                log.tell(now, self.place, Some(self.last_id()), || What::Truncated(rule));
                self.finish(Line::Ending, Outcome::Cut)
            }
        }
    }

    /// Forgets the packets on somebody's behalf that have not begun.
    pub fn forget(&mut self, behalf: Behalf) {
        self.ready.retain(|packet| packet.behalf != behalf);
        if let Line::Packet { packet, at: 0 } = &self.line
            && packet.behalf == behalf
        {
            self.line = Line::Idle;
        }
    }

    /// Forgets all packets; one that was half sent is to be ended with a GAP. I-3
    pub fn reset(&mut self, now: u64, rule: Rule, log: &mut Log) {
        self.ready.clear();
        self.break_off(now, rule, log);
        if let Line::Packet { at: 0, .. } = self.line {
            self.line = Line::Idle;
        }
    }

    /// As [`Sending::reset`], but nothing more can be sent.
    pub fn power_off(&mut self, now: u64, rule: Rule, log: &mut Log) {
        self.reset(now, rule, log);
        self.line = Line::Idle;
    }
}

/// What became of what was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// More follows.
    Part,
    /// So it does, and it was a packet's first byte.
    Head,
    /// A packet or a text has ended: something else may begin. With what has left send memory.
    End(Option<Left>),
}

/// A text from a place on.
fn text(chars: CharBuf, at: usize) -> Line {
    if at < chars.len() { Line::Text { chars, at, inside: Inside::Nothing } } else { Line::Idle }
}

/// Bytes up to the next GAP.
fn length_of_packet(chars: codec::Chars<'_>) -> usize {
    let up_to_gap = chars.iter().take_while(|character| *character != Character::GAP);
    up_to_gap.filter(|character| character.is_data()).count()
}
