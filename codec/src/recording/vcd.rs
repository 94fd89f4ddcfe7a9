//! Value change dumps (VCD, IEEE 1364), which simulators and most instruments write.

use std::collections::BTreeMap;
use std::io::Read;

use super::levels::SignalLevels;
use super::words::WordReader;
use super::{RecordingError, SELECTED_MAX, SignalChange};

/// Most bits of all signals together, and most bytes of their names and codes.
const SIGNALS_MAX: usize = 262_144;
const NAMES_MAX: usize = 16 << 20;

/// Most nested scopes.
const SCOPES_MAX: usize = 256;

/// Reader of a value change dump.
#[derive(Debug)]
pub struct VcdReader<R> {
    words: WordReader<R>,
    /// Names of the signals, one a bit, with their scopes: `top.link.d[8]`.
    names: Vec<String>,
    /// Variables with their identifier codes, which several may share.
    variables: Vec<(Box<[u8]>, DeclaredVariable)>,
    /// Bytes of names and codes.
    names_len: usize,
    /// Femtoseconds in a unit of time.
    unit_fs: u64,
}

/// Signals of a variable, from its most significant bit.
#[derive(Clone, Copy, Debug)]
struct DeclaredVariable {
    first: usize,
    width: usize,
}

impl<R: Read> VcdReader<R> {
    /// Reads the declarations of a dump.
    ///
    /// # Errors
    ///
    /// Declarations that are no VCD, with their line.
    pub fn new(reader: R) -> Result<Self, RecordingError> {
        let (words, names, variables) = (WordReader::new(reader), Vec::new(), Vec::new());
        let mut dump = Self { words, names, variables, names_len: 0, unit_fs: 1_000_000 };
        let mut scopes: Vec<String> = Vec::new();
        loop {
            let keyword = dump.words.next()?.map(<[u8]>::to_vec);
            let Some(keyword) = keyword else {
                return Err(dump.words.error("the declarations do not end: no $enddefinitions"));
            };
            let text = match keyword.first() {
                Some(b'$') => dump.section()?,
                _ => {
                    let word = String::from_utf8_lossy(&keyword).escape_debug().to_string();
                    return Err(dump
                        .words
                        .error(format!("{word:.40} is no keyword of a VCD file")));
                }
            };
            let word = |at: usize| text.get(at).map(String::as_str).unwrap_or_default();
            match keyword.as_slice() {
                b"$timescale" => dump.unit_fs = dump.timescale(&text.concat())?,
                b"$scope" if scopes.len() == SCOPES_MAX => {
                    return Err(dump.words.error(format!("more than {SCOPES_MAX} nested scopes")));
                }
                b"$scope" => scopes.push(word(1).to_owned()),
                b"$upscope" => _ = scopes.pop(),
                // Texts and numbers have no level.
                b"$var" if ["string", "real", "realtime"].contains(&word(0)) => {}
                b"$var" => {
                    let name = [scopes.join(".").as_str(), word(3)].join(".");
                    dump.declare(name.trim_start_matches('.'), word(1), word(2), word(4))?;
                }
                b"$enddefinitions" => return Ok(dump),
                // $date, $version, $comment and what an extension adds.
                _ => {}
            }
        }
    }

    /// Words up to `$end`.
    fn section(&mut self) -> Result<Vec<String>, RecordingError> {
        let line = self.words.line();
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

    /// Femtoseconds in the unit of `1ns`, `10 ps` and the like.
    fn timescale(&self, text: &str) -> Result<u64, RecordingError> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit_fs = match unit {
            "s" => 1_000_000_000_000_000,
            "ms" => 1_000_000_000_000,
            "us" => 1_000_000_000,
            "ns" => 1_000_000,
            "ps" => 1000,
            "fs" => 1,
            _ => 0,
        };
        let number = number.parse().ok().filter(|number| [1_u64, 10, 100].contains(number));
        match number {
            Some(number) if unit_fs > 0 => Ok(number * unit_fs),
            _ => Err(self.words.error(format!(
                "timescale is {:.40}, not 1, 10 or 100 of s, ms, us, ns, ps or fs",
                text.escape_debug().to_string()
            ))),
        }
    }

    fn declare(
        &mut self,
        name: &str,
        width: &str,
        code: &str,
        range: &str,
    ) -> Result<(), RecordingError> {
        let width = match width.parse() {
            Ok(width) if !code.is_empty() => width,
            _ => {
                return Err(self.words.error("$var is not followed by type, width, code and name"));
            }
        };
        if self.names.len().saturating_add(width) > SIGNALS_MAX {
            let text = format!("more than {SIGNALS_MAX} signals: dump the wires alone");
            return Err(self.words.error(text));
        }
        let name_len = name.len().saturating_add(range.len()).saturating_add(8);
        self.names_len = self.names_len.saturating_add(code.len());
        self.names_len = self.names_len.saturating_add(name_len.saturating_mul(width));
        if self.names_len > NAMES_MAX {
            return Err(self.words.error(format!("names of signals exceed {NAMES_MAX} bytes")));
        }
        // The range of `d[8:0]` numbers the bits; without one, they count down to 0.
        let bounds = range.trim_matches(['[', ']']).split_once(':');
        let bounds =
            bounds.and_then(|(left, right)| Some((left.parse().ok()?, right.parse().ok()?)));
        let (left, right): (usize, usize) = bounds.unwrap_or((width.saturating_sub(1), 0));
        let variable = DeclaredVariable { first: self.names.len(), width };
        self.variables.push((code.as_bytes().into(), variable));
        self.names.extend((0..width).map(|bit| match width {
            1 => format!("{name}{}", if range.contains(':') { "" } else { range }),
            _ if left < right => format!("{name}[{}]", left + bit),
            _ => format!("{name}[{}]", left.saturating_sub(bit)),
        }));
        Ok(())
    }

