//! Taking out of the log what a revocation leaves no room for (`ENT-42`): with all its rows, as if
//! it had never come, and into the waiting area.
//!
//! Unlike what a ring drops, it may be tips, whole authors, and what others name; so tips, numbers,
//! the state hash and holes are worked out again. Costs the chains of the authors concerned, and,
//! to find who names what is gone, one look at each header of the topic.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{
    AuthorTips, EntryHash, NodeId, Seq, SignedEntry, TopicId, limit::AUTHOR_TIPS_MAX, state_hash,
};
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    author::{Author, tip_bounds},
    commit::write_frontier,
    drop::drop_entries,
    error::Cause,
    frontier_tree::{Leaf, rows_of},
    hole::{self, Missing},
    key::{self, TopicNo},
    log,
    order_index::OrderIndex,
    point,
    row::{Fork, HeadRow, Point},
    schema::Tables,
    store::Writing,
    waiting,
};

/// Takes these entries of these authors out; which they were.
pub(crate) fn run(
    writing: &mut Writing<'_>,
    tables: &mut Tables<'_>,
    topic: TopicId,
    no: TopicNo,
    off: &BTreeMap<NodeId, Vec<Lsn>>,
) -> Result<Vec<EntryHash>, Cause> {
    if off.is_empty() {
        return Ok(Vec::new());
    }
    let mut point = point::read(&tables.point, no)?;
    let mut authors = BTreeMap::new();
    for who in off.keys() {
        authors.insert(*who, Author::load(&tables.head, no, who)?);
    }
    let gone = set_aside(tables, no, off)?;
    let places: Vec<Lsn> = off.values().flatten().copied().collect();
    let index = match writing.store.index(no, point.version) {
        Some(index) => index,
        None => OrderIndex::load(&tables.chunk, no)?.into(),
    };
    let dropped_before: BTreeMap<NodeId, u64> = authors
        .iter()
        .map(|(who, author)| (*who, author.row.dropped_seq))
        .collect();
    let index = drop_entries(
        writing,
        tables,
        topic,
        no,
        &mut point,
        &mut authors,
        &index,
        &places,
    )?;
    let mut vanished = Vec::new();
    for (who, author) in &mut authors {
        author.row.dropped_seq = dropped_before[who];
        match rebuilt(tables, no, &author.row, &gone, &point)? {
            Some(row) => author.replace(row),
            None => vanished.push((*who, author.row.number)),
        }
    }
    authors.retain(|who, _| vanished.iter().all(|(gone, _)| gone != who));
    name_again(tables, no, &mut point, &gone)?;
    if vanished.is_empty() {
        write_frontier(tables, no, &mut point, &authors)?;
    }
    for (who, author) in &authors {
        tables
            .head
            .insert(&key::node(no, who), author.row.encode().as_slice())?;
    }
    if !vanished.is_empty() {
        forget(tables, no, &mut point, &vanished)?;
    }
    point.version += 1;
    point::write(tables, no, &point)?;
    if index.total().count != point.set.count() {
        return Err(Cause::damaged("the order of entries"));
    }
    writing
        .indexes
        .insert(no, (point.version, Some(index.into())));
    Ok(gone.into_keys().collect())
}

/// What goes: each entry with what it names as `prev`.
type Gone = BTreeMap<EntryHash, Option<EntryHash>>;

/// Puts the entries to wait, as many as there is room for, the earliest of a chain first.
fn set_aside(
    tables: &mut Tables<'_>,
    no: TopicNo,
    off: &BTreeMap<NodeId, Vec<Lsn>>,
) -> Result<Gone, Cause> {
    let mut gone = Gone::new();
    for places in off.values() {
        let mut entries = Vec::with_capacity(places.len());
        for &lsn in places {
            let row = tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let (header, hash) = log::decode_head(row.value())?;
            gone.insert(hash, header.prev());
            entries.push((header.seq(), lsn));
        }
        entries.sort_unstable();
        let room = usize::try_from(waiting::WAITING_PER_AUTHOR_MAX).unwrap_or(usize::MAX);
        // One more than fits, so that it is noted that something was missed.
        for (_, lsn) in entries.into_iter().take(room.saturating_add(1)) {
            let row = tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let body = |item| log::body_item(&tables.body, no, lsn, item);
            let wire = log::decode(row.value(), &body)?;
            drop(row);
            let entry = SignedEntry::parse(wire).map_err(Cause::damaged)?;
            waiting::put(tables, no, &entry.trust_stored())?;
        }
    }
    Ok(gone)
}

