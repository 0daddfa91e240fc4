//! What of a batch counts in a granted topic (`ENT-41` to `ENT-43`), and what of the log no longer
//! does. Both are functions of the owner's words and of the entries that came, in any order.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{Cut, Entry, EntryHash, NodeId, OrderKey, TopicId, Verified};
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    author::Author,
    batch::{CommittedTopic, Fate},
    commit::store_topic,
    control::ControlRow,
    cut_off,
    error::Cause,
    key::{self, TopicNo},
    log,
    lookup::lsn_of,
    point,
    schema::Tables,
    store::Writing,
    waiting, writer,
};

/// Stores what counts, puts the rest to wait, and takes out of the log what no longer counts.
pub(crate) fn store(
    writing: &mut Writing<'_>,
    tables: &mut Tables<'_>,
    topic: TopicId,
    no: TopicNo,
    owner: NodeId,
    entries: &[Verified<Entry>],
    words: &[&ControlRow],
) -> Result<CommittedTopic, Cause> {
    let mut spoken_of = BTreeSet::new();
    for word in words {
        spoken_of.extend(writer::heed(tables, no, word)?);
    }
    let mut judged = Judged::default();
    for author in authors(entries, &spoken_of) {
        let fresh = entries.iter().filter(|e| e.header().author() == author);
        if author == owner {
            judged.admit(fresh.map(Verified::clone));
        } else {
            judge(
                tables,
                no,
                author,
                fresh,
                spoken_of.contains(&author),
                &mut judged,
            )?;
        }
    }
    let removed = cut_off::run(writing, tables, topic, no, &judged.off)?;
    for entry in &judged.kept_back {
        waiting::put(tables, no, entry)?;
    }
    for entry in &judged.released {
        waiting::remove(tables, no, entry)?;
    }
    let (batch, released) = judged.in_order(entries);
    let count = batch.len();
    let all: Vec<Verified<Entry>> = batch.into_iter().chain(released).collect();
    let mut done = store_topic(writing, tables, topic, no, &all)?;
    let late = done.entries.split_off(count);
    let mut fates = done.entries.into_iter().peekable();
    done.entries = entries
        .iter()
        .map(|entry| {
            let hash = entry.hash();
            let fate = fates.next_if(|(stored, _)| *stored == hash);
            fate.unwrap_or((hash, Fate::Withheld))
        })
        .collect();
    done.released = late
        .into_iter()
        .filter_map(|(hash, fate)| match fate {
            Fate::New(lsn) => Some((lsn, hash)),
            Fate::Duplicate | Fate::BelowFloor | Fate::Withheld => None,
        })
        .collect();
    done.released.sort_unstable();
    done.removed = removed;
    done.missed =
        judged.opened && waiting::share(&tables.waiting_share, no, &NodeId::NOBODY)?.missed;
    Ok(done)
}

/// Whose entries are to be judged: those of the batch, and those that the owner has spoken of.
fn authors(entries: &[Verified<Entry>], spoken_of: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let authors = entries.iter().map(|entry| entry.header().author());
    authors.chain(spoken_of.iter().copied()).collect()
}

/// What came of judging.
#[derive(Default)]
struct Judged {
    /// Entries that count, of the batch and of those that waited.
    admitted: BTreeMap<EntryHash, Verified<Entry>>,
    kept_back: Vec<Verified<Entry>>,
    /// Those of the admitted that waited.
    released: Vec<Verified<Entry>>,
    /// What is in the log and no longer counts.
    off: BTreeMap<NodeId, Vec<Lsn>>,
    /// The owner has spoken: entries may count that did not before.
    opened: bool,
}

impl Judged {
    fn admit(&mut self, entries: impl Iterator<Item = Verified<Entry>>) {
        let by_hash = entries.map(|entry| (entry.hash(), entry));
        self.admitted.extend(by_hash);
    }

    /// The admitted entries: those of the batch in its order, and then the others.
    fn in_order(
        &self,
        entries: &[Verified<Entry>],
    ) -> (Vec<Verified<Entry>>, Vec<Verified<Entry>>) {
        let admitted = entries
            .iter()
            .filter(|e| self.admitted.contains_key(&e.hash()));
        let batch: Vec<_> = admitted.cloned().collect();
        let in_batch: BTreeSet<EntryHash> = batch.iter().map(|entry| entry.hash()).collect();
        let others = self
            .released
            .iter()
            .filter(|e| !in_batch.contains(&e.hash()));
        (batch, others.cloned().collect())
    }
}

