//! `cargo xtask planted`: time until the ordinary tests, the storm and the fuzz targets find planted
//! faults of one line each.

mod fuzzers;
mod patch;
mod results;
mod storm;
mod switch;
mod table;
mod tests_of;
mod tree;

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::TaskOutcome;
use crate::workspace::TaskError;

use patch::FaultPatch;
use results::{FaultMeasurement, PlantedResults, SearchRun};
use tree::PlantedTree;

#[derive(Debug, Args)]
pub(crate) struct PlantedArgs {
    /// Faults by number or name; `none` runs the searches without a fault; default: all.
    #[arg(value_name = "PATCH")]
    patches: Vec<String>,
    /// Number of seeds of the storm and of each target.
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Time for each seed of the storm and of each target.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    budget: u64,
    /// Search methods; default: all.
    #[arg(long, value_enum, value_name = "BY")]
    by: Vec<SearchMethod>,
    /// Extent of the measurement.
    #[arg(long, value_enum, default_value_t = MeasureScope::New, value_name = "WHAT")]
    measure: MeasureScope,
}

/// Extent of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureScope {
    /// Faults without a result.
    New,
    /// All named faults again.
    All,
    /// None: prints the table of the stored results.
    Nothing,
}

/// Search methods for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchMethod {
    /// The tests of the product's crates: those of the fault's own first.
    Tests,
    /// The storm of `fuzz/laws`.
    Storm,
    /// The fuzz targets that the fault's patch names, in that order.
    Fuzzers,
}

impl SearchMethod {
    const ALL: [Self; 3] = [Self::Tests, Self::Storm, Self::Fuzzers];

    const fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Storm => "storm",
            Self::Fuzzers => "fuzzers",
        }
    }
}

/// Limits of one search.
#[derive(Clone, Copy, Debug)]
struct SearchEffort {
    seeds: u64,
    /// Seconds a seed.
    budget: u64,
}

/// Measures what has not been measured yet, and prints the table.
pub(crate) fn run(arguments: &PlantedArgs) -> Result<TaskOutcome, TaskError> {
    let PlantedArgs { seeds, budget, measure, .. } = *arguments;
    let effort = SearchEffort { seeds, budget };
    let every = patch::named(&[])?;
    let all = if arguments.by.is_empty() { &SearchMethod::ALL[..] } else { &arguments.by };
    if arguments.patches == ["none"] {
        let mut end = TaskOutcome::Well;
        for by in all.iter().copied() {
            let tree = build_tree(&every, by)?;
            if print_progress(None, by, &search(&tree, None, by, effort)?) == TaskOutcome::Found {
                end = TaskOutcome::Found;
            }
        }
        return Ok(end);
    }
    let patches = patch::named(&arguments.patches)?;
    let mut results = PlantedResults::read()?;
    for by in all.iter().copied() {
        let open = |patch: &&FaultPatch| match measure {
            MeasureScope::New => !results.has(patch, by),
            MeasureScope::All => true,
            MeasureScope::Nothing => false,
        };
        let due: Vec<&FaultPatch> = patches.iter().filter(open).collect();
        if due.is_empty() {
            continue;
        }
        let tree = build_tree(&every, by)?;
        for patch in due {
            let runs = search(&tree, Some(patch), by, effort)?;
            print_progress(Some(patch), by, &runs);
            let commit = tree.commit.clone();
            results.keep(patch, by, FaultMeasurement { commit, budget, runs })?;
        }
    }
    table::print(&every, &results)?;
    let survives = |patch: &FaultPatch| results.survives(patch);
    Ok(if patches.iter().any(survives) { TaskOutcome::Found } else { TaskOutcome::Well })
}

/// Builds the copy with all faults, and the programs of a search.
fn build_tree(patches: &[FaultPatch], by: SearchMethod) -> Result<PlantedTree, TaskError> {
    let tree = PlantedTree::new(patches, by)?;
    match by {
        SearchMethod::Tests => tests_of::build(&tree)?,
        SearchMethod::Storm => storm::build(&tree)?,
        SearchMethod::Fuzzers => fuzzers::build(&tree)?,
    }
    Ok(tree)
}

/// Searches for one fault, or without any.
fn search(
    tree: &PlantedTree,
    patch: Option<&FaultPatch>,
    by: SearchMethod,
    effort: SearchEffort,
) -> Result<Vec<SearchRun>, TaskError> {
    match by {
        SearchMethod::Tests => Ok(vec![tests_of::look(tree, patch)?]),
        SearchMethod::Storm => storm::look(tree, patch, effort),
        SearchMethod::Fuzzers => fuzzers::look(tree, patch, effort),
    }
}

/// Prints the result of one search as progress.
fn print_progress(patch: Option<&FaultPatch>, by: SearchMethod, runs: &[SearchRun]) -> TaskOutcome {
    let found: Vec<&str> = runs.iter().filter_map(|run| run.found.as_deref()).collect();
    let name = patch.map_or("none", |patch| patch.name.as_str());
    let times: Vec<u64> = runs.iter().map(|run| run.milliseconds).collect();
    // Nothing is lost if it cannot be shown.
    let _ = writeln!(io::stderr(), "{name} by {}: {found:?} in {times:?} ms", by.name());
    if found.is_empty() { TaskOutcome::Well } else { TaskOutcome::Found }
}
