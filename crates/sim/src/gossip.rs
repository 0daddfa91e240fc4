//! Gossip: a broadcast that loses, doubles, reorders and delays, through an overlay of neighbours.
//! Late joiners get no past. A member whose last neighbour is gone joins again through those it
//! remembers, as the node's swarm task does; nothing else mends the overlay.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use osier_core::TopicId;

use crate::{
    clock::{MS, SEC, Time},
    event::{Life, NodeIndex},
};

/// Neighbours that a member keeps; HyParView's active view.
pub(crate) const NEIGHBORS_MAX: usize = 5;

/// First wait of a member without neighbours before it joins again; doubles up to
/// [`REJOIN_WAIT_MAX`]. As in the node.
pub(crate) const REJOIN_WAIT_MIN: Time = SEC;

/// The longest wait.
pub(crate) const REJOIN_WAIT_MAX: Time = 16 * SEC;

/// Time between a link's end and its end being noticed by both neighbours when a node stops in
/// order.
pub(crate) const GOODBYE: Time = 20 * MS;

/// A message under way.
#[derive(Debug, Clone)]
pub(crate) struct Rumour {
    pub(crate) topic: TopicId,
    pub(crate) name: u64,
    pub(crate) bytes: Bytes,
}

/// One node in one topic's swarm.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) life: Life,
    pub(crate) neighbors: BTreeSet<NodeIndex>,
    /// Nodes to join through.
    pub(crate) remembered: BTreeSet<NodeIndex>,
    /// Messages that have come this way.
    pub(crate) seen: BTreeSet<u64>,
    /// Whether it will look whether it is alone.
    pub(crate) lonely: bool,
}

/// All swarms.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    members: BTreeMap<(TopicId, NodeIndex), Member>,
}

impl Overlay {
    /// Takes part, with nodes to join through; a member that takes part already learns of more.
    pub(crate) fn join(
        &mut self,
        topic: TopicId,
        node: NodeIndex,
        life: Life,
        through: impl IntoIterator<Item = NodeIndex>,
    ) {
        let member = self.members.entry((topic, node)).or_default();
        member.life = life;
        member
            .remembered
            .extend(through.into_iter().filter(|other| *other != node));
    }

    pub(crate) fn member(&mut self, topic: TopicId, node: NodeIndex) -> Option<&mut Member> {
        self.members.get_mut(&(topic, node))
    }

    /// Takes part no more. The others still count it as their neighbour until they notice.
    pub(crate) fn leave(&mut self, topic: TopicId, node: NodeIndex) -> Option<Member> {
        self.members.remove(&(topic, node))
    }

    /// The topics that a node takes part in.
    pub(crate) fn topics_of(&self, node: NodeIndex) -> Vec<TopicId> {
        let mine = self.members.keys().filter(|(_, member)| *member == node);
        mine.map(|(topic, _)| *topic).collect()
    }

    /// Members that count a node as their neighbour.
    pub(crate) fn neighbors_of(&self, topic: TopicId, node: NodeIndex) -> Vec<NodeIndex> {
        let members = self.members.iter().filter(|((t, _), _)| *t == topic);
        members
            .filter(|(_, member)| member.neighbors.contains(&node))
            .map(|((_, other), _)| *other)
            .collect()
    }

    /// Makes two members neighbours; false if they are already.
    pub(crate) fn befriend(&mut self, topic: TopicId, one: NodeIndex, other: NodeIndex) -> bool {
        let both = [(one, other), (other, one)];
        if one == other
            || both
                .iter()
                .any(|(a, _)| !self.members.contains_key(&(topic, *a)))
        {
            return false;
        }
        let mut new = false;
        for (a, b) in both {
            let member = self.members.get_mut(&(topic, a)).expect("looked up above");
            new |= member.neighbors.insert(b);
            member.remembered.insert(b);
        }
        new
    }

    /// All links, each once.
    pub(crate) fn links(&self) -> Vec<(TopicId, NodeIndex, NodeIndex)> {
        let mut links = BTreeSet::new();
        for ((topic, node), member) in &self.members {
            for other in &member.neighbors {
                links.insert((*topic, *node.min(other), *node.max(other)));
            }
        }
        links.into_iter().collect()
    }
}

/// A message's name: its hash, for members do not pass on what they have seen.
pub(crate) fn name_of(bytes: &Bytes) -> u64 {
    let hash = blake3::hash(bytes);
    let first = hash
        .as_bytes()
        .first_chunk::<8>()
        .expect("a hash has 32 bytes");
    u64::from_le_bytes(*first)
}

/// Bytes shared by all hops.
pub(crate) fn rumour(topic: TopicId, bytes: Bytes) -> Rumour {
    Rumour {
        topic,
        name: name_of(&bytes),
        bytes,
    }
}
