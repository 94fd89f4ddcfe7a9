//! A received packet, and its row.

mod assembler;
mod captured_mapping;
mod internetwork_row;
mod lost_gap;
mod switch_row;
pub mod transport;
mod vita26_row;

use std::sync::Arc;

use codec::crc::CrcResidue;
pub use codec::framing::FrameEnd;
pub use codec::packet::CappedBytes;
use codec::packet::{CrcCheck, PacketDialect, PacketTag};
use codec::time::Tick;
use serde::Serialize;

pub(crate) use self::assembler::PacketAssembler;
pub(crate) use self::captured_mapping::too_long;
pub use self::captured_mapping::{CapturedMapping, PAYLOAD_MAX};
pub use self::internetwork_row::InternetworkRow;
pub use self::switch_row::{SwitchAnswerRow, SwitchAnswers, SwitchPortRow};
use self::transport::ParsedTransport;
pub use self::vita26_row::Vita26Row;
use crate::ip::{IpRow, ParsedIp};
use crate::row::FieldShape::{Bytes, Number, Place, Words};
use crate::row::row;

/// Maximum length of a [`PacketFront`]. *Chosen*: route, tag and the header of a message, and more bytes
/// than agree by chance.
pub const FRONT_MAX: usize = 64;

/// Maximum length of a packet whose bytes are compared. *Chosen*: longer than those of the time.
pub const COMPARED_MAX: u64 = 1 << 14;
/// Maximum of bytes of a repetition that are kept for the comparison. *Chosen*: a small chunk may repeat a
/// byte any number of times.
const REPETITION_MAX: u64 = 512;

/// The first bytes of a packet, at most [`FRONT_MAX`]: they identify a truncated packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFront {
    bytes: [u8; FRONT_MAX],
    len: usize,
}

impl PacketFront {
    const EMPTY: Self = Self { bytes: [0; FRONT_MAX], len: 0 };

    /// The bytes in order.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    #[inline]
    fn add(&mut self, data: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let len = room.len().min(data.len());
        if let (Some(room), Some(data)) = (room.get_mut(..len), data.get(..len)) {
            room.copy_from_slice(data);
        }
        self.len += len;
    }
}

/// Coverage of a packet's first byte. P-1, P-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartCoverage {
    /// The first byte was captured.
    Seen,
    /// The recording, or its continuation after a hole, may begin inside the packet.
    Unsure,
}

impl StartCoverage {
    /// True for a part without its start: its first bytes are neither route nor tag. P-7
    pub(crate) fn is_headless(self, check: CrcCheck) -> bool {
        self == Self::Unsure && check == CrcCheck::Partial
    }
}

/// A packet that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPacket {
    /// Number on its channel, from 0.
    pub number: u64,
    /// Its first byte.
    pub start: Tick,
    /// Its last byte.
    pub end: Tick,
    /// Number of bytes, CRC byte included.
    pub length: u64,
    /// The leading bytes with MSB 1, without the CRC byte. P-2
    pub route: CappedBytes,
    /// First bytes of the packet.
    pub front: PacketFront,
    /// The byte behind the route, if it is not the CRC byte. P-2
    pub tag: Option<PacketTag>,
    /// The bytes between the route and the CRC byte, modulo x¹²⁷−1, which no hop changes. P-3, P-5
    pub body: CrcResidue,
    /// Coverage of its first byte.
    pub opening: StartCoverage,
    /// Result of the CRC check; of a packet without its start or its end there is none. P-4, P-5, P-7, P-9
    pub check: CrcCheck,
    /// Last byte.
    pub crc_byte: u8,
    /// Wires on which its bytes have a 1.
    pub ones: u8,
    /// Cause of its end.
    pub ended_by: FrameEnd,
    /// The first position inside it that has no symbol, but a good CRC before it: a GAP may have been lost
    /// there, and this may be two packets. P-1
    pub possible_gap: Option<Tick>,
    /// All its bytes, with [`ByteRetention::Keep`] or [`ByteRetention::Compare`].
    pub bytes: Option<Arc<CappedBytes>>,
    /// Contents of a packet of the reliability protocol. T-7
    pub transport: Option<Box<ParsedTransport>>,
    /// Contents of a packet of mapping. N-2
    pub mapping: Option<Arc<CapturedMapping>>,
    /// Contents of a packet of IP. H-1
    pub ip: Option<Box<ParsedIp>>,
    /// Answers of switches. S-8
    pub switches: Option<Box<SwitchAnswers>>,
    /// Dialect of its row.
    pub dialect: PacketDialect,
}

/// Storage of packet bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteRetention {
    /// The first bytes only.
    #[default]
    Forget,
    /// All bytes.
    Keep,
    /// All bytes of a packet of at most [`COMPARED_MAX`] bytes without long repetitions, to compare its copies.
    Compare,
}

