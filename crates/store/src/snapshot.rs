//! One topic, frozen: what a session reads.

use bytes::Bytes;
use osier_core::{EntryHash, Head, NodeId, OrderKey, Seq, TopicId, WireEntry};
use osier_proto::{LogPage, Lsn, StorePoint, Summary, View, ViewError};
use osier_reconcile::Storage;
use redb::ReadTransaction;

use crate::{
    control,
    error::Cause,
    key::{self, AuthorNo, TopicNo},
    log,
    lookup::lsn_of,
    order_view::OrderView,
    point, row,
    row::{HeadRow, HoleRow, Point},
    schema::ReadTables,
    store::Store,
    topic,
};

/// A topic as of one durable batch. Stays as it is while the store goes on; holds disk pages until
/// it is dropped, so the file grows while it is kept.
pub struct Snapshot {
    store: Store,
    tables: ReadTables,
    no: Option<TopicNo>,
    point: Point,
    order: OrderView,
}

impl Snapshot {
    pub(crate) fn take(
        store: &Store,
        txn: &ReadTransaction,
        topic: TopicId,
    ) -> Result<Self, Cause> {
        let tables = ReadTables::open(txn)?;
        let no = topic::number(&tables.topic_number, &topic)?;
        let point = match no {
            Some(no) => point::read(&tables.point, no)?,
            None => Point::empty(),
        };
        let index = no.and_then(|no| store.index(no, point.version));
        let order = OrderView::new(
            no,
            txn.open_table(crate::schema::order)?,
            txn.open_table(crate::schema::chunk)?,
            index,
        );
        Ok(Self {
            store: store.clone(),
            tables,
            no,
            point,
            order,
        })
    }

    fn head(&self, author: &NodeId) -> Result<Option<HeadRow>, Cause> {
        let Some(no) = self.no else { return Ok(None) };
        let row = self.tables.head.get(&key::node(no, author))?;
        row.map(|row| HeadRow::decode(row.value())).transpose()
    }

    fn lsn(&self, hash: &EntryHash) -> Result<Option<Lsn>, Cause> {
        let Some(no) = self.no else { return Ok(None) };
        lsn_of(&self.tables.by_hash, &self.tables.log, no, hash)
    }

    fn wire(&self, no: TopicNo, lsn: Lsn, row: &[u8]) -> Result<WireEntry, Cause> {
        log::decode(row, &|item| -> Result<Option<Bytes>, Cause> {
            log::body_item(&self.tables.body, no, lsn, item)
        })
    }

    fn entry_of(&self, hash: &EntryHash) -> Result<Option<WireEntry>, Cause> {
        let (Some(no), Some(lsn)) = (self.no, self.lsn(hash)?) else {
            return Ok(None);
        };
        let row = self.tables.log.get(&key::log(no, lsn))?;
        let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
        self.wire(no, lsn, row.value()).map(Some)
    }

    fn page(&self, after: Lsn, entries_max: usize, bytes_max: usize) -> Result<LogPage, Cause> {
        let Some(no) = self.no else {
            return Ok(LogPage {
                entries: Vec::new(),
                done: true,
            });
        };
        let from = key::log(no, Lsn::new(after.get().saturating_add(1)));
        let to = key::log(no, Lsn::new(u64::MAX));
        let mut page = LogPage::default();
        let mut bytes = 0;
        if after.get() < u64::MAX {
            for row in self.tables.log.range::<&[u8; 12]>(&from..=&to)? {
                let (key, row) = row?;
                if page.entries.len() >= entries_max {
                    return Ok(page);
                }
                let lsn = key::lsn_of_log(key.value());
                let entry = self.wire(no, lsn, row.value())?;
                bytes += entry.size();
                if bytes > bytes_max && !page.entries.is_empty() {
                    return Ok(page);
                }
                page.entries.push((lsn, entry));
            }
        }
        page.done = true;
        Ok(page)
    }

    fn words_below(&self, floor: &OrderKey) -> Result<Vec<EntryHash>, Cause> {
        let Some(no) = self.no else {
            return Ok(Vec::new());
        };
        let mut low = Vec::new();
        for hash in control::kept(&self.tables.control, no)? {
            let Some(lsn) = self.lsn(&hash)? else {
                continue;
            };
            let row = self.tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
            let (header, hash) = log::decode_head(row.value())?;
            let place = key::place(&OrderKey {
                time: header.time(),
                hash,
            });
            if place < *floor {
                low.push(hash);
            }
        }
        Ok(low)
    }

