//! Recordings of any bytes are read to an end; exported wires are imported as the same.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::run("recordings", bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    laws::mutator::mutated("recordings", data, (size, max_size), seed, fuzzer_mutate)
});
