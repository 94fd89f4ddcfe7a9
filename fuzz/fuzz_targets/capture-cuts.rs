//! A capture has the rows of the same characters in other chunks.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::capture::cuts::law(bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let planned = laws::plan::now_and_then(data, max_size, seed);
    let size = planned.unwrap_or_else(|| fuzzer_mutate(data, size, max_size));
    laws::repair::mostly(laws::repair::repair_capture, &mut data[..size], seed);
    size
});
