//! The transport protocol keeps its properties under any faults.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("transport", bytes));
