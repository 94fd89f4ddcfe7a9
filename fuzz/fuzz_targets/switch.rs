//! A switch keeps the laws, whatever comes to it, and the analyzer reads what happened.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::network::switch(bytes));
