//! Fuzzes [`osier_fuzz::wire::frame`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::wire::frame(bytes));
