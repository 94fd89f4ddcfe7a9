//! Sessions of sigrok and `PulseView` (`.sr`): a zip archive of a description and of raw samples.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::levels::SignalLevels;
use super::{RecordingError, SELECTED_MAX, SignalChange};

/// Longest description.
const METADATA_MAX: u64 = 1_048_576;

/// Widest sample, in bytes.
const UNIT_MAX: usize = 8;

const SECOND_FS: u64 = 1_000_000_000_000_000;

/// Samples that are read at once, in bytes.
const BLOCK: usize = 65_536;

/// Reader of a sigrok session.
#[derive(Debug)]
pub struct SigrokReader<R> {
    archive: ZipArchive<R>,
    /// Names of the signals, by bit of a sample; empty for a bit without one.
    names: Vec<String>,
    /// Prefix of the files of samples.
    file: String,
    /// Samples in a second, and femtoseconds between two if they are a whole number.
    sample_rate: u64,
    sample_fs: Option<u64>,
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
        let (names, file, sample_rate, sample_fs) = (Vec::new(), String::new(), 0, None);
        let mut session = Self { archive, names, file, sample_rate, sample_fs, unit_size: 0 };
        for (line, words) in (1..).zip(text.lines()) {
            let Some((key, value)) = words.split_once('=') else { continue };
            session
                .describe(key.trim(), value.trim())
                .map_err(|cause| RecordingError::at_line(line, format!("metadata: {cause}")))?;
        }
        if session.file.is_empty() || session.unit_size == 0 {
            let text = "metadata: no logic signals (capturefile, unitsize)";
            return Err(RecordingError::at_byte(0, text));
        }
        Ok(session)
    }

    /// Sets the distance of samples, whatever the rate of the session.
    #[must_use]
    pub fn with_period(self, sample_fs: u64) -> Self {
        Self { sample_fs: Some(sample_fs), ..self }
    }

    fn describe(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "capturefile" => value.clone_into(&mut self.file),
            "samplerate" => {
                self.sample_rate = rate(value)
                    .ok_or_else(|| format!("samplerate is {value:?}, not 1 Hz to 1 THz"))?;
                let whole = SECOND_FS.is_multiple_of(self.sample_rate);
                self.sample_fs = whole.then(|| SECOND_FS / self.sample_rate);
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
        if self.sample_rate == 0 && self.sample_fs.is_none() {
            return Err(RecordingError::at_byte(0, "metadata: no samplerate"));
        }
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

/// Samples that are compared at once: as many words of eight bytes as a sample has bytes.
const GROUP: usize = 8;

/// Comparison of each sample with the one before.
struct SampleComparer {
    unit_size: usize,
    /// Bits of selected signals, and the number of each.
    mask: u64,
    numbers: [u8; 64],
    last: u64,
    levels: SignalLevels,
    /// Samples so far.
    count: u64,
    sample_rate: u64,
    sample_fs: Option<u64>,
}

impl SampleComparer {
    fn new<R>(session: &SigrokReader<R>, selected: &[usize]) -> Self {
        let (mut mask, mut numbers) = (0, [0; 64]);
        for (signal, number) in selected.iter().take(SELECTED_MAX).zip(0..) {
            if let Some(entry) = numbers.get_mut(*signal) {
                (*entry, mask) = (number, mask | 1 << signal);
            }
        }
        let SigrokReader { unit_size, sample_rate, sample_fs, .. } = *session;
        let levels = SignalLevels::default();
        Self { unit_size, mask, numbers, last: 0, levels, count: 0, sample_rate, sample_fs }
    }

    /// Reads whole samples.
    fn read(
        &mut self,
        bytes: &[u8],
        change: &mut impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        match self.unit_size {
            1 => self.compare::<1>(bytes, change),
            2 => self.compare::<2>(bytes, change),
            3 => self.compare::<3>(bytes, change),
            4 => self.compare::<4>(bytes, change),
            5 => self.compare::<5>(bytes, change),
            6 => self.compare::<6>(bytes, change),
            7 => self.compare::<7>(bytes, change),
            _ => self.compare::<UNIT_MAX>(bytes, change),
        }
    }

    /// Reads samples of `N` bytes. Groups without a change are skipped as a whole.
    fn compare<const N: usize>(
        &mut self,
        bytes: &[u8],
        change: &mut impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        let mask = repeated::<N>(self.mask);
        let mut same = repeated::<N>(self.last);
        let (samples, _) = bytes.as_chunks::<N>();
        for group in samples.chunks(GROUP) {
            let (words, _) = group.as_flattened().as_chunks::<8>();
            let differences = words.iter().zip(&same).zip(&mask);
            let changed = differences.fold(0, |changed, ((word, same), mask)| {
                changed | (u64::from_le_bytes(*word) ^ same) & mask
            });
            if changed == 0 && words.len() == N && self.count > 0 {
                self.count += GROUP as u64;
                continue;
            }
            for sample in group {
                let mut bytes = [0; UNIT_MAX];
                bytes.iter_mut().zip(sample).for_each(|(byte, of_sample)| *byte = *of_sample);
                self.sample(u64::from_le_bytes(bytes), change)?;
            }
            same = repeated::<N>(self.last);
        }
        Ok(())
    }

    #[inline]
    fn sample(
        &mut self,
        sample: u64,
        change: &mut impl FnMut(SignalChange),
    ) -> Result<(), RecordingError> {
        let is_first = self.count == 0;
        let mut changed = if is_first { self.mask } else { (sample ^ self.last) & self.mask };
        if changed != 0 {
            let time_fs = self.time_fs()?;
            self.last = sample;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                let number = self.numbers.get(bit as usize).copied().unwrap_or_default();
                let level = u32::from(sample >> bit & 1 == 1);
                self.levels.set(1 << number, level << number);
                changed &= changed - 1;
            }
            self.levels.give(time_fs, change);
        }
        self.count += 1;
        Ok(())
    }

    /// Time of the next sample.
    fn time_fs(&self) -> Result<u64, RecordingError> {
        let time_fs = match self.sample_fs {
            Some(sample_fs) => self.count.checked_mul(sample_fs),
            None => {
                let of_seconds = u128::from(self.count) * u128::from(SECOND_FS);
                u64::try_from(of_seconds / u128::from(self.sample_rate)).ok()
            }
        };
        let byte = self.count.saturating_mul(self.unit_size as u64);
        time_fs.ok_or_else(|| RecordingError::at_byte(byte, "samples beyond 5.1 hours"))
    }
}

/// Words of a group of equal samples.
fn repeated<const N: usize>(sample: u64) -> [u64; N] {
    let mut units = [[0; N]; GROUP];
    for unit in &mut units {
        unit.iter_mut().zip(sample.to_le_bytes()).for_each(|(byte, of_sample)| *byte = of_sample);
    }
    let mut words = [0; N];
    let (of_units, _) = units.as_flattened().as_chunks::<8>();
    words.iter_mut().zip(of_units).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_groups_hide_no_change() {
        // Samples of every size, most of them equal, with changes of other signals between.
        for unit_size in 1..=UNIT_MAX {
            let (mask, mut numbers) = (0b1001_0110, [0; 64]);
            for (number, bit) in (0..).zip([1, 2, 4, 7]) {
                numbers[bit] = number;
            }
            let (mut samples, mut expected, mut last) = (Vec::new(), Vec::new(), None);
            for at in 0_u64..1000 {
                let step = if at % 97 < 60 { at / 97 } else { at / 7 };
                let sample = (step * 37) & 0xff;
                let changed = (sample ^ last.unwrap_or(sample)) & mask;
                let bits = [1, 2, 4, 7].into_iter().enumerate();
                let signals =
                    bits.fold(0, |all, (n, bit)| all | u32::from(changed >> bit & 1 == 1) << n);
                if signals != 0 {
                    expected.push(SignalChange { time_fs: at * 10, signals });
                }
                last = Some(sample);
                samples.extend_from_slice(&sample.to_le_bytes()[..unit_size]);
            }
            let (levels, sample_fs) = (SignalLevels::default(), Some(10));
            let mut comparer = SampleComparer {
                unit_size,
                mask,
                numbers,
                last: 0,
                levels,
                count: 0,
                sample_rate: 0,
                sample_fs,
            };
            let mut seen = Vec::new();
            // Blocks that are no multiple of a group.
            for block in samples.chunks(unit_size * 21) {
                comparer.read(block, &mut |change| seen.push(change)).unwrap();
            }
            assert!(expected.len() > 20);
            assert_eq!(seen, expected, "{unit_size}");
        }
    }
}
