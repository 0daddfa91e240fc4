//! Fuzzes [`osier_fuzz::nostr::negentropy`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::nostr::negentropy(bytes));
