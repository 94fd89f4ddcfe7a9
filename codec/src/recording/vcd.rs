//! Value change dumps (VCD, IEEE 1364), which simulators and most instruments write.

use std::collections::BTreeMap;
use std::io::Read;

use super::decimal::{DecimalNumber, TimeOrigin, time_unit};
use super::levels::{SignalLevel, SignalLevels};
use super::variables::{SignalTable, VariableName, add_scope, range_width};
use super::words::WordReader;
use super::{ChangeSink, ReadSummary, RecordingError, SignalReader};

/// First bytes of a text in UTF-8, which some programs write.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Types of variables that are no wires: texts, numbers, times, events.
const WITHOUT_LEVELS: [&str; 9] = [
    "string",
    "real",
    "realtime",
    "shortreal",
    "parameter",
    "real_parameter",
    "localparam",
    "time",
    "event",
];

/// Reader of a value change dump.
#[derive(Debug)]
pub struct VcdReader<R> {
    words: WordReader<R>,
    variables: SignalTable,
    /// Femtoseconds in a unit of time.
    unit_fs: u64,
}

impl<R: Read> VcdReader<R> {
    /// Reads the declarations of a dump.
    ///
    /// # Errors
    ///
    /// Declarations that are no VCD, with their line.
    pub fn new(reader: R) -> Result<Self, RecordingError> {
        let (words, variables) = (WordReader::new(reader), SignalTable::default());
        let mut dump = Self { words, variables, unit_fs: 1_000_000 };
        let mut scopes: Vec<String> = Vec::new();
        dump.variables.note = Some("no $timescale: times are taken as ns".to_owned());
        let mut is_begun = false;
        loop {
            let keyword = dump.words.next()?.map(<[u8]>::to_vec);
            let Some(keyword) = keyword else {
                return Err(dump.words.error("the declarations do not end: no $enddefinitions"));
            };
            let keyword = keyword.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&keyword);
            let text = match keyword {
                [b'$', b'a'..=b'z', ..] => dump.section()?,
                _ if !is_begun => continue,
                _ => return Err(dump.words.error(shown(keyword) + " is no keyword of a VCD file")),
            };
            is_begun = true;
            let word = |at: usize| text.get(at).map(String::as_str).unwrap_or_default();
            match keyword {
                b"$timescale" => {
                    (dump.unit_fs, dump.variables.note) = (dump.timescale(&text.concat())?, None);
                }
                b"$scope" => {
                    add_scope(&mut scopes, word(1)).map_err(|cause| dump.words.error(cause))?;
                }
                b"$upscope" => _ = scopes.pop(),
                b"$var" if WITHOUT_LEVELS.contains(&word(0)) => {}
                b"$var" => dump.declare(&text, &scopes)?,
                b"$enddefinitions" => return Ok(dump),
                // $date, $version, $comment and what an extension adds.
                _ => {}
            }
        }
    }

    /// Words up to `$end`.
    fn section(&mut self) -> Result<Vec<String>, RecordingError> {
        let line = self.words.line;
        let mut text = Vec::new();
        while let Some(word) = self.words.next()? {
            match word {
                b"$end" => return Ok(text),
                // The words that matter are few; a comment may be long.
                word if text.len() < 8 => text.push(String::from_utf8_lossy(word).into_owned()),
                _ => {}
            }
        }
        Err(RecordingError::at_line(line, "a section begins here and does not end: no $end"))
    }

    /// Femtoseconds in the unit of `1ns`, `2500 ps` and the like.
    fn timescale(&self, text: &str) -> Result<u64, RecordingError> {
        let digits =
            text.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b',')).count();
        let (number, unit) = text.split_at(digits);
        let unit_fs = time_unit(unit)
            .and_then(|unit_fs| DecimalNumber::parse(number)?.times_exactly(unit_fs));
        let unit_fs = unit_fs.and_then(|unit_fs| u64::try_from(unit_fs).ok()).filter(|fs| *fs > 0);
        unit_fs.ok_or_else(|| {
            let text = shown(text.as_bytes());
            let cause = "not a whole number of fs in s, ms, us, ns, ps or fs";
            self.words.error(format!("timescale is {text}, {cause}"))
        })
    }

    /// Declares the variable of the words type, width, code, name and range.
    fn declare(&mut self, text: &[String], scopes: &[String]) -> Result<(), RecordingError> {
        let word = |at: usize| text.get(at).map(String::as_str).unwrap_or_default();
        // An extended dump has the range of a port in the place of its width.
        let port = range_width(word(1));
        let width = port.or_else(|| word(1).parse().ok()).filter(|_| !word(2).is_empty());
        let Some(width) = width else {
            return Err(self.words.error("$var is not followed by type, width, code and name"));
        };
        let range = if port.is_some() { word(1) } else { word(4) };
        let name = VariableName { scopes, name: word(3), range };
        let declared = self.variables.declare(name, width, word(2).as_bytes());
        declared.map_err(|cause| self.words.error(cause))
    }

    /// The code behind a level.
    fn code(&mut self) -> Result<&[u8], RecordingError> {
        let line = self.words.line;
        let ended = || RecordingError::at_line(line, "the file ends inside a change: no code");
        self.words.next()?.ok_or_else(ended)
    }

    /// Reads changes, and gives those before the last time.
    fn read_changes(
        &mut self,
        codes: &mut SelectedCodes,
        time_fs: &mut u64,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let (mut vector, mut origin) = (Vec::new(), TimeOrigin::default());
        loop {
            // Lines of times are usual if these are counted from 0.
            let unit_fs = if origin.0 == Some(0) { self.unit_fs } else { 0 };
            let usual = codes.read_usual(self.words.unread(), (time_fs, unit_fs), sink);
            self.words.skip(usual.bytes, usual.lines);
            let Some(word) = self.words.next()? else { return Ok(()) };
            match word {
                [b'#', digits @ ..] => {
                    let text = std::str::from_utf8(digits).ok();
                    let time =
                        text.and_then(|text| DecimalNumber::parse(text)?.times(self.unit_fs));
                    let is_first = origin.0.is_none() && !codes.levels.is_known();
                    let later = time.and_then(|time| origin.since(time));
                    let Some(later) = later.filter(|later| later >= time_fs) else {
                        let is_before = time.is_some_and(|it| origin.is_before(it));
                        let early = "earlier than the time before it";
                        let late = "no number of units below 5.1 hours";
                        let fault = if is_before || later.is_some() { early } else { late };
                        let text = format!("time {} is {fault}", shown(word));
                        return Err(self.words.error(text));
                    };
                    if is_first {
                        *time_fs = later;
                    }
                    codes.go_on(later, time_fs, sink);
                }
                [b'b' | b'B', bits @ ..] => {
                    vector.clear();
                    vector.extend_from_slice(bits);
                    codes.set_vector(self.code()?, &vector);
                }
                // A port of an extended dump: states, and two strengths of each. IEEE 1364
                [b'p' | b'P', states @ ..] => {
                    vector.clear();
                    vector.extend(states.iter().map(|state| SignalLevel::port_letter(*state)));
                    for _ in 0..2 {
                        _ = self.code()?;
                    }
                    codes.set_vector(self.code()?, &vector);
                }
                // Numbers and texts are no levels.
                [b'r' | b'R' | b's' | b'S', ..] => _ = self.code()?,
                b"$comment" => _ = self.section()?,
                b"$dumpoff" | b"$dumpportsoff" => _ = codes.levels.hide(),
                // Levels of a dump of all signals are no changes.
                [b'$', b'd', ..] => codes.levels.state(),
                [b'$', ..] => {}
                [letter, code @ ..] if let Some(level) = SignalLevel::of(*letter) => {
                    codes.put_scalar(if code.is_empty() { self.code()? } else { code }, level);
                }
                word => {
                    let text = shown(word) + " is no change of a VCD file";
                    return Err(self.words.error(text));
                }
            }
        }
    }
}

