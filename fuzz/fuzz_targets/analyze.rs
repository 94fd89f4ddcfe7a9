//! Any capture is analysed to its end, however it is cut; and what a network's shows happened there.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::analyze::law(bytes));
