//! Tables of levels as CSV: a row a sample, or a row a change with its time.

mod column;
mod dialect;
mod field;
mod text;

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use self::column::{CsvColumn, left_out};
use self::dialect::TableDialect;
use self::field::{DAY_FS, TimeColumn, bits, is_of_width, level, sign};
use self::text::{TextDecoder, TextReader};
use super::decimal::{SampleDistance, TimeOrigin};
use super::levels::{SignalLevel, SignalLevels};
use super::variables::VariableName;
use super::{ChangeSink, ReadSummary, RecordingError, SignalReader, SignalTable};

/// Longest row, in bytes.
const ROW_MAX: usize = 1_048_576;

/// Bytes from which the dialect of a table is seen.
const HEAD: u64 = ROW_MAX as u64;

/// True if a text begins like a table.
pub fn is_table(head: &[u8]) -> bool {
    begin(head).2.is_some()
}

/// The text of the beginning of a file with its decoder, and its dialect. The last line may be cut, and with it a level. Blanks
/// separate, several as one, where nothing else does.
fn begin(head: &[u8]) -> (TextDecoder, Vec<u8>, Option<TableDialect>) {
    let with = |separators: &[u8], folded| {
        let (decoder, text) = TextDecoder::begin(head, folded);
        let cut = text.iter().rposition(|it| *it == b'\n').filter(|_| head.len() as u64 == HEAD);
        let shown = cut.and_then(|at| text.get(..=at)).unwrap_or(&text);
        let dialect = TableDialect::of(shown, separators);
        (decoder, text, dialect)
    };
    let usual = with(b",;\t|", None);
    if usual.2.is_some() {
        return usual;
    }
    let by_blanks = with(b" ", Some(b' '));
    // Characters as text have no such column.
    let is_told = |it: &CsvColumn| matches!(it, CsvColumn::Time(_) | CsvColumn::Number);
    let is_table = |it: &TableDialect| it.columns.iter().any(|(_, column)| is_told(column));
    if by_blanks.2.as_ref().is_some_and(is_table) { by_blanks } else { usual }
}

