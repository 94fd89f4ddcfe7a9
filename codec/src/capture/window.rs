//! Buffered window on a stream, as large as the current block needs, with its offset.

use std::io::{self, ErrorKind, Read};

/// Bytes per read. *Chosen*: large enough to hide the cost of a call, small enough to stay in cache
/// until it is parsed.
const READ_SIZE: usize = 256 << 10;
/// Bytes of the first read, doubled whenever they were too few. *Chosen*: a page, so that a small
/// capture costs no more.
const READ_FIRST: usize = 4 << 10;

/// Bytes of a stream that have been read and not yet consumed.
#[derive(Debug, Default)]
pub(super) struct ReadWindow {
    /// `bytes[start..end]` have been read and not yet been consumed.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Place of `bytes[start]` in the stream.
    pub(super) offset: u64,
}

impl ReadWindow {
    pub(super) fn ahead(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads until `len` bytes are ahead, and returns their number: fewer only where the
    /// stream ends. Memory is allocated for bytes that are there, not for `len`.
    pub(super) fn fill_to(&mut self, stream: &mut dyn Read, len: usize) -> io::Result<usize> {
        while self.end - self.start < len {
            if self.bytes.len() - self.start < len.min(READ_SIZE) || self.end == self.bytes.len() {
                self.make_room();
            }
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match stream.read(room) {
                Ok(0) => return Ok(self.end - self.start),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(len)
    }

    /// Moves the unread bytes to the front, and grows if that does not free enough.
    fn make_room(&mut self) {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() - self.end < READ_SIZE / 2 {
            let more = self.bytes.len().clamp(READ_FIRST, READ_SIZE);
            self.bytes.resize(self.bytes.len() + more, 0);
        }
    }

    /// Skips bytes, buffered ones first. Returns their number: fewer only where the stream ends.
    pub(super) fn skip(&mut self, stream: &mut dyn Read, len: u64) -> io::Result<u64> {
        let mut left = len;
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "bounded by what is ahead")]
            let step = left.min((self.end - self.start) as u64) as usize;
            self.start += step;
            self.offset += step as u64;
            left -= step as u64;
            if left == 0 || self.fill_to(stream, 1)? == 0 {
                return Ok(len - left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_a_stream_is_the_window_stays_small() {
        let (mut window, mut stream) = (ReadWindow::default(), io::repeat(7));
        for block in 0..1000 {
            assert_eq!(window.offset, block * 10_000);
            assert_eq!(window.fill_to(&mut stream, 10_000).unwrap(), 10_000);
            assert_eq!(window.skip(&mut stream, 10_000).unwrap(), 10_000);
            assert!(window.bytes.len() <= 2 * READ_SIZE, "{}", window.bytes.len());
        }
    }
}
