//! Gossiped entries whose own signature fails: each may still be vouched for by a successor
//! (rule V, `ENT-10`). They wait here, bounded, and are never stored or served meanwhile.

use std::collections::{BTreeMap, VecDeque};

use osier_core::{EntryHash, NodeId, SignedEntry};

use crate::limit::{GOSSIP_UNAUTHENTIC_MAX, GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX};

/// The waiting area of one topic.
#[derive(Debug, Default)]
pub(crate) struct Unauthentic {
    waiting: BTreeMap<EntryHash, SignedEntry>,
    /// Those that wait, oldest first.
    order: VecDeque<EntryHash>,
    by_author: BTreeMap<NodeId, usize>,
}

impl Unauthentic {
    /// Puts an entry to wait, in place of the oldest when the room is full. Above its author's
    /// share it is dropped. Nothing is lost by either: a successor that comes names a hole.
    pub(crate) fn wait(&mut self, entry: SignedEntry) {
        let (hash, author) = (entry.hash(), entry.claimed_author());
        let share = self.by_author.get(&author).copied().unwrap_or_default();
        if self.waiting.contains_key(&hash) || share >= GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX {
            return;
        }
        if self.waiting.len() >= GOSSIP_UNAUTHENTIC_MAX
            && let Some(oldest) = self.order.front().copied()
        {
            self.remove(&oldest);
        }
        *self.by_author.entry(author).or_default() += 1;
        self.order.push_back(hash);
        self.waiting.insert(hash, entry);
    }

    /// Takes out the entry with this hash, if its author is the one who now vouches for it.
    pub(crate) fn take(&mut self, hash: &EntryHash, author: NodeId) -> Option<SignedEntry> {
        if self.waiting.get(hash)?.claimed_author() != author {
            return None;
        }
        self.remove(hash)
    }

    fn remove(&mut self, hash: &EntryHash) -> Option<SignedEntry> {
        let entry = self.waiting.remove(hash)?;
        self.order.retain(|waiting| waiting != hash);
        let author = entry.claimed_author();
        if let Some(share) = self.by_author.get_mut(&author) {
            *share -= 1;
            if *share == 0 {
                self.by_author.remove(&author);
            }
        }
        assert_eq!(self.order.len(), self.waiting.len(), "each waits once");
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use osier_core::{TopicId, testing::Chain};

    use super::*;

    fn entry(author: u64, body: u8) -> SignedEntry {
        let topic = TopicId::from_bytes([1; 32]);
        let entry = Chain::in_topic(author, topic).next(&[body]);
        SignedEntry::parse(entry.to_wire()).unwrap()
    }

    /// Who floods the room has its share of it, and what came last is there.
    #[test]
    fn one_author_has_a_share_and_the_oldest_gives_way() {
        let mut room = Unauthentic::default();
        let first = entry(1, 0);
        room.wait(first.clone());
        for body in 0..100 {
            room.wait(entry(2, body));
        }
        assert_eq!(room.waiting.len(), 1 + GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX);
        for author in 3..3 + GOSSIP_UNAUTHENTIC_MAX as u64 {
            room.wait(entry(author, 0));
        }
        assert_eq!(room.waiting.len(), GOSSIP_UNAUTHENTIC_MAX);
        assert_eq!(room.by_author.len(), GOSSIP_UNAUTHENTIC_MAX);
        assert!(room.take(&first.hash(), first.claimed_author()).is_none());
        let last = entry(2 + GOSSIP_UNAUTHENTIC_MAX as u64, 0);
        assert!(
            room.take(&last.hash(), entry(9, 0).claimed_author())
                .is_none()
        );
        assert!(room.take(&last.hash(), last.claimed_author()).is_some());
    }
}