/// Reader of a table of levels.
#[derive(Debug)]
pub struct TableReader<R> {
    rows: csv::Reader<TextReader<R>>,
    signals: SignalTable,
    columns: Vec<CsvColumn>,
    /// Fields of a row, at most.
    fields: usize,
    /// Lines before the first row.
    lines: u64,
    times: RowTimes,
    /// Rows without a change at a time of their own.
    unchanged: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowTimes {
    /// In a column.
    Column(usize, TimeColumn),
    /// Those of samples at one distance, if it is known, whose numbers are in a column, or are those of the rows.
    Samples { distance: Option<SampleDistance>, number: Option<usize> },
}

/// Time or number from which rows are counted.
#[derive(Default)]
struct RowOrigin {
    time: TimeOrigin,
    number: Option<i64>,
}

/// Rows without a change that show a row of each sample. *Chosen*
const SAMPLED: u64 = 4;

const ROUNDED: &str = "levels change at the time of the row before: the times are rounded: write them with more digits, or give \
                       --sample-rate if each row is a sample";

const EARLIER: &str = "the time is earlier than the time before it: times are counted from one moment, not from the row before";

impl RowTimes {
    /// Femtoseconds from the origin to a row.
    fn of_row(
        self,
        row: u64,
        record: &StringRecord,
        origin: &mut RowOrigin,
    ) -> Result<u64, String> {
        let field = |at| record.get(at).unwrap_or_default();
        match self {
            Self::Column(at, column) => {
                let time = column.time(field(at)).map(|time| {
                    // No recording has a day: without a date, such a step back is over midnight.
                    let is_undated = field(at).contains(':') && time < DAY_FS;
                    let is_next_day = is_undated && origin.time.is_before(time + DAY_FS / 2);
                    time + if is_next_day { DAY_FS } else { 0 }
                });
                if time.is_some_and(|time| origin.time.is_before(time)) {
                    return Err(EARLIER.to_owned());
                }
                let since = time.and_then(|time| origin.time.since(time));
                since.ok_or_else(|| {
                    format!("time {:?} is no time within 5.1 hours", head(field(at)))
                })
            }
            Self::Samples { distance, number } => {
                let place = number.map_or(Some(row), |at| {
                    let number: i64 = field(at).parse().ok()?;
                    let first = *origin.number.get_or_insert(number);
                    u64::try_from(number.checked_sub(first)?).ok()
                });
                let place = place.ok_or_else(|| {
                    let text = head(number.map_or("", field));
                    format!("{text:?} is no number of a sample, or less than the first")
                })?;
                let time = distance.and_then(|distance| distance.time(place));
                time.ok_or_else(|| "samples beyond 5.1 hours".to_owned())
            }
        }
    }
}

impl<R: Read> TableReader<R> {
    /// Reads the heading of a table: names of signals, and perhaps times. Rows without times are at
    /// this distance, or else at that of a comment.
    ///
    /// # Errors
    ///
    /// A table without a heading.
    pub fn new(mut reader: R, distance: Option<SampleDistance>) -> Result<Self, RecordingError> {
        let wrong = |cause: String| RecordingError::at_line(1, cause);
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(HEAD).read_to_end(&mut bytes);
        read.map_err(|error| wrong(format!("read failed: {error}")))?;
        let is_full = bytes.len() as u64 == HEAD;
        let (decoder, text, dialect) = begin(&bytes);
        let Some(dialect) = dialect.filter(|it| !is_full || it.head.0 < text.len()) else {
            let longer = format!("a row is longer than {HEAD} bytes");
            let cause =
                if is_full { longer } else { "no heading with the names of signals".to_owned() };
            return Err(wrong(cause));
        };
        let (mut signals, mut times, mut number) = (SignalTable::default(), None, None);
        for (at, (title, column)) in dialect.columns.iter().enumerate() {
            let width = match column {
                CsvColumn::Time(column) => {
                    times = times.or(Some(RowTimes::Column(at, *column)));
                    continue;
                }
                CsvColumn::Number => {
                    number = number.or(Some(at));
                    continue;
                }
                CsvColumn::Other(_) => continue,
                CsvColumn::Unclear(step) => {
                    let text = format!("column {:?}: {step}", head(title));
                    return Err(RecordingError::at_line(dialect.head.1.max(1), text));
                }
                CsvColumn::Level | CsvColumn::Sign | CsvColumn::Bus { .. } => column.width(),
            };
            let name = VariableName { scopes: &[], name: title, range: "" };
            signals.declare(name, width, &at.to_be_bytes()).map_err(wrong)?;
        }
        signals.note = left_out(&dialect.columns);
        if signals.names().is_empty() {
            let text = "no column of levels: numbers of rows and voltages are none; export 0 and 1, or name the bits \
                        of a bus in its title, as in tx[8:0]";
            let texts: Vec<&str> = [text].into_iter().chain(signals.note()).collect();
            return Err(wrong(texts.join("; ")));
        }
        let (given, lines) = dialect.head;
        let rows = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .delimiter(dialect.separator)
            .comment(dialect.comment)
            .from_reader(TextReader { reader, decoder, text, given, left: ROW_MAX });
        let columns = dialect.columns.into_iter().map(|(_, column)| column).collect();
        let samples = RowTimes::Samples { distance: distance.or(dialect.distance), number };
        let times = times.unwrap_or(samples);
        Ok(Self { rows, signals, columns, fields: dialect.fields, lines, times, unchanged: 0 })
    }

    /// True if the times of rows are not known.
    pub const fn is_timeless(&self) -> bool {
        matches!(self.times, RowTimes::Samples { distance: None, .. })
    }

    /// Ignores the times of rows: all are at equal distances, or are samples with numbers.
    pub fn without_times(self, distance: SampleDistance) -> Self {
        let number = match self.times {
            RowTimes::Column(..) => None,
            RowTimes::Samples { number, .. } => number,
        };
        Self { times: RowTimes::Samples { distance: Some(distance), number }, ..self }
    }

