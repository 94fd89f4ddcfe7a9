//! Interfaces map any network, whatever happens to it and to their packets.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("mapping", bytes));
