//! Capture files byte by byte, by the specifications of pcapng, pcap and the format itself; and
//! the items of a reader, as text.

use std::io::Read;

use myriscope_codec::capture::{
    ByteOrder, CaptureError, CaptureItem, CaptureReader, CaptureWriter, Channel, ChannelId, Chunk,
    ChunkContent, ReadProgress,
};
use myriscope_codec::notation;
use myriscope_codec::time::Tick;

/// The items of a reader.
#[derive(Debug)]
pub(crate) struct ReadLog {
    /// A line an item.
    pub(crate) items: Vec<String>,
    pub(crate) error: Option<CaptureError>,
    pub(crate) skipped: u64,
}

impl ReadLog {
    pub(crate) fn of(&self, kind: &str) -> Vec<&str> {
        self.items.iter().map(String::as_str).filter(|item| item.starts_with(kind)).collect()
    }

    /// The faults, each as place and field.
    pub(crate) fn error_text(&self) -> String {
        self.error.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

/// Reads to the end, and a step beyond it: an error comes once, and nothing comes after it.
pub(crate) fn read(stream: impl Read) -> ReadLog {
    // No file here has more blocks.
    const STEPS_MAX: usize = 100_000;
    let mut reader = CaptureReader::new(stream);
    let mut seen = ReadLog { items: Vec::new(), error: None, skipped: 0 };
    let ended =
        (0..STEPS_MAX).any(|_| match reader.step(&mut |item| seen.items.push(line(&item))) {
            Ok(progress) => progress == ReadProgress::Done,
            Err(error) => {
                seen.error = Some(error);
                true
            }
        });
    assert!(ended, "reading comes to an end");
    let after = reader.step(&mut |item| seen.items.push(line(&item)));
    assert!(matches!(after, Ok(ReadProgress::Done)), "the end is the end");
    seen.skipped = reader.skipped_interfaces();
    seen
}

/// The items of a file of these blocks, which has no error.
pub(crate) fn items(blocks: &[Vec<u8>]) -> Vec<String> {
    let log = read(blocks.concat().as_slice());
    assert_eq!(log.error_text(), "");
    log.items
}

fn line(item: &CaptureItem<'_>) -> String {
    match item {
        CaptureItem::Section => "section".to_owned(),
        CaptureItem::Channel(id, channel) => format!("channel {id} {}", channel.name),
        CaptureItem::Link(one, other) => format!("link {one} {other}"),
        CaptureItem::Chunk(id, chunk) => {
            let first = chunk.first;
            match chunk.content {
                ChunkContent::Literal(chars) => format!("chunk {id} at {first}: {chars}"),
                ChunkContent::Repeat { pattern, count } => {
                    format!("chunk {id} at {first}: {count} of {pattern}")
                }
            }
        }
        CaptureItem::Fault(fault) => format!("fault {fault}"),
    }
}

/// Bytes of a section or file in one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockWriter(pub(crate) ByteOrder);

pub(crate) const LITTLE: BlockWriter = BlockWriter(ByteOrder::Little);
pub(crate) const BIG: BlockWriter = BlockWriter(ByteOrder::Big);

impl BlockWriter {
    fn reorder<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self.0 == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    pub(crate) fn u16(self, number: u16) -> [u8; 2] {
        self.reorder(number.to_le_bytes())
    }

    pub(crate) fn u32(self, number: u32) -> [u8; 4] {
        self.reorder(number.to_le_bytes())
    }

    fn len(self, bytes: &[u8]) -> [u8; 4] {
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    }

    /// A block: its type, its length, its body, its length.
    pub(crate) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let body = padded(body);
        let len = self.u32(u32::try_from(body.len() + 12).unwrap_or(u32::MAX));
        [&self.u32(kind)[..], &len, &body, &len].concat()
    }

    /// A section header block of 28 bytes: version 1.0, length unspecified.
    pub(crate) fn section(self) -> Vec<u8> {
        let magic = self.u32(0x1a2b_3c4d);
        let body = [&magic[..], &self.u16(1), &self.u16(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    /// An interface description block with a name and a comment.
    pub(crate) fn interface(self, link_type: u16, name: &str, comment: &str) -> Vec<u8> {
        let mut body = [&self.u16(link_type)[..], &[0; 6]].concat();
        for (code, text) in [(2, name), (1, comment)] {
            let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
            body.extend([&self.u16(code)[..], &self.u16(len), &padded(text.as_bytes())].concat());
        }
        body.extend([0; 4]);
        self.block(1, &body)
    }

    /// A channel's interface, with words of its description.
    pub(crate) fn channel(self, name: &str, words: &str) -> Vec<u8> {
        self.interface(147, name, &format!("myrinet-channel v=1 {words}"))
    }

    /// An enhanced packet block at time 0.
    pub(crate) fn packet(self, interface: u32, payload: &[u8]) -> Vec<u8> {
        let len = self.len(payload);
        let head = [&self.u32(interface)[..], &[0; 8], &len, &len].concat();
        self.block(6, &[&head, payload].concat())
    }

    /// The header of a classic pcap file.
    pub(crate) fn pcap(self, magic: u32, link_type: u32) -> Vec<u8> {
        let version = [self.u16(2), self.u16(4)].concat();
        let lengths = [self.u32(262_144), self.u32(link_type)].concat();
        [&self.u32(magic)[..], &version, &[0; 8], &lengths].concat()
    }

    /// A record of a classic pcap file, at time 0.
    pub(crate) fn record(self, payload: &[u8]) -> Vec<u8> {
        let len = self.len(payload);
        [&[0; 8][..], &len, &len, payload].concat()
    }
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The payload of a literal chunk of nine-bit characters, little-endian always.
pub(crate) fn literal(first: u64, characters: &[u16]) -> Vec<u8> {
    let len = u32::try_from(characters.len()).unwrap_or(u32::MAX);
    [&[1, 0, 0, 0], &len.to_le_bytes()[..], &first.to_le_bytes(), &planes(characters)].concat()
}

/// The payload of a repeat.
pub(crate) fn repeat(first: u64, characters: &[u16], count: u64) -> Vec<u8> {
    let mut payload = literal(first, characters);
    payload.splice(16..16, count.to_le_bytes());
    payload.splice(1..2, [1]);
    payload
}

fn planes(characters: &[u16]) -> Vec<u8> {
    let low = characters.iter().map(|bits| bits.to_le_bytes()[0]);
    let d = characters.chunks(8).map(|eight| {
        eight.iter().rev().fold(0, |byte, bits| byte << 1 | bits.to_le_bytes()[1] & 1)
    });
    low.chain(d).collect()
}

/// `83 05 92 GAP`: a good packet.
pub(crate) const PACKET: [u16; 4] = [0x183, 0x105, 0x192, 0x00c];

/// A small capture of two channels, literal and repeat chunks; and the chunks as lines.
pub(crate) fn small(order: ByteOrder) -> (Vec<u8>, Vec<&'static str>) {
    let peered = Channel { peer: Some(1), ..Channel::named("h0:0>s0:3") };
    let channels = [peered, Channel::named("s0:3>h0:0")];
    let mut writer = CaptureWriter::new(Vec::new(), order, &channels).ok();
    let mut write = |id, first, text, count| {
        let chars = notation::parse(text).unwrap_or_default();
        let content = ChunkContent::new(chars.chars(), count);
        let chunk = Chunk { first: Tick(first), content };
        let written = writer.as_mut().map(|writer| writer.write(ChannelId(id), &chunk));
        assert!(matches!(written, Some(Ok(()))), "the capture is in order");
    };
    write(0, 0, "83 05 92 GAP", None);
    write(1, 0, "GAP GO", Some(40_000));
    write(0, 4, "GO IDLE", Some(100));
    write(0, 300, "01 STOP 07 GAP FRES GAP!04 GAP 83 05", None);
    write(1, 80_000, "STOP", None);
    let lines = vec![
        "chunk 0 at 0: 83 05 92 GAP",
        "chunk 1 at 0: 40000 of GAP GO",
        "chunk 0 at 4: 100 of GO IDLE",
        "chunk 0 at 300: 01 STOP 07 GAP FRES GAP!04 GAP 83 05",
        "chunk 1 at 80000: STOP",
    ];
    (writer.and_then(|writer| writer.finish().ok()).unwrap_or_default(), lines)
}

/// A stream that gives a byte at a time, as a slow pipe may.
#[derive(Debug)]
pub(crate) struct ByteStream<'a>(pub(crate) &'a [u8]);

impl Read for ByteStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let one = buf.len().min(1);
        self.0.read(buf.get_mut(..one).unwrap_or_default())
    }
}
