//! The simulated network follows the rules, and its analysis agrees with the truth.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("network", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("network", data, (size, max_size), seed, fuzzer_mutate)
});
