//! What is written in one transaction, and what came of it.

use std::collections::BTreeMap;

use osier_core::{Entry, EntryHash, NodeId, Seq, TopicId, Verified};
use osier_proto::{Lsn, StorePoint, Summary, Token};

use crate::control::ControlRow;

/// Entries of any number of topics, and tokens to keep with them: one transaction, one sync.
///
/// Group commit is the caller's: put in everything that waits. Entries may come in any order and
/// more than once.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub(crate) topics: BTreeMap<TopicId, Vec<Verified<Entry>>>,
    pub(crate) tokens: BTreeMap<(TopicId, NodeId), Token>,
    pub(crate) control: Vec<(TopicId, ControlRow)>,
    bytes: usize,
}

impl Batch {
    /// A batch without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry; its header says to which topic. A topic that the store does not know yet is
    /// made.
    pub fn push(&mut self, entry: Verified<Entry>) {
        self.bytes += entry.size();
        self.topics
            .entry(entry.header().topic())
            .or_default()
            .push(entry);
    }

    /// Adds entries in order.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Verified<Entry>>) {
        entries.into_iter().for_each(|entry| self.push(entry));
    }

    /// Keeps a provider's token, in the same transaction as the entries that it covers: a crash can
    /// lose both, never one (`STO-9`). A later one replaces it.
    pub fn keep_token(&mut self, topic: TopicId, provider: NodeId, token: Token) {
        self.tokens.insert((topic, provider), token);
    }

    /// Keeps what the topic's owner said in a control entry, in the same transaction as the entry.
    pub fn keep_control(&mut self, topic: TopicId, row: ControlRow) {
        self.control.push((topic, row));
    }

    /// Appends another batch: what it holds comes after.
    pub fn merge(&mut self, later: Self) {
        for (topic, entries) in later.topics {
            self.topics.entry(topic).or_default().extend(entries);
        }
        self.tokens.extend(later.tokens);
        self.control.extend(later.control);
        self.bytes += later.bytes;
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.topics.values().map(Vec::len).sum()
    }

    /// Rough size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.tokens.is_empty() && self.control.is_empty()
    }

    /// The entries of a topic in the order of [`CommittedTopic::entries`].
    pub fn entries(&self, topic: &TopicId) -> &[Verified<Entry>] {
        self.topics.get(topic).map_or(&[], Vec::as_slice)
    }
}

/// A batch that is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The topics that had entries in the batch.
    pub topics: BTreeMap<TopicId, CommittedTopic>,
}

impl Committed {
    /// Entries that were not held before, over all topics.
    pub fn new_entries(&self) -> usize {
        let fates = self.topics.values().flat_map(|topic| &topic.entries);
        fates
            .filter(|(_, fate)| matches!(fate, Fate::New(_)))
            .count()
    }
}

/// What became of one topic's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedTopic {
    /// Every entry of the batch, in its order.
    pub entries: Vec<(EntryHash, Fate)>,
    /// Authors that were not known to have forked before.
    pub forked: Vec<Forked>,
    /// Holes that the batch closed, sorted.
    pub closed: Vec<EntryHash>,
    /// The topic after the batch.
    pub summary: Summary,
    /// Where its log stands after the batch.
    pub point: StorePoint,
    /// Number of holes after the batch.
    pub hole_count: u64,
    /// Entries that had waited and were stored now, with their places, ascending (`ENT-43`).
    pub released: Vec<(Lsn, EntryHash)>,
    /// Entries that were held and that a revocation has cut off (`ENT-42`).
    pub removed: Vec<EntryHash>,
    /// The owner has spoken of an author in a topic in which entries that should have waited were
    /// dropped: they must be looked for elsewhere.
    pub missed: bool,
}

/// What became of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Stored at this place.
    New(Lsn),
    /// Held already, or earlier in the same batch.
    Duplicate,
    /// Below the floor of a ring and not the tip of its author: not stored (`STO-13`).
    BelowFloor,
    /// Its author may not write it, as far as is known: it waits, or was dropped (`ENT-43`).
    Withheld,
}

/// Proof that an author wrote two entries with one seq. Both are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forked {
    /// Who.
    pub author: NodeId,
    /// Where the chain parts.
    pub seq: Seq,
    /// One entry there.
    pub first: EntryHash,
    /// Another.
    pub second: EntryHash,
}
