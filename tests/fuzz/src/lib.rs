//! What each fuzz target does with its bytes: read them, and hold what was read to the rules.
//!
//! The bodies are plain functions, so that ordinary tests replay the committed corpora with them:
//! `crates/{core,proto,nostr}/tests/corpus.rs`. A body panics when a rule is
//! broken and returns whatever the bytes are otherwise.

pub mod nostr;
// For the tests of other crates, which include it by its path.
#[cfg(test)]
pub mod replay;
pub mod vocabulary;
pub mod wire;
