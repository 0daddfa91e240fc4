//! Fuzzes [`osier_fuzz::vocabulary::entry`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::vocabulary::entry(bytes));
