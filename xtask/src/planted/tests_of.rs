//! Whether the ordinary tests find a fault: those of the crate that it stands in, then those of the
//! others of the product. The laws' own tests (the corpus, canaries, seeded storms) are not counted.

use std::path::PathBuf;
use std::time::Instant;

use serde::Deserialize;

use super::patch::Patch;
use super::results::Run;
use super::tree::Tree;
use crate::workspace::{Failure, command, output};

/// The product, from below.
const CRATES: [&str; 4] = ["codec", "simulator", "analyzer", "cli"];
/// *Chosen*: several times what the tests of a crate take on a busy machine.
const SECONDS_MAX: u64 = 600;

/// Builds the tests of the product.
///
/// # Errors
/// They do not build.
pub(crate) fn build(tree: &Tree) -> Result<(), Failure> {
    binaries(tree).map(|_| ())
}

/// What cargo says of something that it has built.
#[derive(Deserialize)]
struct Built {
    manifest_path: PathBuf,
    target: Named,
    executable: Option<PathBuf>,
    profile: Profile,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// A test binary, and where it runs.
struct Binary {
    krate: String,
    /// `codec`, or `codec/tests/laws`.
    name: String,
    path: PathBuf,
}

/// The test binaries of the product, as cargo would run them. They are run without it, which builds
/// what it is asked to run alone with other features of the dependencies.
fn binaries(tree: &Tree) -> Result<Vec<Binary>, Failure> {
    let mut cargo = command("cargo");
    cargo.current_dir(tree.path()).args(["test", "--quiet", "--no-run", "--tests"]);
    cargo.args(CRATES.iter().flat_map(|krate| ["-p", krate]));
    cargo.arg("--message-format=json-render-diagnostics");
    let said = output(cargo.arg("--target-dir").arg(tree.built()))?;
    let built = said.lines().filter_map(|line| serde_json::from_str::<Built>(line).ok());
    let binaries = built.filter(|built| built.profile.test).filter_map(|built| {
        let directory = built.manifest_path.parent()?.file_name()?;
        let krate = directory.to_string_lossy().into_owned();
        let is_test = built.target.kind.iter().any(|kind| kind == "test");
        let name =
            if is_test { format!("{krate}/tests/{}", built.target.name) } else { krate.clone() };
        Some(Binary { krate, name, path: built.executable? })
    });
    let mut binaries: Vec<Binary> = binaries.collect();
    // Units come first: a crate's name is shorter than what begins with it.
    binaries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(binaries)
}

/// Runs the tests until one fails; with no fault, those of all crates.
///
/// # Errors
/// They cannot be run.
pub(crate) fn look(tree: &Tree, patch: Option<&Patch>) -> Result<Run, Failure> {
    let mut binaries = binaries(tree)?;
    let place = |krate: &str| CRATES.iter().position(|it| *it == krate);
    let own = |krate: &str| patch.is_some_and(|patch| patch.krate() == krate);
    binaries.sort_by_key(|it| (!own(&it.krate), place(&it.krate)));
    let mut run = Run::default();
    for Binary { krate, name, path } in binaries {
        let mut test = tree.command(patch, SECONDS_MAX, &path);
        test.current_dir(tree.path().join(krate)).env("INSTA_UPDATE", "no");
        let begin = Instant::now();
        let ended = test.output().map_err(|error| error.to_string())?;
        run.add_since(begin);
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stdout);
            run.found = Some(format!("{name}::{}", first(&said)));
            break;
        }
    }
    Ok(run)
}

/// The first test that failed; none has its name told if the time was over.
fn first(said: &str) -> &str {
    let failed = |line: &&str| line.ends_with("... FAILED");
    let line = said.lines().find(failed);
    line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("it did not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_failed_is_named() {
        let said = "running 2 tests\ntest a::b ... ok\ntest c::d_e ... FAILED\n";
        assert_eq!(first(said), "c::d_e");
        assert_eq!(first("running 2 tests\ntest a::b ... ok\n"), "it did not end");
    }
}
