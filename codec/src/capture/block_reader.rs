//! Blocks of a capture file: pcapng of any byte order and number of sections, or classic pcap.

use std::io::{self, Read};
use std::sync::Arc;

use pcap_file::Endianness;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::{Block, PcapNgParser};

use super::LINK_TYPE;
use super::block::{BlockHead, ENHANCED_PACKET, PAYLOAD, SECTION_HEADER, locate_error};
use super::block_options::interface_options;
use super::chunk::PAYLOAD_MAX;
use super::error::{BlockPosition, CLASSIC_RECORD, CaptureError};
use super::index::ResumedChannels;
use super::interface_table::{InterfaceDescription, InterfaceTable};
use super::item::CaptureItem;
use super::reader::ReadProgress;
use super::splitter::ChannelSplitter;
use super::window::ReadWindow;
use super::writer::ByteOrder;

/// The reader without its stream: compiled once, for streams of every type.
#[derive(Debug, Default)]
pub(super) struct BlockReader {
    pub(super) window: ReadWindow,
    format: CaptureFormat,
    pub(super) table: InterfaceTable,
    /// Number of blocks read.
    number: u64,
    /// Kind of the last block; a classic pcap file begins with a section header.
    pub(super) kind: u32,
    pub(super) resumed: Option<ResumedChannels>,
    /// None if channels stay those of the file.
    pub(super) splitter: Option<Box<ChannelSplitter>>,
}

#[derive(Debug, Default)]
enum CaptureFormat {
    /// Before the first byte.
    #[default]
    Unknown,
    /// The parser is made from the first section header.
    PcapNg(Option<PcapNgParser>),
    Pcap(PcapParser),
    Done,
}

/// Bytes of a pcap file's and a pcap record's header.
const PCAP_HEAD: usize = 24;
const RECORD_HEAD: usize = 16;

impl BlockReader {
    pub(super) const fn is_classic(&self) -> bool {
        matches!(self.format, CaptureFormat::Pcap(_))
    }

