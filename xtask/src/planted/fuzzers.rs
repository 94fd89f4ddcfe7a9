//! Whether fuzz targets find a fault: each that its patch names has its time with every seed, from
//! the corpus that is checked in, until the fault is found with that seed.

use std::time::Instant;

use super::Effort;
use super::patch::Patch;
use super::results::Run;
use super::tree::Tree;
use crate::fuzz::{Target, executions, names};
use crate::workspace::{Failure, host};

/// What the last execution may take beyond the time of all, before it is stopped.
const LAST_MAX: u64 = 60;

/// Builds all targets.
///
/// # Errors
/// They do not build.
pub(crate) fn build(tree: &Tree) -> Result<(), Failure> {
    tree.build(&["fuzz", "build", "-s", "none", "--fuzz-dir", "fuzz"])
}

/// Runs one target after the other, until every seed has found the fault; with no fault, all.
///
/// # Errors
/// A target cannot be run.
pub(crate) fn look(
    tree: &Tree,
    patch: Option<&Patch>,
    Effort { seeds, budget }: Effort,
) -> Result<Vec<Run>, Failure> {
    let binaries = tree.built().join(host()?).join("release");
    let mut runs: Vec<Run> = (1..=seeds).map(|seed| Run { seed, ..Run::default() }).collect();
    for name in patch.map_or_else(|| names(&[]), |patch| Ok(patch.targets.clone()))? {
        let target = Target::new(&name, &binaries)?;
        for run in runs.iter_mut().filter(|run| run.found.is_none()) {
            once(tree, patch, (&target, budget), run)?;
        }
    }
    Ok(runs)
}

/// Runs a target with one seed.
fn once(
    tree: &Tree,
    patch: Option<&Patch>,
    (target, budget): (&Target, u64),
    run: &mut Run,
) -> Result<(), Failure> {
    // What one run learns must not help the next.
    let (new, artifacts) = (tree.empty("new")?, tree.empty("artifacts")?);
    let mut running = tree.command(patch, budget + LAST_MAX, &target.binary);
    running.arg(new).arg(tree.path().join("corpus").join(&target.name)).args(&target.flags);
    running.args([format!("-seed={}", run.seed), format!("-max_total_time={budget}")]);
    running.arg(format!("-artifact_prefix={}/", artifacts.display()));
    running.args(["-print_final_stats=1", "-timeout=25", "-rss_limit_mb=2560"]);
    let begin = Instant::now();
    let ended = running.output().map_err(|error| error.to_string())?;
    run.add_since(begin);
    run.executions += executions(&String::from_utf8_lossy(&ended.stderr));
    if !ended.status.success() {
        run.found = Some(target.name.clone());
    }
    Ok(())
}
