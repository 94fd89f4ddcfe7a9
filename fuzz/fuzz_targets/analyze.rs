//! The analysis of a capture agrees with the truth and does not depend on chunks or threads.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("analyze", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("analyze", data, (size, max_size), seed, fuzzer_mutate)
});
