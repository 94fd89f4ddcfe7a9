//! `cargo xtask fuzz`: all targets in parallel, with a persistent corpus.

mod merge;
mod run;
mod table;
mod target;
mod turns;

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::run::FuzzRun;
use crate::TaskOutcome;
use crate::workspace::{TaskError, at, command, host, root, run_command};

pub(crate) use target::{FuzzTarget, names};

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Names of targets; default: all.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Number of parallel jobs; default: one per processor.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Total time without building: 90s, 30m, 8h. With 0s the targets are only built and merged.
    #[arg(long, value_name = "T", default_value = "1m", value_parser = time)]
    time: Duration,
    /// Seed of libFuzzer; default: random.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Kind of build.
    #[arg(long, value_enum, default_value_t = BuildKind::Plain, value_name = "KIND")]
    build: BuildKind,
    /// Afterwards keeps only inputs in fuzz/work/TARGET/ that cover more than corpus/TARGET/.
    #[arg(long)]
    merge: bool,
}

/// Kinds of builds of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BuildKind {
    /// Stable Rust without sanitizer and without tracing of comparisons, which takes half of the time:
    /// seeds and dictionaries contain the magic numbers, and no code of ours is `unsafe`.
    Plain,
    /// Coverage with tracing of comparisons: for formats without seeds or dictionaries.
    Traced,
    /// Address sanitizer, for the dependencies. Needs the toolchain named in fuzz/toolchain or
    /// `FUZZ_TOOLCHAIN`.
    Address,
}

impl FuzzArgs {
    /// All targets for a time, with a seed.
    pub(crate) const fn timed(time: Duration, seed: u32) -> Self {
        let seed = Some(seed);
        Self { targets: Vec::new(), jobs: None, time, seed, build: BuildKind::Plain, merge: false }
    }
}

/// Builds the targets, runs them, and prints what they did.
pub(crate) fn run(arguments: &FuzzArgs) -> Result<TaskOutcome, TaskError> {
    let mut targets = build_targets(&arguments.targets, arguments.build)?;
    if let Some(seed) = arguments.seed {
        targets.iter_mut().for_each(|target| target.flags.push(format!("-seed={seed}")));
    }
    let mut end = TaskOutcome::Well;
    if !arguments.time.is_zero() {
        end = run_targets(&targets, arguments)?;
    }
    if arguments.merge {
        merge::all(&targets)?;
    }
    Ok(end)
}

/// Runs targets, and prints what they did.
fn run_targets(targets: &[FuzzTarget], arguments: &FuzzArgs) -> Result<TaskOutcome, TaskError> {
    let jobs = arguments.jobs.or_else(|| thread::available_parallelism().ok());
    let runs = run::all(targets, jobs.map_or(1, NonZeroUsize::get), arguments.time)?;
    table::print(targets, &runs)?;
    let found = |run: &FuzzRun| run.finding.is_some();
    Ok(if runs.iter().any(found) { TaskOutcome::Found } else { TaskOutcome::Well })
}

/// Builds the named targets, or all.
fn build_targets(asked: &[String], how: BuildKind) -> Result<Vec<FuzzTarget>, TaskError> {
    let names = names(asked)?;
    let directory = build(asked, how)?;
    names.iter().map(|name| FuzzTarget::new(name, &directory)).collect()
}

/// Builds all targets, or the only named one, and returns the directory of the binaries.
fn build(asked: &[String], how: BuildKind) -> Result<PathBuf, TaskError> {
    let mut built = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("fuzz/target"), |set| root().join(set));
    let mut cargo = command("cargo");
    cargo.args(["fuzz", "build", "--fuzz-dir", "fuzz"]);
    // For the lines of a stack.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
    // Each has a directory, else builds of one kind would push out those of another.
    match how {
        BuildKind::Plain => {
            cargo.args(["--sanitizer", "none", "--no-trace-compares"]);
        }
        BuildKind::Traced => {
            built.push("traced");
            cargo.args(["--sanitizer", "none"]);
        }
        BuildKind::Address => {
            built.push("address");
            cargo.args(["--sanitizer", "address"]).env("RUSTUP_TOOLCHAIN", toolchain()?);
        }
    }
    cargo.arg("--target-dir").arg(&built);
    if let [only] = asked {
        cargo.arg(only);
    }
    run_command(&mut cargo)?;
    Ok(built.join(host()?).join("release"))
}

/// The toolchain whose sanitizers are used, which are not in stable ones; `build.sh` uses the same.
fn toolchain() -> Result<String, TaskError> {
    let path = root().join("fuzz/toolchain");
    let named = std::env::var("FUZZ_TOOLCHAIN");
    let named = named.or_else(|_| fs::read_to_string(&path).map_err(at(&path)))?;
    Ok(named.trim().to_owned())
}

/// Reads a number of seconds, minutes or hours.
fn time(text: &str) -> Result<Duration, TaskError> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("not a time such as 90s, 30m or 8h".to_owned()),
    };
    let count = text.strip_suffix(unit).and_then(|count| count.parse::<u32>().ok());
    let count = count.ok_or_else(|| "not a time such as 90s, 30m or 8h".to_owned())?;
    Ok(Duration::from_secs(u64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(time("8h"), Ok(Duration::from_secs(28_800)));
        for text in ["", "s", "90", "1.5h", "-1s", "1d", "1 h", "1h30m"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
