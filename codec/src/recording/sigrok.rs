//! Sessions of sigrok and `PulseView` (`.sr`): a zip archive of a description and of raw samples.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::{RecordingError, SELECTED_MAX, SignalChange};

/// Longest description.
const METADATA_MAX: u64 = 1_048_576;

/// Widest sample, in bytes.
const UNIT_MAX: usize = 8;

/// Samples that are read at once, in bytes; a multiple of every unit's size but 3, 5, 6 and 7.
const BLOCK: usize = 65_536;

/// Reader of a sigrok session.
#[derive(Debug)]
pub struct SigrokReader<R> {
    archive: ZipArchive<R>,
    /// Names of the signals, by bit of a sample; empty for a bit without one.
    names: Vec<String>,
    /// Prefix of the files of samples.
    file: String,
    sample_rate: u64,
    unit_size: usize,
}

impl<R: Read + Seek> SigrokReader<R> {
    /// Reads the description of a session.
    ///
    /// # Errors
    ///
    /// An archive without a description of logic signals, with a sample rate.
    pub fn new(reader: R) -> Result<Self, RecordingError> {
        let zip = |error: zip::result::ZipError| {
            RecordingError::at_byte(0, format!("no sigrok session: {error}"))
        };
        let mut archive = ZipArchive::new(reader).map_err(zip)?;
        let mut text = String::new();
        let metadata = archive.by_name("metadata").map_err(zip)?;
        metadata
            .take(METADATA_MAX)
            .read_to_string(&mut text)
            .map_err(|error| RecordingError::at_byte(0, format!("metadata: {error}")))?;
        let mut session =
            Self { archive, names: Vec::new(), file: String::new(), sample_rate: 0, unit_size: 0 };
        for (line, words) in (1..).zip(text.lines()) {
            let Some((key, value)) = words.split_once('=') else { continue };
            session
                .describe(key.trim(), value.trim())
                .map_err(|cause| RecordingError::at_line(line, format!("metadata: {cause}")))?;
        }
        match (session.file.is_empty(), session.sample_rate, session.unit_size) {
            (true, _, _) | (_, _, 0) => Err(RecordingError::at_byte(
                0,
                "metadata: no logic signals (capturefile, unitsize)",
            )),
            (_, 0, _) => Err(RecordingError::at_byte(0, "metadata: no samplerate")),
            _ => Ok(session),
        }
    }

    fn describe(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "capturefile" => value.clone_into(&mut self.file),
            "samplerate" => {
                self.sample_rate = rate(value)
                    .ok_or_else(|| format!("samplerate is {value:?}, not 1 Hz to 1 THz"))?;
            }
            "unitsize" => {
                let size = value.parse().ok().filter(|size| (1..=UNIT_MAX).contains(size));
                self.unit_size =
                    size.ok_or_else(|| format!("unitsize is {value:?}, not 1 to {UNIT_MAX}"))?;
            }
            _ => {
                let number =
                    key.strip_prefix("probe").and_then(|number| number.parse::<usize>().ok());
                if let Some(bit) = number
                    .and_then(|number| number.checked_sub(1))
                    .filter(|bit| *bit < 8 * UNIT_MAX)
                {
                    self.names.resize(self.names.len().max(bit + 1), String::new());
                    if let Some(name) = self.names.get_mut(bit) {
                        value.clone_into(name);
                    }
                }
            }
        }
        Ok(())
    }

    /// The signals, by the bit of a sample.
    pub fn signals(&self) -> &[String] {
        &self.names
    }

    /// Samples per second.
    pub const fn sample_rate(&self) -> u64 {
        self.sample_rate
    }

    /// Gives the changes of some signals, by their numbers, in order of time. The first sample is
    /// no change.
    ///
    /// # Errors
    ///
    /// Damage of the archive, with the byte of the samples. What precedes it has been given.
    pub fn read(
        mut self,
        selected: &[usize],
        mut change: impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        let mut samples = SampleComparer::new(&self, selected);
        // One file, or parts `FILE-1`, `FILE-2`, …
        let single = self.archive.index_for_name(&self.file);
        for part in 1.. {
            let name =
                if single.is_some() { self.file.clone() } else { format!("{}-{part}", self.file) };
            if self.archive.index_for_name(&name).is_none() || (single.is_some() && part > 1) {
                break;
            }
            let damaged =
                |at: u64, cause: String| RecordingError::at_byte(at, format!("{name}: {cause}"));
            let mut file =
                self.archive.by_name(&name).map_err(|error| damaged(0, error.to_string()))?;
            let mut block = vec![0; BLOCK];
            let (mut kept, mut at) = (0, 0);
            loop {
                let free = block.get_mut(kept..).unwrap_or_default();
                let read = match file.read(free) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) => return Err(damaged(at, error.to_string())),
                };
                at += read as u64;
                let filled = kept + read;
                let whole = filled - filled % self.unit_size;
                samples.read(block.get(..whole).unwrap_or_default(), &mut change)?;
                block.copy_within(whole..filled, 0);
                kept = filled - whole;
            }
        }
        Ok(())
    }
}

