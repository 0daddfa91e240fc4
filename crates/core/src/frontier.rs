//! Heads, tips and the state hash: a tree over the authors' tips that any node computes alike.
//!
//! The tree (`ENT-14`) is a radix tree over the nibbles of the author ids. A subtree with one
//! author *is* that author's leaf; one with more is a branch over its 16 children. So the hash is
//! a function of the set of tips alone, and a change of one author touches one path.

use serde::{Deserialize, Serialize};

use crate::{
    domain::Domain,
    entry::Seq,
    id::{EntryHash, NodeId, StateHash},
};

/// The last entry of an author's chain, or of one branch of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Head {
    /// Whose chain.
    pub author: NodeId,
    /// Position of the entry in the chain.
    pub seq: Seq,
    /// The entry.
    pub hash: EntryHash,
}

impl StateHash {
    /// The state of a topic without entries.
    pub fn empty() -> Self {
        frontier_root(0, &EMPTY)
    }
}

/// An author's tips (`ENT-15`): entries of the author that no held entry of the author names as
/// `prev`, sorted by (seq, hash). One for an honest author, more after a fork or above a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorTips {
    /// Whose.
    pub author: NodeId,
    /// Sorted, unique, never empty.
    pub tips: Vec<(Seq, EntryHash)>,
}

const EMPTY: [u8; 32] = [0; 32];

/// Hash of one author's tips, which must be sorted and not empty.
pub fn frontier_leaf(author: &NodeId, tips: &[(Seq, EntryHash)]) -> [u8; 32] {
    assert!(!tips.is_empty(), "an author without tips has no leaf");
    assert!(tips.is_sorted(), "tips are hashed in order");
    let mut bytes = Vec::with_capacity(40 * (tips.len() + 1));
    bytes.extend_from_slice(author.as_bytes());
    for (seq, hash) in tips {
        bytes.extend_from_slice(&seq.get().to_be_bytes());
        bytes.extend_from_slice(hash.as_bytes());
    }
    Domain::FrontierLeaf.hash(&[&bytes])
}

/// Hash of a branch over its 16 children by nibble; an empty child is 32 zero bytes.
pub fn frontier_branch(children: &[[u8; 32]; 16]) -> [u8; 32] {
    Domain::FrontierBranch.hash(&[children.as_flattened()])
}

/// The state hash from the number of authors and the hash of the topmost node (zeros if none).
pub fn frontier_root(authors: u64, top: &[u8; 32]) -> StateHash {
    StateHash::from_bytes(Domain::FrontierRoot.hash(&[&authors.to_be_bytes(), top]))
}

/// The state hash from all authors' tips, sorted by author: the slow, obvious form.
///
/// # Panics
/// If the authors are not sorted and unique.
pub fn state_hash(authors: &[AuthorTips]) -> StateHash {
    assert!(
        authors.is_sorted_by(|a, b| a.author < b.author),
        "authors sorted and unique"
    );
    let leaves: Vec<_> = authors
        .iter()
        .map(|a| (a.author, frontier_leaf(&a.author, &a.tips)))
        .collect();
    frontier_root(leaves.len() as u64, &subtree(&leaves, 0))
}

/// Depth is at most 64, the nibbles of an id.
fn subtree(leaves: &[(NodeId, [u8; 32])], depth: usize) -> [u8; 32] {
    match leaves {
        [] => EMPTY,
        [(_, leaf)] => *leaf,
        _ => {
            let mut children = [EMPTY; 16];
            for group in leaves.chunk_by(|a, b| nibble(&a.0, depth) == nibble(&b.0, depth)) {
                children[nibble(&group[0].0, depth)] = subtree(group, depth + 1);
            }
            frontier_branch(&children)
        }
    }
}

/// The nibble of an id at a depth, high half first.
fn nibble(author: &NodeId, depth: usize) -> usize {
    let byte = author.as_bytes()[depth / 2];
    usize::from(if depth.is_multiple_of(2) {
        byte >> 4
    } else {
        byte & 15
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tips(author: u8, seq: u64) -> AuthorTips {
        AuthorTips {
            author: NodeId::from_bytes([author; 32]),
            tips: vec![(Seq::new(seq).unwrap(), EntryHash::from_bytes([author; 32]))],
        }
    }

    #[test]
    fn every_author_and_seq_counts() {
        let all: Vec<_> = [1, 2, 0x10, 0x11, 0xf0].map(|a| tips(a, 1)).to_vec();
        let whole = state_hash(&all);
        for without in 0..all.len() {
            let mut rest = all.clone();
            rest.remove(without);
            assert_ne!(state_hash(&rest), whole);
            let mut moved = all.clone();
            moved[without].tips[0].0 = Seq::new(2).unwrap();
            assert_ne!(state_hash(&moved), whole);
        }
        assert_eq!(state_hash(&[]), StateHash::empty());
    }
}
