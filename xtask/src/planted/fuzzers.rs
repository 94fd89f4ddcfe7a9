//! Whether fuzz targets find a fault: each that its patch names has its time with every seed, from
//! the corpus that is checked in, until the fault is found with that seed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::patch::Patch;
use super::results::Run;
use super::tree::Tree;
use crate::fuzz::{Target, executions};
use crate::workspace::{Failure, done, host};

/// What the last execution may take beyond the time of all, before libFuzzer calls it a finding.
const LAST_MAX: u64 = 60;

/// Builds and runs one target after the other, until every seed has found the fault.
///
/// # Errors
/// The fault does not build, or a target cannot be run.
pub(crate) fn look(
    tree: &Tree,
    patch: &Patch,
    seeds: u64,
    budget: u64,
) -> Result<Vec<Run>, Failure> {
    let mut runs: Vec<Run> = (1..=seeds).map(|seed| Run { seed, ..Run::default() }).collect();
    for name in &patch.targets {
        if runs.iter().all(|run| run.found.is_some()) {
            break;
        }
        let target = Target::new(name, &build(tree, name)?)?;
        for run in runs.iter_mut().filter(|run| run.found.is_none()) {
            once(tree, &target, budget, run)?;
        }
    }
    Ok(runs)
}

fn build(tree: &Tree, target: &str) -> Result<PathBuf, Failure> {
    let directory = tree.beside("build");
    let mut cargo = tree.command(1200, Path::new("cargo"));
    cargo.args(["fuzz", "build", "-s", "none", "--fuzz-dir", "fuzz", "--target-dir"]);
    done(cargo.arg(&directory).arg(target).env("CARGO_TERM_QUIET", "true"))?;
    Ok(directory.join(host()?).join("release"))
}

/// Runs a target with one seed.
fn once(tree: &Tree, target: &Target, budget: u64, run: &mut Run) -> Result<(), Failure> {
    // What one run learns must not help the next.
    let (new, artifacts) = (tree.empty("new")?, tree.empty("artifacts")?);
    let mut running = tree.command(budget + LAST_MAX, &target.binary);
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
