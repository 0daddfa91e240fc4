//! Fixed keys and chain builders for tests (feature `testing`).

use bytes::Bytes;

use crate::{
    entry::{Entry, EntryDraft, Kind, Seq, SignedEntry, WireEntry},
    envelope::{NodeSecret, Verified},
    id::{EntryHash, TopicId},
    time::Timestamp,
};

/// The secret of test node `n`.
pub fn secret(n: u64) -> NodeSecret {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&n.to_le_bytes());
    NodeSecret::from_bytes(&bytes)
}

/// The topic of most tests.
pub fn topic() -> TopicId {
    TopicId::from_bytes([9; 32])
}

/// Writes one author's chain, entry after entry, a second apart.
#[derive(Debug, Clone)]
pub struct Chain {
    secret: NodeSecret,
    topic: TopicId,
    last: Option<(Seq, EntryHash)>,
    time_ms: u64,
}

impl Chain {
    /// The chain of test node `n` in [`topic`].
    pub fn new(n: u64) -> Self {
        Self::in_topic(n, topic())
    }

    /// The chain of test node `n` in a topic.
    pub fn in_topic(n: u64, topic: TopicId) -> Self {
        Self {
            secret: secret(n),
            topic,
            last: None,
            time_ms: 1_700_000_000_000 + n,
        }
    }

    /// Sets the author's clock for the next entry.
    pub fn at(&mut self, time_ms: u64) -> &mut Self {
        self.time_ms = time_ms;
        self
    }

    /// Writes the next entry.
    pub fn next(&mut self, body: &[u8]) -> Verified<Entry> {
        self.next_with(body, Vec::new())
    }

    /// Writes the next entry with dependencies.
    pub fn next_with(&mut self, body: &[u8], deps: Vec<EntryHash>) -> Verified<Entry> {
        let seq = self
            .last
            .map_or(Seq::FIRST, |(seq, _)| seq.next().expect("short chains"));
        let entry = EntryDraft {
            topic: self.topic,
            seq,
            prev: self.last.map(|(_, hash)| hash),
            deps,
            time: Timestamp::from_millis(self.time_ms),
            kind: Kind::APPLICATION,
            items: vec![Bytes::copy_from_slice(body)],
        }
        .sign(&self.secret)
        .expect("a small draft is legal");
        self.time_ms = self.time_ms.saturating_add(1000);
        self.last = Some((seq, entry.hash()));
        entry
    }

    /// Writes the next entry and forgets that it is verified.
    pub fn signed(&mut self, body: &[u8]) -> SignedEntry {
        SignedEntry::parse(self.next(body).to_wire()).expect("own entries parse")
    }

    /// Continues after `entry` instead of the chain's own last entry.
    pub fn follow(&mut self, entry: &SignedEntry) {
        let seq = self.last.map_or(Seq::FIRST, |(seq, _)| seq);
        self.last = Some((seq, entry.hash()));
    }
}

/// The same entry with a signature that does not hold, and so with another hash.
pub fn with_bad_signature(entry: SignedEntry) -> SignedEntry {
    let entry = entry.trust_stored();
    let mut signature = entry.signature();
    signature[0] ^= 1;
    let wire = WireEntry::from_parts(
        entry.header_bytes().clone(),
        &signature,
        entry.items().to_vec(),
    );
    SignedEntry::parse(wire).expect("the form is untouched")
}
