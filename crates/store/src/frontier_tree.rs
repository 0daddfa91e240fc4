//! The frontier tree on disk (`STO-6`): the branches of the radix tree over author ids whose
//! root is the state hash. A change of some authors rewrites their paths, each branch once a
//! transaction.
//!
//! A row holds the hashes of a branch's children that are there, and which of them are branches.
//! A child that is not a branch is the leaf of one author; whose, the `head` table tells.

use std::collections::BTreeMap;

use osier_core::{AuthorTips, NodeId, StateHash, frontier_branch, frontier_leaf, frontier_root};
use redb::{ReadableTable, Table};

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row::{Cut, HeadRow},
};

const WHAT: &str = "frontier row";

/// Nibbles of an id: the deepest branch lies above the last.
const DEPTH_MAX: u8 = 63;

/// An author's new leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) author: NodeId,
    pub(crate) hash: [u8; 32],
    /// Whether the author has no row in `head` yet.
    pub(crate) new: bool,
}

impl Leaf {
    /// The leaf of an author who is new to the tree.
    pub(crate) fn of(author: &AuthorTips) -> Self {
        Self {
            author: author.author,
            hash: frontier_leaf(&author.author, &author.tips),
            new: true,
        }
    }
}

/// The root of a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Top {
    Empty,
    Leaf([u8; 32]),
    Branch([u8; 32]),
}

impl Top {
    fn hash(self) -> [u8; 32] {
        match self {
            Self::Empty => [0; 32],
            Self::Leaf(hash) | Self::Branch(hash) => hash,
        }
    }
}

/// The children of a branch by nibble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Branch([Top; 16]);

impl Branch {
    const EMPTY: Self = Self([Top::Empty; 16]);

    fn hash(&self) -> [u8; 32] {
        frontier_branch(&self.0.map(Top::hash))
    }

    /// 2 bytes: which children are there; 2 bytes: which of them are branches; their hashes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mask = |wanted: fn(&Top) -> bool| {
            let bits = self.0.iter().enumerate().filter(|(_, top)| wanted(top));
            bits.fold(0_u16, |mask, (at, _)| mask | 1 << at)
        };
        let mut out = Vec::with_capacity(4 + 16 * 32);
        out.extend_from_slice(&mask(|top| *top != Top::Empty).to_be_bytes());
        out.extend_from_slice(&mask(|top| matches!(top, Top::Branch(_))).to_be_bytes());
        for top in self.0.iter().filter(|top| **top != Top::Empty) {
            out.extend_from_slice(&top.hash());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Cause> {
        let mut cut = Cut::new(WHAT, bytes);
        let (there, branches) = (cut.u16()?, cut.u16()?);
        let mut branch = Self::EMPTY;
        for (at, top) in branch.0.iter_mut().enumerate() {
            if there >> at & 1 == 1 {
                let hash = cut.fixed()?;
                let is_branch = branches >> at & 1 == 1;
                *top = if is_branch {
                    Top::Branch(hash)
                } else {
                    Top::Leaf(hash)
                };
            }
        }
        cut.end()?;
        if branches & !there == 0 {
            Ok(branch)
        } else {
            Err(Cause::damaged(WHAT))
        }
    }
}

/// The tree of one topic in a write transaction.
pub(crate) struct FrontierTree<'a, 'txn, H> {
    pub(crate) no: TopicNo,
    pub(crate) table: &'a mut Table<'txn, &'static [u8; 37], &'static [u8]>,
    /// The authors' rows from before this change.
    pub(crate) head: &'a H,
}

impl<H: ReadableTable<&'static [u8; 36], &'static [u8]>> FrontierTree<'_, '_, H> {
    /// Puts new leaves in, sorted by author, and gives the state hash. `before` is how many
    /// authors there were.
    pub(crate) fn update(
        &mut self,
        before: u32,
        leaves: &[Leaf],
    ) -> Result<(u32, StateHash), Cause> {
        assert!(!leaves.is_empty(), "a change has a leaf");
        assert!(
            leaves.is_sorted_by(|a, b| a.author < b.author),
            "leaves sorted and unique"
        );
        // Which hash the root had is not looked at, only what it was.
        let was = match before {
            0 => Top::Empty,
            1 => Top::Leaf([0; 32]),
            _ => Top::Branch([0; 32]),
        };
        let fresh = leaves.iter().filter(|leaf| leaf.new).count();
        let authors = u32::try_from(fresh)
            .ok()
            .and_then(|fresh| before.checked_add(fresh));
        let authors = authors.ok_or(Cause::damaged("number of authors"))?;
        let top = self.subtree(0, was, leaves)?;
        Ok((authors, frontier_root(u64::from(authors), &top.hash())))
    }

