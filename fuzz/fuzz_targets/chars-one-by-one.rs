//! A receiver makes of runs what it makes of their characters one at a time.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::one_by_one::law(bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let size = fuzzer_mutate(data, size, max_size);
    laws::repair::mostly(laws::repair::repair_chunk, &mut data[..size], seed);
    size
});
