//! A packet as a receiver at the tap frames it, and how it is put together as it comes in.

mod lost_gap;

use codec::Chars;
use codec::crc::CrcResidue;
use codec::packet::{CrcCheck, PacketTag};
use codec::route::is_route_byte;
use codec::time::Tick;
use codec::transport::DATA_HEADER_LEN;
use serde::Serialize;

use self::lost_gap::LostGapSearch;
use crate::transport::{HeaderBytes, ParsedTransport};

/// Most bytes kept of one packet, and of its route. *Chosen*: a packet has no greatest length (P-1),
/// and a repeat can make one of 2⁶⁴ bytes.
pub const KEPT_MAX: usize = 1 << 20;

/// Most bytes of a packet's front that are kept. *Chosen*: route, tag and the header of a message, and more
/// bytes than agree by chance.
pub const FRONT_MAX: usize = 64;

/// The first bytes of a packet, [`FRONT_MAX`] at most: they identify it where it was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFront {
    bytes: [u8; FRONT_MAX],
    len: usize,
}

impl PacketFront {
    const EMPTY: Self = Self { bytes: [0; FRONT_MAX], len: 0 };

    /// The bytes, the first first.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn add(&mut self, data: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let len = room.len().min(data.len());
        for (kept, byte) in room.iter_mut().zip(data) {
            *kept = *byte;
        }
        self.len += len;
    }
}

/// A packet, closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPacket {
    /// Counts from 0 on its channel.
    pub number: u64,
    /// Place of its first byte.
    pub start: Tick,
    /// Place of its last byte.
    pub end: Tick,
    /// Data bytes, CRC byte included.
    pub length: u64,
    /// The leading bytes with MSB 1, the CRC byte never among them. P-2
    pub route: CappedBytes,
    /// Its first bytes.
    pub front: PacketFront,
    /// The byte after them, if there is one before the CRC byte. P-2
    pub tag: Option<PacketTag>,
    /// The bytes between the route and the CRC byte, modulo x¹²⁷−1: what no hop changes. P-3, P-5
    pub body: CrcResidue,
    /// What the CRC byte says. P-4, P-5, P-9
    pub check: CrcCheck,
    /// What ended it.
    pub ended_by: PacketEnd,
    /// The first place inside it where no symbol stands but its CRC is good so far: a GAP may have been
    /// there, and this may be two packets. P-1
    pub possible_gap: Option<Tick>,
    /// All its bytes, where they were asked for.
    pub bytes: Option<CappedBytes>,
    /// If its tag says that it is one of the reliability protocol: what it says. T-7
    pub transport: Option<Box<ParsedTransport>>,
}

/// What ended a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEnd {
    /// GAP. P-1
    Gap,
    /// 16 silent periods. F-7
    OpenLink,
    /// FRES.
    Reset,
    /// Characters were not recorded.
    Hole,
    /// The recording ended.
    CaptureEnd,
}

impl PacketEnd {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::OpenLink => "open-link",
            Self::Reset => "reset",
            Self::Hole => "hole",
            Self::CaptureEnd => "capture-end",
        }
    }
}

/// Bytes, the first [`KEPT_MAX`] of which are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CappedBytes {
    bytes: Vec<u8>,
    len: u64,
}

impl CappedBytes {
    /// The bytes kept.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many there were.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.len
    }

    /// How many were not kept.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.len - self.bytes.len() as u64
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT_MAX - self.bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.len += bytes.len() as u64;
    }

    fn add_repeated(&mut self, bytes: &[u8], count: u64) {
        let more = count * bytes.len() as u64;
        let room = KEPT_MAX - self.bytes.len();
        let kept = usize::try_from(more).unwrap_or(room).min(room);
        self.bytes.extend(bytes.iter().cycle().take(kept));
        self.len += more;
    }

    fn drop_last(&mut self) {
        self.len -= 1;
        self.bytes.truncate(usize::try_from(self.len).unwrap_or(usize::MAX));
    }
}

/// Whether the bytes of packets are kept until they are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteRetention {
    /// Only the header is.
    #[default]
    Forget,
    /// All are.
    Keep,
}

/// A packet that is being received.
#[derive(Clone, Debug)]
pub(crate) struct PacketAssembler {
    start: Tick,
    end: Tick,
    length: u64,
    residue: CrcResidue,
    last: u8,
    route: CappedBytes,
    front: PacketFront,
    /// The first byte that is no route byte, if there was one: the tag, or the CRC byte.
    after_route: Option<u8>,
    /// Where it might have ended, if no data came after that.
    pause: Option<Tick>,
    seam: Option<Tick>,
    bytes: Option<CappedBytes>,
    /// What follows a tag of the reliability protocol.
    first: Option<Box<HeaderBytes>>,
}

