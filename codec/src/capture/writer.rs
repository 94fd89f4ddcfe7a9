//! Writer of capture files.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};
use pcap_file::{DataLink, Endianness};

use super::channel::{Channel, ChannelId};
use super::chunk::{Chunk, ChunkContent, PATTERN_MAX, PAYLOAD_MAX};
use crate::time::{CharacterPeriod, Tick};

/// The byte order of a section. Chunks are little-endian in either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// Error of a [`CaptureWriter`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// A channel that the file does not declare.
    #[error("channel {0} is not declared")]
    NoChannel(ChannelId),
    /// A chunk that no reader would accept: empty, too long, or past 2⁶⁴.
    #[error("channel {0}, character {1}: invalid length of the chunk")]
    Length(ChannelId, Tick),
    /// A chunk that begins before the end of its predecessor on the channel, or before an earlier
    /// chunk of any channel.
    #[error("channel {0}, character {1}: the chunk is out of order")]
    Order(ChannelId, Tick),
    /// A value that pcapng cannot hold: a name beyond 64 KiB, a time beyond 584 years.
    #[error("pcapng cannot hold the value: {0}")]
    Form(String),
}

/// Streaming writer of a capture file of one section. Chunks must come in order of their first
/// character's time (ties: by channel).
pub struct CaptureWriter<W: Write> {
    file: PcapNgWriter<BufWriter<W>>,
    /// Per channel: its period, and the end of its last chunk.
    channels: Vec<(CharacterPeriod, Tick)>,
    /// Start of the last chunk in picoseconds, and its channel.
    last: (u128, ChannelId),
    payload: Vec<u8>,
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a file with its channels, which get the numbers 0, 1, ….
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn new(write: W, order: ByteOrder, channels: &[Channel]) -> Result<Self, WriteError> {
        let endianness = match order {
            ByteOrder::Little => Endianness::Little,
            ByteOrder::Big => Endianness::Big,
        };
        let file = PcapNgWriter::with_endianness(BufWriter::new(write), endianness)?;
        let mut writer =
            Self { file, channels: Vec::new(), last: (0, ChannelId(0)), payload: Vec::new() };
        channels.iter().try_for_each(|channel| writer.declare(channel).map(drop))?;
        Ok(writer)
    }

    /// Adds a channel, which gets the next number.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn declare(&mut self, channel: &Channel) -> Result<ChannelId, WriteError> {
        let mut interface = InterfaceDescriptionBlock::new(DataLink::USER0, 0);
        interface.options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&channel.name)),
            InterfaceDescriptionOption::IfSpeed(channel.bits_per_second()),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
            InterfaceDescriptionOption::Common(CommonOption::Comment(channel.description().into())),
        ];
        let comments = channel.comments.iter().map(|text| CommonOption::Comment(text.into()));
        interface.options.extend(comments.map(InterfaceDescriptionOption::Common));
        self.file.write_pcapng_block(interface)?;
        let id = u32::try_from(self.channels.len()).unwrap_or(u32::MAX);
        self.channels.push((channel.period, Tick(0)));
        Ok(ChannelId(id))
    }

    /// Accepts a next chunk that is earlier than chunks of other channels, as readers do.
    pub(super) const fn accept_late(&mut self) {
        self.last = (0, ChannelId(0));
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// Nothing has been written unless it is [`WriteError::Write`].
    pub fn write(&mut self, channel: ChannelId, chunk: &Chunk<'_>) -> Result<(), WriteError> {
        let no_channel = WriteError::NoChannel(channel);
        let (period, end) = self.channels.get_mut(channel.0 as usize).ok_or(no_channel)?;
        let first = chunk.first;
        let start = period.time(first.0);
        if first < *end || (start, channel) < self.last {
            return Err(WriteError::Order(channel, first));
        }
        let legal = match chunk.content {
            ChunkContent::Literal(chars) => !chars.is_empty(),
            ChunkContent::Repeat { pattern, count } => {
                (1..=PATTERN_MAX).contains(&pattern.len())
                    && count.checked_mul(pattern.len() as u64).is_some_and(|periods| periods > 0)
            }
        };
        self.payload.clear();
        chunk.emit(&mut self.payload);
        let ends = first.0.checked_add(chunk.periods()).is_some();
        if !legal || !ends || self.payload.len() > PAYLOAD_MAX {
            return Err(WriteError::Length(channel, first));
        }
        let nanoseconds = u64::try_from(start / 1000)
            .map_err(|_| WriteError::Form(format!("a time of {start} ps")))?;
        let block = EnhancedPacketBlock {
            interface_id: channel.0,
            timestamp: Duration::from_nanos(nanoseconds),
            // At most `PAYLOAD_MAX`.
            original_len: u32::try_from(self.payload.len()).unwrap_or(u32::MAX),
            data: Cow::Borrowed(&self.payload),
            options: Vec::new(),
        };
        self.file.write_pcapng_block(block)?;
        *end = chunk.end();
        self.last = (start, channel);
        Ok(())
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// The buffered rest could not be written.
    pub fn finish(self) -> Result<W, WriteError> {
        self.file.into_inner().into_inner().map_err(|error| error.into_error().into())
    }
}

impl<W: Write> fmt::Debug for CaptureWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl From<PcapNgWriteError> for WriteError {
    fn from(error: PcapNgWriteError) -> Self {
        match error {
            PcapNgWriteError::Io(error) => Self::Write(error),
            PcapNgWriteError::Validation { field, source } => {
                Self::Form(format!("{field}: {source}"))
            }
            PcapNgWriteError::InvalidFormat(_) | PcapNgWriteError::StateUpdate(_) => {
                Self::Form(error.to_string())
            }
        }
    }
}
