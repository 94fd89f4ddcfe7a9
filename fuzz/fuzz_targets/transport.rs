//! The reliability protocol between a few NICs keeps its properties, whatever an adversary does.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::transport::law(bytes));
