//! Whose marker counts: the node's own list, the owner's grants, the owner itself.
//!
//! One predicate, [`TrustList::trusted`], decides who serves, whose marker counts, and what the
//! status shows (`POL-2`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use osier_core::{NodeId, Role};

use crate::limit;

/// Everything that says whom a node trusts in one topic.
///
/// What it answers is a function of what it holds, not of the order of edits (`POL-1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustList {
    own: BTreeMap<NodeId, OwnMark>,
    grants: BTreeMap<NodeId, Standing>,
    owner: Option<NodeId>,
}

impl TrustList {
    /// The list of a topic with this owner. [`NodeId::NOBODY`] owns a public topic: then nobody is
    /// trusted until the node's own list says so.
    pub fn new(owner: NodeId) -> Self {
        Self {
            own: BTreeMap::new(),
            grants: BTreeMap::new(),
            owner: (owner != NodeId::NOBODY).then_some(owner),
        }
    }

    /// The standing of a node whose marker counts; `None` for one that is not trusted (`POL-2`).
    pub fn trusted(&self, node: NodeId) -> Option<Standing> {
        self.entry(node).map(|entry| entry.standing)
    }

    /// The same with the source of the trust, for the status.
    pub fn entry(&self, node: NodeId) -> Option<TrustEntry> {
        let (standing, source) = match self.own.get(&node) {
            Some(OwnMark::Distrust) => return None,
            Some(OwnMark::Trust(standing)) => (*standing, TrustSource::Own),
            None => self.granted(node)?,
        };
        Some(TrustEntry {
            node,
            standing,
            source,
        })
    }

    /// Every trusted node, best first.
    pub fn entries(&self) -> Vec<TrustEntry> {
        let named = self.own.keys().chain(self.grants.keys()).chain(&self.owner);
        let mut nodes: Vec<NodeId> = named.copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut entries: Vec<_> = nodes.into_iter().filter_map(|n| self.entry(n)).collect();
        entries.sort_unstable_by_key(|entry| (entry.standing, entry.node));
        entries
    }

    /// Puts a node on the own list, which is stronger than any grant.
    ///
    /// # Errors
    /// If the own list is full; nothing has changed then.
    pub fn trust(&mut self, node: NodeId, standing: Standing) -> Result<(), TrustListFull> {
        self.mark(node, OwnMark::Trust(standing))
    }

    /// Takes a node off the own list *and* denies it: no grant, present or future, brings it back,
    /// and neither does owning the topic (`POL-2`). [`Self::forget`] lifts it.
    ///
    /// # Errors
    /// If the own list is full; nothing has changed then.
    pub fn distrust(&mut self, node: NodeId) -> Result<(), TrustListFull> {
        self.mark(node, OwnMark::Distrust)
    }

    /// Sets what the own list says of a node: for loading a stored list.
    ///
    /// # Errors
    /// If the own list is full; nothing has changed then.
    pub fn mark(&mut self, node: NodeId, mark: OwnMark) -> Result<(), TrustListFull> {
        if self.own.len() >= limit::TRUST_OWN_MAX && !self.own.contains_key(&node) {
            return Err(TrustListFull);
        }
        self.own.insert(node, mark);
        Ok(())
    }

    /// Has the own list say nothing of a node: grants and ownership decide again.
    pub fn forget(&mut self, node: NodeId) {
        self.own.remove(&node);
    }

    /// What the own list says, by node id: for storing it.
    pub fn own(&self) -> impl Iterator<Item = (NodeId, OwnMark)> {
        self.own.iter().map(|(node, mark)| (*node, *mark))
    }

    /// Replaces all grants by those that the control entries held now add up to. A revoked node is
    /// simply not among them. Of two standings for one node the better counts, and of too many the
    /// best are kept, so the order given cannot matter. Returns how many were left out.
    pub fn set_grants(&mut self, grants: impl IntoIterator<Item = (NodeId, Standing)>) -> usize {
        self.grants.clear();
        let mut best = BTreeSet::new();
        let mut left_out = 0;
        for (node, standing) in grants {
            let known = self.grants.entry(node).or_insert(standing);
            *known = standing.min(*known);
        }
        for (node, standing) in std::mem::take(&mut self.grants) {
            best.insert((standing, node));
            if best.len() > limit::TRUST_GRANTS_MAX {
                best.pop_last();
                left_out += 1;
            }
        }
        let kept = best.into_iter().map(|(standing, node)| (node, standing));
        self.grants = kept.collect();
        left_out
    }

    /// A grant is stronger than bare ownership, so an owner can give itself a rank and role; the
    /// owner without one is an archive (`POL-3`).
    fn granted(&self, node: NodeId) -> Option<(Standing, TrustSource)> {
        if let Some(standing) = self.grants.get(&node) {
            return Some((*standing, TrustSource::Grant));
        }
        (self.owner == Some(node)).then_some((Standing::OWNER, TrustSource::Owner))
    }
}

/// What the own list says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnMark {
    /// It is trusted, whatever the owner says.
    Trust(Standing),
    /// It is not, whatever the owner says.
    Distrust,
}

/// In what rank and role a node is trusted. Ordered: the better standing is the smaller, by rank,
/// then archive before replay before peer (`POL-19`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Whom we ask first and who wins a disagreement.
    pub rank: Rank,
    /// What it is trusted to keep.
    pub role: Role,
}

impl Standing {
    /// What an owner has without a grant: archive, in the default rank, so that an owner can put
    /// better connected archives before itself (`POL-3`).
    pub const OWNER: Self = Self {
        rank: Rank::DEFAULT,
        role: Role::Archive,
    };
}

/// A place in the order of preference: the lower, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u16);

impl Rank {
    /// The rank of an owner without a grant and of a node trusted without naming a rank: there is
    /// room on both sides of it.
    pub const DEFAULT: Self = Self(100);

    /// The rank with this number; every value is legal.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Default for Rank {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Rank {
    type Err = RankTextInvalid;

    fn from_str(text: &str) -> Result<Self, RankTextInvalid> {
        text.parse().map(Self).map_err(|_| RankTextInvalid)
    }
}

/// A text that is not a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rank is a number from 0 (best) to 65535")]
pub struct RankTextInvalid;

/// A trusted node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustEntry {
    /// Who.
    pub node: NodeId,
    /// In what rank and role.
    pub standing: Standing,
    /// Who says so.
    pub source: TrustSource,
}

/// Who says that a node is trusted, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustSource {
    /// The node's own list.
    Own,
    /// A grant by the owner.
    Grant,
    /// It is the owner.
    Owner,
}

impl TrustSource {
    /// The word used on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Grant => "grant",
            Self::Owner => "owner",
        }
    }
}

/// The own list holds as many marks as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the trust list of this topic is full ({} nodes)",
    limit::TRUST_OWN_MAX
)]
pub struct TrustListFull;

#[cfg(test)]
mod tests;
