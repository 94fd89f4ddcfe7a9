//! `cargo xtask planted`: how long faults stay that are planted on purpose, one line each, until the
//! ordinary tests, the storm and the fuzz targets find them.

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

use crate::End;
use crate::workspace::Failure;

use patch::Patch;
use results::{Measured, Results, Run};
use tree::Tree;

/// Which faults are measured, and for how long each.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The faults by their numbers or names, or none, to see that nothing is found without one; all
    /// of them, if it is not said.
    #[arg(value_name = "PATCH")]
    patches: Vec<String>,
    /// How many seeds are tried of the storm and of each target.
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// How long each seed has, of the storm and of each target that may find the fault.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    budget: u64,
    /// What looks for the faults; everything, if it is not said.
    #[arg(long, value_enum, value_name = "BY")]
    by: Vec<By>,
    /// What is measured of what is asked for.
    #[arg(long, value_enum, default_value_t = Measure::New, value_name = "WHAT")]
    measure: Measure,
}

/// What is measured, of faults some of which have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// What has not been.
    New,
    /// Everything again.
    All,
    /// Nothing: the table of what has been is printed.
    Nothing,
}

/// What may find a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The tests of the product's crates: those of the fault's own first.
    Tests,
    /// The storm of `fuzz/laws`.
    Storm,
    /// The fuzz targets that the fault's patch names, in that order.
    Fuzzers,
}

impl By {
    const ALL: [Self; 3] = [Self::Tests, Self::Storm, Self::Fuzzers];

    const fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Storm => "storm",
            Self::Fuzzers => "fuzzers",
        }
    }
}

/// How long one search may take.
#[derive(Clone, Copy, Debug)]
struct Effort {
    seeds: u64,
    /// Seconds a seed.
    budget: u64,
}

/// Measures what has not been measured yet, and prints the table.
///
/// # Errors
/// A fault cannot be planted or does not build, or the results cannot be kept.
pub(crate) fn run(arguments: &Arguments) -> Result<End, Failure> {
    let Arguments { seeds, budget, measure, .. } = *arguments;
    let effort = Effort { seeds, budget };
    let every = patch::named(&[])?;
    let all = if arguments.by.is_empty() { &By::ALL[..] } else { &arguments.by };
    if arguments.patches == ["none"] {
        let mut end = End::Well;
        for by in all.iter().copied() {
            let tree = built(&every, by)?;
            if tell(None, by, &search(&tree, None, by, effort)?) == End::Found {
                end = End::Found;
            }
        }
        return Ok(end);
    }
    let patches = patch::named(&arguments.patches)?;
    let mut results = Results::read()?;
    for by in all.iter().copied() {
        let open = |patch: &&Patch| match measure {
            Measure::New => !results.has(patch, by),
            Measure::All => true,
            Measure::Nothing => false,
        };
        let due: Vec<&Patch> = patches.iter().filter(open).collect();
        if due.is_empty() {
            continue;
        }
        let tree = built(&every, by)?;
        for patch in due {
            let runs = search(&tree, Some(patch), by, effort)?;
            tell(Some(patch), by, &runs);
            let commit = tree.commit.clone();
            results.keep(patch, by, Measured { commit, budget, runs })?;
        }
    }
    table::print(&every, &results)?;
    let survives = |patch: &Patch| results.survives(patch);
    Ok(if patches.iter().any(survives) { End::Found } else { End::Well })
}

/// The copy with all faults, and what will look for them.
fn built(patches: &[Patch], by: By) -> Result<Tree, Failure> {
    let tree = Tree::new(patches, by)?;
    match by {
        By::Tests => tests_of::build(&tree)?,
        By::Storm => storm::build(&tree)?,
        By::Fuzzers => fuzzers::build(&tree)?,
    }
    Ok(tree)
}

/// Lets one fault be looked for, or what is there without any.
fn search(tree: &Tree, patch: Option<&Patch>, by: By, effort: Effort) -> Result<Vec<Run>, Failure> {
    match by {
        By::Tests => Ok(vec![tests_of::look(tree, patch)?]),
        By::Storm => storm::look(tree, patch, effort),
        By::Fuzzers => fuzzers::look(tree, patch, effort),
    }
}

/// Tells whoever waits what became of one search.
fn tell(patch: Option<&Patch>, by: By, runs: &[Run]) -> End {
    let found: Vec<&str> = runs.iter().filter_map(|run| run.found.as_deref()).collect();
    let name = patch.map_or("none", |patch| patch.name.as_str());
    let times: Vec<u64> = runs.iter().map(|run| run.milliseconds).collect();
    // Nothing is lost if it cannot be shown.
    let _ = writeln!(io::stderr(), "{name} by {}: {found:?} in {times:?} ms", by.name());
    if found.is_empty() { End::Well } else { End::Found }
}
