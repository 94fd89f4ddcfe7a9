//! Bytes of a table as text in UTF-8 whose lines end with a line feed, in pieces of bounded length.

use std::io::{self, Read};

use super::super::vcd::BYTE_ORDER_MARK;

/// Bytes that are decoded at once.
const PIECE: usize = 8192;

/// Decoder of UTF-8, or of Latin-1 where the beginning is no UTF-8, with any ends of lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextDecoder {
    is_latin: bool,
    /// A byte that is given once for several, and not at the beginning of a line.
    folded: Option<u8>,
    /// Last byte.
    pub(super) last: u8,
}

impl TextDecoder {
    /// The decoder that the beginning of a file asks for, and that beginning. A character may be cut at its end.
    pub(super) fn begin(head: &[u8], folded: Option<u8>) -> (Self, Vec<u8>) {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let is_latin = std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
        let (mut own, mut text) = (Self { is_latin, folded, last: b'\n' }, Vec::new());
        own.decode(head, &mut text);
        (own, text)
    }

    fn decode(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        for byte in bytes {
            match byte {
                b'\n' if self.last == b'\r' => {}
                _ if self.folded == Some(*byte) && [*byte, b'\n', b'\r'].contains(&self.last) => {}
                b'\r' => text.push(b'\n'),
                0x80.. if self.is_latin => {
                    text.extend(char::from(*byte).encode_utf8(&mut [0; 2]).as_bytes());
                }
                _ => text.push(*byte),
            }
            self.last = *byte;
        }
    }
}

/// A reader of text that gives a limited number of bytes, so that a row fits into memory.
#[derive(Debug)]
pub(super) struct TextReader<R> {
    pub(super) reader: R,
    pub(super) decoder: TextDecoder,
    /// Text that is decoded, and how much of it has been given.
    pub(super) text: Vec<u8>,
    pub(super) given: usize,
    /// Bytes that may be given until this is set again.
    pub(super) left: usize,
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(format!("a row is longer than {} bytes", super::ROW_MAX)));
        }
        while self.given == self.text.len() {
            let mut piece = [0; PIECE];
            let read = self.reader.read(&mut piece)?;
            if read == 0 {
                return Ok(0);
            }
            (self.given, self.text) = (0, Vec::new());
            self.decoder.decode(piece.get(..read).unwrap_or_default(), &mut self.text);
        }
        let read = self.text.get(self.given..).unwrap_or_default().read(bytes)?;
        self.given += read;
        self.left = self.left.saturating_sub(read);
        Ok(read)
    }
}
