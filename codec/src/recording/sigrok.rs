//! Sessions of sigrok and `PulseView` (`.sr`): a zip archive of a description and of raw samples.

mod archive;

use std::io::{Read, Seek};
use std::ops::{BitAnd, BitXor};

use zip::read::read_zipfile_from_stream;

use self::archive::SessionArchive;
use super::decimal::{SampleDistance, sample_rate};
use super::levels::BATCH;
use super::{
    ChangeSink, ReadSummary, RecordingError, SELECTED_MAX, SignalChange, SignalReader, SignalTable,
};

/// Widest sample, in bytes.
const UNIT_MAX: usize = 8;

/// Samples that are read at once, in bytes.
const BLOCK: usize = 65_536;

/// Reader of a sigrok session.
#[derive(Debug)]
pub struct SigrokReader<R> {
    archive: SessionArchive<R>,
    /// Names of the signals, by bit of a sample; empty for a bit without one.
    names: Vec<String>,
    signals: SignalTable,
    /// Prefix of the files of samples.
    file: String,
    /// None until the description states it.
    distance: Option<SampleDistance>,
    unit_size: usize,
    /// Number of signals that is stated.
    probes: usize,
}

impl<R: Read + Seek> SigrokReader<R> {
    /// Reads the description of a session.
    ///
    /// # Errors
    ///
    /// An archive without a description of logic signals, with a sample rate, that fits its samples.
    pub fn new(reader: R) -> Result<Self, RecordingError> {
        let mut archive = SessionArchive::open(reader)?;
        let text = archive.metadata()?;
        let mut session = Self {
            archive,
            names: Vec::new(),
            signals: SignalTable::default(),
            file: String::new(),
            distance: None,
            unit_size: 0,
            probes: 0,
        };
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
        let (size, probes) = (session.unit_size, session.probes.max(session.names.len()));
        if probes > 8 * size {
            let text = format!(
                "metadata: {probes} signals do not fit into samples of {size} bytes (unitsize)"
            );
            return Err(RecordingError::at_byte(0, text));
        }
        std::mem::take(&mut session.names).into_iter().for_each(|name| session.signals.push(name));
        Ok(session)
    }

    /// Sets the distance of samples, whatever the rate of the session.
    pub fn with_distance(self, distance: SampleDistance) -> Self {
        Self { distance: Some(distance), ..self }
    }

