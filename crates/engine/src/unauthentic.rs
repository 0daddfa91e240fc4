//! Gossiped entries whose own signature fails: each may still be vouched for by a successor
//! (rule V, `ENT-10`). They wait here, bounded, and are never stored or served meanwhile.

use std::collections::BTreeMap;

use osier_core::{EntryHash, NodeId, SignedEntry};

use crate::limit::{GOSSIP_UNAUTHENTIC_MAX, GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX};

/// The waiting area of one topic.
#[derive(Debug, Default)]
pub(crate) struct Unauthentic {
    waiting: BTreeMap<EntryHash, SignedEntry>,
    by_author: BTreeMap<NodeId, usize>,
}

impl Unauthentic {
    /// Puts an entry to wait. False when there is no room for its author or at all: the caller
    /// then knows that something is missing.
    pub(crate) fn wait(&mut self, entry: SignedEntry) -> bool {
        if self.waiting.contains_key(&entry.hash()) {
            return true;
        }
        let share = self.by_author.entry(entry.claimed_author()).or_default();
        if *share >= GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX
            || self.waiting.len() >= GOSSIP_UNAUTHENTIC_MAX
        {
            return false;
        }
        *share += 1;
        self.waiting.insert(entry.hash(), entry);
        true
    }

    /// Takes out the entry with this hash, if its author is the one who now vouches for it.
    pub(crate) fn take(&mut self, hash: &EntryHash, author: NodeId) -> Option<SignedEntry> {
        if self.waiting.get(hash)?.claimed_author() != author {
            return None;
        }
        let entry = self.waiting.remove(hash)?;
        if let Some(share) = self.by_author.get_mut(&author) {
            *share -= 1;
            if *share == 0 {
                self.by_author.remove(&author);
            }
        }
        Some(entry)
    }
}
