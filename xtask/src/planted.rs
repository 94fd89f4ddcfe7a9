//! `cargo xtask planted`: how long faults stay that are planted on purpose, one line each, until the
//! ordinary tests, the storm and the fuzz targets find them.

mod fuzzers;
mod patch;
mod results;
mod storm;
mod table;
mod tests_of;
mod tree;

use std::io::{self, Write};
use std::time::Instant;

use clap::{Args, ValueEnum};

use crate::End;
use crate::workspace::Failure;

use patch::Patch;
use results::{Measured, Results};
use tree::Tree;

/// Which faults are measured, and for how long each.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The faults by their numbers or names; all of them, if none is named.
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

/// Measures what has not been measured yet, and prints the table.
///
/// # Errors
/// A patch does not apply or does not build, or the results cannot be kept.
pub(crate) fn run(arguments: &Arguments) -> Result<End, Failure> {
    let patches = patch::named(&arguments.patches)?;
    let mut results = Results::read()?;
    let all = if arguments.by.is_empty() { &By::ALL[..] } else { &arguments.by };
    if arguments.measure != Measure::Nothing {
        for by in all.iter().copied() {
            let tree = Tree::new(by)?;
            for patch in &patches {
                if arguments.measure == Measure::All || !results.has(patch, by) {
                    let measured = measure(arguments, &tree, patch, by)?;
                    results.keep(patch, by, measured)?;
                }
            }
        }
    }
    table::print(&patch::named(&[])?, &results)?;
    let survives = |patch: &&Patch| results.survives(patch);
    Ok(if patches.iter().any(|patch| survives(&patch)) { End::Found } else { End::Well })
}

/// Plants one fault and lets it be looked for.
fn measure(arguments: &Arguments, tree: &Tree, patch: &Patch, by: By) -> Result<Measured, Failure> {
    let begin = Instant::now();
    tree.plant(patch)?;
    let Arguments { seeds, budget, .. } = *arguments;
    let runs = match by {
        By::Tests => vec![tests_of::look(tree, patch)?],
        By::Storm => storm::look(tree, seeds, budget)?,
        By::Fuzzers => fuzzers::look(tree, patch, seeds, budget)?,
    };
    let found: Vec<&str> = runs.iter().filter_map(|run| run.found.as_deref()).collect();
    let all = begin.elapsed().as_secs();
    // Progress, for whoever waits: nothing is lost if it cannot be shown.
    let _ = writeln!(io::stderr(), "{} by {}: {found:?}, {all} s in all", patch.name, by.name());
    Ok(Measured { commit: tree.commit.clone(), budget, runs })
}