impl<R: Read> SignalReader for VcdReader<R> {
    fn signals(&self) -> &SignalTable {
        &self.variables
    }

    fn read(mut self: Box<Self>, selected: &[usize], sink: &mut ChangeSink<'_>) -> ReadSummary {
        let mut codes = SelectedCodes::new(&self.variables, selected);
        let mut time_fs = 0;
        let error = self.read_changes(&mut codes, &mut time_fs, sink).err();
        let is_cut_line = self.words.is_cut();
        if error.is_some() || is_cut_line {
            codes.levels.end(time_fs, sink);
        }
        ReadSummary { error, is_cut_line, ..codes.levels.finish(time_fs, sink) }
    }
}

/// Beginning of a word, for an error.
fn shown(word: &[u8]) -> String {
    let word = String::from_utf8_lossy(word).escape_debug().to_string();
    format!("{word:.40}")
}

/// Number that eight digits are, the first in the lowest byte. Two, four and eight of them are put together at once.
const fn eight_digits(digits: u64) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let values = digits ^ ZEROS;
    let beyond_9 = values.wrapping_add(0x7676_7676_7676_7676);
    if (values | beyond_9) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let twos = (values.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

/// Time of a line from `#` on, and what is left behind it; `None` if the line is not that short and plain.
#[inline]
fn time_line(line: &[u8], unit_fs: u64) -> Option<(u64, &[u8])> {
    let (mut number, mut left) = (0, line);
    if let Some((eight, rest)) = left.split_first_chunk()
        && let Some(eight) = eight_digits(u64::from_le_bytes(*eight))
    {
        (number, left) = (eight, rest);
    }
    // Ten times a number of at most 18 digits, and a digit: below 2⁶⁴.
    while let [digit @ b'0'..=b'9', rest @ ..] = left
        && number < 1_000_000_000_000_000_000
    {
        (number, left) = (number * 10 + u64::from(digit - b'0'), rest);
    }
    let rest = left.strip_prefix(b"\n").filter(|rest| rest.len() + 1 < line.len())?;
    Some((number.checked_mul(unit_fs)?, rest))
}

/// Bytes behind the line of a text and a code; `None` if the line is not that plain.
#[inline]
fn text_line(line: &[u8]) -> Option<&[u8]> {
    let (words, rest) = line.split_at(line.iter().position(|byte| *byte == b'\n')?);
    let mut blanks = words.iter().enumerate().filter(|(_, byte)| byte.is_ascii_whitespace());
    let (blank, _) = blanks.next()?;
    (blanks.next().is_none() && blank + 1 < words.len()).then(|| rest.get(1..))?
}

/// Bytes that have been read, and the lines that end in them.
struct ReadLines {
    bytes: usize,
    lines: u64,
}

/// Identifier codes of two characters from `!` to `~`, and of one.
const SHORT_CODES: usize = 94 + 94 * 94;

/// Identifier codes of the selected signals, and the levels of these.
struct SelectedCodes {
    /// Selected signals by identifier code of one or two characters, one mask for a scalar.
    short: Box<[u64]>,
    /// Other codes and vectors: masks from the least significant bit.
    long: BTreeMap<Box<[u8]>, Vec<u64>>,
    levels: SignalLevels,
}

impl SelectedCodes {
    fn new(variables: &SignalTable, selected: &[usize]) -> Self {
        let mut short = vec![0; SHORT_CODES].into_boxed_slice();
        let mut long = variables.masks(selected);
        long.retain(|code, masks| {
            let entry = short_code(code).and_then(|at| short.get_mut(at));
            match (masks.as_slice(), entry) {
                ([mask], Some(entry)) => *entry = *mask,
                _ => return true,
            }
            false
        });
        Self { short, long, levels: SignalLevels::default() }
    }

    /// Reads lines of a time, of a level and a code of one character, and of a text without a blank,
    /// as far as they are complete.
    fn read_usual(
        &mut self,
        bytes: &[u8],
        (time_fs, unit_fs): (&mut u64, u64),
        sink: &mut ChangeSink<'_>,
    ) -> ReadLines {
        let (mut left, mut lines) = (bytes, 0);
        loop {
            left = match left {
                [level @ (b'0' | b'1'), code @ b'!'..=b'~', b'\n', rest @ ..] => {
                    let level = if *level == b'1' { SignalLevel::High } else { SignalLevel::Low };
                    self.put_scalar(std::slice::from_ref(code), level);
                    rest
                }
                [b'\n', rest @ ..] => rest,
                [b'#', rest @ ..] if unit_fs > 0 => match time_line(rest, unit_fs) {
                    Some((later, rest)) if later >= *time_fs => {
                        self.go_on(later, time_fs, sink);
                        rest
                    }
                    _ => break,
                },
                [b's', rest @ ..] => match text_line(rest) {
                    Some(rest) => rest,
                    None => break,
                },
                _ => break,
            };
            lines += 1;
        }
        ReadLines { bytes: bytes.len() - left.len(), lines }
    }

    /// Ends a time at a later one.
    #[inline]
    fn go_on(&mut self, later: u64, time_fs: &mut u64, sink: &mut ChangeSink<'_>) {
        if later != *time_fs {
            self.levels.end(*time_fs, sink);
            *time_fs = later;
        }
    }

    #[inline]
    fn put_scalar(&mut self, code: &[u8], level: SignalLevel) {
        let mask = match short_code(code).and_then(|at| self.short.get(at)) {
            Some(mask) if *mask != 0 => *mask,
            _ if self.long.is_empty() => return,
            _ => self.long.get(code).and_then(|masks| masks.first()).copied().unwrap_or_default(),
        };
        self.levels.put(mask, level);
    }

    /// Sets a vector, most significant bit first; missing bits extend it to the left. IEEE 1364
    fn set_vector(&mut self, code: &[u8], bits: &[u8]) {
        let scalar = short_code(code).and_then(|at| self.short.get(at)).copied();
        let masks = match self.long.get(code) {
            Some(masks) => masks.clone(),
            None => scalar.into_iter().collect(),
        };
        let fill =
            if bits.first() == Some(&b'1') { b'0' } else { bits.first().copied().unwrap_or(b'0') };
        for (mask, bit) in
            masks.iter().zip(bits.iter().rev().copied().chain(std::iter::repeat(fill)))
        {
            if let Some(level) = SignalLevel::of(bit) {
                self.levels.put(*mask, level);
            }
        }
    }
}

/// Index of a code of one or two characters.
#[inline]
fn short_code(code: &[u8]) -> Option<usize> {
    let digit = |byte: u8| usize::from(byte.wrapping_sub(b'!'));
    match *code {
        [first] if digit(first) < 94 => Some(digit(first)),
        [first, second] if digit(first) < 94 && digit(second) < 94 => {
            Some(94 + 94 * digit(second) + digit(first))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SignalChange;

    fn read(text: &str) -> (Vec<SignalChange>, ReadSummary) {
        let (dump, mut all) = (VcdReader::new(text.as_bytes()).unwrap(), Vec::new());
        let summary = Box::new(dump).read(&[0, 1, 2, 3], &mut |some| all.extend(some));
        (all, summary)
    }

    fn changes(text: &str) -> (Vec<SignalChange>, Option<String>) {
        let (mut all, summary) = read(text);
        all.retain(|it| it.signals != 0);
        (all, summary.error.map(|error| error.to_string()))
    }

    #[test]
    fn usual_lines_are_read_as_their_words() {
        let head = "VCD info: dumpfile - opened.\n$ $timescale 1 ps $end $var wire 1 ! a $end $var wire 1 \" b $end $enddefinitions $end\n";
        let body = "#0\n0!\n0\"\n#12345678\n1!\nsx7 ~!\ns7 ~!\n#12345679\n#000123456780\n1\"\n0!\n#9876543210987\n0\"\n";
        let change =
            |time_ps: u64, signals| SignalChange { time_fs: time_ps * 1000, signals, unknown: 0 };
        let expected =
            vec![change(12_345_678, 1), change(123_456_780, 3), change(9_876_543_210_987, 2)];
        for end in ["\n", " ", "\r\n", "\n\n\t"] {
            let text = format!("{head}{}", body.replace('\n', end));
            assert_eq!(changes(&text), (expected.clone(), None), "{end:?}");
        }
        // What is unusual in a line is left to the words, with its line for an error.
        for (odd, fault) in [
            ("s1\n~! #x\n", "line 17: time #x is no number"),
            ("#\n", "line 16: time # is no number"),
            ("pD 6\n", "line 16: the file ends inside a change: no code"),
            ("#99999999999999999999\n", "line 16: time #99999999999999999999 is no number"),
            ("#18446744073709552\n", "line 16: time #18446744073709552 is no number"),
            ("\n#5\n", "line 17: time #5 is earlier"),
            ("#12a45678\n", "line 16: time #12a45678 is no number"),
        ] {
            let (seen, error) = changes(&format!("{head}{body}{odd}"));
            let error = error.unwrap();
            assert!(seen == expected && error.starts_with(fault), "{odd:?}: {error}");
        }
    }

    #[test]
    fn no_level_is_known_behind_dumpoff() {
        let head = "$var wire 1 ! a $end $enddefinitions $end";
        let text = format!("{head} #0 0! #5 $dumpoff $end #9 $dumpon 1! $end #10 0!");
        let (all, _) = read(&text);
        let changes = all.iter().map(|it| (it.time_fs, it.signals, it.unknown));
        let known = [(0, 0, 0), (5_000_000, 0, 1), (9_000_000, 1, 0), (10_000_000, 1, 0)];
        // The last line may be cut.
        assert!(changes.eq(known.into_iter().chain([(10_000_001, 0, u64::MAX)])), "{all:?}");
    }

    /// All vectors of up to four letters for four wires that were low. IEEE 1364
    #[test]
    fn a_shorter_vector_is_extended_by_0_or_by_what_is_unknown() {
        for (length, number) in
            (1..=4).flat_map(|length| (0..1 << (2 * length)).map(move |it| (length, it)))
        {
            let digits: String = (0..length)
                .map(|place: u32| char::from(b"01xz"[number >> (2 * place) & 3]))
                .collect();
            let text = format!(
                "$timescale 1 ns $end $var wire 4 ! a $end $enddefinitions $end\n#0\nb0000 !\n#5\nb{digits} !\n"
            );
            let fill = digits.chars().next().filter(|first| "xz".contains(*first)).unwrap_or('0');
            let whole = fill.to_string().repeat(4 - digits.len()) + &digits;
            let those = |letters: &str| {
                let all = whole.chars().zip(0..).filter(|(letter, _)| letters.contains(*letter));
                all.fold(0, |all, (_, place)| all | 1_u64 << place)
            };
            let high =
                SignalChange { time_fs: 5_000_000, signals: those("1"), unknown: those("xz") };
            let (all, summary) = read(&text);
            let begin = SignalChange { time_fs: 0, signals: 0, unknown: 0 };
            let end = SignalChange { time_fs: 5_000_001, signals: 0, unknown: u64::MAX };
            let later = if high.signals | high.unknown > 0 { high } else { end };
            assert_eq!((all, summary.lost), (vec![begin, later], those("xz")), "{digits}");
        }
    }
}
