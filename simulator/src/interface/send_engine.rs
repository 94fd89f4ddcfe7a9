//! The sending engine: hands packets to the output circuit, character by character. I-1

use std::collections::VecDeque;

use codec::crc::crc8;
use codec::{CharBuf, Character};

use super::queues::CommandOutcome;
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::topology::NodePort;
use crate::traffic::RawText;
use crate::truth::{RuleId, TruthEventKind, TruthLog};

/// A packet in send memory, from its route to its CRC byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutgoingPacket {
    pub bytes: Vec<u8>,
    pub behalf: PacketOwner,
    /// Time at which it was ready at the host.
    pub ready: u64,
}

/// The bytes of a packet from its parts, with its CRC byte. P-1
pub(super) fn with_crc(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = parts.concat();
    bytes.push(crc8(&bytes));
    bytes
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketOwner {
    /// A command of the host.
    Host {
        /// The host's number for its command.
        number: u32,
        interrupt: bool,
    },
    /// The firmware that serves endpoints.
    Firmware,
    /// The part of the control program that maps the network.
    Mapping,
    /// The part of the control program that sends multicasts on, with its number for the packet. N-6
    Relay(u32),
    /// The part of a router's control program that passes packets on. N-5
    Router,
}

/// The engine and its queue.
#[derive(Clone, Debug)]
pub(super) struct SendEngine {
    place: NodePort,
    /// Number of packets injected by this host.
    count: u32,
    /// Bytes of packets sent since the start.
    moved: u64,
    line: SendLine,
    ready: VecDeque<OutgoingPacket>,
    /// In order of time.
    raw: VecDeque<RawText>,
}

#[derive(Clone, Debug)]
enum SendLine {
    Idle,
    Packet {
        packet: OutgoingPacket,
        at: usize,
    },
    Text {
        chars: CharBuf,
        at: usize,
        /// The next character is inside a packet.
        is_inside: bool,
    },
    /// A text has ended inside a packet.
    Open,
    /// A packet was broken off; its end is still to be sent.
    Ending,
}

/// A packet that has left send memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinishedPacket {
    pub behalf: PacketOwner,
    pub outcome: CommandOutcome,
    pub bytes: usize,
}

impl SendEngine {
    pub(super) fn new(place: NodePort, mut raw: Vec<RawText>) -> Self {
        raw.sort_by_key(|raw| raw.at);
        let ready = VecDeque::new();
        // So that no two packets of a node have one number, if it has two ports.
        let count = u32::from(place.port.0) << 31;
        Self { place, count, moved: 0, line: SendLine::Idle, ready, raw: raw.into() }
    }

    pub(super) fn push(&mut self, packet: OutgoingPacket) {
        self.ready.push_back(packet);
    }

    /// Queues a packet before those of other owners, so that a queue of them delays no probe.
    pub(super) fn push_first(&mut self, packet: OutgoingPacket) {
        let others = self.ready.iter().position(|other| other.behalf != packet.behalf);
        self.ready.insert(others.unwrap_or(self.ready.len()), packet);
    }

    /// Begins the next packet or text, if idle.
    pub(super) fn step(&mut self, now: u64) {
        if !matches!(self.line, SendLine::Idle) {
            return;
        }
        if self.raw.front().is_some_and(|raw| raw.at <= now) {
            if let Some(RawText { chars, .. }) = self.raw.pop_front() {
                self.line = text(chars, 0);
            }
        } else if let Some(packet) = self.ready.pop_front() {
            self.line = SendLine::Packet { packet, at: 0 };
        }
    }

    /// Time at which it can begin the next packet or text.
    pub(super) fn due(&self) -> Option<u64> {
        match self.line {
            SendLine::Idle if !self.ready.is_empty() => Some(0),
            SendLine::Idle => self.raw.front().map(|raw| raw.at),
            SendLine::Packet { .. } | SendLine::Text { .. } | SendLine::Open | SendLine::Ending => {
                None
            }
        }
    }
    #[inline]
    pub(super) fn offer(&self) -> SourceItem {
        match &self.line {
            SendLine::Packet { packet, at } => match packet.bytes.get(*at) {
                Some(byte) if *at > 0 => SourceItem::Data(TaggedChar::data(*byte), None),
                Some(byte) => self.head(*byte),
                None => SourceItem::Mark,
            },
            SendLine::Idle | SendLine::Open => SourceItem::Nothing,
            SendLine::Ending => SourceItem::Mark,
            SendLine::Text { chars, at, is_inside } => match chars.chars().get(*at) {
                Some(Character::GAP) => SourceItem::Mark,
                Some(Character::Control(code)) => SourceItem::Symbol(code),
                Some(Character::Data(byte)) if *is_inside => {
                    SourceItem::Data(TaggedChar::data(byte), None)
                }
                Some(Character::Data(byte)) => self.head(byte),
                None => SourceItem::Nothing,
            },
        }
    }

