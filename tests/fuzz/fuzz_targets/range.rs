//! Fuzzes [`osier_fuzz::wire::range`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::wire::range(bytes));
