//! Every message between a few hosts ends as it must, whatever an adversary does.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::endpoints::law(bytes));