    /// Reads rows, and gives the changes before the last time.
    fn read_rows(
        &mut self,
        selected: &[usize],
        levels: &mut SignalLevels,
        time_fs: &mut u64,
        changes: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let (mut record, mut origin) = (StringRecord::new(), RowOrigin::default());
        let fields: Vec<(usize, CsvColumn, Vec<u64>)> = self
            .signals
            .masks(selected)
            .into_iter()
            .filter_map(|(code, masks)| {
                let at = usize::from_be_bytes(*code.first_chunk()?);
                Some((at, *self.columns.get(at)?, masks))
            })
            .collect();
        let mut row = 0;
        loop {
            self.rows.get_mut().left = ROW_MAX;
            let read = self.rows.read_record(&mut record);
            let line = self.rows.position().line();
            let line = record.position().map_or(line, csv::Position::line) + self.lines;
            let wrong = |cause: String| RecordingError::at_line(line, cause);
            if !read.map_err(|error| wrong(error.to_string()))? {
                if row == 0 {
                    let text = "no samples: no row behind the titles";
                    return Err(RecordingError::at_line(self.lines.max(1), text));
                }
                return Ok(());
            }
            if record.len() == 1 && record.get(0).is_some_and(|it| it.starts_with([';', '#'])) {
                continue;
            }
            if record.len() < self.columns.len() {
                let (fields, columns) = (record.len(), self.columns.len());
                return Err(wrong(format!("{fields} of {columns} fields: the row is cut short")));
            }
            if record.iter().skip(self.fields).any(|field| !field.is_empty()) {
                let (fields, most) = (record.len(), self.fields);
                return Err(wrong(format!("{fields} fields: other rows have {most}")));
            }
            let later = self.times.of_row(row, &record, &mut origin).map_err(wrong)?;
            if later < *time_fs {
                return Err(wrong(EARLIER.to_owned()));
            }
            if later > *time_fs && row > 0 {
                levels.end(*time_fs, changes);
            }
            let (changed, is_same_time) = (levels.changed, later == *time_fs && row > 0);
            *time_fs = later;
            for (at, column, masks) in &fields {
                set(levels, record.get(*at).unwrap_or_default(), *column, masks).map_err(wrong)?;
            }
            // A row of each sample has a time of its own.
            let is_change = changed != levels.changed;
            self.unchanged += u64::from(!is_change && !is_same_time);
            let is_lost = changed & !levels.changed != 0 || is_change && self.unchanged >= SAMPLED;
            if is_same_time && is_lost {
                return Err(wrong(ROUNDED.to_owned()));
            }
            row += 1;
        }
    }
}

impl<R: Read> SignalReader for TableReader<R> {
    fn signals(&self) -> &SignalTable {
        &self.signals
    }

