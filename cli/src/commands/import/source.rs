//! Recordings of any format, told apart by their first bytes.

use std::cell::Cell;
use std::io::{self, Chain, Cursor, Read, Seek};
use std::path::Path;
use std::rc::Rc;

use codec::capture::{CaptureError, decompress};
use codec::recording::format::{
    FormatInput, RecordingFormat, SampleTimes, format_of, other_format,
};
use codec::recording::{
    ChangeSink, ReadSummary, RecordingError, RecordingPlace, SignalReader, SignalTable,
};
use codec::words::escape_text;

use crate::exit::{CliError, format_head};
use crate::input::InputFile;

/// Error for a file with a zero byte near its beginning, which no text has.
const NO_RECORDING: &str = "neither a recording (VCD, FST, sigrok session, table of samples) nor characters as \
     text: export VCD, FST or CSV (of LXT and VZT: lxt2vcd, vzt2vcd); `myriscope info` tells whether it is a capture";

/// A stream whose first bytes have been read.
type PeekedStream<R> = Chain<Cursor<Vec<u8>>, R>;

pub(super) type RecordingStream = Box<dyn Read>;

pub(super) enum OpenedRecording {
    Signals(&'static RecordingFormat, Box<dyn SignalReader>),
    /// Characters in the notation of `show`.
    Notation(RecordingStream),
}

/// Reads the first bytes of a stream.
fn peek<R: Read>(mut stream: R, path: &Path) -> Result<(Vec<u8>, PeekedStream<R>), CliError> {
    let head = format_head(&mut stream).map_err(|error| CliError::reading(path, &error))?;
    Ok((head.clone(), Cursor::new(head).chain(stream)))
}

/// Place and cause of the end of compressed data that are cut.
type CutPlace = Rc<Cell<Option<RecordingError>>>;

/// A stream that ends where compressed data are cut.
struct CutStream<R> {
    stream: R,
    /// Bytes that were read.
    read: u64,
    cut: CutPlace,
}

impl<R: Read> Read for CutStream<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match self.stream.read(bytes) {
            Err(error) if self.read > 0 && error.kind() != io::ErrorKind::Interrupted => {
                let cause = format!("the decompressed data end here: {error}");
                self.cut
                    .set(Some(RecordingError { place: RecordingPlace::Byte(self.read), cause }));
                0
            }
            read => read?,
        };
        self.read += read as u64;
        Ok(read)
    }
}

/// Signals of a stream that may be cut, which is then the cause of an end.
struct CutSignals {
    signals: Box<dyn SignalReader>,
    cut: CutPlace,
}

impl SignalReader for CutSignals {
    fn signals(&self) -> &SignalTable {
        self.signals.signals()
    }

    fn read(self: Box<Self>, selected: &[usize], sink: &mut ChangeSink<'_>) -> ReadSummary {
        let summary = self.signals.read(selected, sink);
        ReadSummary { error: self.cut.take().or(summary.error), ..summary }
    }
}

/// The format of the first bytes of a file, as far as it is read out of order.
fn out_of_order(head: &[u8]) -> Option<&'static RecordingFormat> {
    format_of(head).filter(|format| matches!(format.input, FormatInput::File(_)))
}

impl OpenedRecording {
    pub(super) fn open(path: &Path, times: SampleTimes) -> Result<Self, CliError> {
        let wrong = |error: RecordingError| reading(path, &error);
        let failed = |error| CliError::reading(path, &error);
        let refused = |text: &str| CliError::reading(path, &text);
        let (magic, stream) = peek(InputFile::whole(path).reader().map_err(failed)?, path)?;
        if let Some(format) = out_of_order(&magic)
            && let FormatInput::File(open) = format.input
        {
            let (_, mut file) = stream.into_inner();
            if file.rewind().is_err() {
                return Err(refused(&format!(
                    "{} is read out of order, as no pipe allows: name the file",
                    format.name
                )));
            }
            return Ok(Self::Signals(format, open(Box::new(file), times).map_err(wrong)?));
        }
        let cut = CutPlace::default();
        let stream = decompress(stream).map_err(failed)?;
        let stream = CutStream { stream, read: 0, cut: Rc::clone(&cut) };
        let (head, stream) = peek(stream, path)?;
        if let Some(format) = out_of_order(&head) {
            return Err(refused(&format!("{}, compressed: decompress it", format.name)));
        }
        if let Some(other) = other_format(&head) {
            return Err(refused(other));
        }
        if head.is_empty() {
            return Err(CliError::reading(path, &CaptureError::Empty));
        }
        if head.contains(&0) {
            return Err(refused(NO_RECORDING));
        }
        let stream = Box::new(stream);
        match format_of(&head).map(|format| (format, format.input)) {
            Some((format, FormatInput::Stream(open))) => {
                let signals =
                    open(stream, times).map_err(|error| wrong(cut.take().unwrap_or(error)))?;
                Ok(Self::Signals(format, Box::new(CutSignals { signals, cut })))
            }
            _ if let Some(error) = cut.take() => Err(wrong(error)),
            _ => Ok(Self::Notation(stream)),
        }
    }
}

pub(super) fn reading(path: &Path, error: &RecordingError) -> CliError {
    CliError::reading(path, &escape_text(error.to_string()))
}
