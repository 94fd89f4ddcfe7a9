//! Every input of `corpus/` keeps its target's law: seeds, and what once broke something.

use std::fs;
use std::path::{Path, PathBuf};

use laws::capture_input::CaptureInput;
use laws::failure::catch_failure;
use laws::repair::SeededRng;
use laws::storm::{StormLaws, tried};
use laws::{LawTarget, TARGETS, capture, seeds, states};
use simulator::scenario::Scenario;

fn directory(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(target)
}

#[expect(clippy::disallowed_methods, clippy::expect_used, reason = "the corpus is files")]
fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory(target)).expect("corpus/ has a directory a target");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("its entries").path()).collect();
    paths.sort();
    let bytes = |path: &PathBuf| fs::read(path).expect("its files can be read");
    paths.into_iter().map(|path| (path.clone(), bytes(&path))).collect()
}

#[test]
fn every_input_of_the_corpus_keeps_its_law() {
    let mut broken = Vec::new();
    for target in TARGETS {
        let files = files(target.name);
        assert!(!files.is_empty(), "corpus/{} is empty", target.name);
        for (path, bytes) in files {
            // An input without a mode byte is one of every mode.
            let modes = if target.select(&bytes).1 == bytes { target.modes } else { &[] };
            let laws = modes.iter().map(|(_, law)| *law).chain([target.law]);
            for law in laws {
                broken.extend(catch_failure(|| law(&bytes)).err().map(|law| (path.clone(), law)));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Networks that storms have found, minimized.
#[test]
fn every_network_that_a_storm_found_keeps_all_laws() {
    let mut broken = Vec::new();
    for (path, bytes) in files("storm") {
        let text = String::from_utf8(bytes).unwrap();
        let scenario = Scenario::read(&path.display().to_string(), &text);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        broken.extend(tried(&scenario, StormLaws::All).err().map(|law| (path, law)));
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_corpus_holds_the_seeds_that_the_code_makes() {
    for (target, name, bytes) in seeds::all() {
        let found = files(target).into_iter().find(|(path, _)| path.ends_with(&name));
        let same = found.is_some_and(|(_, found)| found == bytes);
        assert!(same, "corpus/{target}/{name} is old: cargo run -p laws --example seeds");
    }
}

#[test]
fn what_no_code_makes_says_why_it_is_there() {
    let made = seeds::all();
    for LawTarget { name: target, .. } in TARGETS {
        for (path, _) in files(target) {
            let name = path.file_name().unwrap().to_string_lossy();
            let seed = made.iter().any(|(of, own, _)| of == target && name == *own);
            let said = ["regression-", "reaches-"].iter().any(|why| name.starts_with(why));
            assert!(seed || said, "corpus/{target}/{name} is no seed any more, or has no name");
        }
    }
}

#[test]
fn the_corpus_stays_small() {
    let all = TARGETS.iter().flat_map(|target| files(target.name));
    let bytes: usize = all.map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 300_000, "{bytes} bytes");
}

#[test]
fn a_storm_of_planned_captures_keeps_the_law() {
    let mut dice = SeededRng::new(b"a storm of planned captures");
    for storm in 0..1000 {
        let len = usize::try_from(20 + dice.below(400)).unwrap();
        let plan = CaptureInput::from_bytes(&dice.bytes(len)).unwrap();
        let held = std::panic::catch_unwind(|| capture::plans::planned(&plan));
        assert!(held.is_ok(), "storm {storm}: {plan:?}");
    }
}

#[test]
fn states_tile_whatever_was_captured() {
    for (path, bytes) in files("capture") {
        let held = std::panic::catch_unwind(|| states::captured(&bytes));
        assert!(held.is_ok(), "{}", path.display());
    }
    let mut dice = SeededRng::new(b"a storm of captures with states");
    for storm in 0..300 {
        let len = usize::try_from(20 + dice.below(400)).unwrap();
        let plan = CaptureInput::from_bytes(&dice.bytes(len)).unwrap();
        let Ok(file) = plan.file() else { continue };
        let held = std::panic::catch_unwind(|| states::captured(&file));
        assert!(held.is_ok(), "storm {storm}: {plan:?}");
    }
}