impl PacketAssembler {
    pub(crate) fn new(start: Tick, bytes: ByteRetention) -> Self {
        Self {
            start,
            end: start,
            length: 0,
            residue: CrcResidue::NEW,
            last: 0,
            route: CappedBytes::default(),
            front: PacketFront::EMPTY,
            after_route: None,
            pause: None,
            seam: None,
            bytes: match bytes {
                ByteRetention::Forget => None,
                ByteRetention::Keep => Some(CappedBytes::default()),
            },
            first: None,
        }
    }

    pub(crate) const fn start(&self) -> Tick {
        self.start
    }

    /// Adds data characters that stand at consecutive places, at least one.
    pub(crate) fn add(&mut self, at: Tick, data: &[u8]) {
        if self.after_route.is_none() {
            let hops = data.iter().take_while(|byte| is_route_byte(**byte)).count();
            self.route.add(data.get(..hops).unwrap_or_default());
            self.after_route = data.get(hops).copied();
            self.first = self.after_route.and_then(HeaderBytes::of);
            if let Some(first) = &mut self.first {
                first.add(data.iter().skip(hops + 1));
            }
        } else if let Some(first) = &mut self.first {
            first.add(data);
        }
        self.front.add(data);
        if let Some(pause) = self.pause.take() {
            self.seam.get_or_insert(pause);
        }
        self.residue = self.residue.feed(data);
        self.last = data.last().copied().unwrap_or(self.last);
        self.length += data.len() as u64;
        self.end = Tick(at.0 + data.len() as u64 - 1);
        if let Some(bytes) = &mut self.bytes {
            bytes.add(data);
        }
    }

    /// Passes over rounds of a repeat that stand at this place: `data` of a pattern so many times.
    pub(crate) fn pass_over(&mut self, at: Tick, (pattern, data): (Chars<'_>, &[u8]), count: u64) {
        if !data.is_empty() && count > 0 {
            let Self { residue, pause, seam, .. } = *self;
            let mut it = LostGapSearch { crc: residue.crc(), pause, seam };
            it.pass(pattern, at, count, residue.feed_repeated(data, count - 1).crc());
            (self.pause, self.seam) = (it.pause, it.seam);
        }
        self.add_repeated(data, count, pattern.len() as u64 * count);
    }

    /// Adds the same data characters many times more; `later` is by how much that moves the last.
    fn add_repeated(&mut self, data: &[u8], count: u64, later: u64) {
        if self.after_route.is_none() {
            // Else the first round would have shown the byte after the route.
            self.route.add_repeated(data, count);
        } else if let Some(first) = &mut self.first {
            let rounds = usize::try_from(count).unwrap_or(DATA_HEADER_LEN).min(DATA_HEADER_LEN);
            first.add(std::iter::repeat_n(data, rounds).flatten());
        }
        let rounds = usize::try_from(count).unwrap_or(FRONT_MAX).min(FRONT_MAX);
        (0..rounds).for_each(|_| self.front.add(data));
        self.residue = self.residue.feed_repeated(data, count);
        self.last = data.last().copied().unwrap_or(self.last);
        self.length += count * data.len() as u64;
        if !data.is_empty() {
            self.end = Tick(self.end.0 + later);
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.add_repeated(data, count);
        }
    }

    /// Something stands here that is no symbol: the packet may end, and another begin. P-1
    pub(crate) fn pause(&mut self, at: Tick) {
        if self.pause.is_none() && self.length > 1 && self.residue.crc().syndrome() == 0 {
            self.pause = Some(at);
        }
    }

    /// Moves the packet to a later place, where another like it stands.
    pub(crate) fn shift(&mut self, later: u64) {
        self.start.0 += later;
        self.end.0 += later;
        for place in [&mut self.pause, &mut self.seam].into_iter().flatten() {
            place.0 += later;
        }
    }

    pub(crate) fn close(self, number: u64, ended_by: PacketEnd) -> ReceivedPacket {
        let Self { start, end, length, residue, last, mut route, after_route, .. } = self;
        let Self { seam, bytes, first, front, .. } = self;
        let runt = length < 2;
        // Of two bytes or more the last is the CRC byte, whatever it looks like.
        let tag = match after_route {
            Some(_) if !runt && route.count() + 1 == length => None,
            Some(byte) => PacketTag::new(byte),
            None => {
                if !runt {
                    route.drop_last();
                }
                None
            }
        };
        let check = CrcCheck::from_syndrome((!runt).then(|| residue.crc().syndrome()));
        let before_crc = if runt { residue } else { residue.without_last(last) };
        // A route of which not all is kept tells packets apart without its length too.
        let behind = length.saturating_sub(u64::from(!runt) + route.count());
        let body = before_crc.without_first(route.bytes(), behind + route.left_out());
        let mut packet = ReceivedPacket {
            number,
            start,
            end,
            length,
            route,
            front,
            tag,
            body,
            check,
            ended_by,
            possible_gap: seam,
            bytes,
            transport: None,
        };
        let first = first.filter(|_| tag.is_some());
        packet.transport = first.map(|first| first.close(packet.payload(), check, body));
        packet
    }
}

impl ReceivedPacket {
    /// Bytes between tag and CRC byte.
    #[must_use]
    pub fn payload(&self) -> u64 {
        let header = self.route.count() + u64::from(self.tag.is_some());
        let crc = u64::from(self.check != CrcCheck::Runt);
        self.length - header - crc
    }

