//! Streams that can make a reader wait: pipes, devices and growing files. A thread reads them, so that
//! the program can print its rows and react to Ctrl-C while it waits.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use super::InputEnd;
use crate::interrupt;
use crate::output;

/// Bytes of one read.
const PIECE: usize = 64 << 10;
/// Pieces that are read ahead.
const PIECES: usize = 16;
/// Interval between two looks at a growing file, or for Ctrl-C. *Chosen*: no delay that a person notices.
const PAUSE: Duration = Duration::from_millis(100);

/// True while a live stream has nothing to read.
static WAITING: AtomicBool = AtomicBool::new(false);

type ReadResult = io::Result<Vec<u8>>;

/// A stream that a thread reads ahead.
#[derive(Debug)]
pub(super) struct LiveStream {
    pieces: Receiver<ReadResult>,
    piece: io::Cursor<Vec<u8>>,
    next: Option<ReadResult>,
    end: InputEnd,
}

/// True if the input has nothing more to read for now: what was read so far is to be printed.
pub(crate) fn is_waiting() -> bool {
    WAITING.load(Ordering::Relaxed)
}

impl LiveStream {
    /// A stream whose reading ends as `end` says; `behind` says what follows when it has no more bytes.
    pub(super) fn new(stream: impl Read + Send + 'static, end: InputEnd, behind: InputEnd) -> Self {
        let (sender, pieces) = sync_channel(PIECES);
        thread::spawn(move || read_ahead(stream, behind, &sender));
        Self { pieces, piece: io::Cursor::default(), next: None, end }
    }

    /// Waits for the next piece; none at the end of the stream.
    fn wait(&self) -> Option<ReadResult> {
        if interrupt::is_pressed() {
            return self.interrupted();
        }
        match self.pieces.try_recv() {
            Ok(piece) => return Some(piece),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => output::flush(),
        }
        // One who follows a file does so for a reader.
        let is_over = || self.end == InputEnd::Interrupt && output::is_gone();
        while !interrupt::is_pressed() && !is_over() {
            match self.pieces.recv_timeout(PAUSE) {
                Ok(piece) => return Some(piece),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.interrupted()
    }

    /// Result of a read after Ctrl-C, or without a reader: the usual ends of a growing file.
    fn interrupted(&self) -> Option<ReadResult> {
        match self.end {
            InputEnd::Interrupt => None,
            InputEnd::EndOfFile => Some(Err(interrupt::error())),
        }
    }
}

impl Read for LiveStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(buf)?;
        if read > 0 || buf.is_empty() {
            return Ok(read);
        }
        let Some(piece) = self.next.take().or_else(|| self.wait()) else {
            WAITING.store(false, Ordering::Relaxed);
            return Ok(0);
        };
        self.next = self.pieces.try_recv().ok();
        WAITING.store(self.next.is_none(), Ordering::Relaxed);
        self.piece = io::Cursor::new(piece?);
        self.piece.read(buf)
    }
}

/// Reads a stream piece by piece, to its end or until nobody receives.
fn read_ahead(mut stream: impl Read, end: InputEnd, sender: &SyncSender<ReadResult>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = stream.read(&mut piece);
        match read {
            Ok(0) if end == InputEnd::EndOfFile => return,
            Ok(0) => {
                thread::sleep(PAUSE);
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => {}
        }
        let is_error = read.is_err();
        let piece = read.map(|length| {
            piece.truncate(length);
            piece
        });
        if sender.send(piece).is_err() || is_error {
            return;
        }
    }
}
