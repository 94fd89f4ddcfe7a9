//! Words of a text file, with the line of each.

use std::io::Read;
use std::ops::Range;

use super::RecordingError;

/// Longest word. A vector of as many bits still fits.
const WORD_MAX: usize = 65_536;

/// Reader of words between whitespace, in bounded memory.
#[derive(Debug)]
pub(super) struct WordReader<R> {
    reader: R,
    buffer: Box<[u8]>,
    /// Bytes of the buffer that are not read yet.
    unread: Range<usize>,
    is_at_end: bool,
    /// Last byte of what has been read.
    last: u8,
    /// Line of the word that was read last.
    pub(super) line: u64,
}

impl<R: Read> WordReader<R> {
    pub(super) fn new(reader: R) -> Self {
        let buffer = vec![0; 4 * WORD_MAX].into_boxed_slice();
        Self { reader, buffer, unread: 0..0, is_at_end: false, last: b'\n', line: 1 }
    }

    /// The next word; `None` at the end of the file.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, RecordingError> {
        loop {
            let unread = self.buffer.get(self.unread.clone()).unwrap_or_default();
            let spaces = unread.iter().take_while(|byte| byte.is_ascii_whitespace());
            let (blank, lines) = spaces.fold((0, 0), |(blank, lines), byte| {
                (blank + 1, lines + u64::from(*byte == b'\n'))
            });
            self.line += lines;
            self.unread.start += blank;
            let unread = unread.get(blank..).unwrap_or_default();
            let end = unread.iter().position(u8::is_ascii_whitespace);
            let length = match end {
                Some(length) => length,
                None if self.is_at_end => unread.len(),
                None => {
                    self.fill()?;
                    continue;
                }
            };
            let word = self.unread.start..self.unread.start + length;
            self.unread.start = word.end;
            return Ok(self.buffer.get(word).filter(|word| !word.is_empty()));
        }
    }

    /// Bytes that are in memory and not read yet.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.unread.clone()).unwrap_or_default()
    }

    /// Goes on behind bytes that were read from memory, and behind their lines.
    pub(super) const fn skip(&mut self, bytes: usize, lines: u64) {
        self.unread.start += bytes;
        self.line += lines;
    }

    /// True if no line ends behind the last word of the file.
    pub(super) const fn is_cut(&self) -> bool {
        !self.last.is_ascii_whitespace()
    }

    pub(super) fn error(&self, cause: impl Into<String>) -> RecordingError {
        RecordingError::at_line(self.line, cause)
    }

    /// Moves the unread bytes to the head of the buffer and reads more.
    fn fill(&mut self) -> Result<(), RecordingError> {
        if self.unread.len() > WORD_MAX {
            return Err(self.error(format!("a word is longer than {WORD_MAX} bytes")));
        }
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let free = self.buffer.get_mut(self.unread.end..).unwrap_or_default();
        loop {
            match self.reader.read(free) {
                Ok(read) => {
                    self.is_at_end = read == 0;
                    self.last =
                        free.get(..read).and_then(<[u8]>::last).copied().unwrap_or(self.last);
                    self.unread.end += read;
                    return Ok(());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(format!("read failed: {error}"))),
            }
        }
    }
}
