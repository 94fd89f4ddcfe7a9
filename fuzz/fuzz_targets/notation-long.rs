//! Notation of many characters is printed and read back.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::notation::long(bytes));
