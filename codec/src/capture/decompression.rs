//! Transparent decompression, detected by the first bytes of the stream.

#[cfg(feature = "compression")]
mod zstd;

use std::fmt;
use std::io::{self, BufReader, Chain, Cursor, Read};

#[cfg(feature = "compression")]
use flate2::bufread::MultiGzDecoder;

type BufferedStream<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// A stream after decompression.
pub struct DecompressedInput<R: Read> {
    decoder: StreamDecoder<R>,
    /// A byte that is still to be read.
    peeked: Option<u8>,
}

enum StreamDecoder<R: Read> {
    Plain(BufferedStream<R>),
    #[cfg(feature = "compression")]
    Gzip(MultiGzDecoder<BufferedStream<R>>),
    #[cfg(feature = "compression")]
    Zstd(Box<zstd::ZstdStream<BufferedStream<R>>>),
}

/// Decompresses gzip and Zstandard streams with any number of members or frames, and reads any other
/// stream as it is.
///
/// # Errors
/// The stream could not be read, or is compressed and the feature `compression` is disabled.
pub fn decompress<R: Read>(mut stream: R) -> io::Result<DecompressedInput<R>> {
    let mut magic = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut magic)?;
    let gzip = magic.starts_with(&[0x1f, 0x8b]);
    // A frame's magic number, or one of those of skippable frames. RFC 8878
    let zstd = matches!(*magic, [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]);
    let buffered = BufReader::with_capacity(64 << 10, Cursor::new(magic).chain(stream));
    #[cfg(feature = "compression")]
    let decoder = if gzip {
        StreamDecoder::Gzip(MultiGzDecoder::new(buffered))
    } else if zstd {
        StreamDecoder::Zstd(Box::new(zstd::ZstdStream::new(buffered)))
    } else {
        StreamDecoder::Plain(buffered)
    };
    #[cfg(not(feature = "compression"))]
    let decoder = if gzip || zstd {
        let text = "built without the feature `compression`";
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    } else {
        StreamDecoder::Plain(buffered)
    };
    Ok(DecompressedInput { decoder, peeked: None })
}

impl<R: Read> DecompressedInput<R> {
    /// True if the stream is not compressed.
    pub const fn is_plain(&self) -> bool {
        matches!(self.decoder, StreamDecoder::Plain(_))
    }

    /// The next byte, which stays to be read; none at the end.
    ///
    /// # Errors
    /// Those of reading.
    pub fn peek(&mut self) -> io::Result<Option<u8>> {
        let mut first = Vec::new();
        self.by_ref().take(1).read_to_end(&mut first)?;
        self.peeked = first.first().copied();
        Ok(self.peeked)
    }
}

impl<R: Read> Read for DecompressedInput<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(first) = buf.first_mut()
            && let Some(byte) = self.peeked.take()
        {
            *first = byte;
            return Ok(1);
        }
        match &mut self.decoder {
            StreamDecoder::Plain(stream) => stream.read(buf),
            #[cfg(feature = "compression")]
            StreamDecoder::Gzip(stream) => stream.read(buf),
            #[cfg(feature = "compression")]
            StreamDecoder::Zstd(stream) => stream.read(buf),
        }
    }
}

impl<R: Read> fmt::Debug for DecompressedInput<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.decoder {
            StreamDecoder::Plain(_) => "Input(plain)",
            #[cfg(feature = "compression")]
            StreamDecoder::Gzip(_) => "Input(gzip)",
            #[cfg(feature = "compression")]
            StreamDecoder::Zstd(_) => "Input(zstd)",
        })
    }
}