    fn heads_after(&self, after: Option<NodeId>, heads_min: usize) -> Result<Vec<Head>, Cause> {
        let Some(no) = self.no else {
            return Ok(Vec::new());
        };
        let from = key::node(no, &after.unwrap_or(NodeId::NOBODY));
        let to = key::node(no, &NodeId::from_bytes([0xff; 32]));
        let mut heads = Vec::new();
        for row in self.tables.head.range::<&[u8; 36]>(&from..=&to)? {
            let (key, value) = row?;
            let author = key::node_of(key.value());
            if Some(author) == after {
                continue;
            }
            if heads.len() >= heads_min.max(1) {
                break;
            }
            let row = HeadRow::decode(value.value())?;
            heads.extend(
                row.tips
                    .iter()
                    .map(|&(seq, hash)| Head { author, seq, hash }),
            );
        }
        Ok(heads)
    }

    fn chain_of(
        &self,
        author: &NodeId,
        after: Option<Seq>,
        max: usize,
    ) -> Result<Vec<(Seq, EntryHash)>, Cause> {
        let (Some(no), Some(head)) = (self.no, self.head(author)?) else {
            return Ok(Vec::new());
        };
        let Some(first) = after.map_or(Some(1), |seq| seq.get().checked_add(1)) else {
            return Ok(Vec::new());
        };
        let from = key::chain(no, head.number, first, Lsn::START);
        let to = key::chain(no, head.number, u64::MAX, Lsn::new(u64::MAX));
        let mut chain: Vec<(Seq, EntryHash)> = Vec::new();
        for row in self.tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (seq, lsn) = key::seq_lsn_of_chain(row?.0.value());
            let seq = Seq::new(seq).ok_or(Cause::damaged("chain row"))?;
            // Entries of one seq are sorted by hash only once all are there.
            if chain.len() >= max && chain.last().is_none_or(|(last, _)| *last < seq) {
                break;
            }
            let row = self.tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            chain.push((seq, log::hash(row.value())?));
            if chain.len() > max.saturating_mul(2).max(1024) {
                // A hostile author may have written any number of entries at one seq.
                chain.sort_unstable();
                chain.truncate(max);
            }
        }
        chain.sort_unstable();
        chain.truncate(max);
        Ok(chain)
    }

    fn holes_after(&self, after: Option<EntryHash>, max: usize) -> Result<Vec<EntryHash>, Cause> {
        let Some(no) = self.no else {
            return Ok(Vec::new());
        };
        let from = key::hole(no, &after.unwrap_or(EntryHash::MIN));
        let to = key::hole(no, &EntryHash::MAX);
        let mut holes = Vec::new();
        for row in self.tables.hole.range::<&[u8; 36]>(&from..=&to)? {
            let (key, value) = row?;
            let hash = key::hash_of_hole(key.value());
            if holes.len() >= max {
                break;
            }
            if Some(hash) != after && !HoleRow::decode(value.value())?.boundary {
                holes.push(hash);
            }
        }
        Ok(holes)
    }

    /// The authors of the entries that name a hash, which is not held, by `prev`.
    fn awaiting(&self, no: TopicNo, hash: &EntryHash) -> Result<Option<NodeId>, Cause> {
        let from = key::awaited(no, hash, &NodeId::NOBODY);
        let to = key::awaited(no, hash, &NodeId::from_bytes([0xff; 32]));
        let first = self
            .tables
            .awaited
            .range::<&[u8; 68]>(&from..=&to)?
            .next()
            .transpose()?;
        Ok(first.map(|(key, _)| key::author_of_awaited(key.value())))
    }

    fn linked(&self, hash: &EntryHash, by: Option<&NodeId>) -> Result<Option<NodeId>, Cause> {
        let Some(no) = self.no else { return Ok(None) };
        if let Some(lsn) = self.lsn(hash)? {
            return self.linked_held(no, lsn, hash, by);
        }
        let Some(by) = by else {
            return self.awaiting(no, hash);
        };
        let row = self.tables.awaited.get(&key::awaited(no, hash, by))?;
        Ok(row.map(|_| *by))
    }

    /// A held entry's successors stand one seq higher in its author's chain.
    fn linked_held(
        &self,
        no: TopicNo,
        lsn: Lsn,
        hash: &EntryHash,
        by: Option<&NodeId>,
    ) -> Result<Option<NodeId>, Cause> {
        let row = self.tables.log.get(&key::log(no, lsn))?;
        let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
        let (header, _) = log::decode_head(row.value())?;
        let author = header.author();
        let number = self
            .head(&author)?
            .ok_or(Cause::damaged("an author's row"))?
            .number;
        if by.is_some_and(|by| *by != author) || header.seq().get() == u64::MAX {
            return Ok(None);
        }
        let named = self.is_named(no, number, header.seq().get() + 1, hash)?;
        Ok(named.then_some(author))
    }

    fn is_named(
        &self,
        no: TopicNo,
        author: AuthorNo,
        seq: u64,
        hash: &EntryHash,
    ) -> Result<bool, Cause> {
        let from = key::chain(no, author, seq, Lsn::START);
        let to = key::chain(no, author, seq, Lsn::new(u64::MAX));
        for row in self.tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (_, lsn) = key::seq_lsn_of_chain(row?.0.value());
            let row = self.tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            if log::decode_head(row.value())?.0.prev() == Some(*hash) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Authors that have two entries at one seq, with the proof.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn fork_of(&self, author: &NodeId) -> Result<Option<crate::Forked>, ViewError> {
        let row = self
            .head(author)
            .map_err(|cause| cause.view("reading a fork"))?;
        Ok(row
            .and_then(|row| row.fork)
            .map(|row::Fork { seq, first, second }| crate::Forked {
                author: *author,
                seq,
                first,
                second,
            }))
    }
}

