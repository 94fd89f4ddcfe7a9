//! The receiving engine: stores packets in memory, or absorbs them. I-2, I-3, I-5

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::mapping::{InterfaceAddress, InternetworkPacket};
use codec::packet::CrcCheck;
use codec::route::is_route_byte;
use codec::{mapping, transport};

use crate::link::tagged_char::PacketId;
use crate::packet_types::{PacketRoutine, routine};
use crate::topology::NodePort;
use crate::truth::{PacketHandling, RuleId, TruthEventKind, TruthLog};

/// Block size for the CRC of an absorbed packet, in bytes.
const ABSORB: usize = 256;

/// The engine and the received packets.
#[derive(Clone, Debug)]
pub(super) struct ReceiveEngine {
    place: NodePort,
    /// Capacity in bytes.
    memory: usize,
    used: usize,
    /// Bytes stored since the start.
    moved: u64,
    /// Expected length of the next packet: that of the last one.
    likely: usize,
    served: ServedTypes,
    frame: Option<PacketIntake>,
    complete: VecDeque<StoredPacket>,
}

/// Types of packets that the control program takes itself.
#[derive(Clone, Debug, Default)]
pub(super) struct ServedTypes {
    /// `Transport` if it serves endpoints, `Mapping` if it maps the network.
    pub routines: Vec<PacketRoutine>,
    /// Those between networks. N-5
    pub internetwork: InternetworkUse,
}

/// Treatment of packets between networks, which carry packets of other types. N-5
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum InternetworkUse {
    /// As of any other type.
    #[default]
    Unknown,
    /// Those to this address are delivered as what they carry.
    Delivers(InterfaceAddress),
    /// All are passed on.
    Passes,
}

/// A good packet in receive memory, tag and CRC byte included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredPacket {
    /// The routine that takes it. I-2
    pub routine: PacketRoutine,
    pub bytes: Vec<u8>,
}

impl StoredPacket {
    /// The bytes between tag and CRC byte, which are the interface's.
    pub(super) fn payload(&self) -> &[u8] {
        self.bytes.get(1..self.bytes.len().saturating_sub(1)).unwrap_or_default()
    }
}

/// A packet being received.
#[derive(Clone, Debug)]
struct PacketIntake {
    id: Option<PacketId>,
    /// Number of the bytes before `bytes`, and their CRC.
    before: u64,
    crc: Crc8,
    bytes: Vec<u8>,
    fate: PacketFate,
}

/// Destination of a packet, as decided by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketFate {
    Keep(PacketRoutine),
    Absorb(PacketHandling),
}

/// A received packet, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntakeRecord {
    /// Bytes, CRC byte included.
    pub length: u64,
    pub handling: PacketHandling,
}

/// State of the control program. I-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramState {
    Loading,
    Running,
}

impl ReceiveEngine {
    pub(super) const fn new(place: NodePort, memory: usize, served: ServedTypes) -> Self {
        let complete = VecDeque::new();
        Self { place, memory, used: 0, moved: 0, likely: 0, served, frame: None, complete }
    }

    /// Capacity in bytes.
    pub(super) const fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes in use, by the packet being received too.
    pub(super) const fn used(&self) -> usize {
        self.used
    }

    /// Bytes stored since the start.
    pub(super) const fn moved(&self) -> u64 {
        self.moved
    }

    /// Lets the control program take the packets of a routine.
    pub(super) fn serve(&mut self, routine: PacketRoutine) {
        self.served.routines.push(routine);
    }

    /// Sets the treatment of packets between networks. N-5
    pub(super) const fn serve_internetwork(&mut self, what: InternetworkUse) {
        self.served.internetwork = what;
    }

