//! A network keeps the laws, whatever breaks, and the analyzer reads what happened.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::network::law(bytes));
