//! Any text is a filter or has a fault with a place, and a filter is written out and read back.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::filter::law(input));
