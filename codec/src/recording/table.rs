//! Tables of levels as CSV: a row a sample, or a row a change with its time, as Saleae writes them.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use super::{RecordingError, SELECTED_MAX, SignalChange};

/// Reader of a table of levels.
#[derive(Debug)]
pub struct TableReader<R> {
    rows: csv::Reader<R>,
    names: Vec<String>,
    /// True if the first column is the time.
    has_time: bool,
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
        let mut rows = ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(reader);
        let heading =
            rows.headers().map_err(|error| RecordingError::at_line(1, error.to_string()))?;
        let has_time =
            heading.get(0).is_some_and(|name| name.to_ascii_lowercase().starts_with("time"));
        let names: Vec<String> =
            heading.iter().skip(usize::from(has_time)).map(str::to_owned).collect();
        if names.iter().all(|name| level(name).is_some()) {
            return Err(RecordingError::at_line(1, "no heading with the names of signals"));
        }
        Ok(Self { rows, names, has_time, row_fs })
    }

    /// The signals, by column.
    pub fn signals(&self) -> &[String] {
        &self.names
    }

    /// True if the rows have times.
    pub const fn has_time(&self) -> bool {
        self.has_time
    }

    /// Gives the changes of some signals, by their numbers, in order of time. The first row is no
    /// change; an empty field leaves a level as it was.
    ///
    /// # Errors
    ///
    /// Fields that are no level or no time, times that decrease, with their line. What precedes it has been
    /// given.
    pub fn read(
        mut self,
        selected: &[usize],
        mut change: impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        let mut record = StringRecord::new();
        let (mut levels, mut known, mut time_fs) = (0_u32, 0_u32, 0_u64);
        for row in 0_u64.. {
            let read = self.rows.read_record(&mut record);
            let line = self.rows.position().line();
            let line = record.position().map_or(line, csv::Position::line);
            let wrong = |cause: String| RecordingError::at_line(line, cause);
            if !read.map_err(|error| wrong(error.to_string()))? {
                break;
            }
            let later = if self.has_time {
                let text = record.get(0).unwrap_or_default();
                seconds(text).ok_or_else(|| {
                    wrong(format!("time {text:?} is not in seconds from 0 to 5.1 hours"))
                })?
            } else {
                row.checked_mul(self.row_fs)
                    .ok_or_else(|| wrong("samples beyond 5.1 hours".to_owned()))?
            };
            if later < time_fs {
                return Err(wrong("the time is earlier than the time before it".to_owned()));
            }
            time_fs = later;
            let mut signals = 0;
            for (column, mask) in
                selected.iter().take(SELECTED_MAX).zip((0..).map(|bit| 1_u32 << bit))
            {
                let text = record.get(column + usize::from(self.has_time)).unwrap_or_default();
                if text.is_empty() {
                    continue;
                }
                let is_high =
                    level(text).ok_or_else(|| wrong(format!("level {text:?} is not 0 or 1")))?;
                if ((levels & mask) != 0) != is_high {
                    levels ^= mask;
                    signals |= mask & known;
                }
                known |= mask;
            }
            if signals != 0 {
                change(SignalChange { time_fs, signals });
            }
        }
        Ok(())
    }
}

fn level(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
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
