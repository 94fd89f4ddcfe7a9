//! A port does what its model does.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("link", bytes));
