//! One switch sends what its model sends.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("crossbar", bytes));
