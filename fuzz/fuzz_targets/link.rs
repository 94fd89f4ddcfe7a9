//! A port's circuits do what the rules say, whatever comes in and is to go out.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::link::law(bytes));
