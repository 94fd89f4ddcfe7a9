//! Finished runs of a sweep, kept in a file: the same sweep goes on from there after Ctrl-C or the end of the program.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write as _};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::report::RunNumbers;
use crate::atomic_file::lock;
use crate::exit::CliError;

/// File of the finished runs, in the order in which they ended.
const NAME: &str = "sweep-runs.jsonl";

/// Identity of a sweep, the first line of the file: two sweeps with equal ones have the same runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SweepIdentity {
    pub(super) version: String,
    pub(super) vary: Vec<String>,
    pub(super) saturation: Option<String>,
    pub(super) seeds: u64,
    pub(super) warmup_periods: u64,
    pub(super) drain_periods: Option<u64>,
    /// Hash of the scenarios of all points.
    pub(super) scenario: String,
}

/// A finished run, by its place in the sweep: a further line of the file.
#[derive(Serialize, Deserialize)]
struct FinishedRun {
    run: usize,
    numbers: RunNumbers,
}

/// Hash of a text that is never in memory as a whole: FNV-1a, of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextHash(u64);

/// The finished runs, and the file to which further ones are added.
#[derive(Debug)]
pub(super) struct RunJournal {
    path: PathBuf,
    file: Mutex<File>,
    finished: BTreeMap<usize, RunNumbers>,
}

impl Default for TextHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl fmt::Write for TextHash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.0 = text.bytes().fold(self.0, step);
        Ok(())
    }
}

impl TextHash {
    pub(super) fn add(&mut self, value: &impl Debug) {
        // It does not fail.
        let _ = writeln!(self, "{value:?}");
    }

    pub(super) fn digits(self) -> String {
        format!("{:016x}", self.0)
    }
}

impl SweepIdentity {
    /// Names of what another sweep has different.
    fn differences(&self, other: &Self) -> String {
        let Self { version, vary, saturation, seeds, warmup_periods, drain_periods, scenario } =
            other;
        let differing = [
            ("the version of myriscope", self.version != *version),
            ("--vary", self.vary != *vary),
            ("--saturation", self.saturation != *saturation),
            ("--seeds", self.seeds != *seeds),
            ("--warmup", self.warmup_periods != *warmup_periods),
            ("--drain", self.drain_periods != *drain_periods),
            ("the scenario", self.scenario != *scenario),
        ];
        let names = differing.into_iter().filter_map(|(name, differs)| differs.then_some(name));
        names.collect::<Vec<_>>().join(", ")
    }
}

impl RunJournal {
    /// Opens the file of a directory, which is created. An earlier result stays as it is, unless it is one of this
    /// sweep.
    pub(super) fn open(directory: &Path, own: &SweepIdentity) -> Result<Self, CliError> {
        fs::create_dir_all(directory).map_err(|error| CliError::writing(directory, &error))?;
        let path = directory.join(NAME);
        if let Some(old) = ["sweep.csv", "sweep-seeds.csv", "sweep.svg", "saturation.csv"]
            .map(|name| directory.join(name))
            .iter()
            .find(|old| old.exists())
            && !path.exists()
        {
            return Err(CliError::writing(
                old,
                &"the result of another sweep: name another directory",
            ));
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(|error| CliError::writing(&path, &error))?;
        let finished = resume(&mut file, own).map_err(|error| CliError::writing(&path, &error))?;
        Ok(Self { path, file: Mutex::new(file), finished })
    }

    pub(super) fn finished(&self, run: usize) -> Option<RunNumbers> {
        self.finished.get(&run).copied()
    }

    /// Adds a run, in one write, so that the end of the program cuts the last line at most.
    pub(super) fn add(&self, run: usize, numbers: RunNumbers) -> Result<(), CliError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let added = line(&FinishedRun { run, numbers }).and_then(|line| file.write_all(&line));
        added.map_err(|error| CliError::writing(&self.path, &error))
    }
}

/// Reads the finished runs of a file, and cuts a line that is not complete; a new file gets its first line.
fn resume(file: &mut File, own: &SweepIdentity) -> io::Result<BTreeMap<usize, RunNumbers>> {
    lock(file)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    text.truncate(whole);
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::Start(whole as u64))?;
    let wrong = |at: usize| {
        io::Error::other(format!("line {at} is none of a sweep: name another directory"))
    };
    let mut lines = text.lines();
    let Some(first) = lines.next() else {
        file.write_all(&line(own)?)?;
        return Ok(BTreeMap::new());
    };
    let old: SweepIdentity = serde_json::from_str(first).map_err(|_| wrong(1))?;
    if old != *own {
        let differences = own.differences(&old);
        let error =
            format!("another sweep, which differs in {differences}: name another directory");
        return Err(io::Error::other(error));
    }
    let run = |(at, line): (usize, &str)| {
        let run: FinishedRun = serde_json::from_str(line).map_err(|_| wrong(at + 2))?;
        Ok((run.run, run.numbers))
    };
    lines.enumerate().map(run).collect()
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values published with the algorithm.
    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, expected) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            let mut hash = TextHash::default();
            hash.write_str(text).unwrap();
            assert_eq!(hash.digits(), expected);
        }
    }
}
