//! The states of channels cover the whole recording.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("states", bytes));
