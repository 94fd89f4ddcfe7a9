//! Minimising what runs have found.

use std::fs;
use std::io::{self, Write};

use super::target::FuzzTarget;
use crate::workspace::{TaskError, at, command, files, shown};

/// Keeps in `fuzz/work/TARGET/` only what reaches more than `corpus/TARGET/` does.
pub(crate) fn all(targets: &[FuzzTarget]) -> Result<(), TaskError> {
    targets.iter().try_for_each(one)
}

/// libFuzzer adds to a directory what reaches more than is there: here to a copy of the seeds, of
/// which all but the seeds is kept.
fn one(target: &FuzzTarget) -> Result<(), TaskError> {
    let work = target.work();
    let merged = work.with_extension("merged");
    if merged.exists() {
        fs::remove_dir_all(&merged).map_err(at(&merged))?;
    }
    for directory in [&work, &merged] {
        fs::create_dir_all(directory).map_err(at(directory))?;
    }
    let mut seeds = Vec::new();
    for seed in files(&target.seeds())? {
        let copy = merged.join(seed.file_name().unwrap_or_default());
        fs::copy(&seed, &copy).map_err(at(&seed))?;
        seeds.push(copy);
    }
    let mut merging = command(&target.binary);
    merging.args(["-merge=1", &shown(&merged), &shown(&work)]).args(&target.flags);
    let ended = merging.output().map_err(at(&target.binary))?;
    if !ended.status.success() {
        let log = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(format!("{log}{}: merging: {}", target.name, ended.status));
    }
    for seed in seeds {
        fs::remove_file(&seed).map_err(at(&seed))?;
    }
    let (before, after) = (files(&work)?.len(), files(&merged)?.len());
    fs::remove_dir_all(&work).map_err(at(&work))?;
    fs::rename(&merged, &work).map_err(at(&merged))?;
    let text = format!("{}: {after} of {before} inputs kept\n", target.name);
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot print: {error}"))
}
