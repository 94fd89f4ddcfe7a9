//! Whether the storm finds a fault: seed after seed, until a law is broken or the time is over.

use std::time::Instant;

use super::Effort;
use super::patch::Patch;
use super::results::Run;
use super::tree::Tree;
use crate::workspace::Failure;

/// What a network may take beyond the time of all. *Chosen*: more than the largest does.
const LAST_MAX: u64 = 60;

/// Builds the storm.
///
/// # Errors
/// It does not build.
pub(crate) fn build(tree: &Tree) -> Result<(), Failure> {
    let arguments = ["build", "--quiet", "--release", "-p", "laws", "--example", "storm"];
    tree.build(&arguments)
}

/// Lets it blow.
///
/// # Errors
/// It cannot be run.
pub(crate) fn look(
    tree: &Tree,
    patch: Option<&Patch>,
    Effort { seeds, budget }: Effort,
) -> Result<Vec<Run>, Failure> {
    let binary = tree.built().join("release/examples/storm");
    let once = |seed: u64| {
        let mut storm = tree.command(patch, budget + LAST_MAX, &binary);
        storm.args([budget.to_string(), seed.to_string()]);
        let begin = Instant::now();
        let ended = storm.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stdout);
        let networks = said.lines().filter(|line| line.starts_with("network ")).count();
        let mut run = Run { seed, executions: networks as u64, ..Run::default() };
        run.found = (!ended.status.success()).then(|| "storm".to_owned());
        run.add_since(begin);
        Ok(run)
    };
    (1..=seeds).map(once).collect()
}
