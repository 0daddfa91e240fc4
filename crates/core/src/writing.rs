//! Who may write in a topic (`ENT-40` to `ENT-44`).
//!
//! In a granted topic an entry *counts* if its author owns the topic, or the owner's last word on
//! the author is a grant, or is a revocation and the entry is part of the chain that the revocation
//! leaves. That is a function of the owner's words and the author's entries, whatever came first.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    entry::{EntryHeader, Seq},
    id::{EntryHash, NodeId},
};

/// Who may write in a topic. Fixed at birth: it is bound into the topic's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Writing {
    /// Every node that holds the topic's secret.
    #[default]
    Open,
    /// The owner, and nodes that the owner has granted.
    Granted,
}

impl Writing {
    /// The word used on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Granted => "granted",
        }
    }
}

impl fmt::Display for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Writing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Open, Self::Granted]
            .into_iter()
            .find(|writing| writing.as_str() == text)
            .ok_or_else(|| format!("{text:?} is neither \"open\" nor \"granted\""))
    }
}

/// What the owner's last word on a node leaves of what it writes (`ENT-41`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// A grant: all of it.
    All,
    /// A revocation: the chain that ends in this entry, or nothing.
    UpTo(Option<(Seq, EntryHash)>),
}

/// How far the chain that a revocation leaves is known (`ENT-42`): the entry that is known to be
/// part of it and is not held yet, the nearest to the end.
///
/// What lies below that entry cannot be told from a branch yet, and counts until it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Zero when there is no such entry: the chain is known down to its start, or is empty.
    seq: u64,
    hash: EntryHash,
}

impl Cut {
    /// What a revocation leaves, while nothing of it is held.
    pub fn new(last: Option<(Seq, EntryHash)>) -> Self {
        match last {
            Some((seq, hash)) => Self {
                seq: seq.get(),
                hash,
            },
            None => Self {
                seq: 0,
                hash: EntryHash::MIN,
            },
        }
    }

    /// The same from stored parts.
    pub const fn from_parts(seq: u64, hash: EntryHash) -> Self {
        Self { seq, hash }
    }

    /// The next entry of the chain, downwards: its place, and which entry. Zero: there is none.
    pub const fn next(&self) -> (u64, EntryHash) {
        (self.seq, self.hash)
    }

    /// Takes in an entry of the chain; whether it was the next one.
    pub fn follow(&mut self, author: NodeId, hash: EntryHash, header: &EntryHeader) -> bool {
        let is_next = self.seq == header.seq().get()
            && self.hash == hash
            && self.seq > 0
            && header.author() == author;
        if is_next {
            *self = Self {
                seq: self.seq - 1,
                hash: header.prev().unwrap_or(EntryHash::MIN),
            };
        }
        is_next
    }

    /// Whether an entry of the node, not yet known to be part of the chain, counts. Of a node some
    /// of whose entries were dropped, up to `dropped`, what is not known to be part is none.
    pub fn leaves(&self, seq: Seq, hash: EntryHash, dropped: u64) -> bool {
        let seq = seq.get();
        seq == self.seq && hash == self.hash || seq < self.seq && seq > dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Chain;

    #[test]
    fn a_cut_follows_the_chain_down_and_tells_a_branch() {
        let mut chain = Chain::new(1);
        let entries: Vec<_> = (0..3).map(|_| chain.next(b"x")).collect();
        let author = entries[0].signer();
        let branch = Chain::new(1).next(b"other");
        let seq = |n| Seq::new(n).unwrap();
        let mut cut = Cut::new(Some((seq(3), entries[2].hash())));
        assert!(cut.leaves(seq(1), branch.hash(), 0), "not known yet");
        assert!(!cut.leaves(seq(1), branch.hash(), 1), "dropped before");
        assert!(!cut.leaves(seq(3), branch.hash(), 0));
        assert!(!cut.leaves(seq(4), entries[2].hash(), 0));
        assert!(!cut.follow(author, entries[1].hash(), entries[1].header()));
        for entry in entries.iter().rev() {
            assert!(cut.leaves(entry.header().seq(), entry.hash(), 9));
            assert!(cut.follow(author, entry.hash(), entry.header()));
        }
        assert_eq!(cut.next().0, 0);
        assert!(!cut.leaves(seq(1), branch.hash(), 0));
        assert!(!Cut::new(None).leaves(seq(1), branch.hash(), 0));
    }

    #[test]
    fn writing_has_two_words() {
        for writing in [Writing::Open, Writing::Granted] {
            assert_eq!(writing.as_str().parse(), Ok(writing));
        }
        assert!("closed".parse::<Writing>().is_err());
    }
}
