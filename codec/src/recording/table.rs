//! Tables of levels as CSV: a row a sample, or a row a change with its time, as Saleae writes them.

use std::io::{self, Read};

use csv::{ReaderBuilder, StringRecord};

use super::levels::SignalLevels;
use super::{ChangeSink, RecordingError, SELECTED_MAX};

/// Longest row, in bytes.
const ROW_MAX: usize = 1_048_576;

/// Reader of a table of levels.
#[derive(Debug)]
pub struct TableReader<R> {
    rows: csv::Reader<LimitedReader<R>>,
    names: Vec<String>,
    /// The first column, if it is the time.
    time_column: Option<TimeColumn>,
    /// Distance of two rows without a time.
    row_fs: u64,
}

impl<R: Read> TableReader<R> {
    /// Reads the heading of a table: names of signals, behind `Time [s]` if rows have times in
    /// seconds. Rows without times are `row_fs` femtoseconds apart.
    ///
    /// # Errors
    ///
    /// A table without a heading.
    pub fn new(reader: R, row_fs: u64) -> Result<Self, RecordingError> {
        let reader = LimitedReader { reader, left: ROW_MAX };
        let mut rows = ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(reader);
        let heading =
            rows.headers().map_err(|error| RecordingError::at_line(1, error.to_string()))?;
        let has_times =
            heading.get(0).is_some_and(|name| name.to_ascii_lowercase().starts_with("time"));
        let names: Vec<String> =
            heading.iter().skip(usize::from(has_times)).map(str::to_owned).collect();
        if names.iter().all(|name| ["0", "1"].contains(&name.as_str())) {
            return Err(RecordingError::at_line(1, "no heading with the names of signals"));
        }
        let time_column = has_times.then_some(TimeColumn::Read);
        Ok(Self { rows, names, time_column, row_fs })
    }

    /// The signals, by column.
    pub fn signals(&self) -> &[String] {
        &self.names
    }

    /// True if the rows have times.
    pub const fn has_times(&self) -> bool {
        matches!(self.time_column, Some(TimeColumn::Read))
    }

    /// Ignores the times of rows: all are at equal distances.
    #[must_use]
    pub const fn without_times(mut self) -> Self {
        if self.has_times() {
            self.time_column = Some(TimeColumn::Skipped);
        }
        self
    }

    /// Gives the changes of some signals, by their numbers, in order of time. The first row is no
    /// change; an empty field leaves a level as it was; rows of one time are one change.
    ///
    /// # Errors
    ///
    /// Fields that are no level or no time, times that decrease, with their line. What precedes it has been
    /// given.
    pub fn read(
        mut self,
        selected: &[usize],
        changes: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let (mut levels, mut time_fs) = (SignalLevels::default(), 0);
        let result = self.read_rows(selected, &mut levels, &mut time_fs, changes);
        levels.finish(time_fs, changes);
        result
    }

    /// Reads rows, and gives the changes before the last time.
    fn read_rows(
        &mut self,
        selected: &[usize],
        levels: &mut SignalLevels,
        time_fs: &mut u64,
        changes: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let mut record = StringRecord::new();
        let first = usize::from(self.time_column.is_some());
        for row in 0_u64.. {
            self.rows.get_mut().left = ROW_MAX;
            let read = self.rows.read_record(&mut record);
            let line = self.rows.position().line();
            let line = record.position().map_or(line, csv::Position::line);
            let wrong = |cause: String| RecordingError::at_line(line, cause);
            if !read.map_err(|error| wrong(error.to_string()))? {
                break;
            }
            let later = if self.has_times() {
                let text = record.get(0).unwrap_or_default();
                seconds(text).ok_or_else(|| {
                    wrong(format!("time {:?} is not in seconds from 0 to 5.1 hours", head(text)))
                })?
            } else {
                row.checked_mul(self.row_fs)
                    .ok_or_else(|| wrong("samples beyond 5.1 hours".to_owned()))?
            };
            if later < *time_fs {
                return Err(wrong("the time is earlier than the time before it".to_owned()));
            }
            let columns = selected.iter().take(SELECTED_MAX);
            let fields = columns.map(|column| record.get(column + first).unwrap_or_default());
            if let Some(text) = fields.clone().find(|text| !["", "0", "1"].contains(text)) {
                return Err(wrong(format!("level {:?} is not 0 or 1", head(text))));
            }
            if later > *time_fs {
                levels.end(*time_fs, changes);
                *time_fs = later;
            }
            for (text, mask) in fields.zip((0..).map(|bit| 1_u32 << bit)) {
                if !text.is_empty() {
                    levels.set(mask, if text == "1" { mask } else { 0 });
                }
            }
        }
        Ok(())
    }
}

/// Use of a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeColumn {
    Read,
    Skipped,
}

/// A reader that gives a limited number of bytes, so that a row fits into memory.
#[derive(Debug)]
struct LimitedReader<R> {
    reader: R,
    left: usize,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(format!("a row is longer than {ROW_MAX} bytes")));
        }
        let read = self.reader.read(bytes)?;
        self.left = self.left.saturating_sub(read);
        Ok(read)
    }
}

/// Beginning of a field, for an error.
fn head(text: &str) -> &str {
    text.char_indices().nth(40).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Femtoseconds of decimal seconds; digits below a femtosecond are left out.
fn seconds(text: &str) -> Option<u64> {
    const PLACES: usize = 15;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(PLACES).collect();
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000_000_000)?.checked_add(digits.parse().ok()?)
}
