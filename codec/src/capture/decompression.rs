//! Transparent decompression, detected by the first bytes of the stream.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Largest window of a Zstandard frame: 8 MiB, recommended for every decoder (RFC 8878).
const ZSTD_WINDOW_MAX: u64 = 8 << 20;

type BufferedStream<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// A stream after decompression.
pub struct DecompressedInput<R: Read>(StreamDecoder<R>);

enum StreamDecoder<R: Read> {
    Plain(BufferedStream<R>),
    Gzip(MultiGzDecoder<BufferedStream<R>>),
    Zstd(Box<ZstdStream<BufferedStream<R>>>),
}

/// Decompresses gzip and Zstandard streams with any number of members or frames, and reads
/// any other stream as it is.
///
/// # Errors
/// The stream could not be read.
pub fn decompress<R: Read>(mut stream: R) -> io::Result<DecompressedInput<R>> {
    let mut magic = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut magic)?;
    let (gzip, zstd) = (magic.starts_with(&[0x1f, 0x8b]), is_zstd(&magic));
    let buffered = BufReader::with_capacity(64 << 10, Cursor::new(magic).chain(stream));
    Ok(DecompressedInput(if gzip {
        StreamDecoder::Gzip(MultiGzDecoder::new(buffered))
    } else if zstd {
        StreamDecoder::Zstd(Box::new(ZstdStream::new(buffered)))
    } else {
        StreamDecoder::Plain(buffered)
    }))
}

/// A frame's magic number, or one of those of skippable frames. RFC 8878
fn is_zstd(magic: &[u8]) -> bool {
    magic == [0x28, 0xb5, 0x2f, 0xfd] || matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

impl<R: Read> Read for DecompressedInput<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            StreamDecoder::Plain(stream) => stream.read(buf),
            StreamDecoder::Gzip(stream) => stream.read(buf),
            StreamDecoder::Zstd(stream) => stream.read(buf),
        }
    }
}

impl<R: Read> fmt::Debug for DecompressedInput<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            StreamDecoder::Plain(_) => "Input(plain)",
            StreamDecoder::Gzip(_) => "Input(gzip)",
            StreamDecoder::Zstd(_) => "Input(zstd)",
        })
    }
}

/// Zstandard frames one after another.
struct ZstdStream<R> {
    stream: R,
    frame: FrameDecoder,
}

impl<R: BufRead> ZstdStream<R> {
    fn new(stream: R) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(ZSTD_WINDOW_MAX);
        Self { stream, frame }
    }

    /// Checks the finished frame and opens the next. False at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        let stored = self.frame.get_checksum_from_data();
        if stored.is_some() && stored != self.frame.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "zstd checksum does not match"));
        }
        if self.stream.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.frame.reset(&mut self.stream) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                // Nothing is in a fresh decoder, so its next read asks for a frame again.
                io::copy(&mut self.stream.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(error) => return Err(broken(&error)),
            Ok(()) => {}
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for ZstdStream<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.frame.can_collect() == 0 {
            if self.frame.is_finished() {
                if !self.next_frame()? {
                    return Ok(0);
                }
            } else {
                self.frame
                    .decode_blocks(&mut self.stream, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| broken(&error))?;
            }
        }
        self.frame.read(buf)
    }
}

/// Short text of a Zstandard error.
fn broken(error: &FrameDecoderError) -> io::Error {
    if let FrameDecoderError::WindowSizeTooBig { requested, max } = error {
        let text = format!("the zstd window takes {requested} bytes, more than {max}");
        return io::Error::new(io::ErrorKind::Unsupported, text);
    }
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match cause.downcast_ref::<io::Error>() {
        Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the zstd stream is cut short")
        }
        _ => io::Error::new(io::ErrorKind::InvalidData, format!("no valid zstd: {error}")),
    }
}
