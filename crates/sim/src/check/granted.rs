//! Granted topics: no honest node counts, and so serves or shows, what its author may not write as
//! far as the node knows the owner's words (`ENT-41`). Made of the words and the entries alone,
//! not of what the store says of them.

use std::collections::BTreeMap;

use osier_core::{Control, Entry, EntryHash, Leave, NodeId, OrderKey, Seq, TopicId, Verified};
use osier_engine::Commit;
use osier_proto::Source;

use super::Checks;
use crate::{clock::Time, disk::Vault, event::NodeIndex};

/// Where a word stands in the owner's chain.
type Place = (Seq, EntryHash);

/// The last words of an owner, as far as one node has them on its disk.
#[derive(Debug, Default)]
pub(crate) struct Words(BTreeMap<NodeId, (Place, Leave)>);

impl Words {
    fn note(&mut self, place: Place, control: &Control) {
        if let Some((node, leave)) = control.leave()
            && self.0.get(&node).is_none_or(|(before, _)| *before < place)
        {
            self.0.insert(node, (place, leave));
        }
    }

    /// Whether an entry can count. What lies in the middle of a chain is left to the comparison of
    /// nodes.
    fn allow(&self, hash: &EntryHash, entry: &Known) -> bool {
        match self.0.get(&entry.author).map(|(_, leave)| *leave) {
            Some(Leave::All) => true,
            Some(Leave::UpTo(Some((seq, head)))) => {
                entry.seq < seq || entry.seq == seq && *hash == head
            }
            Some(Leave::UpTo(None)) | None => false,
        }
    }
}

/// What is known of an entry that some node was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) key: OrderKey,
    author: NodeId,
    seq: Seq,
}

impl Known {
    pub(crate) fn of(entry: &Verified<Entry>) -> Self {
        Self {
            key: entry.order_key(),
            author: entry.signer(),
            seq: entry.header().seq(),
        }
    }
}

impl Checks {
    /// In this topic only the owner, and whom it grants, may write.
    pub(crate) fn grants_in(&mut self, topic: TopicId, owner: NodeId) {
        self.owners.insert(topic, owner);
    }

    /// Takes in what is being stored.
    pub(crate) fn note_commits(&mut self, node: NodeIndex, commits: &[Commit], kept: bool) {
        for commit in commits {
            for entry in &commit.entries {
                self.known.insert(entry.hash(), Known::of(entry));
            }
            if kept && self.owners.contains_key(&commit.topic) {
                let words = self.words.entry((node, commit.topic)).or_default();
                for word in &commit.control {
                    words.note((word.seq, word.hash), &word.control);
                }
            }
        }
    }

    /// What a node has on its disk when it starts: a write that a crash tore may be among it.
    pub(crate) fn read_words(&mut self, node: NodeIndex, vault: &Vault, topic: TopicId) {
        if !self.owners.contains_key(&topic) {
            return;
        }
        let words = self.words.entry((node, topic)).or_default();
        for row in vault.store.control(topic).expect("memory can be read") {
            if let Ok(control) = Control::parse(&row.bytes) {
                words.note((row.seq, row.hash), &control);
            }
        }
        let view = vault.store.view(topic).expect("memory can be read");
        let holdings = self.holdings.entry((node, topic)).or_default();
        let gone: Vec<EntryHash> = holdings
            .at
            .keys()
            .filter(|hash| !view.holds(hash).expect("memory can be read"))
            .filter(|hash| {
                self.known
                    .get(hash)
                    .is_some_and(|entry| !words.allow(hash, entry))
            })
            .copied()
            .collect();
        self.withdraw(node, topic, &gone);
    }

    /// Entries that a revocation has cut off at a node.
    pub(crate) fn withdraw(&mut self, node: NodeIndex, topic: TopicId, gone: &[EntryHash]) {
        let holdings = self.holdings.entry((node, topic)).or_default();
        for hash in gone {
            holdings.at.remove(hash);
        }
        if let Some(acknowledged) = self.acknowledged.get_mut(&(node, topic)) {
            acknowledged.retain(|hash| !gone.contains(hash));
        }
        self.withdrawn.extend(gone);
    }

    /// Everything that an honest node counts must be allowed by the words that it has.
    pub(crate) fn check_writers(&mut self, now: Time, node: NodeIndex, topic: TopicId) {
        let Some(owner) = self.owners.get(&topic).copied() else {
            return;
        };
        let (Some(holdings), false) = (
            self.holdings.get(&(node, topic)),
            self.is_liar(node) || self.outsiders[node],
        ) else {
            return;
        };
        let none = Words::default();
        let words = self.words.get(&(node, topic)).unwrap_or(&none);
        // What lies below a ring's floor it has dropped, but for tips.
        let floor = holdings.floor.unwrap_or(OrderKey::MIN);
        let wrong = holdings.at.keys().find(|hash| {
            let entry = self.known.get(hash);
            entry.is_some_and(|entry| {
                entry.key >= floor && entry.author != owner && !words.allow(hash, entry)
            })
        });
        if let Some(hash) = wrong.copied() {
            let what = format!("n{node} counts {hash:?}, whose author may not write it");
            self.fail(now, what);
        }
    }
}
