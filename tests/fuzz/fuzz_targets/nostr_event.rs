//! Fuzzes [`osier_fuzz::nostr::event`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::nostr::event(bytes));
