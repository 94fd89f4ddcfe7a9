//! A receiver hears of a transport packet what stands in it.
#![no_main]
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| laws::heard::law(bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let size = fuzzer_mutate(data, size, max_size);
    laws::repair::mostly(laws::repair::repair_message, &mut data[..size], seed);
    size
});
