//! The receiving engine: takes packets into memory, or absorbs them. I-2, I-3, I-5

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::packet::Check;
use codec::route::is_route;
use codec::transport::TAG;

use crate::cell::PacketId;
use crate::control::{Routine, routine};
use crate::topology::Port;
use crate::truth::{Handling, Log, Rule, What};

/// Bytes of a packet that is absorbed, between one feeding of its CRC and the next.
const ABSORB: usize = 256;

/// The engine, and what it has received.
#[derive(Clone, Debug)]
pub struct Receiving {
    place: Port,
    /// Bytes of memory.
    memory: usize,
    /// Bytes that packets take, the one that comes in included.
    used: usize,
    /// Bytes that the next packet is likely to take: as many as the one before.
    likely: usize,
    transport: Transport,
    frame: Option<Frame>,
    complete: VecDeque<Incoming>,
}

/// Whose packets of the type of transport packets are. T
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The host's, as others are: it has no endpoints.
    Delivered,
    /// The firmware's that serves the host's endpoints.
    Served,
}

/// A good packet in receive memory, tag and CRC byte included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Which routine takes it. I-2
    pub routine: Routine,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A packet that comes in.
#[derive(Clone, Debug)]
struct Frame {
    id: Option<PacketId>,
    /// Bytes before `bytes`, and their CRC.
    before: u64,
    crc: Crc8,
    bytes: Vec<u8>,
    fate: Fate,
}

/// What is to become of a packet, as far as its first byte tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Keep(Routine),
    Absorb(Handling),
}

/// A packet has been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Bytes, the CRC byte included.
    pub length: u64,
    /// What became of it.
    pub handling: Handling,
}

/// Whether the control program runs. I-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// It is not loaded.
    Loading,
    /// It is.
    Running,
}

impl Receiving {
    /// Nothing received, and so many bytes of memory.
    #[must_use]
    pub const fn new(place: Port, memory: usize, transport: Transport) -> Self {
        let complete = VecDeque::new();
        Self { place, memory, used: 0, likely: 0, transport, frame: None, complete }
    }

    /// Whether a byte that comes next can be taken. A packet that has all the memory for itself
    /// can: it will be too long. I-4
    #[must_use]
    #[inline]
    pub fn has_room(&self) -> bool {
        let own = match &self.frame {
            Some(Frame { fate: Fate::Absorb(_), .. }) => return true,
            Some(Frame { bytes, .. }) => bytes.len(),
            None => 0,
        };
        self.used < self.memory || self.used == own
    }

    /// Bytes of memory that packets take.
    #[must_use]
    pub const fn used(&self) -> usize {
        self.used
    }

    /// Whether a packet is coming in.
    #[must_use]
    #[inline]
    pub const fn is_inside(&self) -> bool {
        self.frame.is_some()
    }

    /// Whether a packet is half taken in whose first byte has come, and not only what was left of it.
    #[must_use]
    pub fn has_head(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.id.is_some())
    }

    /// Takes a byte, and which packet begins with it.
    #[inline]
    pub fn byte(&mut self, byte: u8, head: Option<PacketId>, program: Program) {
        let frame = self.frame.get_or_insert_with(|| {
            let fate = Fate::of(byte, program, self.transport);
            let bytes = Vec::with_capacity(self.likely);
            Frame { id: head, before: 0, crc: Crc8::NEW, bytes, fate }
        });
        match frame.fate {
            Fate::Keep(_) if frame.bytes.len() < self.memory => {
                frame.bytes.push(byte);
                self.used += 1;
            }
            Fate::Keep(_) => {
                self.used = self.used.saturating_sub(frame.bytes.len());
                frame.fate = Fate::Absorb(Handling::TooLong);
                frame.absorb(byte);
            }
            Fate::Absorb(_) => frame.absorb(byte),
        }
    }

    /// Takes the mark that ends a packet. P-6
    pub fn mark(&mut self, now: u64, log: &mut Log) -> Option<Account> {
        let frame = self.frame.take()?;
        self.likely = frame.bytes.len();
        let length = frame.before.saturating_add(frame.bytes.len() as u64);
        let crc = frame.crc.feed(&frame.bytes);
        let check = Check::of((length >= 2).then(|| crc.syndrome()));
        let handling = match (frame.fate, check) {
            (Fate::Absorb(Handling::Ignored), _) => Handling::Ignored,
            (_, Check::Runt) => Handling::Runt,
            (Fate::Absorb(handling @ (Handling::Misrouted | Handling::TooLong)), _) => handling,
            (_, Check::Bad(_)) => Handling::Corrupt,
            (Fate::Absorb(handling), Check::Good) => handling,
            (Fate::Keep(_), Check::Good) => Handling::Delivered,
        };
        log.tell(now, self.place, frame.id, || What::Consumed { length, check, handling });
        match (frame.fate, handling == Handling::Delivered) {
            (Fate::Keep(routine), true) => {
                self.complete.push_back(Incoming { routine, bytes: frame.bytes });
            }
            (Fate::Keep(_), false) => self.free(frame.bytes.len()),
            (Fate::Absorb(_), _) => {}
        }
        Some(Account { length, handling })
    }

    /// The good packet that came first.
    #[must_use]
    pub fn first(&self) -> Option<&Incoming> {
        self.complete.front()
    }

    /// Hands it out; it goes on taking memory.
    pub fn pop(&mut self) -> Option<Incoming> {
        self.complete.pop_front()
    }

    /// So many bytes of memory are free again.
    pub fn free(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Loses the packet that is half taken in. R-3
    pub fn break_off(&mut self, now: u64, rule: Rule, log: &mut Log) {
        let Some(frame) = self.frame.take() else { return };
        if frame.id.is_some() {
            log.tell(now, self.place, frame.id, || What::Dropped(rule));
        }
        if let Fate::Keep(_) = frame.fate {
            self.free(frame.bytes.len());
        }
    }

    /// Forgets the packets for a routine.
    pub fn forget(&mut self, routine: Routine) {
        let gone = self.complete.iter().filter(|packet| packet.routine == routine);
        let bytes = gone.map(|packet| packet.bytes.len()).sum();
        self.complete.retain(|packet| packet.routine != routine);
        self.free(bytes);
    }

    /// Forgets all packets. R-3
    pub fn reset(&mut self, now: u64, rule: Rule, log: &mut Log) {
        self.break_off(now, rule, log);
        *self = Self::new(self.place, self.memory, self.transport);
    }
}

impl Fate {
    const fn of(first: u8, program: Program, transport: Transport) -> Self {
        match (program, routine(first)) {
            (Program::Loading, _) => Self::Absorb(Handling::Ignored),
            (Program::Running, _) if is_route(first) => Self::Absorb(Handling::Misrouted),
            (Program::Running, None) => Self::Absorb(Handling::NoRoutine),
            (Program::Running, Some(routine)) => Self::Keep(match transport {
                Transport::Served if first == TAG => Routine::Transport,
                Transport::Served | Transport::Delivered => routine,
            }),
        }
    }
}

impl Frame {
    /// Takes a byte that is not kept. Bytes that were kept go the same way.
    fn absorb(&mut self, byte: u8) {
        self.bytes.push(byte);
        if self.bytes.len() >= ABSORB {
            self.crc = self.crc.feed(&self.bytes);
            self.before = self.before.saturating_add(self.bytes.len() as u64);
            self.bytes.clear();
        }
    }
}