    /// The signals, one a bit.
    pub fn signals(&self) -> &[String] {
        &self.names
    }

    /// Gives the changes of some signals, by their numbers, in order of time. The first level of a
    /// signal is no change; an unknown level (`x`, `z`) leaves the level as it was.
    ///
    /// # Errors
    ///
    /// Words that are no VCD, times that decrease or exceed 5.1 hours, with their line. What
    /// precedes it has been given.
    pub fn read(
        mut self,
        selected: &[usize],
        mut change: impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        let mut codes = SelectedCodes::new(&self.variables, selected);
        let unit_fs = self.unit_fs;
        let mut time_fs = 0;
        let mut vector = Vec::new();
        while let Some(word) = self.words.next()? {
            match word {
                [b'#', digits @ ..] => {
                    let later = time(digits, unit_fs);
                    let Some(later) = later.filter(|later| *later >= time_fs) else {
                        let word = String::from_utf8_lossy(word).escape_debug().to_string();
                        codes.levels.give(time_fs, &mut change);
                        return Err(self.words.error(match later {
                            Some(_) => {
                                format!("time {word:.40} is earlier than the time before it")
                            }
                            None => {
                                format!("time {word:.40} is no number of units below 5.1 hours")
                            }
                        }));
                    };
                    if later != time_fs {
                        codes.levels.give(time_fs, &mut change);
                        time_fs = later;
                    }
                }
                [level @ (b'0' | b'1'), code @ ..] => codes.set_scalar(code, *level),
                [b'x' | b'X' | b'z' | b'Z', ..] => {}
                [b'b' | b'B', bits @ ..] => {
                    vector.clear();
                    vector.extend_from_slice(bits);
                    let code = self.words.next()?.unwrap_or_default();
                    codes.set_vector(code, &vector);
                }
                // Numbers and texts are no levels.
                [b'r' | b'R' | b's' | b'S', ..] => _ = self.words.next()?,
                b"$comment" => _ = self.section()?,
                [b'$', ..] => {}
                word => {
                    let word = String::from_utf8_lossy(word).escape_debug().to_string();
                    codes.levels.give(time_fs, &mut change);
                    return Err(self.words.error(format!("{word:.40} is no change of a VCD file")));
                }
            }
        }
        codes.levels.give(time_fs, &mut change);
        Ok(())
    }
}

/// Femtoseconds of decimal digits in units.
fn time(digits: &[u8], unit_fs: u64) -> Option<u64> {
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(u64::from(digit)) }
    })?;
    (!digits.is_empty()).then(|| number.checked_mul(unit_fs))?
}

/// Identifier codes of two characters from `!` to `~`, and of one.
const SHORT_CODES: usize = 94 + 94 * 94;

/// Identifier codes of the selected signals, and the levels of these.
struct SelectedCodes {
    /// Selected signals by identifier code of one or two characters, one mask for a scalar.
    short: Box<[u32]>,
    /// Other codes and vectors: masks from the least significant bit.
    long: BTreeMap<Vec<u8>, Vec<u32>>,
    levels: SignalLevels,
}

impl SelectedCodes {
    fn new(variables: &[(Box<[u8]>, DeclaredVariable)], selected: &[usize]) -> Self {
        let mut short = vec![0; SHORT_CODES].into_boxed_slice();
        let mut long: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for (number, signal) in (0..).zip(selected.iter().take(SELECTED_MAX)) {
            let holds = |(_, variable): &&(_, DeclaredVariable)| {
                (variable.first..variable.first + variable.width).contains(signal)
            };
            for (code, variable) in variables.iter().filter(holds) {
                let bit = variable.first + variable.width - 1 - signal;
                let masks = long.entry(code.to_vec()).or_default();
                masks.resize(masks.len().max(bit + 1), 0);
                if let Some(mask) = masks.get_mut(bit) {
                    *mask |= 1_u32 << number;
                }
            }
        }
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

    #[inline]
    fn set_scalar(&mut self, code: &[u8], level: u8) {
        let mask = match short_code(code).and_then(|at| self.short.get(at)) {
            Some(mask) if *mask != 0 => *mask,
            _ if self.long.is_empty() => return,
            _ => self.long.get(code).and_then(|masks| masks.first()).copied().unwrap_or_default(),
        };
        self.set(mask, level);
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
            self.set(*mask, bit);
        }
    }

    /// Sets the signals of a mask to `0` or `1`; other levels are not known.
    #[inline]
    fn set(&mut self, mask: u32, level: u8) {
        match level {
            b'0' => self.levels.set(mask, 0),
            b'1' => self.levels.set(mask, mask),
            _ => {}
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
