//! A capture file is read to its end, and its rows equal those of the references.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("capture", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("capture", data, (size, max_size), seed, fuzzer_mutate)
});
