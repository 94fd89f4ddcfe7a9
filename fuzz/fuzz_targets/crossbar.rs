//! A switch sends what its model does, character by character.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::crossbar::law(bytes));
