//! The state hash (`ENT-14`, `ENT-15`) and the fingerprint of a set (`ENT-12`) as functions.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{
    AuthorTips, EntryHash, NodeId, Seq, SetSum, StateHash, frontier_branch, frontier_leaf,
    frontier_root, state_hash,
};
use proptest::prelude::*;

type Tips = BTreeSet<(Seq, EntryHash)>;
type Topic = BTreeMap<NodeId, Tips>;

fn state(topic: &Topic) -> StateHash {
    let authors: Vec<_> = topic
        .iter()
        .map(|(author, tips)| AuthorTips {
            author: *author,
            tips: tips.iter().copied().collect(),
        })
        .collect();
    state_hash(&authors)
}

fn nibbles(author: &NodeId) -> Vec<usize> {
    let bytes = author.as_bytes().iter();
    bytes
        .flat_map(|byte| [usize::from(byte >> 4), usize::from(byte & 15)])
        .collect()
}

/// The tree as the spec says it, from the paths of all leaves.
fn oracle(topic: &Topic) -> StateHash {
    let leaves: Vec<(Vec<usize>, [u8; 32])> = topic
        .iter()
        .map(|(author, tips)| {
            let tips: Vec<_> = tips.iter().copied().collect();
            (nibbles(author), frontier_leaf(author, &tips))
        })
        .collect();
    frontier_root(leaves.len() as u64, &node(&leaves, &[]))
}

fn node(leaves: &[(Vec<usize>, [u8; 32])], path: &[usize]) -> [u8; 32] {
    let mut below = leaves
        .iter()
        .filter(|(nibbles, _)| nibbles.starts_with(path));
    match (below.next(), below.next()) {
        (None, _) => [0; 32],
        (Some((_, leaf)), None) => *leaf,
        _ => {
            let child = |nibble| node(leaves, &[path, &[nibble]].concat());
            frontier_branch(&std::array::from_fn(child))
        }
    }
}

/// Ids that part early and ids that part late.
fn author() -> impl Strategy<Value = NodeId> {
    let late = any::<(u8, u8)>().prop_map(|(first, last)| {
        let mut id = [0x77; 32];
        (id[0], id[31]) = (0x70 | first & 1, last);
        id
    });
    prop_oneof![any::<[u8; 32]>(), late].prop_map(NodeId::from_bytes)
}

fn tip() -> impl Strategy<Value = (Seq, EntryHash)> {
    (1..5_u64, any::<[u8; 32]>())
        .prop_map(|(seq, hash)| (Seq::new(seq).expect("not 0"), EntryHash::from_bytes(hash)))
}

fn topic() -> impl Strategy<Value = Topic> {
    prop::collection::btree_map(author(), prop::collection::btree_set(tip(), 1..4), 0..24)
}

proptest! {
    /// The fast recursion says what the definition says.
    #[test]
    fn the_state_hash_is_the_tree_of_the_spec(topic in topic()) {
        prop_assert_eq!(state(&topic), oracle(&topic));
    }

    /// One author's tips changed, added or taken away: another state.
    #[test]
    fn every_tip_counts(topic in topic(), at in any::<prop::sample::Index>(), tip in tip()) {
        prop_assume!(!topic.is_empty());
        let author = *topic.keys().nth(at.index(topic.len())).expect("in range");
        let mut without = topic.clone();
        without.remove(&author);
        prop_assert_ne!(state(&without), state(&topic));
        let mut forked = topic.clone();
        if forked.get_mut(&author).expect("there").insert(tip) {
            prop_assert_ne!(state(&forked), state(&topic));
        }
    }

    /// Sums of parts are the sum of the whole, whatever the parts and their order.
    #[test]
    fn sums_are_of_the_set(hashes in prop::collection::vec((any::<[u8; 32]>(), 0..3_u8), 0..60)) {
        let mut parts = [SetSum::EMPTY; 3];
        let mut whole = SetSum::EMPTY;
        for (hash, part) in &hashes {
            let hash = EntryHash::from_bytes(*hash);
            parts[usize::from(*part)].insert(&hash);
            whole.insert(&hash);
        }
        let mut joined = SetSum::EMPTY;
        parts.iter().rev().for_each(|part| joined.add(part));
        prop_assert_eq!(joined, whole);
        joined.subtract(&parts[1]);
        joined.subtract(&parts[0]);
        prop_assert_eq!(joined, parts[2]);
        prop_assert_eq!(SetSum::from_parts(whole.count(), *whole.sum()), whole);
    }
}

/// ENT-12 is not collision resistant: whoever picks hashes freely meets any sum. Entry hashes are
/// not picked freely, but they can be mined for; so nothing signed rests on a sum alone.
#[test]
fn a_sum_can_be_met_by_another_set() {
    let hash = |low: u8| {
        let mut bytes = [0; 32];
        bytes[0] = low;
        EntryHash::from_bytes(bytes)
    };
    let one: SetSum = [hash(1), hash(4)].into_iter().collect();
    let other: SetSum = [hash(2), hash(3)].into_iter().collect();
    assert_eq!(one, other);
}
