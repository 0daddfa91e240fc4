//! The write path: what a batch changes, worked out as sets first, then written table by table in
//! key order.
//!
//! Nothing here depends on the order of the entries but their places in the log: tips, holes, sums
//! and chunks are functions of the set (`STO-10`).

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{Entry, EntryHash, EntryHeader, NodeId, OrderKey, Seq, TopicId, Verified};
use osier_proto::{Lsn, StorePoint};
use osier_reconcile::Item;
use redb::ReadableTable;

use crate::{
    author::Author,
    batch::{Batch, Committed, CommittedTopic, Fate, Forked},
    causal,
    control::{self, ControlRow},
    drop::drop_entries,
    error::Cause,
    frontier_tree::FrontierTree,
    gate,
    hole::{self, Missing},
    key::{self, TopicNo},
    lookup::lsn_of,
    order_index::{self, OrderIndex},
    point,
    projection::LogChange,
    row::{Fork, Point},
    schema::Tables,
    store::Writing,
    token, topic, write_rows, writer,
};

/// Writes a batch in the transaction.
pub(crate) fn run(writing: &mut Writing<'_>, batch: &Batch) -> Result<Committed, Cause> {
    let mut tables = Tables::open(writing.txn)?;
    let mut committed = Committed::default();
    // The owner's words first: what they say decides over the entries.
    let mut words: BTreeMap<TopicId, Vec<&ControlRow>> = BTreeMap::new();
    for (topic, row) in &batch.control {
        let no = topic::number_or_make(&mut tables, topic)?;
        control::put(&mut tables, no, row)?;
        words.entry(*topic).or_default().push(row);
    }
    let named: BTreeSet<TopicId> = batch.topics.keys().chain(words.keys()).copied().collect();
    for topic in named {
        let no = topic::number_or_make(&mut tables, &topic)?;
        let (entries, words) = (batch.entries(&topic), words.remove(&topic));
        let words = words.unwrap_or_default();
        let done = match writer::owner(&tables.topic, no)? {
            Some(owner) => gate::store(writing, &mut tables, topic, no, owner, entries, &words)?,
            None if entries.is_empty() => continue,
            None => store_topic(writing, &mut tables, topic, no, entries)?,
        };
        committed.topics.insert(topic, done);
    }
    for ((topic, provider), row) in &batch.tokens {
        let no = topic::number_or_make(&mut tables, topic)?;
        token::put(&mut tables, no, provider, row)?;
    }
    Ok(committed)
}

/// Stores entries, all of which count.
pub(crate) fn store_topic(
    writing: &mut Writing<'_>,
    tables: &mut Tables<'_>,
    topic: TopicId,
    no: TopicNo,
    entries: &[Verified<Entry>],
) -> Result<CommittedTopic, Cause> {
    let mut work = Work::start(tables, no, entries)?;
    work.sift(tables)?;
    work.refuse_dropped();
    work.settle_tips(tables)?;
    // Before tips are passed over: of an author who forks by this batch they are kept.
    let forked = work.find_forks(tables)?;
    work.pass_low_tips(tables)?;
    work.place();
    work.find_missing(tables)?
        .store(tables, no, &mut work.point)?;
    let came = sorted(work.stored().map(|(_, entry)| entry.hash()));
    let closed = hole::close(tables, no, &mut work.point, &came)?;
    hole::settle(tables, no, &mut work.point, &work.below)?;
    if came.is_empty() && !work.authors.values().any(Author::is_changed) {
        point::write(tables, no, &work.point)?;
        return Ok(work.report(writing, forked, closed));
    }
    work.write(writing, tables, topic)?;
    Ok(work.report(writing, forked, closed))
}

