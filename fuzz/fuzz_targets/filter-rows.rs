//! A filter that is written out and read back keeps the same rows.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::filter::rows(bytes));