    fn head(&self, byte: u8) -> SourceItem {
        SourceItem::Data(TaggedChar::data(byte).as_head(), Some(self.id()))
    }

    /// Identity of the next packet.
    const fn id(&self) -> PacketId {
        PacketId { host: self.place.node, number: self.count }
    }

    /// Removes the firmware's packet, if its first byte has not been taken.
    pub(super) fn withdraw(&mut self) -> bool {
        let its = |packet: &OutgoingPacket| packet.behalf == PacketOwner::Firmware;
        if let SendLine::Packet { packet, at: 0 } = &self.line
            && its(packet)
        {
            self.line = SendLine::Idle;
            return true;
        }
        let waits = self.ready.len();
        self.ready.retain(|packet| !its(packet));
        self.ready.len() < waits
    }

    /// Replaces the packet whose first byte has just been taken; the new bytes begin with the same
    /// one.
    pub(super) fn restamp(&mut self, bytes: Vec<u8>) {
        if let SendLine::Packet { packet, .. } = &mut self.line {
            packet.bytes = bytes;
        }
    }

    /// Bytes of packets sent since the start.
    pub(super) const fn moved(&self) -> u64 {
        self.moved
    }

    /// Owner of the packet being sent; `None` for a text.
    pub(super) const fn behalf(&self) -> Option<PacketOwner> {
        if let SendLine::Packet { packet, .. } = &self.line { Some(packet.behalf) } else { None }
    }

    /// Bytes of the packet being sent; none of a text.
    pub(super) fn bytes(&self) -> &[u8] {
        if let SendLine::Packet { packet, .. } = &self.line { &packet.bytes } else { &[] }
    }

    /// Identity of the packet that began last.
    pub(super) const fn last_id(&self) -> PacketId {
        PacketId { host: self.place.node, number: self.count.wrapping_sub(1) }
    }

    /// Advances past the item that was offered.
    #[inline]
    pub(super) fn taken(&mut self, now: u64, log: &mut TruthLog) -> TakenPart {
        match &mut self.line {
            SendLine::Packet { packet, at } if *at < packet.bytes.len() => {
                *at += 1;
                self.moved += 1;
                if *at > 1 {
                    return TakenPart::Part;
                }
                let (length, ready) = (packet.bytes.len(), packet.ready);
                self.inject(now, (length, ready), log)
            }
            SendLine::Packet { .. } => {
                TakenPart::End(self.finish(SendLine::Idle, CommandOutcome::Sent))
            }
            SendLine::Ending => {
                self.line = SendLine::Idle;
                TakenPart::End(None)
            }
            SendLine::Text { .. } => self.taken_of_text(now, log),
            SendLine::Idle | SendLine::Open => TakenPart::Part,
        }
    }

    /// The bytes left of a packet whose first byte has been taken.
    pub(super) fn bytes_left(&self) -> &[u8] {
        match &self.line {
            SendLine::Packet { packet, at } if *at > 0 => {
                packet.bytes.get(*at..).unwrap_or_default()
            }
            SendLine::Packet { .. }
            | SendLine::Idle
            | SendLine::Text { .. }
            | SendLine::Open
            | SendLine::Ending => &[],
        }
    }

    /// Advances past bytes of a packet whose first byte has been taken.
    pub(super) fn taken_bytes(&mut self, count: usize) {
        if let SendLine::Packet { at, .. } = &mut self.line {
            *at += count;
            self.moved += count as u64;
        }
    }

    fn taken_of_text(&mut self, now: u64, log: &mut TruthLog) -> TakenPart {
        let SendLine::Text { chars, at, is_inside } = &mut self.line else {
            return TakenPart::Part;
        };
        if *at == 0 {
            log.emit(now, self.place, None, || TruthEventKind::Raw(chars.chars().to_string()));
        }
        let rest = chars.chars().split_at(*at).1;
        let taken = rest.get(0);
        let is_data = matches!(taken, Some(Character::Data(_)));
        let begins = is_data && !*is_inside;
        *is_inside = is_data || *is_inside && taken != Some(Character::GAP);
        let length = if begins { length_of_packet(rest) } else { 0 };
        *at += 1;
        let is_over = rest.len() <= 1;
        if is_over {
            self.line = if *is_inside { SendLine::Open } else { SendLine::Idle };
        }
        if begins {
            self.inject(now, (length, now), log)
        } else if is_over {
            TakenPart::End(None)
        } else {
            TakenPart::Part
        }
    }