/// One topic's part of a transaction.
pub(crate) struct Work<'b> {
    pub(crate) no: TopicNo,
    pub(crate) entries: &'b [Verified<Entry>],
    pub(crate) point: Point,
    /// What becomes of each entry of the batch; none until it is known.
    fates: Vec<Option<Fate>>,
    /// Entries not held before, by their place in the batch; once placed, in the order of the log.
    fresh: Vec<usize>,
    /// Entries below the floor that may have been dropped before.
    refused: Vec<usize>,
    pub(crate) authors: BTreeMap<NodeId, Author>,
    /// Tips of before that have got a successor.
    demoted: BTreeSet<(NodeId, Seq, EntryHash)>,
    /// Hashes of entries refused for being below the floor.
    below: BTreeSet<EntryHash>,
    /// The owner's words, which a ring keeps below its floor, too; known only in a ring.
    words: BTreeSet<EntryHash>,
}

impl<'b> Work<'b> {
    fn start(
        tables: &Tables<'_>,
        no: TopicNo,
        entries: &'b [Verified<Entry>],
    ) -> Result<Self, Cause> {
        let point = point::read(&tables.point, no)?;
        let words = match point.floor {
            Some(_) => control::kept(&tables.control, no)?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        Ok(Self {
            no,
            entries,
            point,
            words,
            fates: vec![None; entries.len()],
            fresh: Vec::new(),
            refused: Vec::new(),
            authors: BTreeMap::new(),
            demoted: BTreeSet::new(),
            below: BTreeSet::new(),
        })
    }

    /// Finds what is not held yet, and reads the rows of its authors.
    fn sift(&mut self, tables: &Tables<'_>) -> Result<(), Cause> {
        let mut sorted: Vec<(OrderKey, usize)> = self
            .entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (key::place(&entry.order_key()), at))
            .collect();
        sorted.sort_unstable();
        let last = last_place(tables, self.no)?;
        let mut before: Option<OrderKey> = None;
        for (place, at) in sorted {
            let again = before == Some(place);
            before = Some(place);
            let may_be_held = last.is_some_and(|last| place <= last);
            if again || may_be_held && tables.order.get(&key::order(self.no, &place))?.is_some() {
                self.fates[at] = Some(Fate::Duplicate);
            } else {
                self.fresh.push(at);
            }
        }
        self.fresh.sort_unstable();
        for &at in &self.fresh {
            let author = self.entries[at].header().author();
            if !self.authors.contains_key(&author) {
                self.authors
                    .insert(author, Author::load(&tables.head, self.no, &author)?);
            }
        }
        self.number_authors(tables)
    }

    /// New authors get numbers, in the order of their ids: spare ones first.
    fn number_authors(&mut self, tables: &Tables<'_>) -> Result<(), Cause> {
        let (from, to) = key::spare_bounds(self.no);
        let mut spare = Vec::new();
        if self.authors.values().any(|author| author.new) {
            for row in tables.spare.range::<&[u8; 8]>(&from..=&to)? {
                spare.push(key::number_of_spare(*row?.0.value()));
            }
        }
        let given_out = u32::try_from(spare.len())
            .ok()
            .and_then(|spare| self.point.authors.checked_add(spare));
        let mut next = given_out.ok_or(Cause::damaged("number of authors"))?;
        let mut spare = spare.into_iter();
        for author in self.authors.values_mut().filter(|author| author.new) {
            if let Some(number) = spare.next() {
                author.row.number = number;
                continue;
            }
            author.row.number = key::AuthorNo(next);
            next = next
                .checked_add(1)
                .ok_or(Cause::damaged("number of authors"))?;
        }
        Ok(())
    }

    /// Whether a ring keeps the entry only if it is a tip.
    fn is_below(&self, entry: &Entry) -> bool {
        self.point
            .floor
            .is_some_and(|floor| key::place(&entry.order_key()) < floor)
            && !self.words.contains(&entry.hash())
    }

