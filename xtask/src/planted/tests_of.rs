//! Whether the ordinary tests find a fault: those of the crate that it stands in, then those of the
//! others of the product. The laws' own tests (the corpus, canaries, seeded storms) are not counted.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::patch::Patch;
use super::results::Run;
use super::tree::Tree;
use crate::workspace::Failure;

/// The product, from below.
const CRATES: [&str; 4] = ["codec", "simulator", "analyzer", "cli"];
/// *Chosen*: several times what the tests of a crate take on a busy machine.
const SECONDS_MAX: u64 = 600;
const INTO: &str = "tests";

/// Builds the tests of the product.
///
/// # Errors
/// They do not build.
pub(crate) fn build(tree: &Tree) -> Result<(), Failure> {
    let mut arguments = vec!["test", "--quiet", "--no-run", "--tests"];
    arguments.extend(CRATES.iter().flat_map(|krate| ["-p", krate]));
    tree.build(&arguments, INTO).map(|_| ())
}

/// Runs the tests until one fails; with no fault, those of all crates.
///
/// # Errors
/// They cannot be run.
pub(crate) fn look(tree: &Tree, patch: Option<&Patch>) -> Result<Run, Failure> {
    let mut crates = CRATES;
    crates.sort_by_key(|krate| Some(*krate) != patch.map(Patch::krate));
    let mut run = Run::default();
    for krate in crates {
        let begin = Instant::now();
        let ended = cargo(tree, patch, krate).output().map_err(|error| error.to_string())?;
        run.add_since(begin);
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stdout);
            let told = String::from_utf8_lossy(&ended.stderr);
            run.found = Some(format!("{}::{}", place(krate, &told), first(&said)));
            break;
        }
    }
    Ok(run)
}

fn cargo(tree: &Tree, patch: Option<&Patch>, krate: &str) -> Command {
    let mut cargo = tree.command(patch, SECONDS_MAX, Path::new("cargo"));
    cargo.args(["test", "--tests", "-p", krate, "--target-dir"]).arg(tree.beside(INTO));
    cargo
}

/// The first test that failed; none has its name told if the time was over.
fn first(said: &str) -> &str {
    let failed = |line: &&str| line.ends_with("... FAILED");
    let line = said.lines().find(failed);
    line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("it did not end")
}

/// Where cargo says that it stands: `codec`, or `codec/tests/laws`.
fn place(krate: &str, told: &str) -> String {
    let hint = told.lines().rev().find(|line| line.contains("to rerun pass"));
    let file = hint.and_then(|line| line.split_once("--test ")).map(|(_, rest)| rest);
    file.map_or_else(
        || krate.to_owned(),
        |file| format!("{krate}/tests/{}", file.trim_matches(['`', ' '])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_failed_is_named_with_its_place() {
        let said = "running 2 tests\ntest a::b ... ok\ntest c::d_e ... FAILED\n";
        let told =
            "Running tests/laws.rs\nerror: test failed, to rerun pass `-p codec --test laws`\n";
        assert_eq!((first(said), place("codec", told).as_str()), ("c::d_e", "codec/tests/laws"));
        let told = "error: test failed, to rerun pass `-p codec --lib`\n";
        assert_eq!(place("codec", told), "codec");
    }
}
