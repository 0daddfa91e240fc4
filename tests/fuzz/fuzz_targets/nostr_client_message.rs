//! Fuzzes [`osier_fuzz::nostr::client_message`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osier_fuzz::nostr::client_message(bytes));