/// The author's row over what is left; none if nothing is. The rows of `tip` are written.
fn rebuilt(
    tables: &mut Tables<'_>,
    no: TopicNo,
    before: &HeadRow,
    gone: &Gone,
    point: &Point,
) -> Result<Option<HeadRow>, Cause> {
    let left = Left::read(tables, no, before)?;
    let (from, to) = tip_bounds(no, before.number);
    let mut tips: BTreeSet<(Seq, EntryHash)> = before.tips.iter().copied().collect();
    for row in tables.tip.range::<&[u8; 48]>(&from..=&to)? {
        let (seq, hash) = key::tip_of(row?.0.value());
        tips.insert((Seq::new(seq).ok_or(Cause::damaged("tip row"))?, hash));
    }
    tables
        .tip
        .retain_in::<&[u8; 48], _>(&from..=&to, |_, ()| false)?;
    let named_by_gone: BTreeSet<EntryHash> = gone.values().flatten().copied().collect();
    let mut unnamed = left.all.clone();
    unnamed.retain(|(_, hash)| !left.named.contains(hash));
    // In a ring what is unnamed may have been named by what was dropped: then it was no tip.
    let mut now = unnamed.clone();
    now.retain(|tip| point.floor.is_none() || tips.contains(tip) || named_by_gone.contains(&tip.1));
    if now.is_empty() {
        now = unnamed.last().copied().into_iter().collect();
    }
    let Some(max_seq) = left.all.last().map(|(seq, _)| seq.get()) else {
        return Ok(None);
    };
    let mut sorted = now.into_iter();
    let kept: Vec<_> = sorted.by_ref().take(AUTHOR_TIPS_MAX).collect();
    let mut overflow = 0;
    for (seq, hash) in sorted {
        tables
            .tip
            .insert(&key::tip(no, before.number, seq, &hash), ())?;
        overflow += 1;
    }
    Ok(Some(HeadRow {
        number: before.number,
        max_seq,
        // What the cut leaves may come again, though a ring had gone beyond it.
        dropped_seq: before.dropped_seq.min(max_seq),
        overflow,
        fork: left
            .fork()
            .or(before.fork.filter(|_| point.floor.is_some())),
        tips: kept,
    }))
}

/// What is left of an author.
#[derive(Default)]
struct Left {
    all: BTreeSet<(Seq, EntryHash)>,
    named: BTreeSet<EntryHash>,
}

impl Left {
    fn read(tables: &Tables<'_>, no: TopicNo, author: &HeadRow) -> Result<Self, Cause> {
        let from = key::chain(no, author.number, 0, Lsn::START);
        let to = key::chain(no, author.number, u64::MAX, Lsn::new(u64::MAX));
        let mut left = Self::default();
        for row in tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (_, lsn) = key::seq_lsn_of_chain(row?.0.value());
            let row = tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let (header, hash) = log::decode_head(row.value())?;
            left.all.insert((header.seq(), hash));
            left.named.extend(header.prev());
        }
        Ok(left)
    }

    /// The first place with two entries.
    fn fork(&self) -> Option<Fork> {
        let twins = self.all.iter().zip(self.all.iter().skip(1));
        let mut twins = twins.filter(|((one, _), (other, _))| one == other);
        twins.next().map(|((seq, first), (_, second))| Fork {
            seq: *seq,
            first: *first,
            second: *second,
        })
    }
}

/// What is gone and is still named by others is a hole, as for a node that has never held it
/// (`STO-11`).
fn name_again(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    gone: &Gone,
) -> Result<(), Cause> {
    let mut missing = Missing::default();
    let (from, to) = (key::log(no, Lsn::START), key::log(no, Lsn::new(u64::MAX)));
    for row in tables.log.range::<&[u8; 12]>(&from..=&to)? {
        let (key, row) = row?;
        let (header, _) = log::decode_head(row.value())?;
        for hash in hole::links(&header).filter(|hash| gone.contains_key(hash)) {
            let awaited = (header.prev() == Some(hash)).then(|| header.author());
            missing.add(hash, key::lsn_of_log(key.value()), awaited);
        }
    }
    missing.store(tables, no, point)
}

/// Authors of whom nothing is left: their rows go, their numbers are given out again, and the tree
/// of tips is made anew.
fn forget(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    vanished: &[(NodeId, key::AuthorNo)],
) -> Result<(), Cause> {
    for (who, number) in vanished {
        tables.head.remove(&key::node(no, who))?;
        tables.spare.insert(&key::spare(no, *number), ())?;
    }
    let (from, to) = (
        key::node(no, &NodeId::NOBODY),
        key::node(no, &NodeId::from_bytes([0xff; 32])),
    );
    let mut tips = Vec::new();
    for row in tables.head.range::<&[u8; 36]>(&from..=&to)? {
        let (key, row) = row?;
        let author = key::node_of(key.value());
        let tips_of = HeadRow::decode(row.value())?.tips;
        tips.push(AuthorTips {
            author,
            tips: tips_of,
        });
    }
    let leaves: Vec<Leaf> = tips.iter().map(Leaf::of).collect();
    let (low, high) = key::frontier_bounds(no);
    tables
        .frontier
        .retain_in::<&[u8; 37], _>(&low..=&high, |_, _| false)?;
    for (key, row) in rows_of(no, &leaves) {
        tables.frontier.insert(&key, row.as_slice())?;
    }
    point.authors = u32::try_from(tips.len()).map_err(Cause::damaged)?;
    point.state = state_hash(&tips);
    Ok(())
}
