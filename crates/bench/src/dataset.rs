//! The same history each time: many authors writing in turn, bodies of 300 bytes.

use bytes::Bytes;
use osier_core::{
    Entry, EntryDraft, EntryHash, Kind, NodeSecret, Seq, Ticket, Timestamp, TopicId, TopicSecret,
    Verified,
};

/// Bytes of each body.
pub(crate) const BODY_BYTES: usize = 300;
/// Entries in each batch that a builder gives.
pub(crate) const BATCH: usize = 10_000;

/// The ticket of the benchmark topic; its owner is author 0.
pub(crate) fn ticket() -> Ticket {
    let owner = secret(0).node_id();
    Ticket::new(owner, TopicSecret::from_bytes([5; 32]), "bench").expect("a legal name")
}

/// The key of author `n`.
pub(crate) fn secret(n: u64) -> NodeSecret {
    let mut bytes = [0x42; 32];
    bytes[..8].copy_from_slice(&n.to_le_bytes());
    NodeSecret::from_bytes(&bytes)
}

/// Writes history entry by entry; authors take turns.
#[derive(Debug)]
pub(crate) struct Writer {
    topic: TopicId,
    authors: Vec<(NodeSecret, Option<(Seq, EntryHash)>)>,
    written: u64,
}

impl Writer {
    pub(crate) fn new(authors: u64) -> Self {
        let authors = (0..authors).map(|n| (secret(n), None)).collect();
        Self {
            topic: ticket().topic(),
            authors,
            written: 0,
        }
    }

    /// The next entry.
    pub(crate) fn entry(&mut self) -> Verified<Entry> {
        let count = self.authors.len() as u64;
        let at = usize::try_from(self.written % count).expect("fewer authors than memory");
        let (secret, last) = &mut self.authors[at];
        let mut body = vec![0_u8; BODY_BYTES];
        body[..8].copy_from_slice(&self.written.to_le_bytes());
        let draft = EntryDraft {
            topic: self.topic,
            seq: last.map_or(Seq::FIRST, |(seq, _)| seq.next().expect("short chains")),
            prev: last.map(|(_, hash)| hash),
            deps: Vec::new(),
            time: Timestamp::from_millis(1_700_000_000_000 + self.written * 333),
            kind: Kind::APPLICATION,
            items: vec![Bytes::from(body)],
        };
        let entry = draft.sign(secret).expect("a small draft is legal");
        *last = Some((entry.header().seq(), entry.hash()));
        self.written += 1;
        entry
    }

    /// The next entries.
    pub(crate) fn batch(&mut self, count: usize) -> Vec<Verified<Entry>> {
        (0..count).map(|_| self.entry()).collect()
    }
}