    fn refuse(&mut self, at: usize) {
        let entry = &self.entries[at];
        self.fates[at] = Some(Fate::BelowFloor);
        self.below.insert(entry.hash());
        let seq = entry.header().seq();
        if let Some(author) = self.authors.get_mut(&entry.header().author()) {
            author.dropped(seq);
        }
    }

    /// An entry below the floor that may have been dropped before is not taken again (`STO-13`).
    fn refuse_dropped(&mut self) {
        let dropped = |at: &usize| {
            let entry = &self.entries[*at];
            let author = &self.authors[&entry.header().author()];
            self.is_below(entry) && entry.header().seq().get() <= author.row.dropped_seq
        };
        let (refused, fresh): (Vec<_>, Vec<_>) = self.fresh.iter().copied().partition(dropped);
        for &at in &refused {
            self.refuse(at);
        }
        (self.fresh, self.refused) = (fresh, refused);
    }

    /// Tips of before that the batch names go, tips among the new entries come. New entries below
    /// the floor that are not tips are refused.
    fn settle_tips(&mut self, tables: &mut Tables<'_>) -> Result<(), Cause> {
        let entries = self.entries;
        let fresh = sorted(self.fresh.iter().map(|&at| entries[at].hash()));
        // What a refused entry names is no tip either: its author has gone on from there.
        let naming: Vec<usize> = self.refused.iter().chain(&self.fresh).copied().collect();
        let named = sorted(naming.iter().filter_map(|&at| {
            let header = entries[at].header();
            Some((header.prev()?, header.author()))
        }));
        for at in naming {
            let header = entries[at].header();
            let prev = header.prev();
            if let Some(prev) = prev.filter(|prev| fresh.binary_search(prev).is_err()) {
                self.demote(tables, header, &prev)?;
            }
        }
        let mut refused = BTreeSet::new();
        for &at in &self.fresh {
            let (header, hash) = (entries[at].header(), entries[at].hash());
            let who = header.author();
            // What named it may have been dropped; a tip that comes late is not told from that.
            let is_named = named.binary_search(&(hash, who)).is_ok()
                || header.seq().get() < self.authors[&who].row.dropped_seq
                || self.point.hole_rows > 0 && hole::is_awaited(tables, self.no, &hash, &who)?;
            if is_named {
                if self.is_below(&entries[at]) {
                    refused.insert(at);
                }
                continue;
            }
            let author = self.authors.get_mut(&who).expect("loaded by sift");
            author.add_tip(self.no, &mut tables.tip, (header.seq(), hash))?;
        }
        self.fresh.retain(|at| !refused.contains(at));
        for at in refused {
            self.refuse(at);
        }
        self.keep_a_tip(tables)
    }

    /// An author whose links do not follow its seqs can name its last tip by an entry that is
    /// refused. An author with entries has a tip all the same.
    fn keep_a_tip(&mut self, tables: &mut Tables<'_>) -> Result<(), Cause> {
        for (who, author) in &mut self.authors {
            if author.row.tips.is_empty() {
                let own = |tip: &&(NodeId, Seq, EntryHash)| tip.0 == *who;
                let last = self.demoted.iter().rfind(own).copied();
                let last = last.ok_or(Cause::damaged("an author without tips"))?;
                self.demoted.remove(&last);
                author.add_tip(self.no, &mut tables.tip, (last.1, last.2))?;
            }
        }
        Ok(())
    }

