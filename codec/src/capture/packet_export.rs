//! Writer of packets and journeys as pcapng, one in each block. The format is in `docs/wireshark.md`.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::{DataLink, Endianness};

use super::annotate::{COMMENT_MAX, COMMENTS_MAX};
use super::channel::Channel;
use super::chunk::PAYLOAD_MAX;
use super::writer::WriteError;
use crate::framing::FrameEnd;
use crate::packet::{CrcCheck, PacketDialect};
use crate::time::{Picoseconds, Tick};

/// Version of the records.
const VERSION: u8 = 1;
/// Kinds of records.
const PACKET: u8 = 0;
const JOURNEY: u8 = 1;
/// Bytes of a packet's header before the name of its channel.
const HEADER_LEN: u16 = 64;
/// Longest name of a channel in a header. *Chosen*: the header's length has 16 bits.
const NAME_MAX: usize = 4096;

/// A packet of a channel to write.
#[derive(Clone, Copy, Debug)]
pub struct ExportedPacket<'a> {
    /// Its channel.
    pub channel: &'a Channel,
    /// Number on the channel, from 0.
    pub number: u64,
    /// First byte.
    pub start: Tick,
    /// Last byte.
    pub end: Tick,
    /// Number of bytes, CRC byte included.
    pub length: u64,
    /// The first of its bytes; as many as a record holds are written.
    pub bytes: &'a [u8],
    /// True if its start was not recorded.
    pub is_headless: bool,
    /// Result of the CRC check.
    pub check: CrcCheck,
    /// Cause of its end.
    pub ended_by: FrameEnd,
    /// Meaning of the bytes behind the route.
    pub dialect: PacketDialect,
}

/// Contents of the blocks of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportContents {
    /// Records of packets and journeys: link type `USER1`.
    Records,
    /// Ethernet frames: `ETHERNET`.
    Ethernet,
    /// IP packets of any version: `RAW`.
    Ip,
}

/// Streaming writer of packets and journeys, or of what packets carry, in one section.
pub struct PacketExport<W: Write> {
    contents: ExportContents,
    file: PcapNgWriter<BufWriter<W>>,
    interfaces: u32,
    record: Vec<u8>,
}