    /// Gives the changes. An empty field leaves a level as it was; rows of one time are one change.
    fn read(mut self: Box<Self>, selected: &[usize], changes: &mut ChangeSink<'_>) -> ReadSummary {
        let (mut levels, mut time_fs) = (SignalLevels::default(), 0);
        let error = self.read_rows(selected, &mut levels, &mut time_fs, changes).err();
        // A level is complete without an end of its line, a number may not be.
        let is_number =
            !matches!(self.columns.last(), Some(CsvColumn::Level | CsvColumn::Sign) | None);
        let is_cut_line = is_number && ![b'\n', b'\r'].contains(&self.rows.get_ref().decoder.last);
        // A list of changes does not tell when it ends.
        let is_sampled =
            matches!(self.times, RowTimes::Samples { .. }) || self.unchanged >= SAMPLED;
        if is_sampled || error.is_some() || is_cut_line {
            levels.end(time_fs, changes);
        }
        ReadSummary { error, is_cut_line, ..levels.finish(time_fs, changes) }
    }
}

/// Sets the signals of a field.
fn set(
    levels: &mut SignalLevels,
    text: &str,
    column: CsvColumn,
    masks: &[u64],
) -> Result<(), String> {
    match column {
        _ if text.is_empty() => {}
        CsvColumn::Bus { width, base } => {
            let bits =
                bits(text, base).filter(|bits| bits.is_none_or(|bits| is_of_width(bits, width)));
            let bits =
                bits.ok_or_else(|| format!("{:?} is no number of {width} bits", head(text)))?;
            for (mask, at) in masks.iter().zip(0_u32..) {
                // Wires beyond those of a number are low, of a negative one high.
                let level = match bits.map(|bits| (bits >> at.min(127)) & 1) {
                    None => SignalLevel::Unknown,
                    Some(0) => SignalLevel::Low,
                    Some(_) => SignalLevel::High,
                };
                levels.put(*mask, level);
            }
        }
        CsvColumn::Time(_)
        | CsvColumn::Number
        | CsvColumn::Other(_)
        | CsvColumn::Unclear(_)
        | CsvColumn::Level
        | CsvColumn::Sign => {
            let known = if column == CsvColumn::Sign { sign(text) } else { level(text) };
            let level = known.ok_or_else(|| format!("level {:?} is not 0 or 1", head(text)))?;
            masks.iter().for_each(|mask| levels.put(*mask, level));
        }
    }
    Ok(())
}

/// Beginning of a field, for an error.
fn head(text: &str) -> &str {
    text.char_indices().nth(40).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SignalChange;

    /// Names of the signals, times in ns and changes of the first two, and the error.
    fn read(text: impl AsRef<[u8]>) -> (Vec<String>, Vec<(u64, u64)>, Option<String>) {
        let table = match TableReader::new(text.as_ref(), None) {
            Ok(table) => table,
            Err(error) => return (Vec::new(), Vec::new(), Some(error.to_string())),
        };
        let (names, mut all) = (table.signals().names().to_vec(), Vec::new());
        let change = |it: &SignalChange| (it.time_fs / 1_000_000, it.signals);
        let last = names.len().saturating_sub(1);
        let later = |it: &&SignalChange| ![0, u64::MAX].contains(&(it.signals | it.unknown));
        let summary = Box::new(table).read(&[last.saturating_sub(1), last], &mut |some| {
            all.extend(some.iter().filter(later).map(change));
        });
        (names, all, summary.error.map(|error| error.to_string()))
    }

    #[test]
    fn dialects_give_the_same_changes() {
        for text in [
            "Time [s],a,b\n0.000000000,0,1\n0.000000002,1,1\n0.000000004,1,0\n",
            "\u{feff}Time(s), a, b\r\n0,0,1\r\n2e-09,1,1\r\n4E-09,1,0\r\n",
            "Time (ns);a;b\n-4,0;0;1\n-2,0;1;1\n0,0;1;0\n",
            "# DIO\n#Sample rate: 5e+08Hz\n\nTime [us]\ta\tb\n0\t0\t1\n0.002\t1\t1\n0.004\t1\t0\n",
            "; Channels (2/2): a, b\n; Samplerate: 500 MHz\nlogic,logic\n0,1\n1,1\n1,0\n",
            "; Channels (2/2): a, b\nnanoseconds,logic,logic\n0,0,1\n2,1,1\n4,1,0\n; end\n",
            "\"Timestamp\",\"a\",\"b\"\n2025-12-31T23:59:59.999999998Z,L,H\n2026-01-01 00:00:00Z,H,H\n2026-01-01T01:00:00.000000002+01:00,1,0\n",
            "Date,Timestamp,a,b\n2024-03-01,29.02.2024 23:59:59.999999998,0,1\n2024-03-01,2024/03/01 00:00:00,1,1\n2024-03-01,2024-02-29T22:00:00.000000002-02:00,1,0\n",
            "Timestamp,a,b\n1900/02/28 23:59:59.999999998,0,1\n1900/03/01 12:00:00 PM+1200,1,1\n1900/03/01 00:00:00.000000002,1,0\n",
            "Timestamp,a,b\n2000-02-29 23:59:59.999999998,0,1\n2000-03-01 00:00:00,1,1\n2000-02-29T22:30:00.000000002-0130,1,0\n",
            "Timestamp,a,b\n07/31/2023 11:59:59.999999998 PM,0,1\n08/01/2023 12:00:00am,1,1\n2023-08-01T02:00:00.000000002 +02,1,0\n",
            "Время [нс],a,b\n0,-1.0,1\n2,1.0,1\n4,1.0,-1\n",
            "Zeit (nsec),a,b\n0,0,1\n# mark\n; mark\n2,1,1\n4,1,0\n",
            "时间,a,b\n11:59:59.999999998 PM,0,1\n24:00:00,1,1\n24:00:00.000000002,1,0\n",
            "Sample Time,a,CH1 (V),b\n0.0,FALSE,0.1,True\n2e-9,true,3.3,TRUE\n4.0e-9,true,0.0,false\n",
            "Time [ns],a,b\n0,0.000,1.00E+00\n2,1.0,1.0\n4,High,LOW\n",
            "# wide\nTime [ns]|a|b\n0|0|1\n2|1|1\n4|1|0\n",
            "Time [ns],a,b\n0,0,1,\n2,1,1,\n4,1,0,\n",
            "; Samplerate: 500 MHz\nSample,a,b\n7,0,1\n8,1,1\n9,1,0\n",
            "# Samplerate: 1 GHz\nIndex,a,b\n-2,0,1\n0,1,1\n2,1,0\n2,1,0\n",
            "Model,MSO54\nPoint Format,Y\nLabel,,\nTIME,a,b\n-4e-9,0,1\n-2e-9,1,1\n0,1,0\n",
            "Label,SDA,\nTIME,a,b\n-4e-9,0,1\n-2e-9,1,1\n0,1,0\n",
            "Label,SDA,\nTIME,a,b\nsecond,,\n-4e-9,0,1\n-2e-9,1,1\n0,1,0\n",
            "x-axis,a,b\nsecond,,\n-4.0E-9,0,1\n-2E-09,1,1\n0,1,0\n",
            "时间;a;b\n(纳秒);;\n0;0;1\n2;1;1\n4;1;0\n",
            "Time [ps],a,b\n\"0\",0,1\n\"2,000\",1,1\n\"4,000\",1,0\n",
            "Time [ns],a,b\n\"0,000\",0,1\n\"2,000\",1,1\n\"4,000\",1,0\n",
            "#,Time [s],a,b\n1,0,0,1\n2,2e-9,1,1\n3,4e-9,1,0\n",
            "# two\n#Time [ns];a;b\n0;0;1\n2;1;1\n4;1;0\n",
            "Exported on,today\nSample,Time(s),a,b\n0,0,0,1\n1,2e-9,1,1\n2,4e-9,1,0\n",
            "in s,a,b\n0,0,1\n2e-9,1,1\n4e-9,1,0\n",
            "[ns];a;b\n0;0;1\n2;1;1\n4;1;0\n",
            "(sec),a,b\n0,0,1\n2e-9,1,1\n4e-9,1,0\n",
            "Zeit,a,b\n0.0,0,1\n2e-9,1,1\n4e-9,1,0\n",
            "Temps [\u{b5}s];a;b\n0,000;0;1\n0,002;1;1\n0,004;1;0\n",
            "Sample Interval,Digital:2e-09\nSource,a,b\nSecond,,\n-4e-9,0,1\n-2e-9,1,1\n0,1,0\n",
            "X,a,b,Start,Increment,\nSequence,,,-4e-9,2e-9,\n0,0,1,,,\n1,1,1,,,\n2,1,0,,,\n",
            "X,a,b,Start,Increment\nSequence,Logic,Logic,-4e-9,2e-9\n0,0,1\n1,1,1\n2,1,0\n",
            "Sample#\tTime(ns)\ta\tb\n10\t0\t0\t1\n11\t2\t1\t1\n12\t4\t1\t0\n",
            "a,b,t0 = -4e-9, tInc = 2e-9,\n0,1,,\n1,1,,\n1,0,,\n",
            "Time [ps];a;b\n0.000,5;0;1\n2.000,5;1;1\n4.000,5;1;0\n",
            "; Probes (2/2): a, b\n; Samplerate: 500 MHz\n0,1\n1,1\n1,0\n",
            "# Sampling frequency: 500 MHz\na,b\n; mark\n0,1\n; mark\n1,1\n1,0\n",
            "\"Sampling Period\",\"2 ns\"\n\"Sample\",\"a\",\"b\"\n0,0,1\n1,1,1\n2,1,0\n",
            "Time [ns],a,b,,,\n0,0,1,,,7\n2,1,1,,,7\n4,1,0,,,7\n",
            "Time [ns],a,b\n0,0x0,1'b1\n2,0x1,1'b1\n4,0x1,1'b0\n",
            "Time [ns],a,b\n0,0,-1\n2,-1,-1\n4,-1,0\n",
            "Time [ns],state,a,b\n0,down,0,1\n2,face it,1,1\n4,word,1,0\n",
            "Time_ns a b\n0 0 1\n2 1 1\n4 1 0\n",
            "  Time (ns)   a   b\n   0.0    0   1 \n   2.0    1   1\n   4.0    1   0",
            "Time [ns],CH1,Count,a,b\n0,131,-8,0,1\n2,129,-12,1,1\n4,130,11,1,0\n",
        ] {
            let expected = (vec!["a".to_owned(), "b".to_owned()], vec![(2, 1), (4, 2)], None);
            let latin: Option<Vec<u8>> = text.chars().map(|it| u8::try_from(it).ok()).collect();
            let latin = latin.unwrap_or_else(|| text.into());
            for bytes in [text.into(), text.replace('\n', "\r").into_bytes(), latin] {
                assert_eq!(read(&bytes), expected, "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn times_of_day_may_have_a_date_elsewhere_or_in_words_or_none() {
        for rows in [
            "\"Jul 31, 2023 11:59:59.999999998 PM UTC\",0,1\n01-aug-2023 12:00:00am,1,1\n1 August 2:00:00.000000002 +02,1,0\n",
            "-0:00:00.000000004,0,1\n-00:00.000000002,1,1\n24:00:00 a.m.,1,0\n",
            "59:59.999999998,0,1\n1:00:00,1,1\n60:00.000000002,1,0\n",
        ] {
            assert_eq!(read(format!("Timestamp,a,b\n{rows}")).1, [(2, 1), (4, 2)], "{rows}");
        }
    }

    #[test]
    fn buses_are_numbers_of_a_base() {
        // Three numbers of nine wires in each spelling: of the last two signals, wire 0 changes, then wire 1 and 0.
        for spelling in [
            "[8:0] 0x1ff 1FE 0x1fd",
            "[8:0] 9'h1ff 9'h1fe 9'h1fd",
            " 1ff 1fe 1fd",
            "(8:0) x\"1FF\" X'1FE' $1fd",
            "[0:8] b111111111 b111111110 b111111101",
            " 111111111 111111110 111111101",
            " 0b111111111 0b111111110 0b111111101",
            "[8:0] 0b0 0b1 0b10",
            "[8:0] 0B11 0b10 0b1",
            "[8:0] 9'b111111111 9'b111111110 9'b101",
            " 511 510 509",
            " -129 -130 -131",
            " 255 254 -3",
            "[8:0] 9'd511 9'd510 9'd509",
            " 0o777 0o776 0o775",
            "[8:0] -1 -2 -3",
            "[hex] 1ff 1fe 1fd",
            "[dec] 511 510 509",
            " 1ffh 1feh 1fdh",
        ] {
            let (title, values) = spelling.split_once(' ').unwrap();
            for separator in [',', '\t'] {
                let mut text = format!("Time [ns]{separator}tx{title}\n");
                for (time, value) in values.split(' ').enumerate() {
                    text += &format!("{}{separator}{value}\n", 2 * time);
                }
                let (names, changes, error) = read(&text);
                let expected = (9, vec![(2, 2), (4, 3)], None);
                assert_eq!((names.len(), changes, error), expected, "{text}");
            }
        }
        let radix = "# samplerate: 500M\nSample in Buffer,TRIGGER,top/tx[1:0]\nRadix - UNSIGNED,UNSIGNED,HEX\n0,1,1\n1,0,3\n2,0,2\n";
        assert_eq!(read(radix).1, [(2, 1), (4, 2)]);
        // Eight binary digits are a byte.
        let (names, changes, _) = read("Time [ns],tx\n0,11111111\n2,11111110\n4,11111101\n");
        assert_eq!((names.len(), changes), (8, vec![(2, 2), (4, 3)]));
        // One of them could be binary, and one hexadecimal.
        assert_eq!(read("Time [ns],t[19:0]\n0,0B110\n2,0F111\n").1, [(2, 2)]);
        let unknown = "Time [ns],tx\n0,000000001\n2,x00000001\n4,000000010\n";
        assert_eq!(read(unknown).1, [(2, 0), (4, 3)]);
        let (names, _, error) = read("Time [ns],tx\n0,1FF\n2,0aa\n4,xx\n6,3FF\n");
        let wide = "line 5: \"3FF\" is no number of 9 bits";
        assert_eq!((names.len(), error.as_deref()), (9, Some(wide)));
    }

    #[test]
    fn what_is_no_table_is_none() {
        let (_, _, error) = read("t,CH1,CH2\n0,3.31,0.02\n0,3.29,0.01\n");
        let left_out = "; columns left out: \"CH1\", \"CH2\" (of an analog input); \"t\" (times that are all 0)";
        let is_told = |it: String| it.contains("no column of levels") && it.ends_with(left_out);
        assert!(error.is_some_and(is_told));
        let nine = "83 05 aa 7e 01 02 03 04 05\n".repeat(2);
        for text in ["", "GAP 83\n01 05\n", &nine, "# a, b\nGAP\t83\n", "0,1\n1,0\n", "a\n0\n"] {
            assert!(!is_table(text.as_bytes()), "{text}");
        }
        for (text, expected) in [
            ("Time,a,b\n0,0,0\n10,1,1\n", "line 1: column \"Time\": times without a unit"),
            (
                "Time [ns],tx\n0,100\n2,101\n",
                "line 1: column \"tx\": numbers that are decimal or hex",
            ),
            ("Time [ns],a,b\n", "line 1: no samples"),
            ("Time,a,b\n170141183460469231731687.303715884105726:0-01,0,0\n", "line 2: time"),
            ("Time,a,b\n0:0:0:1,0,0\n", "line 2: time"),
            ("Time,a,b\n2026-11-30 9:00:00,0,0\n2026-12-01 9:00:01,1,1\n", "line 3: time"),
            ("Time,a,b\n5:0:0,0,0\n4:59:59.9,1,1\n", "line 3: the time is earlier"),
            ("Time [us],a,b\n.01,0,0\n.02,1,0\n.02,0,0\n", "line 4: levels change at the time"),
            ("Time [ns],a,b\n0,0,0\n2,1,1\n4,go,1\n", "line 4: level \"go\" is not 0 or 1"),
        ] {
            let error = read(text).2.unwrap_or_default();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        // A list of changes does not tell when it ends.
        for (rows, is_sampled) in [
            ("Time [ns],a\n0,0\n2,1\n", false),
            ("Time [ns],a\n0,0\n2,1\n4,1\n", true),
            ("Time [ns],a\n0,0\n2,0\n4,0\n6,0\n8,0\n10,1\n", true),
            ("# samplerate: 1 GHz\na,b\n0,0\n1,1\n", true),
        ] {
            let table = Box::new(TableReader::new(rows.as_bytes(), None).unwrap());
            let mut is_ended = false;
            table.read(&[0], &mut |some| is_ended |= some.iter().any(|it| it.unknown != 0));
            assert_eq!(is_ended, is_sampled, "{rows}");
        }
        // The last value of the head is cut.
        let rows = "0,False,True\n2,True,False\n".repeat(50_000);
        assert_eq!(read(format!("Time [ns],CH1,CH2\n{rows}")).0, ["CH1", "CH2"]);
        assert_eq!(read("Time [ns],CH1,CH2\n0,0x0,1'b1\n2,0x1,1'b1\n").0, ["CH1", "CH2"]);
        let (_, changes, error) = read("Time [s],a,b\n0,0,0\n1,1,1\n2,1\n");
        assert_eq!(changes.len(), 1);
        assert_eq!(error.unwrap(), "line 4: 2 of 3 fields: the row is cut short");
        let (_, changes, error) = read("Time [s],a,b\n0,0,0\n1,1,1\n2,1,1,0,1\n3,1,0\n");
        assert_eq!(changes.len(), 1);
        assert_eq!(error.unwrap(), "line 4: 5 fields: other rows have 3");
    }
}