impl View for Snapshot {
    fn summary(&self) -> Summary {
        self.point.summary()
    }

    fn point(&self) -> StorePoint {
        StorePoint {
            store: self.store.id(),
            last: self.point.last,
            pruned: self.point.pruned,
        }
    }

    fn holds(&self, hash: &EntryHash) -> Result<bool, ViewError> {
        let lsn = self
            .lsn(hash)
            .map_err(|cause| cause.view("looking an entry up"))?;
        Ok(lsn.is_some())
    }

    fn entry(&self, hash: &EntryHash) -> Result<Option<WireEntry>, ViewError> {
        self.entry_of(hash)
            .map_err(|cause| cause.view("reading an entry"))
    }

    fn log(&self, after: Lsn, entries_max: usize, bytes_max: usize) -> Result<LogPage, ViewError> {
        self.page(after, entries_max, bytes_max)
            .map_err(|cause| cause.view("reading the log"))
    }

    fn heads(&self, after: Option<NodeId>, heads_min: usize) -> Result<Vec<Head>, ViewError> {
        self.heads_after(after, heads_min)
            .map_err(|cause| cause.view("reading the heads"))
    }

    fn chain(
        &self,
        author: &NodeId,
        after: Option<Seq>,
        max: usize,
    ) -> Result<Vec<(Seq, EntryHash)>, ViewError> {
        self.chain_of(author, after, max)
            .map_err(|cause| cause.view("reading a chain"))
    }

    fn hole_count(&self) -> u64 {
        self.point.holes
    }

    fn holes(&self, after: Option<EntryHash>, max: usize) -> Result<Vec<EntryHash>, ViewError> {
        self.holes_after(after, max)
            .map_err(|cause| cause.view("reading the holes"))
    }

    fn linked_by(&self, hash: &EntryHash) -> Result<Option<NodeId>, ViewError> {
        self.linked(hash, None)
            .map_err(|cause| cause.view("reading who links to an entry"))
    }

    fn links(&self, author: &NodeId, hash: &EntryHash) -> Result<bool, ViewError> {
        let linked = self.linked(hash, Some(author));
        Ok(linked
            .map_err(|cause| cause.view("reading who links to an entry"))?
            .is_some())
    }

    fn place(&self, hash: &EntryHash) -> Result<Option<Lsn>, ViewError> {
        self.lsn(hash)
            .map_err(|cause| cause.view("looking an entry up"))
    }

    fn low_words(&self, floor: &OrderKey) -> Result<Vec<EntryHash>, ViewError> {
        self.words_below(floor)
            .map_err(|cause| cause.view("reading the owner's words"))
    }

    fn order(&self) -> &dyn Storage<Error = ViewError> {
        if let (Some(no), None) = (self.no, self.order.loaded())
            && let Ok(index) = self.order.index()
        {
            self.store.offer_index(no, self.point.version, index);
        }
        // An index that could not be read is read again, and the error told, by the first call.
        &self.order
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot(of {:?}, {:?})", self.store, self.point)
    }
}
