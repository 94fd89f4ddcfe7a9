//! Any text is a scenario, or has problems with a place.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::scenario::law(bytes));