impl<W: Write> PacketExport<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// The output could not be written.
    pub fn new(write: W, contents: ExportContents) -> Result<Self, WriteError> {
        let file = PcapNgWriter::with_endianness(BufWriter::new(write), Endianness::Little)?;
        Ok(Self { contents, file, interfaces: 0, record: Vec::new() })
    }

    /// Adds the interface of a channel; returns its number.
    ///
    /// # Errors
    /// The output could not be written, or the name is longer than 64 KiB.
    pub fn declare(&mut self, channel: &Channel) -> Result<u32, WriteError> {
        let link_type = match self.contents {
            ExportContents::Records => DataLink::USER1,
            ExportContents::Ethernet => DataLink::ETHERNET,
            ExportContents::Ip => DataLink::RAW,
        };
        let mut interface = InterfaceDescriptionBlock::new(link_type, 0);
        interface.options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&channel.name)),
            InterfaceDescriptionOption::IfSpeed(channel.bits_per_second()),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
        ];
        self.file.write_pcapng_block(interface)?;
        self.interfaces = self.interfaces.saturating_add(1);
        Ok(self.interfaces - 1)
    }

    /// Adds a packet with comments.
    ///
    /// # Errors
    /// The output could not be written.
    pub fn packet<'c>(
        &mut self,
        interface: u32,
        packet: &ExportedPacket<'_>,
        comments: impl Iterator<Item = &'c str>,
    ) -> Result<(), WriteError> {
        self.record.clear();
        let bytes = packet.emit(&mut self.record);
        let missing = packet.length.saturating_sub(bytes as u64);
        let time = packet.channel.period.time(packet.start.0);
        self.write(interface, time, missing, comments)
    }

    /// Adds the bytes that a packet carries, with comments. `missing` bytes behind them were not kept.
    ///
    /// # Errors
    /// The output could not be written.
    pub fn payload<'c>(
        &mut self,
        interface: u32,
        time: Picoseconds,
        (bytes, missing): (&[u8], u64),
        comments: impl Iterator<Item = &'c str>,
    ) -> Result<(), WriteError> {
        let written = bytes.get(..PAYLOAD_MAX).unwrap_or(bytes);
        self.record.clear();
        self.record.extend_from_slice(written);
        let missing = missing.saturating_add((bytes.len() - written.len()) as u64);
        self.write(interface, time, missing, comments)
    }

    /// Adds a journey with comments: the fields of its row, as lines `name=value`.
    ///
    /// # Errors
    /// The output could not be written.
    pub fn journey<'c>(
        &mut self,
        interface: u32,
        (time, fields): (Picoseconds, &str),
        comments: impl Iterator<Item = &'c str>,
    ) -> Result<(), WriteError> {
        self.record.clear();
        self.record.extend([VERSION, JOURNEY, 0, 0, 0, 0, 8, 0]);
        let room = PAYLOAD_MAX - self.record.len();
        let written = fields.as_bytes().get(..room).unwrap_or(fields.as_bytes());
        self.record.extend_from_slice(written);
        self.write(interface, time, (fields.len() - written.len()) as u64, comments)
    }

    /// Writes the record. `missing` bytes behind it were not kept.
    fn write<'c>(
        &mut self,
        interface_id: u32,
        time: Picoseconds,
        missing: u64,
        comments: impl Iterator<Item = &'c str>,
    ) -> Result<(), WriteError> {
        let comments = comments.take(COMMENTS_MAX).map(|text| {
            let text = text.get(..text.floor_char_boundary(COMMENT_MAX)).unwrap_or_default();
            EnhancedPacketOption::Common(CommonOption::Comment(text.into()))
        });
        let length = (self.record.len() as u64).saturating_add(missing);
        let block = EnhancedPacketBlock {
            interface_id,
            // The latest time that pcapng has, where a place is beyond it.
            timestamp: Duration::from_nanos(u64::try_from(time / 1000).unwrap_or(u64::MAX)),
            original_len: u32::try_from(length).unwrap_or(u32::MAX),
            data: Cow::Borrowed(&self.record),
            options: comments.collect(),
        };
        self.file.write_pcapng_block(block)?;
        Ok(())
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// The buffered rest could not be written.
    pub fn finish(self) -> io::Result<W> {
        self.file.into_inner().into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl ExportedPacket<'_> {
    /// Writes header and bytes; returns the number of the packet's bytes written.
    fn emit(&self, out: &mut Vec<u8>) -> usize {
        let Channel { name, period, capture, .. } = self.channel;
        let name = name.get(..name.floor_char_boundary(NAME_MAX)).unwrap_or_default();
        let ended_by = match self.ended_by {
            FrameEnd::Gap => 0,
            FrameEnd::OpenLink => 1,
            FrameEnd::Reset => 2,
            FrameEnd::Hole => 3,
            FrameEnd::CaptureEnd => 4,
        };
        let (check, syndrome) = match self.check {
            CrcCheck::Good => (0, 0),
            CrcCheck::Bad(syndrome) => (1, syndrome),
            CrcCheck::Runt => (2, 0),
            CrcCheck::Partial => (3, u8::from(self.is_headless)),
        };
        let name_len = u16::try_from(name.len()).unwrap_or_default();
        let dialect = match self.dialect {
            PacketDialect::Tag => 0,
            PacketDialect::Vita26 => 1,
        };
        out.extend([VERSION, PACKET, ended_by, check, syndrome, dialect]);
        out.extend((HEADER_LEN + name_len).to_le_bytes());
        let [time, end_time] =
            [self.start, self.end].map(|at| u64::try_from(period.time(at.0)).unwrap_or(u64::MAX));
        for number in [self.number, self.start.0, self.end.0, self.length, time, end_time] {
            out.extend(number.to_le_bytes());
        }
        out.extend(capture.to_le_bytes());
        out.extend([0; 4]);
        out.extend_from_slice(name.as_bytes());
        let room = PAYLOAD_MAX - out.len();
        let bytes = self.bytes.get(..room).unwrap_or(self.bytes);
        out.extend_from_slice(bytes);
        bytes.len()
    }
}

impl<W: Write> fmt::Debug for PacketExport<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketExport").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that were not kept are missing, and those that a block has no room for.
    #[test]
    fn the_original_length_counts_what_is_left_out() {
        for (len, missing, written) in [(5, 0, 5), (5, 3, 5), (PAYLOAD_MAX + 7, 3, PAYLOAD_MAX)] {
            let mut export = PacketExport::new(Vec::new(), ExportContents::Ip).unwrap();
            let interface = export.declare(&Channel::named("a>b")).unwrap();
            let block = export.file.get_ref().buffer().len();
            export.payload(interface, 0, (&vec![0; len], missing), std::iter::empty()).unwrap();
            let file = export.finish().unwrap();
            let length = |at| u32::from_le_bytes(*file[block + at..].first_chunk().unwrap());
            assert_eq!([20, 24].map(length).map(u64::from), [written as u64, len as u64 + missing]);
        }
    }
}
