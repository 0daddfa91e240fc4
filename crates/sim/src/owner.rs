//! What the owner of a granted topic says in a run: grants, revocations, grants again.

use osier_core::{Control, EntryHash, KeyCache, NodeId, Role, Seq, SignedEntry};
use osier_proto::Source;

use crate::{
    clock::{SEC, Time},
    dice::{Dice, Purpose},
    swarm::Knobs,
    workload::Action,
    world::World,
};

/// A word, as it is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The node may write.
    Grant,
    /// It may no more: all but the last so many entries that the owner holds of it count.
    Revoke {
        /// How many.
        back: usize,
    },
}

/// When whom is granted and revoked: honest nodes, and some hostile authors, in each topic.
pub(crate) fn plan_words(seed: u64, knobs: &Knobs, hostile: usize) -> Vec<(Time, Action)> {
    let mut plan = Vec::new();
    if knobs.granted == 0 {
        return plan;
    }
    let mut dice = Dice::new(seed, Purpose::Granting);
    let nodes = usize::try_from(knobs.nodes).expect("few nodes");
    let topics = usize::try_from(knobs.topics).expect("few topics");
    let span = knobs.fault_s * SEC;
    for topic in 0..topics {
        for who in 1..nodes + hostile {
            if dice.chance(20) {
                continue;
            }
            let mut at = dice.below(span / 2);
            for word in 0..dice.range(1, 4) {
                let word = if word % 2 == 0 {
                    Word::Grant
                } else {
                    let back = usize::try_from(dice.below(4)).expect("small");
                    Word::Revoke { back }
                };
                plan.push((at, Action::Decree { topic, who, word }));
                at += dice.below(span / 2);
            }
        }
    }
    plan
}

impl World {
    /// The owner says something of an honest node, or of a hostile author counted after them.
    pub(crate) fn speak(&mut self, topic: usize, who: usize, word: Word) {
        let nodes = self.nodes_honest();
        let node = match who.checked_sub(nodes) {
            None => self.id(who),
            Some(author) => match self.authors.get(author) {
                Some(author) => author.id(),
                None => return,
            },
        };
        let control = match word {
            Word::Grant => Control::Grant {
                node,
                rank: 200,
                role: Role::Peer,
            },
            Word::Revoke { back } => Control::Revoke {
                node,
                last: self.last_but(topic, node, back),
            },
        };
        if self.is_up(0) {
            self.decree(0, topic, &control);
        }
    }

    /// The last entry of an author but so many that the owner holds and that proves itself.
    pub fn last_but(&self, topic: usize, author: NodeId, back: usize) -> Option<(Seq, EntryHash)> {
        let store = &self.nodes[0].vault.store;
        let view = store.view(self.topic(topic)).expect("memory is read");
        let chain = view
            .chain(&author, None, usize::MAX)
            .expect("memory is read");
        let mut keys = KeyCache::new();
        let left = chain.len().checked_sub(back)?;
        let proven = chain[..left].iter().rev().find(|(_, hash)| {
            let entry = view.entry(hash).expect("memory is read");
            let entry = entry.and_then(|wire| SignedEntry::parse(wire).ok());
            entry.is_some_and(|entry| entry.verify(&mut keys).is_ok())
        });
        proven.copied()
    }
}
