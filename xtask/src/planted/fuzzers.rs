//! Search by fuzz targets: each target named in the patch runs with every seed from the checked-in corpus,
//! until that seed has found the fault.

use std::path::Path;
use std::time::Instant;

use super::SearchEffort;
use super::patch::FaultPatch;
use super::results::SearchRun;
use super::tree::PlantedTree;
use crate::fuzz::{FuzzTarget, executions, names};
use crate::workspace::{TaskError, files, host};

/// Seconds that the last execution may exceed the time limit by.
const LAST_MAX: u64 = 60;
/// From these exit statuses of `timeout`
const NOT_RUN_MIN: i32 = 125;
/// to these, what it should run was not run.
const NOT_RUN_MAX: i32 = 127;
/// From a seed to the next that stands for the same.
const ANOTHER: u64 = 1000;

/// Builds all targets.
pub(crate) fn build(tree: &PlantedTree) -> Result<(), TaskError> {
    tree.build(&["fuzz", "build", "-s", "none", "--no-trace-compares", "--fuzz-dir", "fuzz"])
}

/// Runs one target after the other, until every seed has found the fault; with no fault, all.
pub(crate) fn look(
    tree: &PlantedTree,
    patch: Option<&FaultPatch>,
    SearchEffort { seeds, budget }: SearchEffort,
) -> Result<Vec<SearchRun>, TaskError> {
    let binaries = tree.built().join(host()?).join("release");
    let mut runs: Vec<SearchRun> =
        (1..=seeds).map(|seed| SearchRun { seed, ..SearchRun::default() }).collect();
    for name in patch.map_or_else(|| names(&[]), |patch| Ok(patch.targets.clone()))? {
        let target = FuzzTarget::new(&name, &binaries)?;
        for run in runs.iter_mut().filter(|run| run.found.is_none()) {
            once(tree, patch, (&target, budget), run)?;
        }
    }
    Ok(runs)
}

/// Runs a target with one seed, and with others derived from it as long as what it finds is there without
/// the fault too.
fn once(
    tree: &PlantedTree,
    patch: Option<&FaultPatch>,
    (target, budget): (&FuzzTarget, u64),
    run: &mut SearchRun,
) -> Result<(), TaskError> {
    let begin = Instant::now();
    let mut seed = run.seed;
    loop {
        let left = budget.saturating_sub(begin.elapsed().as_secs());
        if left == 0 {
            break;
        }
        // What one run learns must not help the next.
        let (new, artifacts) = (tree.empty("new")?, tree.empty("artifacts")?);
        let mut running = tree.command(patch, left + LAST_MAX, &target.binary);
        running.arg(new).arg(tree.path().join("corpus").join(&target.name)).args(&target.flags);
        running.args([format!("-seed={seed}"), format!("-max_total_time={left}")]);
        running.arg(format!("-artifact_prefix={}/", artifacts.display()));
        running.args(["-print_final_stats=1", "-timeout=25", "-rss_limit_mb=2560"]);
        let ended = running.output().map_err(|error| error.to_string())?;
        run.executions += executions(&String::from_utf8_lossy(&ended.stderr));
        match ended.status.code() {
            Some(0) => break,
            Some(code @ NOT_RUN_MIN..=NOT_RUN_MAX) => {
                return Err(format!("{} cannot be run: {code}", target.binary.display()));
            }
            Some(_) | None => {}
        }
        if patch.is_none() || !is_there_without(tree, target, &artifacts)? {
            run.found = Some(target.name.clone());
            break;
        }
        seed += ANOTHER;
    }
    run.add_since(begin);
    Ok(())
}

/// True if a finding occurs without the fault too.
fn is_there_without(
    tree: &PlantedTree,
    target: &FuzzTarget,
    artifacts: &Path,
) -> Result<bool, TaskError> {
    for input in files(artifacts)? {
        let mut running = tree.command(None, LAST_MAX, &target.binary);
        running.args(&target.flags).arg("-timeout=25").arg(&input);
        let ended = running.output().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            return Ok(true);
        }
    }
    Ok(false)
}
