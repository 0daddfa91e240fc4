//! What a topic's owner says: kept with the entries that say it, heeded once they are durable.

use osier_core::{Control, Entry, TopicId, Verified};

use crate::{
    engine::{Engine, Now},
    output::OwnerWord,
};

impl Engine {
    /// The words of the topic's owner among these entries (`ENT-30`). Nobody owns a public topic.
    pub(crate) fn owner_words(&self, id: TopicId, entries: &[Verified<Entry>]) -> Vec<OwnerWord> {
        let Some(topic) = self.topics.get(&id) else {
            return Vec::new();
        };
        let owner = topic.ticket.owner();
        let by_owner = entries.iter().filter(|entry| entry.signer() == owner);
        let words = by_owner.filter_map(|entry| {
            Some(OwnerWord {
                seq: entry.header().seq(),
                hash: entry.hash(),
                control: Control::of(entry)?,
            })
        });
        words.collect()
    }

    /// Grants and revocations take effect, also in the middle of a session: the verdict looks at
    /// whom is trusted now (`POL-1`).
    pub(crate) fn heed(&mut self, id: TopicId, words: Vec<OwnerWord>, now: Now) {
        let me = self.me;
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let mut changed = false;
        for word in words {
            changed |= topic.words.note(word.seq, word.hash, word.control);
        }
        if !changed {
            return;
        }
        let grants: Vec<_> = topic.words.grants().collect();
        topic.change_trust(now.at, |trust| trust.set_grants(grants));
        let granted: Vec<_> = topic.words.grants().map(|(node, _)| node).collect();
        for node in granted.into_iter().filter(|node| *node != me) {
            topic.peer_mut(node, now.at);
        }
        self.reconsider(id, now);
    }
}
