//! Fuzzes [`osier_fuzz::vocabulary::control`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::vocabulary::control(bytes));
