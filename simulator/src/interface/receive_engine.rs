//! The receiving engine: takes packets into memory, or absorbs them. I-2, I-3, I-5

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::packet::CrcCheck;
use codec::route::is_route_byte;
use codec::transport::TAG;

use crate::control::{PacketRoutine, routine};
use crate::tagged_char::PacketId;
use crate::topology::NodePort;
use crate::truth::{PacketHandling, RuleId, TruthEventKind, TruthLog};

/// Bytes of a packet that is absorbed, between one feeding of its CRC and the next.
const ABSORB: usize = 256;

/// The engine, and what it has received.
#[derive(Clone, Debug)]
pub struct ReceiveEngine {
    place: NodePort,
    /// Bytes of memory.
    memory: usize,
    /// Bytes that packets take, the one that comes in included.
    used: usize,
    /// Bytes that the next packet is likely to take: as many as the one before.
    likely: usize,
    transport: TransportRouting,
    frame: Option<PacketIntake>,
    complete: VecDeque<StoredPacket>,
}

/// Whose packets of the type of transport packets are. T
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportRouting {
    /// The host's, as others are: it has no endpoints.
    Delivered,
    /// The firmware's that serves the host's endpoints.
    Served,
}

/// A good packet in receive memory, tag and CRC byte included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPacket {
    /// Which routine takes it. I-2
    pub routine: PacketRoutine,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A packet that comes in.
#[derive(Clone, Debug)]
struct PacketIntake {
    id: Option<PacketId>,
    /// Bytes before `bytes`, and their CRC.
    before: u64,
    crc: Crc8,
    bytes: Vec<u8>,
    fate: PacketFate,
}

/// What is to become of a packet, as far as its first byte tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketFate {
    Keep(PacketRoutine),
    Absorb(PacketHandling),
}

/// A packet has been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeRecord {
    /// Bytes, the CRC byte included.
    pub length: u64,
    /// What became of it.
    pub handling: PacketHandling,
}

/// Whether the control program runs. I-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// It is not loaded.
    Loading,
    /// It is.
    Running,
}

impl ReceiveEngine {
    /// Nothing received, and so many bytes of memory.
    #[must_use]
    pub const fn new(place: NodePort, memory: usize, transport: TransportRouting) -> Self {
        let complete = VecDeque::new();
        Self { place, memory, used: 0, likely: 0, transport, frame: None, complete }
    }

    /// Whether a byte that comes next can be taken. A packet that has all the memory for itself
    /// can: it will be too long. I-4
    #[must_use]
    #[inline]
    pub fn has_room(&self) -> bool {
        let own = match &self.frame {
            Some(PacketIntake { fate: PacketFate::Absorb(_), .. }) => return true,
            Some(PacketIntake { bytes, .. }) => bytes.len(),
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
    pub fn byte(&mut self, byte: u8, head: Option<PacketId>, program: ProgramState) {
        let frame = self.frame.get_or_insert_with(|| {
            let fate = PacketFate::of(byte, program, self.transport);
            let bytes = Vec::with_capacity(self.likely);
            PacketIntake { id: head, before: 0, crc: Crc8::NEW, bytes, fate }
        });
        match frame.fate {
            PacketFate::Keep(_) if frame.bytes.len() < self.memory => {
                frame.bytes.push(byte);
                self.used += 1;
            }
            PacketFate::Keep(_) => {
                self.used = self.used.saturating_sub(frame.bytes.len());
                frame.fate = PacketFate::Absorb(PacketHandling::TooLong);
                frame.absorb(byte);
            }
            PacketFate::Absorb(_) => frame.absorb(byte),
        }
    }

    /// Takes the mark that ends a packet. P-6
    pub fn mark(&mut self, now: u64, log: &mut TruthLog) -> Option<IntakeRecord> {
        let frame = self.frame.take()?;
        self.likely = frame.bytes.len();
        let length = frame.before.saturating_add(frame.bytes.len() as u64);
        let crc = frame.crc.feed(&frame.bytes);
        let check = CrcCheck::from_syndrome((length >= 2).then(|| crc.syndrome()));
        let handling = match (frame.fate, check) {
            (PacketFate::Absorb(PacketHandling::Ignored), _) => PacketHandling::Ignored,
            (_, CrcCheck::Runt) => PacketHandling::Runt,
            (
                PacketFate::Absorb(
                    handling @ (PacketHandling::Misrouted | PacketHandling::TooLong),
                ),
                _,
            ) => handling,
            (_, CrcCheck::Bad(_)) => PacketHandling::Corrupt,
            (PacketFate::Absorb(handling), CrcCheck::Good) => handling,
            (PacketFate::Keep(_), CrcCheck::Good) => PacketHandling::Delivered,
        };
        log.emit(now, self.place, frame.id, || TruthEventKind::Consumed {
            length,
            check,
            handling,
        });
        match (frame.fate, handling == PacketHandling::Delivered) {
            (PacketFate::Keep(routine), true) => {
                self.complete.push_back(StoredPacket { routine, bytes: frame.bytes });
            }
            (PacketFate::Keep(_), false) => self.free(frame.bytes.len()),
            (PacketFate::Absorb(_), _) => {}
        }
        Some(IntakeRecord { length, handling })
    }

    /// The good packet that came first.
    #[must_use]
    pub fn first(&self) -> Option<&StoredPacket> {
        self.complete.front()
    }

    /// Hands it out; it goes on taking memory.
    pub fn pop(&mut self) -> Option<StoredPacket> {
        self.complete.pop_front()
    }

    /// So many bytes of memory are free again.
    pub fn free(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Loses the packet that is half taken in. R-3
    pub fn break_off(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        let Some(frame) = self.frame.take() else { return };
        if frame.id.is_some() {
            log.emit(now, self.place, frame.id, || TruthEventKind::Dropped(rule));
        }
        if let PacketFate::Keep(_) = frame.fate {
            self.free(frame.bytes.len());
        }
    }

    /// Forgets the packets for a routine.
    pub fn forget(&mut self, routine: PacketRoutine) {
        let gone = self.complete.iter().filter(|packet| packet.routine == routine);
        let bytes = gone.map(|packet| packet.bytes.len()).sum();
        self.complete.retain(|packet| packet.routine != routine);
        self.free(bytes);
    }

    /// Forgets all packets. R-3
    pub fn reset(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        self.break_off(now, rule, log);
        *self = Self::new(self.place, self.memory, self.transport);
    }
}

impl PacketFate {
    const fn of(first: u8, program: ProgramState, transport: TransportRouting) -> Self {
        match (program, routine(first)) {
            (ProgramState::Loading, _) => Self::Absorb(PacketHandling::Ignored),
            (ProgramState::Running, _) if is_route_byte(first) => {
                Self::Absorb(PacketHandling::Misrouted)
            }
            (ProgramState::Running, None) => Self::Absorb(PacketHandling::NoRoutine),
            (ProgramState::Running, Some(routine)) => Self::Keep(match transport {
                TransportRouting::Served if first == TAG => PacketRoutine::Transport,
                TransportRouting::Served | TransportRouting::Delivered => routine,
            }),
        }
    }
}

impl PacketIntake {
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
