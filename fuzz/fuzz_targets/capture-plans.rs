//! A capture that was made up is read as it was planned.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::capture::plans::law(bytes));