    /// Of an author who has gone on, a ring takes no earlier entry for a tip: what it has not seen
    /// in between lies below its floor and will not come, or comes and names it. One that stands
    /// below the floor itself is not kept.
    fn pass_low_tips(&mut self, tables: &mut Tables<'_>) -> Result<(), Cause> {
        let Some(floor) = self.point.floor else {
            return Ok(());
        };
        let fresh: BTreeMap<EntryHash, usize> = self
            .fresh
            .iter()
            .map(|&at| (self.entries[at].hash(), at))
            .collect();
        let mut refused = BTreeSet::new();
        for (who, author) in &mut self.authors {
            for (seq, hash) in author.earlier_tips() {
                let came = fresh.get(&hash).copied();
                let place = match came {
                    Some(at) => key::place(&self.entries[at].order_key()),
                    None => place_of(tables, self.no, &hash)?,
                };
                author.remove_tip(self.no, &mut tables.tip, &hash, Some(seq))?;
                match came {
                    Some(at) if place < floor && !self.words.contains(&hash) => {
                        refused.insert(at);
                    }
                    Some(_) => {}
                    None => drop(self.demoted.insert((*who, seq, hash))),
                }
            }
        }
        self.fresh.retain(|at| !refused.contains(at));
        for at in refused {
            self.refuse(at);
        }
        Ok(())
    }

    /// An entry's `prev` is no tip from now on.
    fn demote(
        &mut self,
        tables: &mut Tables<'_>,
        header: &EntryHeader,
        prev: &EntryHash,
    ) -> Result<(), Cause> {
        let author = self
            .authors
            .get_mut(&header.author())
            .expect("loaded by sift");
        let below = Seq::new(header.seq().get() - 1);
        let mut gone = author.remove_tip(self.no, &mut tables.tip, prev, below)?;
        if gone.is_none() && author.row.overflow > 0 {
            // A dishonest author may link to an entry that is not one seq below.
            let seq = seq_of(tables, self.no, prev)?;
            gone = author.remove_tip(self.no, &mut tables.tip, prev, seq)?;
        }
        self.demoted
            .extend(gone.map(|seq| (header.author(), seq, *prev)));
        Ok(())
    }

    /// Gives out places in the log, in causal order.
    fn place(&mut self) {
        self.fresh = causal::order(self.entries, std::mem::take(&mut self.fresh));
        let mut last = self.point.last.get();
        for &at in &self.fresh {
            last += 1;
            self.fates[at] = Some(Fate::New(Lsn::new(last)));
        }
        self.point.last = Lsn::new(last);
    }

