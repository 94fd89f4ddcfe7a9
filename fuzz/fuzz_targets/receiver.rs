//! A receiver at a tap notices the same however its characters are cut, and what the reference does.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::receiver::law(bytes));
