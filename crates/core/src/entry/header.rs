//! The signed part of an entry, and the rules that it keeps by itself (`ENT-1` to `ENT-6`).

use serde::{Deserialize, Serialize};

use crate::{
    codec::Malformed,
    id::{BodyHash, EntryHash, NodeId, TopicId},
    limit,
    time::Timestamp,
};

/// The only header version so far.
pub(super) const VERSION: u8 = 1;

/// Position in an author's chain in one topic: 1, 2, 3 ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seq(u64);

impl Seq {
    /// The position of a chain's first entry.
    pub const FIRST: Self = Self(1);

    /// The position `seq`; none for zero.
    pub const fn new(seq: u64) -> Option<Self> {
        if seq == 0 { None } else { Some(Self(seq)) }
    }

    /// As a number, 1 or more.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next position; none at the end of the numbers.
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(seq) => Some(Self(seq)),
            None => None,
        }
    }
}

/// What an entry's items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Kind(u16);

impl Kind {
    /// Application bytes.
    pub const APPLICATION: Self = Self(0);
    /// Nostr events, one an item.
    pub const NOSTR: Self = Self(1);
    /// Grants, revocations, manifests, retention.
    pub const CONTROL: Self = Self(2);

    /// The kind with this number. Unknown kinds are carried and never interpreted.
    pub const fn from_u16(kind: u16) -> Self {
        Self(kind)
    }

    /// As a number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// The signed part of an entry. Field order is the wire (`ENT-1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryHeader {
    pub(super) version: u8,
    pub(super) topic: TopicId,
    pub(super) author: NodeId,
    pub(super) seq: Seq,
    pub(super) prev: Option<EntryHash>,
    pub(super) deps: Vec<EntryHash>,
    pub(super) time: Timestamp,
    pub(super) kind: Kind,
    pub(super) items: u16,
    pub(super) body_len: u32,
    pub(super) body_hash: BodyHash,
}

impl EntryHeader {
    /// The topic that it belongs to.
    pub fn topic(&self) -> TopicId {
        self.topic
    }

    /// The key that signed it.
    pub fn author(&self) -> NodeId {
        self.author
    }

    /// Position in the author's chain.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The author's entry before it; none exactly for the first.
    pub fn prev(&self) -> Option<EntryHash> {
        self.prev
    }

    /// Entries of other authors seen when writing; sorted, unique, at most 64.
    pub fn deps(&self) -> &[EntryHash] {
        &self.deps
    }

    /// Everything that it names: `prev`, then `deps`. The entry is a member of the topic's history
    /// whether or not these are held (`ENT-11`).
    pub fn links(&self) -> impl Iterator<Item = EntryHash> + '_ {
        self.prev.into_iter().chain(self.deps.iter().copied())
    }

    /// The author's clock: a hint, never a judge.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// What the items are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Bytes of the body, all items together, as signed.
    pub fn body_len(&self) -> u32 {
        self.body_len
    }

    /// The rules that a header keeps by itself.
    pub(super) fn check(&self) -> Result<(), Malformed> {
        let rule = |rule| Malformed::Rule {
            what: "entry header",
            rule,
        };
        if self.version != VERSION {
            return Err(rule("ENT-1: header version is 1"));
        }
        if self.seq.get() == 0 || (self.seq == Seq::FIRST) != self.prev.is_none() {
            return Err(rule(
                "ENT-2: prev is absent exactly at seq 1, and seq starts at 1",
            ));
        }
        if self.deps.len() > limit::ENTRY_DEPS_MAX || !self.deps.is_sorted_by(|a, b| a < b) {
            return Err(rule("ENT-3: at most 64 deps, sorted, unique"));
        }
        if self.items == 0 || usize::from(self.items) > limit::ENTRY_ITEMS_MAX {
            return Err(rule("ENT-5: 1 to 256 items"));
        }
        if self.body_len as usize > limit::ENTRY_BODY_BYTES_MAX {
            return Err(rule("ENT-6: body of at most 1 MiB"));
        }
        Ok(())
    }
}