    fn inject(&mut self, now: u64, (length, ready): (usize, u64), log: &mut TruthLog) -> TakenPart {
        let id = self.id();
        self.count = self.count.wrapping_add(1);
        log.emit(now, self.place, Some(id), || TruthEventKind::Injected {
            length: length as u64,
            queued: now.saturating_sub(ready),
        });
        TakenPart::Head
    }

    fn finish(&mut self, next: SendLine, outcome: CommandOutcome) -> Option<FinishedPacket> {
        let line = std::mem::replace(&mut self.line, next);
        let SendLine::Packet { packet: OutgoingPacket { bytes, behalf, .. }, .. } = line else {
            return None;
        };
        Some(FinishedPacket { behalf, outcome, bytes: bytes.len() })
    }

    /// Drops the rest and the end of the packet that the output circuit has ended itself. Packets
    /// that have not begun stay.
    pub(super) fn cut(&mut self) -> Option<FinishedPacket> {
        match &self.line {
            SendLine::Packet { at: 0, .. }
            | SendLine::Idle
            | SendLine::Text { is_inside: false, .. } => None,
            SendLine::Packet { .. } | SendLine::Open | SendLine::Ending => {
                self.finish(SendLine::Idle, CommandOutcome::Cut)
            }
            SendLine::Text { chars, at, .. } => {
                let gap =
                    (*at..chars.len()).find(|at| chars.chars().get(*at) == Some(Character::GAP));
                let next = gap.map_or(SendLine::Idle, |gap| text(chars.clone(), gap + 1));
                self.finish(next, CommandOutcome::Cut)
            }
        }
    }

    /// Breaks off the packet being sent, which then ends with a GAP. Packets that have not begun
    /// stay, but not texts. R-3
    pub(super) fn break_off(
        &mut self,
        now: u64,
        rule: RuleId,
        log: &mut TruthLog,
    ) -> Option<FinishedPacket> {
        let whole = |packet: &OutgoingPacket, at: usize| at == packet.bytes.len();
        match &self.line {
            SendLine::Packet { at: 0, .. } | SendLine::Idle | SendLine::Ending => None,
            SendLine::Text { is_inside: false, .. } => {
                self.finish(SendLine::Idle, CommandOutcome::Cut)
            }
            SendLine::Packet { packet, at } if whole(packet, *at) => {
                self.finish(SendLine::Ending, CommandOutcome::Sent)
            }
            SendLine::Packet { .. } | SendLine::Text { .. } | SendLine::Open => {
                log.emit(now, self.place, Some(self.last_id()), || TruthEventKind::Truncated(rule));
                self.finish(SendLine::Ending, CommandOutcome::Cut)
            }
        }
    }

    /// Removes the packets of an owner that have not begun.
    pub(super) fn forget(&mut self, behalf: PacketOwner) {
        self.ready.retain(|packet| packet.behalf != behalf);
        if let SendLine::Packet { packet, at: 0 } = &self.line
            && packet.behalf == behalf
        {
            self.line = SendLine::Idle;
        }
    }

    /// Removes all packets; one that was half sent ends with a GAP. I-3
    pub(super) fn reset(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        self.ready.clear();
        self.break_off(now, rule, log);
        if let SendLine::Packet { at: 0, .. } = self.line {
            self.line = SendLine::Idle;
        }
    }

    /// Resets the engine as [`Self::reset`] does, and sends nothing more.
    pub(super) fn power_off(&mut self, now: u64, rule: RuleId, log: &mut TruthLog) {
        self.reset(now, rule, log);
        self.line = SendLine::Idle;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakenPart {
    /// A byte with more to follow.
    Part,
    /// The first byte of a packet.
    Head,
    /// The end of a packet or text, with the packet that has left send memory.
    End(Option<FinishedPacket>),
}

/// A text from a position on.
fn text(chars: CharBuf, at: usize) -> SendLine {
    if at < chars.len() { SendLine::Text { chars, at, is_inside: false } } else { SendLine::Idle }
}

/// Bytes up to the next GAP.
fn length_of_packet(chars: codec::Chars<'_>) -> usize {
    let up_to_gap = chars.iter().take_while(|character| *character != Character::GAP);
    up_to_gap.filter(|character| character.is_data()).count()
}
