//! What is wrong with a filter is shown with its place.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::filter::shown(bytes));
