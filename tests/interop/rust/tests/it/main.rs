//! rust-nostr's SDK against a node's relay, and a node against a relay made with its builder.

mod client;
mod peer;
mod support;