    /// The entries to store, with their places, ascending.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (Lsn, &'b Verified<Entry>)> + '_ {
        let entries = self.entries;
        self.fresh.iter().map(move |&at| match self.fates[at] {
            Some(Fate::New(lsn)) => (lsn, &entries[at]),
            _ => unreachable!("fresh entries have got places"),
        })
    }

    /// Authors that have got a second entry at one seq for the first time.
    fn find_forks(&mut self, tables: &Tables<'_>) -> Result<Vec<Forked>, Cause> {
        let entries = self.entries;
        let fresh = self.fresh.iter().map(|&at| &entries[at]);
        let mut by_seq: Vec<(NodeId, Seq, EntryHash)> = fresh
            .map(|entry| (entry.header().author(), entry.header().seq(), entry.hash()))
            .collect();
        by_seq.sort_unstable();
        let mut forked = Vec::new();
        let mut before: Option<(NodeId, Seq, EntryHash)> = None;
        for (who, seq, hash) in by_seq.iter().copied() {
            let author = self.authors.get_mut(&who).expect("loaded by sift");
            if author.row.fork.is_none() {
                let twin = match before {
                    Some((last, at, twin)) if last == who && at == seq => Some(twin),
                    _ if seq.get() <= author.row.max_seq => twin_of(tables, self.no, author, seq)?,
                    _ => None,
                };
                if let Some(twin) = twin {
                    let (first, second) = (twin.min(hash), twin.max(hash));
                    author.forked(Fork { seq, first, second });
                    forked.push(Forked {
                        author: who,
                        seq,
                        first,
                        second,
                    });
                }
            }
            before = Some((who, seq, hash));
        }
        for (who, seq, _) in by_seq {
            self.authors.get_mut(&who).expect("loaded by sift").saw(seq);
        }
        Ok(forked)
    }

    /// What the stored entries name and neither the batch nor the store holds.
    fn find_missing(&self, tables: &Tables<'_>) -> Result<Missing, Cause> {
        let came = sorted(self.stored().map(|(_, entry)| entry.hash()));
        let demoted = sorted(self.demoted.iter().map(|(_, _, hash)| *hash));
        let mut known: BTreeMap<EntryHash, bool> = BTreeMap::new();
        let mut missing = Missing::default();
        for (lsn, entry) in self.stored() {
            let header = entry.header();
            for hash in hole::links(header) {
                if came.binary_search(&hash).is_ok() || demoted.binary_search(&hash).is_ok() {
                    continue;
                }
                let held = match known.get(&hash) {
                    Some(held) => *held,
                    None => lsn_of(&tables.by_hash, &tables.log, self.no, &hash)?.is_some(),
                };
                known.insert(hash, held);
                if !held {
                    let awaited = (header.prev() == Some(hash)).then(|| header.author());
                    missing.add(hash, lsn, awaited);
                }
            }
        }
        Ok(missing)
    }

    fn write(
        &mut self,
        writing: &mut Writing<'_>,
        tables: &mut Tables<'_>,
        topic: TopicId,
    ) -> Result<(), Cause> {
        write_rows::entries(self, tables)?;
        for author in self.authors.values().filter(|author| author.new) {
            tables
                .spare
                .remove(&key::spare(self.no, author.row.number))?;
        }
        for (_, entry) in self.stored().collect::<Vec<_>>() {
            self.point.set.insert(&entry.hash());
        }
        self.write_frontier(tables)?;
        let index = match writing.store.index(self.no, self.point.version) {
            Some(index) => index,
            None => OrderIndex::load(&tables.chunk, self.no)?.into(),
        };
        let mut added: Vec<Item> = self
            .stored()
            .map(|(_, entry)| osier_proto::range_item(&entry.order_key()))
            .collect();
        added.sort_unstable();
        let mut index = index.edit(&mut tables.chunk, &tables.order, self.no, &added, &[])?;
        let stored: Vec<_> = self.stored().collect();
        let change = LogChange::of(writing.txn, tables, topic, self.no);
        for projection in writing.store.projections() {
            projection.stored(&change, &stored)?;
        }
        let stale = self.stale(tables)?;
        if !stale.is_empty() {
            let authors = &mut self.authors;
            let (no, point) = (self.no, &mut self.point);
            index = drop_entries(writing, tables, topic, no, point, authors, &index, &stale)?;
        }
        self.write_authors(tables)?;
        self.point.version += 1;
        point::write(tables, self.no, &self.point)?;
        if index.total().count != self.point.set.count() {
            return Err(Cause::damaged("the order of entries"));
        }
        writing
            .indexes
            .insert(self.no, (self.point.version, Some(index.into())));
        Ok(())
    }

    /// Below the floor only tips are held: those that no longer are go with the same transaction.
    fn stale(&self, tables: &Tables<'_>) -> Result<Vec<Lsn>, Cause> {
        let Some(floor) = self.point.floor else {
            return Ok(Vec::new());
        };
        let mut stale = Vec::new();
        for (_, _, hash) in self
            .demoted
            .iter()
            .filter(|(_, _, hash)| !self.words.contains(hash))
        {
            if place_of(tables, self.no, hash)? < floor {
                let lsn = lsn_of(&tables.by_hash, &tables.log, self.no, hash)?;
                stale.push(lsn.ok_or(Cause::damaged("a tip that is not held"))?);
            }
        }
        Ok(stale)
    }

    fn write_frontier(&mut self, tables: &mut Tables<'_>) -> Result<(), Cause> {
        write_frontier(tables, self.no, &mut self.point, &self.authors)
    }

    fn write_authors(&self, tables: &mut Tables<'_>) -> Result<(), Cause> {
        for (who, author) in self
            .authors
            .iter()
            .filter(|(_, author)| author.is_changed())
        {
            assert!(
                !author.row.tips.is_empty(),
                "an author with entries has a tip"
            );
            tables
                .head
                .insert(&key::node(self.no, who), author.row.encode().as_slice())?;
        }
        Ok(())
    }

    fn report(
        self,
        writing: &Writing<'_>,
        forked: Vec<Forked>,
        closed: Vec<EntryHash>,
    ) -> CommittedTopic {
        let fates = self.entries.iter().zip(&self.fates);
        CommittedTopic {
            entries: fates
                .map(|(entry, fate)| (entry.hash(), fate.expect("every entry has a fate")))
                .collect(),
            forked,
            closed,
            summary: self.point.summary(),
            point: StorePoint {
                store: writing.store.id(),
                last: self.point.last,
                pruned: self.point.pruned,
            },
            hole_count: self.point.holes,
            released: Vec::new(),
            removed: Vec::new(),
            missed: false,
        }
    }
}

