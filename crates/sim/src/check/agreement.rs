//! Agreement: equal state hashes exactly where tips are equal, and the same set whatever the order
//! in which it came.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{AuthorTips, Head, NodeId, OrderKey, StateHash, state_hash};
use osier_proto::Source;

use super::lost;
use crate::{event::NodeIndex, world::World};

/// How nodes of a core differ; none if they do not.
pub(crate) fn differ(world: &World, members: &[NodeIndex], topic: usize) -> Option<String> {
    let (first, rest) = members.split_first()?;
    let id = world.topic(topic);
    let (state, tips) = standing(world, *first, topic);
    for node in rest {
        let (their_state, their_tips) = standing(world, *node, topic);
        if (their_state == state) != (their_tips == tips) {
            return Some(format!(
                "n{first} and n{node}: state hash and tips contradict"
            ));
        }
        let mut unlike = unlike(&tips, &their_tips);
        // A ring may keep another branch of a forked author for good.
        let rings = [*first, *node].map(|n| world.checks.floor(n, id).is_some());
        if rings.contains(&true) {
            let both = [*first, *node];
            unlike.retain(|author| {
                !world.is_hostile(author)
                    && !lost::has_forked(world, both, topic, author)
                    && !lost::is_gone(world, members, topic, author)
            });
        }
        if !unlike.is_empty() {
            let counts = [*first, *node].map(|n| world.checks.taken(n, id));
            let tips = unlike.iter().map(|author| seqs(author, &tips, &their_tips));
            return Some(format!(
                "n{first} and n{node} hold {counts:?} entries, and their states differ: {}",
                tips.collect::<Vec<_>>().join(", ")
            ));
        }
        let floors = [*first, *node].map(|n| world.checks.floor(n, id).unwrap_or(OrderKey::MIN));
        let floor = floors[0].max(floors[1]);
        let above = |node| -> BTreeSet<_> {
            let held = world.checks.held(node, id);
            held.into_iter().filter(|(key, _)| *key >= floor).collect()
        };
        let (ours, theirs) = (above(*first), above(*node));
        if ours != theirs {
            let only = ours.symmetric_difference(&theirs).count();
            return Some(format!(
                "n{first} and n{node} differ in {only} entries above both floors"
            ));
        }
    }
    None
}

/// Authors of whom two nodes have other tips.
fn unlike(ours: &[Head], theirs: &[Head]) -> BTreeSet<NodeId> {
    let ours_only = ours.iter().filter(|tip| !theirs.contains(tip));
    let theirs_only = theirs.iter().filter(|tip| !ours.contains(tip));
    ours_only.chain(theirs_only).map(|tip| tip.author).collect()
}

/// Where an author's tips stand at either node, for messages.
fn seqs(author: &NodeId, ours: &[Head], theirs: &[Head]) -> String {
    let of = |tips: &[Head]| -> Vec<u64> {
        let own = tips.iter().filter(|tip| tip.author == *author);
        own.map(|tip| tip.seq.get()).collect()
    };
    format!("{} {:?} {:?}", author.short(), of(ours), of(theirs))
}

/// A node's state hash, and its tips; the hash is made again from the tips the slow way.
fn standing(world: &World, node: NodeIndex, topic: usize) -> (StateHash, Vec<Head>) {
    let view = world.nodes[node]
        .vault
        .store
        .view(world.topic(topic))
        .expect("memory is read");
    let heads = view.heads(None, usize::MAX).expect("memory is read");
    let mut authors: BTreeMap<NodeId, Vec<_>> = BTreeMap::new();
    for head in &heads {
        authors
            .entry(head.author)
            .or_default()
            .push((head.seq, head.hash));
    }
    let authors: Vec<AuthorTips> = authors
        .into_iter()
        .map(|(author, tips)| AuthorTips { author, tips })
        .collect();
    assert_eq!(
        state_hash(&authors),
        view.summary().state,
        "a state hash is made of tips"
    );
    (view.summary().state, heads)
}