/// Judges the entries of one author who does not own the topic.
fn judge<'b>(
    tables: &mut Tables<'_>,
    no: TopicNo,
    author: NodeId,
    fresh: impl Iterator<Item = &'b Verified<Entry>>,
    is_news: bool,
    judged: &mut Judged,
) -> Result<(), Cause> {
    let fresh: Vec<Verified<Entry>> = fresh.cloned().collect();
    let Some(mut writer) = writer::read(&tables.writer, no, &author)? else {
        judged.kept_back.extend(fresh);
        return Ok(());
    };
    // Only a word changes what waits.
    let waited = if is_news {
        waiting::of(tables, no, &author)?
    } else {
        Vec::new()
    };
    judged.opened |= is_news;
    let Some(cut) = &mut writer.cut else {
        judged.released.extend(waited.iter().cloned());
        judged.admit(fresh.into_iter().chain(waited));
        return Ok(());
    };
    let chain = Chain::follow(
        tables,
        no,
        author,
        cut,
        is_news,
        fresh.iter().chain(&waited),
    )?;
    let (mut kept_back, mut released) = (Vec::new(), Vec::new());
    for (entry, has_waited) in fresh
        .into_iter()
        .map(|entry| (entry, false))
        .chain(waited.into_iter().map(|entry| (entry, true)))
    {
        let hash = entry.hash();
        let (seq, is_held) = (entry.header().seq(), is_held(tables, no, &entry)?);
        let counts = chain.walked.contains(&hash)
            || cut.leaves(seq, hash, chain.dropped)
            || is_held && !chain.off.contains_key(&hash)
            || chain.is_dropped(&entry);
        match (counts, has_waited) {
            (true, waited) => {
                released.extend(waited.then(|| entry.clone()));
                judged.admitted.insert(hash, entry);
            }
            (false, false) => kept_back.push(entry),
            (false, true) => writer.far = writer.far.max((seq.get(), hash)),
        }
    }
    for entry in &kept_back {
        writer.far = writer.far.max((entry.header().seq().get(), entry.hash()));
    }
    for (hash, (seq, _)) in &chain.off {
        writer.far = writer.far.max((*seq, *hash));
    }
    writer::write(tables, no, &author, &writer)?;
    judged.kept_back.extend(kept_back);
    judged.released.extend(released);
    let places: Vec<Lsn> = chain.off.into_values().map(|(_, lsn)| lsn).collect();
    if !places.is_empty() {
        judged.off.insert(author, places);
    }
    Ok(())
}

fn is_held(tables: &Tables<'_>, no: TopicNo, entry: &Entry) -> Result<bool, Cause> {
    let place: OrderKey = key::place(&entry.order_key());
    Ok(tables.order.get(&key::order(no, &place))?.is_some())
}

/// The chain that a revocation leaves, as far as what is held and what has come show it.
struct Chain {
    /// Entries found to be part of it now.
    walked: BTreeSet<EntryHash>,
    /// Held entries that are no part of it, with their seqs and places.
    off: BTreeMap<EntryHash, (u64, Lsn)>,
    /// The greatest seq of the author's that a ring has dropped, and the ring's floor.
    dropped: u64,
    floor: Option<OrderKey>,
}

impl Chain {
    /// Walks down from where the walk stood, or from the end when the word is new.
    fn follow<'e>(
        tables: &Tables<'_>,
        no: TopicNo,
        author: NodeId,
        cut: &mut Cut,
        is_news: bool,
        came: impl Iterator<Item = &'e Verified<Entry>>,
    ) -> Result<Self, Cause> {
        let came: BTreeMap<EntryHash, &Verified<Entry>> = came.map(|e| (e.hash(), e)).collect();
        let before = if is_news { u64::MAX } else { cut.next().0 };
        let mut walked = BTreeSet::new();
        while cut.next().0 > 0 {
            let (_, hash) = cut.next();
            let is_next = match came.get(&hash) {
                Some(entry) => cut.follow(author, hash, entry.header()),
                None => match lsn_of(&tables.by_hash, &tables.log, no, &hash)? {
                    Some(lsn) => {
                        let row = tables.log.get(&key::log(no, lsn))?;
                        let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
                        let (header, hash) = log::decode_head(row.value())?;
                        cut.follow(author, hash, &header)
                    }
                    None => false,
                },
            };
            if !is_next {
                break;
            }
            walked.insert(hash);
        }
        let row = Author::load(&tables.head, no, &author)?;
        let mut chain = Self {
            walked,
            off: BTreeMap::new(),
            dropped: row.row.dropped_seq,
            floor: point::read(&tables.point, no)?.floor,
        };
        if !row.new && (is_news || !chain.walked.is_empty()) {
            chain.find_off(tables, no, &row, cut.next().0, before)?;
        }
        Ok(chain)
    }

    fn find_off(
        &mut self,
        tables: &Tables<'_>,
        no: TopicNo,
        author: &Author,
        from: u64,
        upto: u64,
    ) -> Result<(), Cause> {
        let number = author.row.number;
        let from = key::chain(no, number, from, Lsn::START);
        let to = key::chain(no, number, upto, Lsn::new(u64::MAX));
        for row in tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (seq, lsn) = key::seq_lsn_of_chain(row?.0.value());
            let row = tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let hash = log::hash(row.value())?;
            if !self.walked.contains(&hash) {
                self.off.insert(hash, (seq, lsn));
            }
        }
        Ok(())
    }

    /// A ring's floor answers for it (`STO-13`).
    fn is_dropped(&self, entry: &Entry) -> bool {
        let is_below = |floor: OrderKey| key::place(&entry.order_key()) < floor;
        self.floor.is_some_and(is_below) && entry.header().seq().get() <= self.dropped
    }
}
