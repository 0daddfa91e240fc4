//! Fuzzes [`osier_fuzz::nostr::filter`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::nostr::filter(bytes));
