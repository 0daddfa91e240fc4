//! Fuzzes [`osier_fuzz::wire::envelope`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::wire::envelope(bytes));
