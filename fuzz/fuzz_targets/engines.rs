//! The event engine and the stepper simulate a network alike.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::engines::law(bytes));
