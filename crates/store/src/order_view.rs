//! The order of one snapshot, as the storage that negentropy walks.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use osier_proto::ViewError;
use osier_reconcile::{Bound, Item, Storage, Summary};
use redb::ReadOnlyTable;

use crate::{
    error::Cause,
    key::TopicNo,
    open_chunk::{OpenChunk, OpenChunks},
    order_index::{Found, OrderIndex, bounds, highest, item_of, items_of, lowest, order_key},
};

const DOING: &str = "reading the order of entries";

type OrderTable = ReadOnlyTable<&'static [u8; 44], ()>;
type ChunkTable = ReadOnlyTable<&'static [u8; 44], &'static [u8; 36]>;

/// Ranks and sums over one snapshot of a topic.
pub(crate) struct OrderView {
    no: Option<TopicNo>,
    order: OrderTable,
    chunk: ChunkTable,
    index: OnceLock<Arc<OrderIndex>>,
    open: OpenChunks,
}

impl OrderView {
    /// The order of a topic; an unknown topic has no number and no entries.
    pub(crate) fn new(
        no: Option<TopicNo>,
        order: OrderTable,
        chunk: ChunkTable,
        index: Option<Arc<OrderIndex>>,
    ) -> Self {
        let cell = OnceLock::new();
        if let Some(index) = index {
            let _ = cell.set(index);
        }
        Self {
            no,
            order,
            chunk,
            index: cell,
            open: OpenChunks::default(),
        }
    }

    /// The chunks; read from the snapshot when nobody had them.
    pub(crate) fn index(&self) -> Result<&Arc<OrderIndex>, Cause> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let loaded = match self.no {
            Some(no) => OrderIndex::load(&self.chunk, no)?,
            None => OrderIndex::default(),
        };
        Ok(self.index.get_or_init(|| Arc::new(loaded)))
    }

    /// The index, if it has been read.
    pub(crate) fn loaded(&self) -> Option<&Arc<OrderIndex>> {
        self.index.get()
    }

    /// Everything below a rank.
    fn before(&self, rank: u64) -> Result<Summary, Cause> {
        let index = self.index()?;
        let Some(found) = index.at_rank(rank) else {
            return Ok(index.total());
        };
        let inside = rank - found.before.count;
        if inside == 0 {
            return Ok(found.before);
        }
        let sum = self.open(&found)?.first(count(inside));
        Ok(found.before + sum.ok_or(short())?)
    }

    /// The items of a chunk, and their sums.
    fn open(&self, found: &Found) -> Result<Arc<OpenChunk>, Cause> {
        let no = self.no.expect("a topic without a number has no chunk");
        let read = || items_of(&self.order, no, found);
        self.open.get(found.before.count, read)
    }

    fn item_at(&self, rank: u64) -> Result<Item, Cause> {
        let found = self.index()?.at_rank(rank);
        let found = found.ok_or(Cause::damaged("a rank past the end of the order"))?;
        let inside = count(rank - found.before.count);
        let chunk = self.open(&found)?;
        chunk.items.get(inside).copied().ok_or(short())
    }

    fn each(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), Cause> {
        let (Some(found), Some(no)) = (self.index()?.at_rank(ranks.start), self.no) else {
            return Ok(());
        };
        if ranks.end <= found.before.count + found.chunk.sum.count {
            let inside = |rank| count(rank - found.before.count);
            let chunk = self.open(&found)?;
            let items = chunk.items.get(inside(ranks.start)..inside(ranks.end));
            items.ok_or(short())?.iter().copied().for_each(each);
            return Ok(());
        }
        let (from, _) = bounds(no, &found);
        let skip = count(ranks.start - found.before.count);
        let wanted = ranks.end.saturating_sub(ranks.start);
        let mut given = 0;
        for row in self
            .order
            .range::<&[u8; 44]>(&from..&highest(no))?
            .skip(skip)
            .take(count(wanted))
        {
            each(item_of(row?.0.value()));
            given += 1;
        }
        let there = self.index()?.total().count.min(ranks.end) - ranks.start;
        if given == there.min(wanted) {
            Ok(())
        } else {
            Err(short())
        }
    }

    /// The items before a place, the last one first, at most so many.
    pub(crate) fn items_before(&self, place: &Item, max: usize) -> Result<Vec<Item>, Cause> {
        let Some(no) = self.no else {
            return Ok(Vec::new());
        };
        let (from, to) = (lowest(no), order_key(no, place));
        let rows = self.order.range::<&[u8; 44]>(&from..&to)?.rev().take(max);
        rows.map(|row| Ok(item_of(row?.0.value()))).collect()
    }

    /// The items from a place on, at most so many.
    pub(crate) fn items_from(&self, place: &Item, max: usize) -> Result<Vec<Item>, Cause> {
        let Some(no) = self.no else {
            return Ok(Vec::new());
        };
        let (from, to) = (order_key(no, place), highest(no));
        let rows = self.order.range::<&[u8; 44]>(&from..=&to)?.take(max);
        rows.map(|row| Ok(item_of(row?.0.value()))).collect()
    }

    fn below(&self, bound: &Bound) -> Result<u64, Cause> {
        let index = self.index()?;
        let Some(found) = index.find(&bound.floor()) else {
            return Ok(0);
        };
        let chunk = self.open(&found)?;
        let inside = chunk.items.partition_point(|item| item.is_below(bound));
        Ok(found.before.count + inside as u64)
    }
}

fn short() -> Cause {
    Cause::damaged("the order of entries is shorter than its chunks say: it")
}

/// Ranks fit memory addresses wherever the entries fit the disk.
fn count(rank: u64) -> usize {
    usize::try_from(rank).unwrap_or(usize::MAX)
}

impl Storage for OrderView {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        Ok(self
            .index()
            .map_err(|cause| cause.view(DOING))?
            .total()
            .count)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, ViewError> {
        let read = || {
            let (start, end) = (self.before(ranks.start)?, self.before(ranks.end)?);
            if start.count > end.count {
                Err(short())
            } else {
                Ok(end - start)
            }
        };
        read().map_err(|cause| cause.view(DOING))
    }

    fn at(&self, rank: u64) -> Result<Item, ViewError> {
        self.item_at(rank).map_err(|cause| cause.view(DOING))
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        self.each(ranks, each).map_err(|cause| cause.view(DOING))
    }

    fn rank(&self, bound: &Bound) -> Result<u64, ViewError> {
        self.below(bound).map_err(|cause| cause.view(DOING))
    }
}
