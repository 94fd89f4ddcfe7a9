//! Formats of recordings, told apart by their first bytes.
//!
//! A format is a row of [`FORMATS`] and a reader behind [`SignalReader`].

use std::io::{Read, Seek};

use super::SampleDistance;
use super::fst::{FstReader, is_fst};
use super::sigrok::SigrokReader;
use super::table::{TableReader, is_table};
use super::vcd::{BYTE_ORDER_MARK, VcdReader};
use super::{RecordingError, SignalReader};

/// A file that is read out of order.
pub trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

/// Distances of the samples of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleTimes {
    /// Those that the recording states.
    Stated,
    /// That of the rows of a table without times.
    Rate(SampleDistance),
    /// A character period: samples that `sendclk` has clocked, whatever the recording states. W-2
    Characters(SampleDistance),
}

type OpenedReader = Result<Box<dyn SignalReader>, RecordingError>;

/// Way in which a format is read.
#[derive(Clone, Copy, Debug)]
pub enum FormatInput {
    /// From its beginning, decompressed.
    Stream(fn(Box<dyn Read>, SampleTimes) -> OpenedReader),
    /// Out of order, as no pipe allows.
    File(fn(Box<dyn ReadSeek>, SampleTimes) -> OpenedReader),
}

/// A format of recordings.
#[derive(Clone, Copy, Debug)]
pub struct RecordingFormat {
    /// Name with its article, for messages.
    pub name: &'static str,
    /// True for the first bytes of a file.
    pub is_begun_by: fn(&[u8]) -> bool,
    /// Its reader.
    pub input: FormatInput,
}

/// All formats, in the order in which they are tried.
pub const FORMATS: [RecordingFormat; 4] = [
    RecordingFormat {
        name: "a sigrok session",
        is_begun_by: |head| head.starts_with(b"PK\x03\x04"),
        input: FormatInput::File(|file, times| {
            let session = SigrokReader::new(file);
            Ok(match times {
                SampleTimes::Stated => Box::new(session?),
                SampleTimes::Characters(period) => Box::new(session?.with_distance(period)),
                SampleTimes::Rate(_) => {
                    let text = "a sigrok session states its rate";
                    return Err(without_effect(text, ", or give `state`"));
                }
            })
        }),
    },
    RecordingFormat {
        name: "an FST file",
        is_begun_by: is_fst,
        input: FormatInput::File(|file, times| match times {
            SampleTimes::Stated => Ok(Box::new(FstReader::new(file)?)),
            SampleTimes::Rate(_) | SampleTimes::Characters(_) => Err(without_effect(OWN_TIMES, "")),
        }),
    },
    RecordingFormat {
        name: "a value change dump (VCD)",
        // The program that prints a dump may print other lines before it. Of a pipe eight bytes may be known.
        is_begun_by: |head| {
            let mut words = head.split(u8::is_ascii_whitespace).map(|it| it.get(..6).unwrap_or(it));
            words.any(|it| matches!(it, b"$date" | b"$versi" | b"$times" | b"$var" | b"$endde"))
        },
        input: FormatInput::Stream(|stream, times| match times {
            SampleTimes::Stated => Ok(Box::new(VcdReader::new(stream)?)),
            SampleTimes::Rate(_) | SampleTimes::Characters(_) => Err(without_effect(OWN_TIMES, "")),
        }),
    },
    RecordingFormat {
        name: "a table (CSV)",
        is_begun_by: |head| is_table(head) || head.is_empty(),
        input: FormatInput::Stream(|stream, times| {
            let given = if let SampleTimes::Rate(distance) = times { Some(distance) } else { None };
            let table = TableReader::new(stream, given)?;
            Ok(Box::new(match times {
                SampleTimes::Stated if table.is_timeless() => {
                    let text = "no column of times: give --sample-rate";
                    return Err(RecordingError::at_line(1, text));
                }
                SampleTimes::Stated => table,
                SampleTimes::Rate(distance) | SampleTimes::Characters(distance) => {
                    table.without_times(distance)
                }
            }))
        }),
    },
];

const OWN_TIMES: &str = "VCD and FST files have times of their own";

fn without_effect(text: &str, more: &str) -> RecordingError {
    RecordingError::at_line(1, format!("{text}: leave out --sample-rate{more}"))
}

const OLS: &str = "an OLS file of Logic Sniffer: export CSV, or VCD";

const UTF_16: &str = "text in UTF-16: save it as UTF-8";

/// First bytes of files of other formats, and the export to use.
const OTHERS: [(&[u8], &str); 11] = [
    (b"GHDLwave", "a GHW file of GHDL: run the simulation with --fst or --vcd"),
    (b"<SALEAE>", "a binary export of Saleae Logic: export CSV, or VCD"),
    (
        b"libsigrok ",
        "samples as a text of sigrok-cli: write them with -O csv, or as a session with -o FILE.sr",
    ),
    (b"7z\xbc\xaf", "a 7-Zip archive: unpack it"),
    (b"\xfd7zXZ", "compressed with xz: decompress it"),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (b"BZh", "compressed with bzip2: decompress it"),
    (b";Rate: ", OLS),
    (b";Size: ", OLS),
    (b"{", "JSON, as of WaveDrom: write the same signals as VCD or CSV"),
];

/// What a file of another known format is, and the step that makes a recording of it.
pub fn other_format(head: &[u8]) -> Option<&'static str> {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let known = OTHERS.iter().find(|(magic, _)| text.starts_with(magic)).map(|(_, text)| *text);
    known.or_else(|| is_utf_16(head).then_some(UTF_16))
}

/// True for text in UTF-16 without a byte order mark: of its first 32 characters, three of four are ASCII. *Chosen*
fn is_utf_16(head: &[u8]) -> bool {
    let pairs = || head.chunks_exact(2).take(32);
    let is_plain = |it: &u8| it.is_ascii_graphic() || it.is_ascii_whitespace();
    let little = pairs().filter(|it| matches!(it, [text, 0] if is_plain(text))).count();
    let big = pairs().filter(|it| matches!(it, [0, text] if is_plain(text))).count();
    little.max(big) * 4 > pairs().count() * 3
}

/// The format of the first bytes of a file.
pub fn format_of(head: &[u8]) -> Option<&'static RecordingFormat> {
    FORMATS.iter().find(|format| (format.is_begun_by)(head))
}
