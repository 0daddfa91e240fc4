//! A naive store: maps, walked whole for every answer.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{
    AuthorTips, Coverage, Entry, EntryHash, Head, NodeId, Seq, SetSum, Verified,
    limit::AUTHOR_TIPS_MAX, state_hash,
};
use osier_proto::{Lsn, Summary, View, range_item};
use osier_reconcile::{Item, testing::conform};

use crate::{Fate, Snapshot};

/// All entries that were stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) entries: BTreeMap<EntryHash, Verified<Entry>>,
    pub(crate) log: Vec<EntryHash>,
}

impl Model {
    /// Stores a batch; what should become of each entry.
    pub(crate) fn store(&mut self, batch: &[Verified<Entry>]) -> Vec<(EntryHash, Fate)> {
        let new: BTreeMap<EntryHash, &Verified<Entry>> = batch
            .iter()
            .filter(|entry| !self.entries.contains_key(&entry.hash()))
            .map(|entry| (entry.hash(), entry))
            .collect();
        for entry in batch {
            self.place(entry.hash(), &new);
        }
        let mut told = BTreeSet::new();
        let fate = |entry: &Verified<Entry>| {
            let hash = entry.hash();
            if !new.contains_key(&hash) || !told.insert(hash) {
                return (hash, Fate::Duplicate);
            }
            let at = self.log.iter().position(|own| *own == hash);
            (
                hash,
                Fate::New(Lsn::new(at.expect("just placed") as u64 + 1)),
            )
        };
        batch.iter().map(fate).collect()
    }

    /// Puts an entry into the log after those of the batch that it names.
    fn place(&mut self, hash: EntryHash, new: &BTreeMap<EntryHash, &Verified<Entry>>) {
        let Some(entry) = new.get(&hash) else {
            return;
        };
        if self.entries.contains_key(&hash) {
            return;
        }
        let links: Vec<EntryHash> = entry.header().links().collect();
        for named in links.into_iter().rev() {
            self.place(named, new);
        }
        self.log.push(hash);
        self.entries.insert(hash, (*entry).clone());
    }

    pub(crate) fn tips(&self) -> Vec<AuthorTips> {
        let named: BTreeSet<(NodeId, EntryHash)> = self
            .entries
            .values()
            .filter_map(|entry| Some((entry.header().author(), entry.header().prev()?)))
            .collect();
        let mut tips: BTreeMap<NodeId, Vec<(Seq, EntryHash)>> = BTreeMap::new();
        for entry in self.entries.values() {
            let author = entry.header().author();
            if !named.contains(&(author, entry.hash())) {
                tips.entry(author)
                    .or_default()
                    .push((entry.header().seq(), entry.hash()));
            }
        }
        tips.into_iter()
            .map(|(author, mut tips)| {
                tips.sort_unstable();
                tips.truncate(AUTHOR_TIPS_MAX);
                AuthorTips { author, tips }
            })
            .collect()
    }

    pub(crate) fn summary(&self) -> Summary {
        let tips = self.tips();
        Summary {
            set: self.entries.keys().copied().collect::<SetSum>(),
            state: state_hash(&tips),
            authors: tips.len() as u64,
            coverage: Coverage::Complete,
        }
    }

    pub(crate) fn holes(&self) -> Vec<EntryHash> {
        let named: BTreeSet<EntryHash> = self
            .entries
            .values()
            .flat_map(|entry| entry.header().links())
            .collect();
        named
            .into_iter()
            .filter(|hash| !self.entries.contains_key(hash))
            .collect()
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        self.entries
            .values()
            .map(|entry| range_item(&entry.order_key()))
            .collect()
    }

    fn forked(&self, author: &NodeId) -> bool {
        let mut seqs = BTreeSet::new();
        let own = self
            .entries
            .values()
            .filter(|entry| entry.header().author() == *author);
        own.map(|entry| entry.header().seq())
            .any(|seq| !seqs.insert(seq))
    }