    /// The packet as the row of `docs/output.md`.
    #[must_use]
    pub fn row<'a>(&'a self, channel: &'a str) -> PacketRow<'a> {
        PacketRow {
            channel,
            packet: self.number,
            start: self.start.0,
            end: self.end.0,
            length: self.length,
            route: self.route.bytes(),
            tag: self.tag.map(PacketTag::value),
            payload: self.payload(),
            crc: crc_name(self.check),
            syndrome: self.check.syndrome(),
            ended_by: self.ended_by.name(),
            bytes: self.bytes.as_ref().map(|bytes| HexBytes(bytes.bytes())),
            route_left_out: self.route.left_out(),
            bytes_left_out: self.bytes.as_ref().map_or(0, CappedBytes::left_out),
        }
    }
}

/// The verdict on a packet's CRC, by its name in `docs/output.md`.
#[must_use]
pub const fn crc_name(check: CrcCheck) -> &'static str {
    match check {
        CrcCheck::Good => "good",
        CrcCheck::Bad(_) => "bad",
        CrcCheck::Runt => "runt",
    }
}

/// A row of `myriscope packets`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// Counts from 0 on the channel.
    pub packet: u64,
    /// Place of the first data character.
    pub start: u64,
    /// Place of the last.
    pub end: u64,
    /// Data bytes, CRC byte included.
    pub length: u64,
    /// The leading bytes with MSB 1.
    pub route: &'a [u8],
    /// The byte after them.
    pub tag: Option<u8>,
    /// Bytes between tag and CRC byte.
    pub payload: u64,
    /// `good`, `bad` or `runt`.
    pub crc: &'static str,
    /// Computed ⊕ received CRC; none for a runt.
    pub syndrome: Option<u8>,
    /// [`PacketEnd::name`].
    pub ended_by: &'static str,
    /// All bytes, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<HexBytes<'a>>,
    /// Bytes of the route beyond those kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub route_left_out: u64,
    /// Bytes beyond those kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Bytes, written as hex digits where people can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexBytes<'a>(pub &'a [u8]);

impl std::fmt::Display for HexBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for HexBytes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_of_a_long_packet_is_counted() {
        let mut packet = PacketAssembler::new(Tick(0), ByteRetention::Keep);
        packet.add(Tick(0), &[0x80, 0x81]);
        let rounds = KEPT_MAX as u64;
        packet.add_repeated(&[0x80, 0x81], rounds - 1, 2 * (rounds - 1));
        packet.add(Tick(2 * rounds), &[0x05, 0xaa, 0x00]);
        let packet = packet.close(0, PacketEnd::Gap);
        let row = packet.row("a>b");
        assert_eq!((row.start, row.end, row.length), (0, 2 * rounds + 2, 2 * rounds + 3));
        // Twice KEPT_MAX bytes of route, half of which are kept; then tag, one byte, CRC byte.
        assert_eq!((row.route.len() as u64, row.route_left_out), (rounds, rounds));
        assert_eq!((row.tag, row.payload), (Some(5), 1));
        assert_eq!(row.bytes.map(|hex| hex.0.len()), Some(KEPT_MAX));
        assert_eq!(row.bytes_left_out, rounds + 3);
        assert_eq!(row.route.iter().take(3).copied().collect::<Vec<_>>(), [0x80, 0x81, 0x80]);
    }
}
