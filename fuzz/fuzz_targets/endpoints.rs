//! Messages of hosts with endpoints are written once and end once.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::run("endpoints", bytes));
