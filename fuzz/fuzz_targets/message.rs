//! The table of the transport protocol decides which packets parse.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("message", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("message", data, (size, max_size), seed, fuzzer_mutate)
});