    fn describe(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "capturefile" if !self.file.is_empty() => {
                return Err("two devices: save each as a session of its own".to_owned());
            }
            "capturefile" => value.clone_into(&mut self.file),
            "samplerate" => {
                let distance = sample_rate(value)
                    .ok_or_else(|| format!("samplerate is {value:?}, not 1 Hz to 1 THz"))?;
                self.distance = Some(distance);
            }
            "unitsize" => {
                let size = value.parse().ok().filter(|size| (1..=UNIT_MAX).contains(size));
                self.unit_size =
                    size.ok_or_else(|| format!("unitsize is {value:?}, not 1 to {UNIT_MAX}"))?;
            }
            "total probes" => {
                self.probes =
                    value.parse().map_err(|_| format!("total probes is {value:?}, no number"))?;
            }
            _ => {
                let number = key.strip_prefix("probe").and_then(|number| number.parse().ok());
                if let Some(bit) = number.and_then(|number: usize| number.checked_sub(1)) {
                    if bit >= 8 * UNIT_MAX {
                        return Err(format!("{key} is beyond {} signals", 8 * UNIT_MAX));
                    }
                    self.names.resize(self.names.len().max(bit + 1), String::new());
                    if let Some(name) = self.names.get_mut(bit) {
                        value.clone_into(name);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the changes of all parts: of one file, or of `FILE-1`, `FILE-2`, …, which may begin with `FILE-0`.
    fn read_parts(
        self,
        samples: &mut SampleComparer,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let part = |number: u64| format!("{}-{number}", self.file);
        match self.archive {
            SessionArchive::Whole(mut archive) => {
                if archive.index_for_name(&self.file).is_some() {
                    return samples.read_file(archive.by_name(&self.file), sink);
                }
                let last = archive.file_names().filter_map(|name| {
                    name.strip_prefix(&self.file)?.strip_prefix('-')?.parse().ok()
                });
                let last: u64 = last.max().unwrap_or_default();
                let first = u64::from(archive.index_for_name(&part(0)).is_none());
                for number in first..=last {
                    let name = part(number);
                    if archive.index_for_name(&name).is_none() {
                        let text = format!(
                            "{name} is missing, of {last} files of samples; those behind it are not read"
                        );
                        return Err(RecordingError::at_byte(0, text));
                    }
                    samples.read_file(archive.by_name(&name), sink)?;
                }
                Ok(())
            }
            SessionArchive::Cut(mut reader, cause) => {
                let (mut number, mut whole) = (1, 0);
                reader.rewind().map_err(|error| RecordingError::at_byte(0, error.to_string()))?;
                while let Ok(Some(file)) = read_zipfile_from_stream(&mut reader) {
                    let is_first = whole == 0
                        && [part(0), self.file.clone()].iter().any(|it| it == file.name());
                    if is_first || file.name() == part(number) {
                        number += u64::from(!is_first);
                        whole += 1;
                        samples.read_file(Ok(file), sink)?;
                    }
                }
                let text = format!(
                    "the archive is cut or damaged ({cause}): {whole} files of samples are whole"
                );
                Err(RecordingError::at_byte(0, text))
            }
        }
    }
}

impl<R: Read + Seek> SignalReader for SigrokReader<R> {
    fn signals(&self) -> &SignalTable {
        &self.signals
    }

    fn read(self: Box<Self>, selected: &[usize], sink: &mut ChangeSink<'_>) -> ReadSummary {
        let Some(distance) = self.distance else {
            let error = Some(RecordingError::at_byte(0, "metadata: no samplerate"));
            return ReadSummary { error, ..ReadSummary::default() };
        };
        let mut samples = SampleComparer::new(self.unit_size, distance, selected);
        let error = self.read_parts(&mut samples, sink).err();
        // Samples have a level of each signal.
        let last_fs = distance.time(samples.count.saturating_sub(1));
        if let Some(time_fs) = last_fs.and_then(|last_fs| last_fs.checked_add(1)) {
            sink(&[SignalChange { time_fs, signals: 0, unknown: u64::MAX }]);
        }
        ReadSummary { error, known: u64::MAX, ..ReadSummary::default() }
    }
}

/// Samples that are compared at once: those that differ are bits of a word.
const GROUP: usize = 64;

/// Signals of each value of a byte of a sample.
type ByteSignals = [u64; 256];

/// Comparison of each sample with the one before.
struct SampleComparer {
    unit_size: usize,
    /// Bits of selected signals, and the signals of each byte.
    mask: u64,
    signals: Box<[ByteSignals; UNIT_MAX]>,
    last: u64,
    /// Changes that are not given yet.
    changes: Vec<SignalChange>,
    /// Samples so far.
    count: u64,
    distance: SampleDistance,
}

impl SampleComparer {
    fn new(unit_size: usize, distance: SampleDistance, selected: &[usize]) -> Self {
        let mut signals = Box::new([[0; 256]; UNIT_MAX]);
        for (signal, number) in selected.iter().take(SELECTED_MAX).zip(0..) {
            let of_byte = signals.get_mut(signal / 8).into_iter().flatten().zip(0_u32..);
            let set = of_byte.filter(|(_, byte)| byte >> (signal % 8) & 1 == 1);
            set.for_each(|(signals, _)| *signals |= 1 << number);
        }
        let bits = selected.iter().take(SELECTED_MAX);
        let mask = bits.filter(|bit| **bit < 64).fold(0, |mask, bit| mask | 1 << bit);
        let (last, changes, count) = (0, Vec::new(), 0);
        Self { unit_size, mask, signals, last, changes, count, distance }
    }

    /// Reads a file of the archive.
    fn read_file<'z, R: Read>(
        &mut self,
        file: zip::result::ZipResult<zip::read::ZipFile<'z, R>>,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let mut file = file.map_err(|error| RecordingError::at_byte(0, error.to_string()))?;
        let name = file.name().to_owned();
        let damaged = |at: u64, cause: &dyn std::fmt::Display| {
            RecordingError::at_byte(at, format!("{name}: {cause}"))
        };
        let mut block = vec![0; BLOCK];
        let (mut kept, mut at) = (0, 0);
        loop {
            let free = block.get_mut(kept..).unwrap_or_default();
            let read = match file.read(free) {
                Ok(0) if kept > 0 => return Err(damaged(at, &"its last sample is cut")),
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) => return Err(damaged(at, &error)),
            };
            at += read as u64;
            let filled = kept + read;
            let whole = filled - filled % self.unit_size;
            self.read(block.get(..whole).unwrap_or_default(), sink)?;
            block.copy_within(whole..filled, 0);
            kept = filled - whole;
        }
    }

    /// Reads whole samples. Those of usual sizes are numbers of that size, of which many are compared at once.
    fn read(&mut self, bytes: &[u8], sink: &mut ChangeSink<'_>) -> Result<(), RecordingError> {
        match self.unit_size {
            1 => self.compare(bytes, |[byte]: &[u8; 1]| *byte, sink),
            2 => self.compare(bytes, |sample| u16::from_le_bytes(*sample), sink),
            3 => self.compare(bytes, number::<3>, sink),
            4 => self.compare(bytes, |sample| u32::from_le_bytes(*sample), sink),
            5 => self.compare(bytes, number::<5>, sink),
            6 => self.compare(bytes, number::<6>, sink),
            7 => self.compare(bytes, number::<7>, sink),
            _ => self.compare(bytes, number::<UNIT_MAX>, sink),
        }
    }

    /// Reads samples of `N` bytes.
    fn compare<const N: usize, T>(
        &mut self,
        bytes: &[u8],
        value: impl Fn(&[u8; N]) -> T,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError>
    where
        T: Copy + Default + Eq + Into<u64> + BitXor<Output = T> + BitAnd<Output = T>,
    {
        let (samples, _) = bytes.as_chunks::<N>();
        if let (0, Some(first)) = (self.count, samples.first()) {
            // The first sample is no change.
            self.last = number(first);
            sink(&[SignalChange { time_fs: 0, signals: 0, unknown: 0 }]);
        }
        let of = |word: u64| word.to_le_bytes().first_chunk().map(&value).unwrap_or_default();
        let mask = of(self.mask);
        for samples in samples.chunks(BATCH) {
            self.changes.clear();
            let result = samples.chunks(GROUP).try_for_each(|group| {
                // The sample before, and those of the group.
                let mut values = [of(self.last); GROUP + 1];
                let own = values.iter_mut().skip(1).zip(group);
                own.for_each(|(own, sample)| *own = value(sample));
                let mut differ = [0; GROUP];
                let pairs = values.iter().zip(values.iter().skip(1));
                let flags = differ.iter_mut().zip(pairs);
                flags.for_each(|(flag, (before, own))| {
                    *flag = u8::from((*before ^ *own) & mask != T::default());
                });
                let beyond = GROUP - group.len();
                self.convert::<N>(flag_bits(&differ) << beyond >> beyond, |at| {
                    values.get(at + 1).map_or(0, |value| (*value).into())
                })?;
                self.count += group.len() as u64;
                Ok(())
            });
            sink(&self.changes);
            result?;
        }
        Ok(())
    }

    /// Makes changes of the samples of a group that differ.
    #[inline]
    fn convert<const N: usize>(
        &mut self,
        differ: u64,
        sample: impl Fn(usize) -> u64,
    ) -> Result<(), RecordingError> {
        let mut left = differ;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let time_fs = self.time_fs(self.count.saturating_add(at.into()))?;
            let sample = sample(at as usize);
            let bytes = ((sample ^ self.last) & self.mask).to_le_bytes();
            let signals = bytes.into_iter().zip(&*self.signals).take(N);
            let signals = signals.fold(0, |all, (byte, signals)| {
                all | signals.get(usize::from(byte)).copied().unwrap_or_default()
            });
            self.last = sample;
            self.changes.push(SignalChange { time_fs, signals, unknown: 0 });
        }
        Ok(())
    }

    /// Time of a sample.
    #[inline]
    fn time_fs(&self, count: u64) -> Result<u64, RecordingError> {
        let byte = count.saturating_mul(self.unit_size as u64);
        self.distance
            .time(count)
            .ok_or_else(|| RecordingError::at_byte(byte, "samples beyond 5.1 hours"))
    }
}

#[inline]
fn number<const N: usize>(sample: &[u8; N]) -> u64 {
    let mut bytes = [0; UNIT_MAX];
    bytes.iter_mut().zip(sample).for_each(|(byte, of_sample)| *byte = *of_sample);
    u64::from_le_bytes(bytes)
}

/// A bit of each flag, the first lowest. The product moves those of eight bytes into the highest, none onto another.
#[inline]
fn flag_bits(flags: &[u8; GROUP]) -> u64 {
    let (eights, _) = flags.as_chunks();
    eights.iter().rev().fold(0, |bits, eight| {
        bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn an_archive_without_its_directory_gives_all_files_that_are_whole() {
        let metadata =
            "capturefile=logic-1\nsamplerate=1 MHz\nunitsize=1\ntotal probes=8\nprobe1=a\n";
        for parts in [&["logic-1"][..], &["logic-1-1", "logic-1-2"], &["logic-1-0", "logic-1-1"]] {
            let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
            for (number, name) in (0..).zip(["metadata"].iter().chain(parts)) {
                archive.start_file(*name, SimpleFileOptions::default()).unwrap();
                let samples = [0, 1, number].map(|it: u8| it % 2);
                let bytes = if number == 0 { metadata.as_bytes() } else { &samples };
                archive.write_all(bytes).unwrap();
            }
            let whole = archive.finish().unwrap().into_inner();
            let read = |archive: &[u8]| {
                let session = Box::new(SigrokReader::new(Cursor::new(archive)).unwrap());
                let mut changes: Vec<SignalChange> = Vec::new();
                let summary = session.read(&[0], &mut |some| changes.extend(some));
                (changes, summary.error.is_none())
            };
            let (changes, is_sound) = read(&whole);
            assert!(is_sound && changes.len() > 2 * parts.len() - 2, "{parts:?} {changes:?}");
            let last_fs = 1_000_000_000 * (3 * parts.len() as u64 - 1);
            assert_eq!(changes.last().map(|it| it.time_fs), Some(last_fs + 1));
            assert_eq!(read(&whole[..whole.len() - 8]), (changes, false), "{parts:?}");
        }
    }

    #[test]
    fn a_session_has_the_samples_of_one_device() {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("metadata", SimpleFileOptions::default()).unwrap();
        archive.write_all(b"capturefile=logic-1\n[device 2]\ncapturefile=logic-2\n").unwrap();
        let error = SigrokReader::new(archive.finish().unwrap()).err().unwrap().to_string();
        assert_eq!(error, "line 3: metadata: two devices: save each as a session of its own");
    }

    #[test]
    fn changes_are_those_of_each_sample_and_the_one_before() {
        // Samples of every size, most of them equal, with changes of other signals between.
        // Blocks that are no multiple of a group, and those of a file, with a change at the edge of each.
        let cases = (1..=UNIT_MAX).map(|size| (size, 1000, 21 * size));
        for (unit_size, count, block) in cases.chain([1, 2, 8].map(|size| (size, 140_000, BLOCK))) {
            let selected = [1, 8 * unit_size - 1, 2, 8 * (unit_size / 2) + 4];
            let (mut samples, mut expected, mut last) = (Vec::new(), Vec::new(), None);
            for at in 0_u64..count {
                let step = (if at % 97 < 60 { at / 97 } else { at / 7 }) + 3 * (at / 4096);
                let sample = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let changed = sample ^ last.unwrap_or(sample);
                let signals = selected.iter().enumerate().fold(0, |all, (number, bit)| {
                    all | u64::from(changed >> bit & 1 == 1) << number
                });
                if signals != 0 || at == 0 {
                    expected.push(SignalChange { time_fs: at * 10, signals, unknown: 0 });
                }
                last = Some(sample);
                samples.extend_from_slice(&sample.to_le_bytes()[..unit_size]);
            }
            let mut comparer =
                SampleComparer::new(unit_size, SampleDistance::of_period(10), &selected);
            let mut seen: Vec<SignalChange> = Vec::new();
            for block in samples.chunks(block) {
                comparer.read(block, &mut |changes| seen.extend(changes)).unwrap();
            }
            assert!(expected.len() > 20);
            assert_eq!(seen, expected, "{unit_size}");
        }
    }
}
