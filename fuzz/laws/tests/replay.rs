//! Every input of `corpus/` keeps its target's law.

use laws::capture_input::CaptureInput;
use laws::failure::catch_failure;
use laws::mutator::mutated;
use laws::repair::{SeededRng, draws};
use laws::storm::{StormLaws, tried};
use laws::{TARGETS, capture, corpus, states};

#[test]
fn every_input_of_the_corpus_keeps_its_law() {
    let mut broken = Vec::new();
    for target in TARGETS {
        let inputs = corpus::inputs(target.name);
        assert!(!inputs.is_empty(), "corpus/{} is empty", target.name);
        for (name, bytes) in inputs {
            // An input without a mode byte is one of every mode.
            let modes = if target.select(&bytes).1 == bytes { target.modes } else { &[] };
            let laws = modes.iter().map(|(_, law)| *law).chain([target.law]);
            for law in laws {
                let failure = catch_failure(|| law(&bytes)).err();
                broken.extend(failure.map(|law| (target.name, name.clone(), law)));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Fuzzing by dice that are the same on every machine; libFuzzer, which follows what is reached, runs every night.
#[test]
fn changed_inputs_of_the_corpus_keep_their_laws() {
    for target in TARGETS {
        // Of each input, as many as take some seconds in all.
        let changes = match target.name {
            "network" => 2,
            "analyze" | "crossbar" | "endpoints" | "engines" | "mapping" | "recordings" => 16,
            _ => 256,
        };
        for (name, bytes) in corpus::inputs(target.name) {
            for seed in 0..u32::try_from(draws(changes)).unwrap() {
                let mut data = [&bytes[..], &[0; 256]].concat();
                let size = (bytes.len(), data.len());
                let dice = SeededRng::numbered(name.as_bytes(), seed.into());
                let change =
                    |data: &mut [u8], len, max| changed(&mut data[..max], len, dice.clone());
                let len = mutated(target.name, &mut data, size, seed, change);
                let held = std::panic::catch_unwind(|| laws::run(target.name, &data[..len]));
                assert!(held.is_ok(), "{} {name} {seed}", target.name);
            }
        }
    }
}

/// Changes up to four places of an input: a bit, or some bytes that go or come twice; returns its new length.
fn changed(data: &mut [u8], len: usize, mut dice: SeededRng) -> usize {
    let mut below = |most: usize| usize::try_from(dice.below(most as u64)).unwrap();
    let mut input = data[..len].to_vec();
    for _ in 0..=below(4) {
        let at = below(input.len());
        let end = input.len().min(at + 1 + below(16));
        match below(3) {
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << below(8)),
            1 => drop(input.drain(at..end)),
            _ => drop(input.splice(at..at, input[at..end].to_vec())),
        }
    }
    let len = input.len().min(data.len());
    data[..len].copy_from_slice(&input[..len]);
    len
}

/// Networks that storms have found, minimized.
#[test]
fn every_network_that_a_storm_found_keeps_all_laws() {
    let mut broken = Vec::new();
    for (name, bytes) in corpus::inputs("storm") {
        let text = String::from_utf8(bytes).unwrap();
        let scenario = crate::read(&text);
        broken.extend(tried(&scenario, StormLaws::All).err().map(|law| (name, law)));
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_corpus_stays_small_and_its_inputs_have_names() {
    let mut size = 0;
    for target in TARGETS {
        for (name, bytes) in corpus::inputs(target.name) {
            // libFuzzer names its files after their hashes.
            let is_hash = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(!is_hash, "corpus/{}/{name} is not named for its content", target.name);
            // *Chosen*: a fuzzer's inputs grow as long as its longest seed.
            assert!((1..=1500).contains(&bytes.len()), "corpus/{}/{name}", target.name);
            size += bytes.len();
        }
    }
    assert!(size < 300_000, "{size} bytes");
}

#[test]
fn a_storm_of_planned_captures_keeps_the_law() {
    for bytes in crate::storm("a storm of planned captures", 1000, [20, 400]) {
        crate::hold(&bytes, CaptureInput::from_bytes, capture::plans::planned);
    }
}

#[test]
fn states_tile_whatever_was_captured() {
    for (name, bytes) in corpus::inputs("capture") {
        let held = std::panic::catch_unwind(|| states::captured(&bytes));
        assert!(held.is_ok(), "{name}");
    }
    for bytes in crate::storm("a storm of captures with states", 300, [20, 400]) {
        let law = |plan: &CaptureInput| plan.file().map(|file| states::captured(&file));
        crate::hold(&bytes, CaptureInput::from_bytes, law);
    }
}