    /// [`CaptureReader::step`](super::CaptureReader::step).
    pub(super) fn step(
        &mut self,
        stream: &mut dyn Read,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let (mut faults, mut ends, resumed) = (0, Vec::new(), self.resumed.take());
        let mut splitter = self.splitter.take();
        let mut out = |item: CaptureItem<'_>| match &mut splitter {
            Some(splitter) => splitter.split(item, out),
            None => out(item),
        };
        let result = self.advance(stream, &mut |item| {
            faults += u64::from(matches!(item, CaptureItem::Fault(_)));
            match (&resumed, item) {
                (Some(resumed), CaptureItem::Channel(id, channel)) => {
                    let (channel, end) = resumed.described(channel);
                    ends.push((id, end));
                    out(CaptureItem::Channel(id, &Arc::new(channel)));
                }
                (_, item) => out(item),
            }
        });
        self.resumed = resumed;
        self.splitter = splitter;
        self.table.add(faults, &ends);
        result
    }

    fn advance(
        &mut self,
        stream: &mut dyn Read,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let result = match self.format {
            CaptureFormat::Unknown => self.open(stream, out),
            CaptureFormat::PcapNg(_) => self.block(stream, out),
            CaptureFormat::Pcap(_) => self.record(stream, out),
            CaptureFormat::Done => return Ok(ReadProgress::Done),
        };
        match result {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => {
                self.format = CaptureFormat::Done;
                self.table.end_section(out);
                if let Some(found) = self.table.without_channel() {
                    return Err(self.stopped(CaptureError::NoChannel { found }));
                }
            }
            Err(error) => {
                self.format = CaptureFormat::Done;
                self.table.abandon_section(out);
                // Damage in a file of another kind matters less than its kind.
                let foreign = self.table.without_channel().filter(|_| self.table.skipped() > 0);
                return Err(self.stopped(match foreign {
                    Some(found) => CaptureError::NoChannel { found: format!("{found}; {error}") },
                    None => error,
                }));
            }
        }
        result
    }

    fn stopped(&mut self, error: CaptureError) -> CaptureError {
        self.table.stop(self.window.offset);
        error
    }

    fn open(
        &mut self,
        stream: &mut dyn Read,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        self.kind = SECTION_HEADER;
        let have = self.fill_to(stream, PCAP_HEAD)?;
        let ahead = self.window.ahead();
        match ahead.first_chunk::<4>() {
            _ if have == 0 => Err(CaptureError::Empty),
            Some([0x0a, 0x0d, 0x0d, 0x0a]) => {
                self.format = CaptureFormat::PcapNg(None);
                Ok(ReadProgress::More)
            }
            Some(
                [0xa1, 0xb2, 0xc3, 0xd4]
                | [0xa1, 0xb2, 0x3c, 0x4d]
                | [0xd4, 0xc3, 0xb2, 0xa1]
                | [0x4d, 0x3c, 0xb2, 0xa1],
            ) => self.open_pcap(stream, have, out),
            _ => {
                let found = ahead.iter().take(8).map(|byte| format!("{byte:02x}"));
                Err(CaptureError::NotACapture { found: found.collect::<Vec<_>>().join(" ") })
            }
        }
    }

    fn open_pcap(
        &mut self,
        stream: &mut dyn Read,
        have: usize,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let place = self.place("file header");
        let Ok((_, parser)) = PcapParser::new(self.window.ahead()) else {
            return Err(place.cut("header", PCAP_HEAD as u64, have as u64));
        };
        let link_type = u32::from(parser.header().datalink);
        self.format = CaptureFormat::Pcap(parser);
        self.skip(stream, PCAP_HEAD as u64)?;
        let description = InterfaceDescription { link_type, len: 0, place };
        self.table.declare(description, std::iter::empty(), out)?;
        Ok(ReadProgress::More)
    }

    fn block(
        &mut self,
        stream: &mut dyn Read,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let have = self.fill_to(stream, 12)?;
        let mut place = self.place("block");
        let Some(head) = self.window.ahead().first_chunk::<12>() else {
            return if have == 0 {
                Ok(ReadProgress::Done)
            } else {
                Err(place.cut("header", 12, have as u64))
            };
        };
        let [.., a, b, _, _] = *head;
        let head = BlockHead::read(*head, self.order(), &mut place)?;
        let trailer = if head.is_parsed() {
            let have = self.fill_to(stream, head.len as usize)?;
            if have < head.len as usize {
                return Err(place.cut("block total length", head.len.into(), have as u64));
            }
            self.window.ahead().get(..head.len as usize).and_then(|block| block.last_chunk::<4>())
        } else {
            let before = u64::from(head.len) - 4;
            let passed = self.skip(stream, before)?;
            let have = passed + self.fill_to(stream, 4)? as u64;
            if have < head.len.into() {
                return Err(place.cut("block total length", head.len.into(), have));
            }
            self.window.ahead().first_chunk::<4>()
        };
        let trailer = head.order.word(trailer.copied().unwrap_or_default());
        if trailer != head.len {
            let fault = format!("is {} at the head and {trailer} at the end", head.len);
            return Err(CaptureError::Damaged(place.fault("block total length", fault)));
        }
        if head.is_parsed() {
            self.parse(head, place, out)?;
        } else if let Some(number) = head.other_packet([a, b])
            && self.table.period(number).is_some()
        {
            let fault = format!("is {}: chunks are read from enhanced packets, type 6", head.kind);
            self.table.reject(place.fault("block type", fault), out);
        }
        self.number += 1;
        self.kind = head.kind;
        self.skip(stream, if head.is_parsed() { head.len.into() } else { 4 })?;
        Ok(ReadProgress::More)
    }

    /// Parses a complete block at the head of the window.
    fn parse(
        &mut self,
        head: BlockHead,
        place: BlockPosition,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<(), CaptureError> {
        let CaptureFormat::PcapNg(parser) = &mut self.format else { return Ok(()) };
        let bytes = self.window.ahead().get(..head.len as usize).unwrap_or_default();
        let options = head.options(bytes);
        let bare = head.bare(bytes);
        let bytes = bare.as_deref().unwrap_or(bytes);
        let block = match parser {
            Some(parser) => parser.next_block(bytes).map(|(_, block)| block),
            None => PcapNgParser::new(bytes).map(|(_, new)| {
                let section = Block::SectionHeader(new.section().clone());
                *parser = Some(new);
                section
            }),
        };
        match block {
            Ok(Block::EnhancedPacket(packet)) => {
                let payload = (&*packet.data, packet.original_len);
                self.table.chunk(packet.interface_id, payload, place.within(PAYLOAD as u64), out);
            }
            Ok(Block::SectionHeader(section)) => {
                if section.major_version != 1 {
                    let fault = format!("is {}, not 1", section.major_version);
                    return Err(CaptureError::Damaged(
                        place.within(12).fault("major version", fault),
                    ));
                }
                self.table.begin_section(place.offset, out);
            }
            Ok(Block::InterfaceDescription(interface)) => {
                let link_type = u32::from(interface.linktype);
                let words = if link_type == u32::from(LINK_TYPE) {
                    let place = place.within(head.options_at(bytes) as u64);
                    interface_options(options, place, &mut |fault| out(CaptureItem::Fault(fault)))
                } else {
                    Vec::new()
                };
                let description = InterfaceDescription { link_type, len: head.len, place };
                self.table.declare(description, words.into_iter(), out)?;
            }
            Err(error) => {
                let (at, field, fault) = locate_error(&error);
                let fault = place.within(at).fault(field, fault);
                // Without a section's or interface's description nothing behind it can be read.
                if head.kind != ENHANCED_PACKET {
                    return Err(CaptureError::Damaged(fault));
                }
                self.table.reject(fault, out);
            }
            // The header has one of the three kinds.
            Ok(_) => {}
        }
        Ok(())
    }

    /// One record of a classic pcap file.
    fn record(
        &mut self,
        stream: &mut dyn Read,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let have = self.fill_to(stream, RECORD_HEAD)?;
        let place = self.place(CLASSIC_RECORD);
        let Some(head) = self.window.ahead().first_chunk::<RECORD_HEAD>() else {
            return if have == 0 {
                Ok(ReadProgress::Done)
            } else {
                Err(place.cut("header", RECORD_HEAD as u64, have as u64))
            };
        };
        let [.., a, b, c, d, _, _, _, _] = *head;
        let captured = self.order().word([a, b, c, d]) as usize;
        if captured > PAYLOAD_MAX {
            let fault = format!("is {captured}, more than {PAYLOAD_MAX}");
            return Err(CaptureError::Damaged(place.within(8).fault("captured length", fault)));
        }
        let len = RECORD_HEAD + captured;
        let have = self.fill_to(stream, len)?;
        let CaptureFormat::Pcap(parser) = &self.format else { return Ok(ReadProgress::Done) };
        let Ok((_, packet)) = parser.next_raw_packet(self.window.ahead()) else {
            return Err(place.cut("captured length", len as u64, have as u64));
        };
        let payload = (&*packet.data, packet.orig_len);
        self.table.chunk(0, payload, place.within(RECORD_HEAD as u64), out);
        self.number += 1;
        self.kind = ENHANCED_PACKET;
        self.skip(stream, len as u64)?;
        Ok(ReadProgress::More)
    }

    /// The byte order of the section, or of the file.
    pub(super) fn order(&self) -> ByteOrder {
        let endianness = match &self.format {
            CaptureFormat::PcapNg(Some(parser)) => parser.section().endianness,
            CaptureFormat::Pcap(parser) => parser.header().endianness,
            CaptureFormat::PcapNg(None) | CaptureFormat::Unknown | CaptureFormat::Done => {
                return ByteOrder::Little;
            }
        };
        match endianness {
            Endianness::Big => ByteOrder::Big,
            Endianness::Little => ByteOrder::Little,
        }
    }

    const fn place(&self, block: &'static str) -> BlockPosition {
        BlockPosition { offset: self.window.offset, number: self.number, block }
    }

    fn fill_to(&mut self, stream: &mut dyn Read, len: usize) -> Result<usize, CaptureError> {
        self.window.fill_to(stream, len).map_err(|source| self.unreadable(source))
    }

    fn skip(&mut self, stream: &mut dyn Read, len: u64) -> Result<u64, CaptureError> {
        self.window.skip(stream, len).map_err(|source| self.unreadable(source))
    }

    fn unreadable(&self, source: io::Error) -> CaptureError {
        let offset = self.window.offset + self.window.ahead().len() as u64;
        CaptureError::Read { offset, source }
    }
}
