//! A small scenario can be run.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::scenario::tried(bytes));