/// Brings the hash tree over the tips, and the state hash, up to what the authors' tips are now.
pub(crate) fn write_frontier(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    authors: &BTreeMap<NodeId, Author>,
) -> Result<(), Cause> {
    let leaves = authors.iter();
    let leaves: Vec<_> = leaves
        .filter_map(|(who, author)| author.leaf(*who))
        .collect();
    if leaves.is_empty() {
        return Ok(());
    }
    let mut tree = FrontierTree {
        no,
        table: &mut tables.frontier,
        head: &tables.head,
    };
    let (authors, state) = tree.update(point.authors, &leaves)?;
    (point.authors, point.state) = (authors, state);
    Ok(())
}

/// A set to look things up in: cheaper than a tree for what is built once.
fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items
}

fn last_place(tables: &Tables<'_>, no: TopicNo) -> Result<Option<OrderKey>, Cause> {
    let (from, to) = (order_index::lowest(no), order_index::highest(no));
    let last = tables
        .order
        .range::<&[u8; 44]>(&from..=&to)?
        .next_back()
        .transpose()?;
    Ok(last.map(|(key, _)| key::order_of(key.value())))
}

/// The place in the range order of a tip.
fn place_of(tables: &Tables<'_>, no: TopicNo, hash: &EntryHash) -> Result<OrderKey, Cause> {
    let lsn = lsn_of(&tables.by_hash, &tables.log, no, hash)?;
    let lsn = lsn.ok_or(Cause::damaged("a tip that is not held"))?;
    let row = tables.log.get(&key::log(no, lsn))?;
    let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
    let (header, hash) = crate::log::decode_head(row.value())?;
    Ok(key::place(&OrderKey {
        time: header.time(),
        hash,
    }))
}

/// The seq of a held entry.
fn seq_of(tables: &Tables<'_>, no: TopicNo, hash: &EntryHash) -> Result<Option<Seq>, Cause> {
    let Some(lsn) = lsn_of(&tables.by_hash, &tables.log, no, hash)? else {
        return Ok(None);
    };
    let row = tables.log.get(&key::log(no, lsn))?;
    let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
    Ok(Some(crate::log::decode_head(row.value())?.0.seq()))
}

/// A held entry of an author at a seq.
fn twin_of(
    tables: &Tables<'_>,
    no: TopicNo,
    author: &Author,
    seq: Seq,
) -> Result<Option<EntryHash>, Cause> {
    let from = key::chain(no, author.row.number, seq.get(), Lsn::START);
    let to = key::chain(no, author.row.number, seq.get(), Lsn::new(u64::MAX));
    let Some(row) = tables
        .chain
        .range::<&[u8; 24]>(&from..=&to)?
        .next()
        .transpose()?
    else {
        return Ok(None);
    };
    let (_, lsn) = key::seq_lsn_of_chain(row.0.value());
    let row = tables.log.get(&key::log(no, lsn))?;
    let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
    Ok(Some(crate::log::hash(row.value())?))
}
