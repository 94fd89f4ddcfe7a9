//! What the analyzer says depends on no number of threads.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::analyze::threads(bytes));
