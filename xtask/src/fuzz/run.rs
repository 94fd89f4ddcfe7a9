//! Running targets side by side.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::target::FuzzTarget;
use super::turns::turns;
use crate::workspace::{TaskError, at, command, shown};

/// Statistics of one turn of a target.
#[derive(Debug, Default)]
pub(crate) struct FuzzRun {
    /// Index of the target.
    pub(crate) target: usize,
    pub(crate) executions: u64,
    /// Executions per second, on average.
    pub(crate) rate: u64,
    /// Edges of the program covered by any input.
    pub(crate) coverage: u64,
    /// Inputs with new coverage, which are kept in `fuzz/work/`.
    pub(crate) new: u64,
    /// End of the log, after a failure.
    pub(crate) finding: Option<String>,
}

/// Lines printed of the log of a failure.
const TAIL: usize = 60;

/// Runs all targets in this number of parallel jobs, for this time in all.
pub(crate) fn all(
    targets: &[FuzzTarget],
    jobs: usize,
    time: Duration,
) -> Result<Vec<FuzzRun>, TaskError> {
    for target in targets {
        for directory in [target.work(), target.artifacts()] {
            fs::create_dir_all(&directory).map_err(at(&directory))?;
        }
    }
    let (turns, each) = turns(targets.len(), jobs, time);
    let waiting = Mutex::new(turns.into_iter().collect::<VecDeque<_>>());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let job = || -> Result<Vec<FuzzRun>, TaskError> {
        let mut runs = Vec::new();
        while let Some(index) = next() {
            if let Some(target) = targets.get(index) {
                runs.push(FuzzRun { target: index, ..run_once(target, each)? });
            }
        }
        Ok(runs)
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..jobs).map(|_| scope.spawn(job)).collect();
        let mut runs = Vec::new();
        for job in jobs {
            runs.extend(job.join().map_err(|_| "a job of ours has panicked".to_owned())??);
        }
        Ok(runs)
    })
}

/// One turn of a target.
fn run_once(target: &FuzzTarget, time: Duration) -> Result<FuzzRun, TaskError> {
    let mut running = command(&target.binary);
    // What it finds goes to the first directory; both are read.
    running.arg(shown(&target.work())).arg(shown(&target.seeds()));
    running.arg(format!("-max_total_time={}", time.as_secs()));
    running.args(&target.flags);
    running.arg(format!("-artifact_prefix={}/", shown(&target.artifacts())));
    running.args(["-print_final_stats=1", "-timeout=25", "-rss_limit_mb=2560"]);
    // What is defined twice is so in Rust's own libraries.
    running.env("ASAN_OPTIONS", "detect_odr_violation=0");
    let ended = running.output().map_err(at(&target.binary))?;
    let log = String::from_utf8_lossy(&ended.stderr);
    let mut run = read(&log);
    if !ended.status.success() {
        let lines: Vec<&str> = log.lines().collect();
        let first = lines.len().saturating_sub(TAIL);
        run.finding = Some(lines.get(first..).unwrap_or_default().join("\n"));
    }
    let how = if run.finding.is_some() { "FAILED" } else { "ok" };
    // Progress only: an error here is ignored.
    let _ = writeln!(io::stderr(), "{}: {} executions, {how}", target.name, run.executions);
    Ok(run)
}

/// Parses libFuzzer's log: `stat::NAME: N`, and `cov: N` in the last line of progress.
fn read(log: &str) -> FuzzRun {
    let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse().ok());
    let last = |mark: &str| {
        let mut found = log.lines().rev().filter_map(|line| line.split_once(mark));
        found.find_map(|(_, rest)| number(rest)).unwrap_or_default()
    };
    FuzzRun {
        executions: last("stat::number_of_executed_units:"),
        rate: last("stat::average_exec_per_sec:"),
        coverage: last(" cov: "),
        new: last("stat::new_units_added:"),
        ..FuzzRun::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_end_of_the_log() {
        let run = read(
            "INFO: Loaded 1 modules\n\
             #2\tINITED cov: 11 ft: 12 corp: 1/1b exec/s: 0 rss: 27Mb\n\
             #3200\tNEW    cov: 120 ft: 300 corp: 8/64b lim: 4 exec/s: 0 rss: 27Mb L: 4/9 MS: 1\n\
             #99000\tDONE   cov: 121 ft: 310 corp: 9/66b lim: 4 exec/s: 33000 rss: 30Mb\n\
             Done 99000 runs in 3 second(s)\n\
             stat::number_of_executed_units: 99000\n\
             stat::average_exec_per_sec:     33000\n\
             stat::new_units_added:          7\n",
        );
        assert_eq!((run.executions, run.rate, run.coverage, run.new), (99_000, 33_000, 121, 7));
    }
}
