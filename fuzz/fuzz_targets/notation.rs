//! Any text is read or refused, and what is read is printed and read back.
#![no_main]
libfuzzer_sys::fuzz_target!(|text: &[u8]| laws::notation::law(text));
