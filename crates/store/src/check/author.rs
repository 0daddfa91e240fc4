//! Authors: tips, forks, the frontier tree and the state hash, from the chains.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{AuthorTips, EntryHash, NodeId, Seq, limit::AUTHOR_TIPS_MAX, state_hash};
use osier_proto::Lsn;
use redb::ReadableTable;

use super::{Checking, DERIVED, count};
use crate::{
    author::tip_bounds,
    error::Cause,
    frontier_tree::{Leaf, rows_of},
    key, log,
    row::HeadRow,
};

/// What an author's chain adds up to.
#[derive(Debug, Default)]
struct Chain {
    entries: u64,
    /// Entries that none of the author names as `prev`.
    unnamed: BTreeSet<(Seq, EntryHash)>,
    forked: bool,
    /// All entries; only in a ring, which is small.
    all: BTreeSet<(Seq, EntryHash)>,
}

impl Checking<'_> {
    pub(super) fn check_authors(&mut self) -> Result<(), Cause> {
        let tables = self.tables;
        let from = key::node(self.no, &NodeId::NOBODY);
        let to = key::node(self.no, &NodeId::from_bytes([0xff; 32]));
        let mut authors = Vec::new();
        let mut tip_rows = 0;
        let mut in_chains = 0;
        for row in tables.head.range::<&[u8; 36]>(&from..=&to)? {
            let (key, row) = row?;
            let (author, row) = (key::node_of(key.value()), HeadRow::decode(row.value())?);
            let chain = self.walk(&row)?;
            in_chains += chain.entries;
            tip_rows += row.overflow;
            self.check_author(&author, &row, &chain)?;
            authors.push(AuthorTips {
                author,
                tips: row.tips,
            });
        }
        let entries = self.found.entries;
        self.expect("entries in chains", &in_chains, &entries);
        self.expect("rows of tip", &count(&tables.tip, self.no)?, &tip_rows);
        let numbers = u64::from(self.point.authors);
        self.expect("authors", &numbers, &(authors.len() as u64));
        let state = self.point.state;
        self.expect("state hash", &state, &state_hash(&authors));
        self.check_frontier(&authors)
    }

    fn check_author(&mut self, author: &NodeId, row: &HeadRow, chain: &Chain) -> Result<(), Cause> {
        let tips = self.tips_of(row)?;
        let who = author.short();
        if self.point.floor.is_none() {
            self.expect(&format!("tips of {who}"), &tips, &chain.unnamed);
            self.expect(
                &format!("fork of {who}"),
                &row.fork.is_some(),
                &chain.forked,
            );
        } else {
            // What an entry that was dropped has named is no tip, nor was an earlier one of an
            // author who had not forked by then; a fork is remembered.
            if !tips.is_subset(&chain.all) {
                self.find(DERIVED, format!("{who} has a tip that is not held"));
            }
            if chain.forked && row.fork.is_none() {
                self.find(DERIVED, format!("the fork of {who} is not noted"));
            }
        }
        let smallest: Vec<_> = tips.iter().take(AUTHOR_TIPS_MAX).copied().collect();
        self.expect(&format!("smallest tips of {who}"), &row.tips, &smallest);
        Ok(())
    }

    fn tips_of(&self, row: &HeadRow) -> Result<BTreeSet<(Seq, EntryHash)>, Cause> {
        let mut tips: BTreeSet<_> = row.tips.iter().copied().collect();
        let (from, to) = tip_bounds(self.no, row.number);
        for tip in self.tables.tip.range::<&[u8; 48]>(&from..=&to)? {
            let (seq, hash) = key::tip_of(tip?.0.value());
            tips.insert((Seq::new(seq).ok_or(Cause::damaged("tip row"))?, hash));
        }
        Ok(tips)
    }

    /// Walks a chain upwards. An honest author has one unnamed entry at a time.
    fn walk(&self, row: &HeadRow) -> Result<Chain, Cause> {
        let from = key::chain(self.no, row.number, 0, Lsn::START);
        let to = key::chain(self.no, row.number, u64::MAX, Lsn::new(u64::MAX));
        let mut chain = Chain::default();
        let mut unnamed: BTreeMap<EntryHash, Seq> = BTreeMap::new();
        let mut named_early = BTreeSet::new();
        let mut last = None;
        for key in self.tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (_, lsn) = key::seq_lsn_of_chain(key?.0.value());
            let entry = ReadableTable::get(&self.tables.log, &key::log(self.no, lsn))?;
            let entry = entry.ok_or(Cause::damaged("a log row that the chain names"))?;
            let (header, hash) = log::decode_head(entry.value())?;
            chain.entries += 1;
            if self.point.floor.is_some() {
                chain.all.insert((header.seq(), hash));
            }
            chain.forked |= last == Some(header.seq());
            last = Some(header.seq());
            if let Some(prev) = header.prev()
                && unnamed.remove(&prev).is_none()
            {
                named_early.insert(prev);
            }
            if !named_early.contains(&hash) {
                unnamed.insert(hash, header.seq());
            }
        }
        chain.unnamed = unnamed.into_iter().map(|(hash, seq)| (seq, hash)).collect();
        Ok(chain)
    }

    fn check_frontier(&mut self, authors: &[AuthorTips]) -> Result<(), Cause> {
        let leaves: Vec<Leaf> = authors.iter().map(Leaf::of).collect();
        let right = rows_of(self.no, &leaves);
        let stored = count(&self.tables.frontier, self.no)?;
        self.expect("rows of frontier", &stored, &(right.len() as u64));
        for (key, row) in &right {
            let stored = ReadableTable::get(&self.tables.frontier, key)?;
            if stored.is_none_or(|stored| stored.value() != row.as_slice()) {
                self.find(
                    DERIVED,
                    format!("a branch of the frontier at depth {}", key[4]),
                );
            }
        }
        Ok(())
    }
}
