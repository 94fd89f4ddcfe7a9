//! Whether the storm finds a fault: seed after seed, until a law is broken or the time is over.

use std::path::Path;
use std::time::Instant;

use super::results::Run;
use super::tree::Tree;
use crate::workspace::{Failure, done};

/// What a network may take beyond the time of all. *Chosen*: more than the largest does.
const LAST_MAX: u64 = 60;

/// Builds the storm and lets it blow, seed after seed.
///
/// # Errors
/// The fault does not build.
pub(crate) fn look(tree: &Tree, seeds: u64, budget: u64) -> Result<Vec<Run>, Failure> {
    let directory = tree.beside("build");
    let mut cargo = tree.command(1200, Path::new("cargo"));
    cargo.args(["build", "--quiet", "--offline", "-p", "laws", "--example", "storm"]);
    done(cargo.arg("--target-dir").arg(&directory))?;
    let binary = directory.join("debug/examples/storm");
    (1..=seeds)
        .map(|seed| {
            let mut storm = tree.command(budget + LAST_MAX, &binary);
            storm.args([budget.to_string(), seed.to_string()]);
            let begin = Instant::now();
            let ended = storm.output().map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&ended.stdout);
            let networks = said.lines().filter(|line| line.starts_with("network ")).count();
            let mut run = Run { seed, executions: networks as u64, ..Run::default() };
            run.found = (!ended.status.success()).then(|| "storm".to_owned());
            run.add_since(begin);
            Ok(run)
        })
        .collect()
}
