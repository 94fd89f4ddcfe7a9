//! The parts of a frame make up the frame.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("packet", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("packet", data, (size, max_size), seed, fuzzer_mutate)
});
