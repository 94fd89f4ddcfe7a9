//! What is wrong with a scenario is shown with its lines.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::scenario::shown(bytes));
