//! Hosts that talk over a network, character by character: every message ends as it must, whatever breaks.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::messages::law(bytes));