/// Samples per second of `500 MHz`, `24000000` and the like.
fn rate(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit.trim() {
        "" | "Hz" => 1,
        "kHz" => 1000,
        "MHz" => 1_000_000,
        "GHz" => 1_000_000_000,
        _ => return None,
    };
    let rate = number.parse::<u64>().ok()?.checked_mul(factor)?;
    (1..=1_000_000_000_000).contains(&rate).then_some(rate)
}

/// Comparison of each sample with the one before.
struct SampleComparer {
    unit_size: usize,
    /// Bits of selected signals, and the number of each.
    mask: u64,
    numbers: [u8; 64],
    last: Option<u64>,
    /// Samples so far.
    count: u64,
    sample_rate: u64,
}

impl SampleComparer {
    fn new<R>(session: &SigrokReader<R>, selected: &[usize]) -> Self {
        let (mut mask, mut numbers) = (0, [0; 64]);
        for (signal, number) in selected.iter().take(SELECTED_MAX).zip(0..) {
            if let Some(entry) = numbers.get_mut(*signal) {
                (*entry, mask) = (number, mask | 1 << signal);
            }
        }
        let SigrokReader { unit_size, sample_rate, .. } = *session;
        Self { unit_size, mask, numbers, last: None, count: 0, sample_rate }
    }

    /// Reads whole samples.
    fn read(
        &mut self,
        bytes: &[u8],
        change: &mut impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        match self.unit_size {
            1 => self.compare(bytes.iter().map(|byte| u64::from(*byte)), change),
            2 => self.compare(
                bytes.as_chunks::<2>().0.iter().map(|unit| u64::from(u16::from_le_bytes(*unit))),
                change,
            ),
            size => {
                let value = |unit: &[u8]| {
                    unit.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
                };
                self.compare(bytes.chunks_exact(size).map(value), change)
            }
        }
    }

    #[inline]
    fn compare(
        &mut self,
        samples: impl Iterator<Item = u64>,
        change: &mut impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        for sample in samples {
            let mut changed = (sample ^ self.last.unwrap_or(sample)) & self.mask;
            if changed != 0 || self.last.is_none() {
                self.last = Some(sample);
                let time_fs =
                    u128::from(self.count) * 1_000_000_000_000_000 / u128::from(self.sample_rate);
                let Ok(time_fs) = u64::try_from(time_fs) else {
                    return Err(RecordingError::at_byte(self.count, "samples beyond 5.1 hours"));
                };
                let mut signals = 0;
                while changed != 0 {
                    let number = self.numbers.get(changed.trailing_zeros() as usize);
                    signals |= 1 << number.copied().unwrap_or_default();
                    changed &= changed - 1;
                }
                if signals != 0 {
                    change(SignalChange { time_fs, signals });
                }
            }
            self.count += 1;
        }
        Ok(())
    }
}