impl ReceivedPacket {
    /// Reads the packet in a dialect. The protocols of types of one byte are not those of the later one.
    pub fn read_as(&mut self, dialect: PacketDialect) {
        self.dialect = dialect;
        if dialect == PacketDialect::Vita26 {
            (self.transport, self.mapping, self.ip) = (None, None, None);
            self.switches = None;
        }
    }

    /// True for a part without its start: its first bytes are neither route nor tag. P-7
    pub fn is_headless(&self) -> bool {
        self.opening.is_headless(self.check)
    }

    /// Residue of all bytes but the CRC byte.
    pub(crate) fn residue(&self) -> CrcResidue {
        // Route bytes that were not kept count as body.
        let kept = self.route.bytes();
        let behind = self.length.saturating_sub(u64::from(self.length > 1) + kept.len() as u64);
        self.body.xor(CrcResidue::NEW.feed(kept).times_x_to(8 * (behind % 127)))
    }

    /// Result of the CRC check if the packet began with its first recorded byte: only the truth tells.
    #[cfg(feature = "score")]
    pub(crate) fn check_from_start(&self) -> CrcCheck {
        let is_ended = !matches!(self.ended_by, FrameEnd::Hole | FrameEnd::CaptureEnd);
        if !is_ended || !self.is_headless() {
            return self.check;
        }
        let syndrome = self.residue().crc().value() ^ self.crc_byte;
        CrcCheck::from_syndrome((self.length > 1).then_some(syndrome))
    }

    /// Number of bytes between tag and CRC byte.
    pub fn payload(&self) -> u64 {
        let header = self.route.count() + u64::from(self.tag.is_some());
        let crc = u64::from(self.length > 1);
        self.length - header - crc
    }

    /// The row of `myriscope packets`.
    pub fn row<'a>(&'a self, channel: &'a str) -> PacketRow<'a> {
        let is_headless = self.is_headless();
        PacketRow {
            channel,
            packet: self.number,
            start: self.start.0,
            end: self.end.0,
            length: self.length,
            route: if is_headless { &[] } else { self.route.bytes() },
            tag: self.tag.filter(|_| !is_headless).map(PacketTag::value),
            payload: self.payload(),
            crc: self.check.name(),
            syndrome: self.check.syndrome(),
            ended_by: self.ended_by.name(),
            ip: self.ip.as_ref().map(|ip| Box::new(ip.row())),
            switch: self.switches.as_ref().map(|answers| answers.rows()),
            switch_fault: self.switches.as_ref().and_then(|answers| answers.fault()),
            vita26: self.vita26(),
            internetwork: self.internetwork(),
            bytes: self.bytes.as_ref().map(|bytes| HexBytes(bytes.bytes())),
            route_left_out: self.route.left_out(),
            bytes_left_out: self.bytes.as_ref().map_or(0, |bytes| bytes.left_out()),
        }
    }
}

row! {
    /// A row of `myriscope packets`; fields as in `docs/output.md`.
    #[derive(Default)]
    pub struct PacketRow<'a> at (start, end) {
        channel: &'a str, "", "", "name of the channel";
        packet: u64, "", "", "counts from 0 on the channel";
        start: u64 as Place, "characters", "P-1", "place of the first data character";
        end: u64 as Place, "characters", "P-1", "place of the last data character";
        length: u64, "bytes", "P-1", "data bytes, CRC byte included";
        route: &'a [u8], "", "P-2", "the leading bytes with MSB 1";
        tag: Option<u8> as Number(127), "", "P-2", "the byte after the route";
        payload: u64, "bytes", "P-2", "bytes between tag and CRC byte";
        crc: &'static str as Words(CrcCheck::NAMES), "", "P-4", "what the CRC byte says; partial: start or end not recorded";
        syndrome: Option<u8>, "", "P-5", "computed XOR received CRC; not of a runt or a part";
        ended_by: &'static str as Words(FrameEnd::NAMES), "", "P-1", "what ended the packet";
        ip: Option<Box<IpRow>> ["Option::is_none"], "members", "H-1", "reading of a packet of type 08" => IpRow::FIELDS;
        switch: Option<Vec<SwitchAnswerRow>> ["Option::is_none"], "answers", "S-8", "of a packet of type 13, in order" => SwitchAnswerRow::FIELDS;
        switch_fault: Option<String> ["Option::is_none"], "", "S-8", "where no answer follows, and why";
        vita26: Option<Box<Vita26Row>> ["Option::is_none"], "members", "", "reading with --dialect vita26" => Vita26Row::FIELDS;
        internetwork: Option<Box<InternetworkRow>> ["Option::is_none"], "members", "N-5", "reading of a packet of type 03" => InternetworkRow::FIELDS;
        bytes: Option<HexBytes<'a>> ["Option::is_none"] as Bytes, "", "P-1", "all its bytes, the first MiB at most";
        route_left_out: u64 ["is_zero"], "bytes", "", "bytes that route does not have";
        bytes_left_out: u64 ["is_zero"], "bytes", "", "bytes that bytes does not have";
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Bytes, serialized as hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexBytes<'a>(pub &'a [u8]);

impl std::fmt::Display for HexBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for HexBytes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
