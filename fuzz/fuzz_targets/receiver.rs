//! The receiver reports what the reference does.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("receiver", bytes));