    /// True if the next byte can be taken. A packet that has all of the memory to itself is taken:
    /// it will be too long. I-4
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let own = match &self.frame {
            Some(PacketIntake { fate: PacketFate::Absorb(_), .. }) => return true,
            Some(PacketIntake { bytes, .. }) => bytes.len(),
            None => 0,
        };
        self.used < self.memory || self.used == own
    }
    /// True while a packet is being received.
    #[inline]
    pub(super) const fn is_inside(&self) -> bool {
        self.frame.is_some()
    }

    /// True while a packet is partly received whose first byte was not lost.
    pub(super) fn has_head(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.id.is_some())
    }

    /// Takes a byte, and the packet that begins with it.
    #[inline]
    pub(super) fn byte(&mut self, byte: u8, head: Option<PacketId>, program: ProgramState) {
        let frame = self.frame.get_or_insert_with(|| {
            let fate = PacketFate::of(byte, program, &self.served);
            let bytes = Vec::with_capacity(self.likely);
            PacketIntake { id: head, before: 0, crc: Crc8::NEW, bytes, fate }
        });
        match frame.fate {
            PacketFate::Keep(_) if frame.bytes.len() < self.memory => {
                frame.bytes.push(byte);
                self.used += 1;
                self.moved += 1;
            }
            PacketFate::Keep(_) => {
                self.used = self.used.saturating_sub(frame.bytes.len());
                frame.fate = PacketFate::Absorb(PacketHandling::TooLong);
                frame.absorb(byte);
            }
            PacketFate::Absorb(_) => frame.absorb(byte),
        }
    }

    /// Number of bytes of the packet being received that certainly fit.
    pub(super) fn room(&self) -> Option<usize> {
        match self.frame.as_ref()?.fate {
            PacketFate::Absorb(_) => Some(usize::MAX),
            PacketFate::Keep(_) => Some(self.memory.saturating_sub(self.used)),
        }
    }

    /// Takes bytes of the packet being received, no more than fit.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let Some(frame) = &mut self.frame else { return };
        match frame.fate {
            PacketFate::Keep(_) => {
                frame.bytes.extend_from_slice(bytes);
                self.used += bytes.len();
                self.moved += bytes.len() as u64;
            }
            PacketFate::Absorb(_) => bytes.iter().for_each(|byte| frame.absorb(*byte)),
        }
    }

    /// Takes the mark that ends a packet. P-6
    pub(super) fn mark(&mut self, now: u64, log: &mut TruthLog) -> Option<IntakeRecord> {
        let mut frame = self.frame.take()?;
        self.likely = frame.bytes.len();
        let length = frame.before.saturating_add(frame.bytes.len() as u64);
        let crc = frame.crc.feed(&frame.bytes);
        let check = CrcCheck::from_syndrome((length >= 2).then(|| crc.syndrome()));
        let mut handling = match (frame.fate, check) {
            (PacketFate::Absorb(PacketHandling::Ignored), _) => PacketHandling::Ignored,
            (_, CrcCheck::Runt | CrcCheck::Partial) => PacketHandling::Runt,
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
        if handling == PacketHandling::Delivered {
            handling = self.open(&mut frame);
        }
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

    /// Removes the header of a good packet from another network, whose type then is the one carried.
    fn open(&mut self, frame: &mut PacketIntake) -> PacketHandling {
        if frame.fate != PacketFate::Keep(PacketRoutine::Internetwork) {
            return PacketHandling::Delivered;
        }
        match self.served.internetwork(&frame.bytes) {
            Some(PacketRoutine::Internetwork) => {}
            Some(routine) => {
                let header = frame.bytes.drain(..=InternetworkPacket::HEADER).len();
                self.free(header);
                frame.fate = PacketFate::Keep(routine);
            }
            None => return PacketHandling::NoRoutine,
        }
        PacketHandling::Delivered
    }

    /// The oldest good packet.
    pub(super) fn first(&self) -> Option<&StoredPacket> {
        self.complete.front()
    }

    /// The routine of the oldest good packet.
    pub(super) fn routine(&self) -> Option<PacketRoutine> {
        self.first().map(|first| first.routine)
    }

    /// Removes the oldest good packet, whose memory stays in use.
    pub(super) fn pop(&mut self) -> Option<StoredPacket> {
        self.complete.pop_front()
    }

    /// Removes the oldest good packet from memory.
    pub(super) fn take(&mut self) -> Option<StoredPacket> {
        let packet = self.pop()?;
        self.free(packet.bytes.len());
        Some(packet)
    }

    pub(super) fn free(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Drops the packet being received. R-3
    pub(super) fn break_off(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        let Some(frame) = self.frame.take() else { return };
        if frame.id.is_some() {
            log.drop_packet(now, self.place, frame.id, rule);
        }
        if let PacketFate::Keep(_) = frame.fate {
            self.free(frame.bytes.len());
        }
    }

    /// Discards the packets for a routine.
    pub(super) fn forget(&mut self, routine: PacketRoutine) {
        let removed = self.complete.iter().filter(|packet| packet.routine == routine);
        let bytes = removed.map(|packet| packet.bytes.len()).sum();
        self.complete.retain(|packet| packet.routine != routine);
        self.free(bytes);
    }

    /// Discards all packets. R-3
    pub(super) fn reset(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        self.break_off(now, rule, log);
        let (moved, served) = (self.moved, std::mem::take(&mut self.served));
        *self = Self { moved, ..Self::new(self.place, self.memory, served) };
    }
}

impl PacketFate {
    fn of(first: u8, program: ProgramState, served: &ServedTypes) -> Self {
        match (program, routine(first)) {
            (ProgramState::Loading, _) => Self::Absorb(PacketHandling::Ignored),
            (ProgramState::Running, _) if is_route_byte(first) => {
                Self::Absorb(PacketHandling::Misrouted)
            }
            (ProgramState::Running, None) => Self::Absorb(PacketHandling::NoRoutine),
            (ProgramState::Running, Some(routine)) => Self::Keep(match first {
                transport::TAG if served.routines.contains(&PacketRoutine::Transport) => {
                    PacketRoutine::Transport
                }
                mapping::TAG if served.routines.contains(&PacketRoutine::Mapping) => {
                    PacketRoutine::Mapping
                }
                InternetworkPacket::TAG if served.internetwork != InternetworkUse::Unknown => {
                    PacketRoutine::Internetwork
                }
                _ => routine,
            }),
        }
    }
}

impl ServedTypes {
    /// The routine for a packet between networks, from its tag to its CRC byte.
    fn internetwork(&self, packet: &[u8]) -> Option<PacketRoutine> {
        let payload = packet.get(1..packet.len().checked_sub(1)?)?;
        let packet = InternetworkPacket::parse(payload).ok()?;
        match self.internetwork {
            InternetworkUse::Passes => Some(PacketRoutine::Internetwork),
            InternetworkUse::Delivers(own) if own == packet.destination => routine(packet.tag),
            InternetworkUse::Delivers(_) | InternetworkUse::Unknown => None,
        }
    }
}

impl PacketIntake {
    /// Takes a byte without storing it; stored bytes are discarded along with it.
    fn absorb(&mut self, byte: u8) {
        self.bytes.push(byte);
        if self.bytes.len() >= ABSORB {
            self.crc = self.crc.feed(&self.bytes);
            self.before = self.before.saturating_add(self.bytes.len() as u64);
            self.bytes.clear();
        }
    }
}