    /// Asks the snapshot everything that a view can answer.
    pub(crate) fn agree(&self, view: &Snapshot) {
        assert_eq!(view.summary(), self.summary());
        assert_eq!(view.point().last, Lsn::new(self.log.len() as u64));
        let heads: Vec<Head> = self
            .tips()
            .iter()
            .flat_map(|a| {
                a.tips.iter().map(|&(seq, hash)| Head {
                    author: a.author,
                    seq,
                    hash,
                })
            })
            .collect();
        assert_eq!(view.heads(None, usize::MAX).unwrap(), heads);
        let mut paged = Vec::new();
        loop {
            let page = view
                .heads(paged.last().map(|head: &Head| head.author), 1)
                .unwrap();
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, heads);
        assert_eq!(view.hole_count(), self.holes().len() as u64);
        assert_eq!(view.holes(None, usize::MAX).unwrap(), self.holes());
        if let Some(first) = self.holes().first() {
            assert_eq!(
                view.holes(Some(*first), 1).unwrap(),
                self.holes()[1..]
                    .iter()
                    .take(1)
                    .copied()
                    .collect::<Vec<_>>()
            );
        }
        self.agree_on_log(view);
        for head in &heads {
            self.agree_on_chain(view, &head.author);
        }
        self.agree_on_links(view);
        conform(view.order(), &self.items());
    }

    fn agree_on_log(&self, view: &Snapshot) {
        let (mut after, mut read) = (Lsn::START, Vec::new());
        loop {
            let page = view.log(after, 3, 25_000).unwrap();
            for (lsn, entry) in page.entries {
                assert!(lsn > after);
                after = lsn;
                assert_eq!(entry, self.entries[&entry.hash()].to_wire());
                read.push(entry.hash());
            }
            if page.done {
                break;
            }
        }
        assert_eq!(read, self.log);
        for (at, hash) in self.log.iter().enumerate() {
            assert_eq!(view.place(hash).unwrap(), Some(Lsn::new(at as u64 + 1)));
            assert_eq!(
                view.entry(hash).unwrap(),
                Some(self.entries[hash].to_wire())
            );
        }
        assert!(!view.holds(&EntryHash::from_bytes([0xaa; 32])).unwrap());
    }

    fn agree_on_chain(&self, view: &Snapshot, author: &NodeId) {
        let mut chain: Vec<(Seq, EntryHash)> = self
            .entries
            .values()
            .filter(|entry| entry.header().author() == *author)
            .map(|entry| (entry.header().seq(), entry.hash()))
            .collect();
        chain.sort_unstable();
        assert_eq!(view.chain(author, None, usize::MAX).unwrap(), chain);
        assert_eq!(
            view.chain(author, None, 2).unwrap(),
            chain[..chain.len().min(2)]
        );
        let after: Vec<_> = chain
            .iter()
            .copied()
            .filter(|(seq, _)| seq.get() > 2)
            .collect();
        assert_eq!(view.chain(author, Seq::new(2), usize::MAX).unwrap(), after);
        assert_eq!(view.fork_of(author).unwrap().is_some(), self.forked(author));
    }

    fn agree_on_links(&self, view: &Snapshot) {
        for hash in self.holes() {
            let by: BTreeSet<NodeId> = self
                .entries
                .values()
                .filter(|entry| entry.header().prev() == Some(hash))
                .map(|entry| entry.header().author())
                .collect();
            assert_eq!(view.linked_by(&hash).unwrap(), by.first().copied());
            for tips in self.tips() {
                let links = view.links(&tips.author, &hash).unwrap();
                assert_eq!(links, by.contains(&tips.author));
            }
        }
        for entry in self
            .entries
            .values()
            .filter(|entry| entry.header().seq().get() > 1)
        {
            let header = entry.header();
            let prev = header.prev().and_then(|prev| self.entries.get(&prev));
            let next = |p: &&Verified<Entry>| p.header().seq().next() == Some(header.seq());
            if let Some(prev) = prev.filter(next) {
                assert!(view.links(&header.author(), &prev.hash()).unwrap());
            }
        }
    }
}
