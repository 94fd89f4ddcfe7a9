//! Search by the ordinary tests: those of the fault's crate, then of the product's other crates. The tests
//! of the laws (corpus, canaries, seeded storms) do not count.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Deserialize;

use super::patch::FaultPatch;
use super::results::SearchRun;
use super::tree::PlantedTree;
use crate::workspace::{TaskError, command, output, run_command};

/// The product, from below.
const CRATES: [&str; 4] = ["codec", "simulator", "analyzer", "cli"];
const PACKAGES: [&str; 4] =
    ["myriscope-codec", "myriscope-simulator", "myriscope-analyzer", "myriscope"];
/// *Chosen*: several times what the tests of a crate take on a busy machine.
const SECONDS_MAX: u64 = 600;

/// Builds the tests of the product.
pub(crate) fn build(tree: &PlantedTree) -> Result<(), TaskError> {
    binaries(tree).map(|_| ())
}

/// A message of cargo about an artifact.
#[derive(Deserialize)]
struct CargoArtifact {
    manifest_path: PathBuf,
    target: ArtifactTarget,
    executable: Option<PathBuf>,
    profile: ArtifactProfile,
}

#[derive(Deserialize)]
struct ArtifactTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct ArtifactProfile {
    test: bool,
}

/// A test binary, and where it runs.
#[derive(Clone)]
struct TestBinary {
    krate: String,
    /// `codec`, or `codec/tests/laws`.
    name: String,
    path: PathBuf,
}

/// The test binaries of the product, as cargo would run them. They are run without it, which builds
/// what it is asked to run alone with other features of the dependencies.
fn binaries(tree: &PlantedTree) -> Result<Vec<TestBinary>, TaskError> {
    let mut cargo = command("cargo");
    cargo.current_dir(tree.path()).args(["test", "--quiet", "--no-run", "--tests"]);
    cargo.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    cargo.arg("--message-format=json-render-diagnostics");
    let messages = output(cargo.arg("--target-dir").arg(tree.built()))?;
    let built =
        messages.lines().filter_map(|line| serde_json::from_str::<CargoArtifact>(line).ok());
    let binaries = built.filter(|built| built.profile.test).filter_map(|built| {
        let directory = built.manifest_path.parent()?.file_name()?;
        let krate = directory.to_string_lossy().into_owned();
        let is_test = built.target.kind.iter().any(|kind| kind == "test");
        let name =
            if is_test { format!("{krate}/tests/{}", built.target.name) } else { krate.clone() };
        Some(TestBinary { krate, name, path: built.executable? })
    });
    let mut binaries: Vec<TestBinary> = binaries.collect();
    // Units come first: a crate's name is shorter than what begins with it.
    binaries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(binaries)
}

/// The crates whose tests may fail for what is wrong in one, that one first.
fn upward(krate: &str) -> &'static [&'static str] {
    match krate {
        "simulator" => &["simulator", "cli"],
        "analyzer" => &["analyzer", "cli"],
        _ => &CRATES,
    }
}

/// Runs the tests until one fails; with no fault, those of all crates.
pub(crate) fn look(tree: &PlantedTree, patch: Option<&FaultPatch>) -> Result<SearchRun, TaskError> {
    let crates = upward(patch.map_or("codec", FaultPatch::krate));
    let mut binaries = binaries(tree)?;
    binaries.retain(|binary| crates.contains(&binary.krate.as_str()));
    binaries.sort_by_key(|binary| crates.iter().position(|krate| *krate == binary.krate));
    // The units of the file itself are the nearest.
    let nearest = patch.and_then(|patch| {
        let units = binaries.iter().find(|binary| binary.name == patch.krate());
        units.cloned().zip(module(&patch.file))
    });
    let nearest = nearest.map(|(units, module)| (units, Some(module)));
    let mut run = SearchRun::default();
    for (binary, module) in nearest.into_iter().chain(binaries.into_iter().map(|it| (it, None))) {
        let TestBinary { krate, name, path } = binary;
        let mut test = tree.command(patch, SECONDS_MAX, &path);
        test.args(module).current_dir(tree.path().join(krate)).env("INSTA_UPDATE", "no");
        test.stdout(Stdio::piped()).stderr(Stdio::null());
        let begin = Instant::now();
        let failed = failed(&mut test)?;
        run.add_since(begin);
        if let Some(failed) = failed {
            run.found = Some(format!("{name}::{failed}"));
            break;
        }
    }
    Ok(run)
}

/// The module that a file is, or is a part of: `transport::` of `simulator/src/transport/send.rs`.
fn module(file: &str) -> Option<String> {
    let (_, path) = file.split_once("/src/")?;
    let name = path.split('/').next()?.trim_end_matches(".rs");
    Some(format!("{name}::"))
}

/// Runs a test binary until the first of its tests has failed, which is named.
fn failed(test: &mut Command) -> Result<Option<String>, TaskError> {
    let mut running = test.spawn().map_err(|error| error.to_string())?;
    let lines = running.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines());
    let first = lines.map_while(Result::ok).find_map(|line| first(&line).map(str::to_owned));
    if first.is_some() {
        // What keeps the time passes it on; killed, it could not.
        run_command(command("kill").arg(running.id().to_string()))?;
    }
    let ended = running.wait().map_err(|error| error.to_string())?;
    Ok(first.or_else(|| (!ended.success()).then(|| "it did not end".to_owned())))
}

/// Name of the failed test that a line reports.
fn first(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_named() {
        assert_eq!(first("test c::d_e ... FAILED"), Some("c::d_e"));
        assert_eq!(first("test c::d_e - should panic ... FAILED"), Some("c::d_e"));
        assert_eq!(module("simulator/src/transport/send.rs").as_deref(), Some("transport::"));
        assert_eq!(module("codec/src/crc.rs").as_deref(), Some("crc::"));
        assert_eq!(first("test a::b ... ok"), None);
        assert_eq!(first("test result: FAILED. 1 passed; 1 failed"), None);
    }
}
