//! Search by the storm: the networks of a seed one by one, until one violates a law or time is up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::SearchEffort;
use super::patch::FaultPatch;
use super::results::SearchRun;
use super::tree::PlantedTree;
use crate::workspace::{TaskError, at};

/// Switches per network. *Chosen*: one switch has no paths of several hops; each further one takes time.
const SWITCHES: u64 = 2;
/// Seconds for a network once more without the fault. *Chosen*: more than any takes.
const LAST_MAX: u64 = 60;
/// Directory of markers for networks that violate a law without a fault; they are skipped.
const SPURIOUS: &str = "unsound";
/// The exit status of `myriscope storm` where a law is broken: `docs/output.md`.
const BROKEN: i32 = 1;
/// The exit status of `timeout` where time was over.
const OVER: i32 = 124;
/// Exit status of `timeout` if the program had to be killed.
const KILLED: i32 = 137;

/// Builds the program.
pub(crate) fn build(tree: &PlantedTree) -> Result<(), TaskError> {
    tree.build(&["build", "--quiet", "--release", "-p", "myriscope-laws"])?;
    tree.empty(SPURIOUS).map(|_| ())
}

/// Lets it blow.
pub(crate) fn look(
    tree: &PlantedTree,
    patch: Option<&FaultPatch>,
    SearchEffort { seeds, budget }: SearchEffort,
) -> Result<Vec<SearchRun>, TaskError> {
    let directory = tree.empty("broken")?;
    let blow = |seed| once(tree, patch, (seed, Duration::from_secs(budget)), &directory);
    (1..=seeds).map(blow).collect()
}

/// The networks of a seed, up to the first that breaks a law, and breaks none without the fault.
fn once(
    tree: &PlantedTree,
    patch: Option<&FaultPatch>,
    (seed, budget): (u64, Duration),
    directory: &Path,
) -> Result<SearchRun, TaskError> {
    let mut run = SearchRun { seed, ..SearchRun::default() };
    let begin = Instant::now();
    for number in 0.. {
        let left = budget.saturating_sub(begin.elapsed()).as_secs();
        if left == 0 {
            break;
        }
        let unsound = tree.beside(SPURIOUS).join(format!("{seed}-{number}"));
        if unsound.exists() {
            continue;
        }
        let network = |patch, seconds| {
            let values = [seed, number, SWITCHES];
            run_network(&mut tree.command(patch, seconds, &binary(tree)), values, directory)
        };
        match network(patch, left)? {
            NetworkOutcome::Whole => run.executions += 1,
            NetworkOutcome::NotDrawn => {}
            NetworkOutcome::Cut => break,
            NetworkOutcome::Broken => {
                run.executions += 1;
                if patch.is_none() || network(None, LAST_MAX)? != NetworkOutcome::Broken {
                    run.found = Some("storm".to_owned());
                    break;
                }
                fs::write(&unsound, "").map_err(at(&unsound))?;
            }
        }
    }
    run.add_since(begin);
    Ok(run)
}

fn binary(tree: &PlantedTree) -> PathBuf {
    tree.built().join("release/myriscope-laws")
}

/// Result of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NetworkOutcome {
    /// It keeps all laws.
    Whole,
    /// It breaks one.
    Broken,
    /// The time was over.
    Cut,
    /// Nothing could be drawn for the number.
    NotDrawn,
}

/// Checks one network in a process of its own, so that a timeout leaves the count of networks intact.
fn run_network(
    storm: &mut Command,
    values: [u64; 3],
    directory: &Path,
) -> Result<NetworkOutcome, TaskError> {
    storm.args(["storm", "--tries", "0", "-o"]).arg(directory);
    let names = ["--seed", "--network", "--switches"];
    for (name, number) in names.into_iter().zip(values) {
        storm.args([name, &number.to_string()]);
    }
    let ended = storm.output().map_err(|error| error.to_string())?;
    match ended.status.code() {
        Some(0) => Ok(NetworkOutcome::Whole),
        // Or a signal has ended it, as where a stack overflows.
        Some(BROKEN) | None => Ok(NetworkOutcome::Broken),
        Some(OVER | KILLED) => Ok(NetworkOutcome::Cut),
        Some(_) if String::from_utf8_lossy(&ended.stderr).contains("has no network") => {
            Ok(NetworkOutcome::NotDrawn)
        }
        Some(other) => Err(format!("{values:?} of the storm ended with {other}")),
    }
}
