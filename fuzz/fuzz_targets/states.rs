//! States of a link's channels tile what was recorded, however it is cut.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::states::law(bytes));