    /// Depth is at most 64, the nibbles of an id.
    fn subtree(&mut self, depth: u8, was: Top, leaves: &[Leaf]) -> Result<Top, Cause> {
        let mut branch = Branch::EMPTY;
        let merged;
        let mut leaves = leaves;
        match (was, leaves) {
            (Top::Empty, [one]) => return Ok(Top::Leaf(one.hash)),
            (Top::Leaf(_), [one]) if !one.new => return Ok(Top::Leaf(one.hash)),
            (Top::Empty, _) => {}
            (Top::Leaf(_), _) => {
                merged = self.with_old_leaf(depth, leaves)?;
                leaves = &merged;
            }
            (Top::Branch(_), _) => branch = self.load(depth, &leaves[0].author)?,
        }
        if depth > DEPTH_MAX {
            return Err(Cause::damaged(
                "two authors with one id, or the frontier tree,",
            ));
        }
        for group in leaves.chunk_by(|a, b| nibble(&a.author, depth) == nibble(&b.author, depth)) {
            let at = nibble(&group[0].author, depth);
            branch.0[at] = self.subtree(depth + 1, branch.0[at], group)?;
        }
        let key = key::frontier(self.no, depth, &prefix(&leaves[0].author, depth));
        self.table.insert(&key, branch.encode().as_slice())?;
        Ok(Top::Branch(branch.hash()))
    }

    /// The leaf that was alone here joins the new ones.
    fn with_old_leaf(&self, depth: u8, leaves: &[Leaf]) -> Result<Vec<Leaf>, Cause> {
        let first = NodeId::from_bytes(prefix(&leaves[0].author, depth));
        let last = NodeId::from_bytes([0xff; 32]);
        let (from, to) = (key::node(self.no, &first), key::node(self.no, &last));
        let row = self.head.range::<&[u8; 36]>(&from..=&to)?.next();
        let (key, row) = row.ok_or(Cause::damaged("the author of a frontier leaf"))??;
        let author = key::node_of(key.value());
        let hash = frontier_leaf(&author, &HeadRow::decode(row.value())?.tips);
        let mut merged = leaves.to_vec();
        if let Err(at) = merged.binary_search_by_key(&author, |leaf| leaf.author) {
            merged.insert(
                at,
                Leaf {
                    author,
                    hash,
                    new: false,
                },
            );
        }
        Ok(merged)
    }

    fn load(&self, depth: u8, author: &NodeId) -> Result<Branch, Cause> {
        let key = key::frontier(self.no, depth, &prefix(author, depth));
        let row = self
            .table
            .get(&key)?
            .ok_or(Cause::damaged("a frontier row that is missing"))?;
        Branch::decode(row.value())
    }
}

/// The nibble of an id at a depth, high half first.
fn nibble(author: &NodeId, depth: u8) -> usize {
    let byte = author.as_bytes()[usize::from(depth / 2)];
    usize::from(if depth.is_multiple_of(2) {
        byte >> 4
    } else {
        byte & 15
    })
}

/// The nibbles before a depth, zero-filled.
fn prefix(author: &NodeId, depth: u8) -> [u8; 32] {
    let mut prefix = [0; 32];
    let whole = usize::from(depth / 2);
    prefix[..whole].copy_from_slice(&author.as_bytes()[..whole]);
    if !depth.is_multiple_of(2) {
        prefix[whole] = author.as_bytes()[whole] & 0xf0;
    }
    prefix
}

/// All rows of the tree over these leaves, sorted by author: the slow, obvious form.
pub(crate) fn rows_of(no: TopicNo, leaves: &[Leaf]) -> BTreeMap<[u8; 37], Vec<u8>> {
    let mut rows = BTreeMap::new();
    build(no, 0, leaves, &mut rows);
    rows
}

/// Depth is at most 64, the nibbles of an id.
fn build(no: TopicNo, depth: u8, leaves: &[Leaf], rows: &mut BTreeMap<[u8; 37], Vec<u8>>) -> Top {
    match leaves {
        [] => Top::Empty,
        [one] => Top::Leaf(one.hash),
        [first, ..] => {
            let mut branch = Branch::EMPTY;
            for group in
                leaves.chunk_by(|a, b| nibble(&a.author, depth) == nibble(&b.author, depth))
            {
                branch.0[nibble(&group[0].author, depth)] = build(no, depth + 1, group, rows);
            }
            rows.insert(
                key::frontier(no, depth, &prefix(&first.author, depth)),
                branch.encode(),
            );
            Top::Branch(branch.hash())
        }
    }
}
