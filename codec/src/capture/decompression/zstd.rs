//! Zstandard streams. RFC 8878

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::capture::innermost;

/// Largest window of a frame: 8 MiB, recommended for every decoder.
const ZSTD_WINDOW_MAX: u64 = 8 << 20;

/// Zstandard frames one after another.
pub(super) struct ZstdStream<R> {
    stream: R,
    frame: FrameDecoder,
}

impl<R: BufRead> ZstdStream<R> {
    pub(super) fn new(stream: R) -> Self {
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
                // A fresh decoder is empty, so the next read opens a frame again.
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
    match innermost(error).downcast_ref::<io::Error>() {
        Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the zstd stream is cut short")
        }
        _ => io::Error::new(io::ErrorKind::InvalidData, format!("invalid zstd: {error}")),
    }
}
