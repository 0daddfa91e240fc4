//! Fixed keys and events, and a slow relay in memory (feature `testing`).

mod oracle;
mod world;

pub use oracle::{Answer, Oracle};
pub use world::World;

use crate::{
    event::{Event, EventDraft, EventKey},
    key::PublicKey,
    kind::EventKind,
    tag::Tag,
    time::Seconds,
};

/// The key of test user `n`.
pub fn key(n: u8) -> EventKey {
    let mut bytes = [7; 32];
    bytes[0] = n;
    EventKey::from_bytes(&bytes).expect("below the order of the curve")
}

/// The public key of test user `n`.
pub fn pubkey(n: u8) -> PublicKey {
    key(n).pubkey()
}

/// A draft with tags given as lists of strings.
pub fn draft(created_at: u64, kind: u16, tags: &[&[&str]], content: &str) -> EventDraft {
    let tag = |tag: &&[&str]| Tag::new(tag.iter().copied()).expect("test tags have a name");
    EventDraft {
        created_at: Seconds::new(created_at).expect("test times are in range"),
        kind: EventKind::new(kind),
        tags: tags.iter().map(tag).collect(),
        content: content.to_owned(),
    }
}

/// An event signed by user `n`.
pub fn event(n: u8, created_at: u64, kind: u16, tags: &[&[&str]], content: &str) -> Event {
    draft(created_at, kind, tags, content).sign(&key(n))
}

/// A text note by user `n`.
pub fn note(n: u8, created_at: u64, content: &str) -> Event {
    event(n, created_at, 1, &[], content)
}

/// At least a thousand cases a property; `PROPTEST_CASES` asks for more.
#[cfg(test)]
pub(crate) fn cases() -> proptest::test_runner::Config {
    let mut config = proptest::test_runner::Config::default();
    config.cases = config.cases.max(1_000);
    config
}
