//! Recordings of any format, told apart by their first bytes.

use std::io::{Chain, Cursor, Read, Seek};
use std::path::Path;

use analyzer::channel_name::escape_text;
use codec::capture::{DecompressedInput, decompress};
use codec::recording::fst::{FstReader, is_fst};
use codec::recording::sigrok::SigrokReader;
use codec::recording::table::TableReader;
use codec::recording::vcd::VcdReader;
use codec::recording::{ChangeSink, RecordingError};

use crate::exit::CliError;
use crate::input::{InputFile, ProgressReader};

/// Bytes at the beginning of a file that show its format.
const HEAD: u64 = 4096;

/// Why a recording takes no `--sample-rate`.
const OWN_TIMES: &str = "VCD and FST files have times of their own: leave out --sample-rate";
const OWN_RATE: &str = "a sigrok session states its rate: leave out --sample-rate, or give `state`";
const OWN_COLUMN: &str =
    "the table has a column of times: leave out --sample-rate, or give `state`";

/// Error for a file with a zero byte near its beginning, which no text has.
const NO_RECORDING: &str = "neither a recording (VCD, FST, sigrok session, table of samples) nor characters as \
     text; `myriscope info` tells whether it is a capture";

/// A stream whose first bytes have been read.
type PeekedStream<R> = Chain<Cursor<Vec<u8>>, R>;

/// A decompressed recording.
pub(super) type RecordingStream = PeekedStream<DecompressedInput<PeekedStream<ProgressReader>>>;

/// Distances of the samples of a recording.
pub(super) enum SampleTimes {
    /// Those that the recording states.
    Unknown,
    /// Femtoseconds between the rows of a table without times.
    Rate(u64),
    /// A character period, in femtoseconds: samples that `sendclk` has clocked, whatever the recording states.
    Characters(u64),
}

/// An opened file.
pub(super) enum OpenedRecording {
    Signals(InstrumentRecording),
    /// Characters in the notation of `show`.
    Notation(RecordingStream),
}

/// A recording of signals.
pub(super) enum InstrumentRecording {
    Vcd(VcdReader<RecordingStream>),
    Fst(FstReader<ProgressReader>),
    Sigrok(SigrokReader<ProgressReader>),
    Table(TableReader<RecordingStream>),
}

/// Reads the first bytes of a stream.
fn peek<R: Read>(mut stream: R, path: &Path) -> Result<(Vec<u8>, PeekedStream<R>), CliError> {
    let mut head = Vec::new();
    let read = stream.by_ref().take(HEAD).read_to_end(&mut head);
    read.map_err(|error| CliError::file(path, &error))?;
    Ok((head.clone(), Cursor::new(head).chain(stream)))
}

impl OpenedRecording {
    /// Opens a recording.
    pub(super) fn open(path: &Path, times: &SampleTimes) -> Result<Self, CliError> {
        let wrong = |error: RecordingError| reading(path, &error);
        let failed = |error| CliError::file(path, &error);
        let (magic, stream) = peek(InputFile::whole(path).reader().map_err(failed)?, path)?;
        if magic.starts_with(b"PK") || is_fst(&magic) {
            let (_, mut file) = stream.into_inner();
            if file.rewind().is_err() {
                let text = "sigrok sessions and FST files are read out of order, as no pipe allows: name the file";
                return Err(CliError::reading(path, &text));
            }
            return Self::open_out_of_order(path, file, &magic, times);
        }
        let (head, stream) = peek(decompress(stream).map_err(failed)?, path)?;
        if head.starts_with(b"PK") || is_fst(&head) {
            let text = "a compressed sigrok session or FST file: decompress it";
            return Err(CliError::reading(path, &text));
        }
        let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let refused = |text: &str| CliError::reading(path, &text);
        if head.contains(&0) {
            return Err(refused(NO_RECORDING));
        }
        if first.is_some_and(|first| *first != b'$') && !line.contains(&b',') {
            return Ok(Self::Notation(stream));
        }
        if first == Some(&b'$') {
            return match times {
                SampleTimes::Unknown => {
                    let dump = VcdReader::new(stream).map_err(wrong)?;
                    Ok(Self::Signals(InstrumentRecording::Vcd(dump)))
                }
                SampleTimes::Rate(_) | SampleTimes::Characters(_) => Err(refused(OWN_TIMES)),
            };
        }
        let row_fs = match times {
            SampleTimes::Unknown => 0,
            SampleTimes::Rate(row_fs) | SampleTimes::Characters(row_fs) => *row_fs,
        };
        let table = TableReader::new(stream, row_fs).map_err(wrong)?;
        let table = match times {
            SampleTimes::Unknown if !table.has_times() => {
                return Err(refused("no column of times: give --sample-rate"));
            }
            SampleTimes::Rate(_) if table.has_times() => return Err(refused(OWN_COLUMN)),
            SampleTimes::Unknown | SampleTimes::Rate(_) => table,
            SampleTimes::Characters(_) => table.without_times(),
        };
        Ok(Self::Signals(InstrumentRecording::Table(table)))
    }

    /// Opens a sigrok session or an FST file.
    fn open_out_of_order(
        path: &Path,
        file: ProgressReader,
        magic: &[u8],
        times: &SampleTimes,
    ) -> Result<Self, CliError> {
        let wrong = |error: RecordingError| reading(path, &error);
        Ok(Self::Signals(match times {
            SampleTimes::Unknown if is_fst(magic) => {
                InstrumentRecording::Fst(FstReader::new(file).map_err(wrong)?)
            }
            _ if is_fst(magic) => {
                return Err(CliError::reading(path, &OWN_TIMES));
            }
            SampleTimes::Characters(period_fs) => InstrumentRecording::Sigrok(
                SigrokReader::new(file).map_err(wrong)?.with_period(*period_fs),
            ),
            SampleTimes::Rate(_) => return Err(CliError::reading(path, &OWN_RATE)),
            SampleTimes::Unknown => {
                InstrumentRecording::Sigrok(SigrokReader::new(file).map_err(wrong)?)
            }
        }))
    }
}

impl InstrumentRecording {
    pub(super) fn signals(&self) -> &[String] {
        match self {
            Self::Vcd(dump) => dump.signals(),
            Self::Fst(dump) => dump.signals(),
            Self::Sigrok(session) => session.signals(),
            Self::Table(table) => table.signals(),
        }
    }

    pub(super) fn read(
        self,
        selected: &[usize],
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        match self {
            Self::Vcd(dump) => dump.read(selected, sink),
            Self::Fst(dump) => dump.read(selected, sink),
            Self::Sigrok(session) => session.read(selected, sink),
            Self::Table(table) => table.read(selected, sink),
        }
    }
}

pub(super) fn reading(path: &Path, error: &RecordingError) -> CliError {
    CliError::reading(path, &escape_text(error.to_string()))
}
