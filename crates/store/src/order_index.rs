//! The order index: entries by (time, hash) with chunk summaries (`STO-5`), so that the
//! fingerprint of any span costs O(log n) and at most two part chunks.
//!
//! The chunks of a topic are kept in memory in blocks. A transaction makes a new index that shares
//! the untouched blocks with the old one, so snapshots keep theirs for a few pointers.

use std::sync::Arc;

use osier_reconcile::{Item, Summary};
use redb::{ReadableTable, Table};

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row,
};

/// The rows of an order, and of its chunks.
pub(crate) type OrderKey44 = &'static [u8; 44];
/// The table of chunks, open for writing.
pub(crate) type ChunkTable<'txn> = Table<'txn, OrderKey44, &'static [u8; 36]>;

/// Entries of one chunk. A part chunk is scanned at 10 million rows a second: under 50 us.
pub(crate) const CHUNK_MAX: u64 = 512;

/// Entries that a chunk is cut to when it overflows: room for late entries without another cut.
const CHUNK_FILL: usize = 384;

/// Chunks of one block: 10 KiB, which a transaction copies for each block that it touches.
const BLOCK_MAX: usize = 128;

const _: () = assert!((CHUNK_FILL as u64) < CHUNK_MAX);

/// A stretch of the order, from `low` to the `low` of the next chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Nothing in the chunk is smaller, unless it is the first one.
    pub(crate) low: Item,
    /// Its entries, at least one.
    pub(crate) sum: Summary,
}

#[derive(Debug)]
struct Block {
    chunks: Vec<Chunk>,
}

#[derive(Debug, Clone)]
struct Placed {
    block: Arc<Block>,
    /// Everything before the block.
    before: Summary,
}

/// The chunks of one version of a topic.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderIndex {
    blocks: Vec<Placed>,
    total: Summary,
}

/// A chunk found in an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) chunk: Chunk,
    /// Everything before the chunk.
    pub(crate) before: Summary,
    /// Whether the chunk is the first, which also holds what is smaller than its `low`.
    pub(crate) first: bool,
    /// Where the next chunk starts; none for the last.
    pub(crate) next: Option<Item>,
}

impl OrderIndex {
    /// Reads the chunks of a topic: O(chunks), on first use.
    pub(crate) fn load(
        table: &impl ReadableTable<&'static [u8; 44], &'static [u8; 36]>,
        no: TopicNo,
    ) -> Result<Self, Cause> {
        let mut chunks = Vec::new();
        for row in table.range::<&[u8; 44]>(&lowest(no)..=&highest(no))? {
            let (key, value) = row?;
            let low = item_of(key.value());
            chunks.push(Chunk {
                low,
                sum: row::decode_chunk(value.value())?,
            });
        }
        Ok(Self::from_blocks(
            chunks
                .chunks(BLOCK_MAX)
                .map(|c| Arc::new(Block::of(c)))
                .collect(),
        ))
    }

    fn from_blocks(blocks: Vec<Arc<Block>>) -> Self {
        let mut total = Summary::EMPTY;
        let placed = blocks.into_iter().map(|block| {
            let before = total;
            block.chunks.iter().for_each(|chunk| total += chunk.sum);
            Placed { block, before }
        });
        let blocks = placed.collect();
        Self { blocks, total }
    }

    /// All entries.
    pub(crate) fn total(&self) -> Summary {
        self.total
    }

    /// All chunks in order, for `check`.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.blocks.iter().flat_map(|placed| &placed.block.chunks)
    }

    /// The chunk that an item is in or would go to; none while there are no chunks.
    pub(crate) fn find(&self, item: &Item) -> Option<Found> {
        let (block, chunk) = self.place(item)?;
        Some(self.found(block, chunk))
    }

    /// The chunk with the entry at a rank; none past the end.
    pub(crate) fn at_rank(&self, rank: u64) -> Option<Found> {
        if rank >= self.total.count {
            return None;
        }
        let block = self
            .blocks
            .partition_point(|b| b.before.count <= rank)
            .checked_sub(1)?;
        let placed = self.blocks.get(block)?;
        let mut before = placed.before.count;
        let chunk = placed.block.chunks.iter().position(|chunk| {
            before += chunk.sum.count;
            before > rank
        })?;
        Some(self.found(block, chunk))
    }

    fn place(&self, item: &Item) -> Option<(usize, usize)> {
        let after = self
            .blocks
            .partition_point(|placed| placed.block.low() <= *item);
        let block = after.saturating_sub(1);
        let chunks = &self.blocks.get(block)?.block.chunks;
        Some((
            block,
            chunks.partition_point(|c| c.low <= *item).saturating_sub(1),
        ))
    }

    fn found(&self, block: usize, chunk: usize) -> Found {
        let placed = &self.blocks[block];
        let chunks = &placed.block.chunks;
        let mut before = placed.before;
        chunks[..chunk].iter().for_each(|c| before += c.sum);
        let following = self.blocks.get(block + 1).map(|placed| placed.block.low());
        Found {
            chunk: chunks[chunk],
            before,
            first: block == 0 && chunk == 0,
            next: chunks.get(chunk + 1).map(|c| c.low).or(following),
        }
    }

    /// The index after an edit, whose rows are already in `order`; writes `chunk` rows.
    /// `added` and `removed` are sorted, unique and disjoint.
    pub(crate) fn edit(
        &self,
        chunk: &mut ChunkTable<'_>,
        order: &impl ReadableTable<OrderKey44, ()>,
        no: TopicNo,
        added: &[Item],
        removed: &[Item],
    ) -> Result<Self, Cause> {
        if self.blocks.is_empty() {
            assert!(removed.is_empty(), "nothing can leave an empty order");
            let all = Found {
                chunk: Chunk {
                    low: Item::new(0, [0; 32]),
                    sum: Summary::EMPTY,
                },
                before: Summary::EMPTY,
                first: true,
                next: None,
            };
            let chunks = settle(chunk, order, no, &all, added, removed)?;
            return Ok(Self::from_blocks(blocks(&chunks)));
        }
        let (mut added, mut removed) = (added, removed);
        let mut edited = Vec::with_capacity(self.blocks.len() + 1);
        for (at, placed) in self.blocks.iter().enumerate() {
            let end = self.blocks.get(at + 1).map(|next| next.block.low());
            let (here, rest) = split(added, end);
            let (gone, left) = split(removed, end);
            (added, removed) = (rest, left);
            if here.is_empty() && gone.is_empty() {
                edited.push(Arc::clone(&placed.block));
            } else {
                edited.extend(self.edit_block(chunk, order, no, at, here, gone)?);
            }
        }
        Ok(Self::from_blocks(edited))
    }

    fn edit_block(
        &self,
        chunk: &mut ChunkTable<'_>,
        order: &impl ReadableTable<OrderKey44, ()>,
        no: TopicNo,
        block: usize,
        mut added: &[Item],
        mut removed: &[Item],
    ) -> Result<Vec<Arc<Block>>, Cause> {
        let mut chunks = Vec::new();
        for at in 0..self.blocks[block].block.chunks.len() {
            let found = self.found(block, at);
            let (here, rest) = split(added, found.next);
            let (gone, left) = split(removed, found.next);
            (added, removed) = (rest, left);
            if here.is_empty() && gone.is_empty() {
                chunks.push(found.chunk);
            } else {
                chunks.extend(settle(chunk, order, no, &found, here, gone)?);
            }
        }
        assert!(
            added.is_empty() && removed.is_empty(),
            "every edit falls into a chunk"
        );
        Ok(blocks(&chunks))
    }
}

impl Block {
    fn of(chunks: &[Chunk]) -> Self {
        Self {
            chunks: chunks.to_vec(),
        }
    }

    fn low(&self) -> Item {
        self.chunks.first().expect("a block has a chunk").low
    }
}

fn blocks(chunks: &[Chunk]) -> Vec<Arc<Block>> {
    let count = chunks.len().div_ceil(BLOCK_MAX).max(1);
    let size = chunks.len().div_ceil(count).max(1);
    chunks
        .chunks(size)
        .map(|chunks| Arc::new(Block::of(chunks)))
        .collect()
}

/// Items below `end`, and the rest.
fn split(items: &[Item], end: Option<Item>) -> (&[Item], &[Item]) {
    let at = end.map_or(items.len(), |end| items.partition_point(|item| *item < end));
    items.split_at(at)
}

/// What becomes of one chunk; writes its rows.
fn settle(
    table: &mut ChunkTable<'_>,
    order: &impl ReadableTable<OrderKey44, ()>,
    no: TopicNo,
    found: &Found,
    added: &[Item],
    removed: &[Item],
) -> Result<Vec<Chunk>, Cause> {
    let Chunk { low, mut sum } = found.chunk;
    let existed = sum.count > 0;
    for item in added {
        sum.insert(&item.id);
    }
    if sum.count < removed.len() as u64 {
        return Err(Cause::damaged("chunk row"));
    }
    for item in removed {
        sum.remove(&item.id);
    }
    if sum.count == 0 {
        if existed {
            table.remove(&order_key(no, &low))?;
        }
        return Ok(Vec::new());
    }
    let chunks = if sum.count <= CHUNK_MAX {
        vec![Chunk { low, sum }]
    } else {
        cut(&items_of(order, no, found)?, low, found.next.is_none())
    };
    let count: u64 = chunks.iter().map(|chunk| chunk.sum.count).sum();
    if count != sum.count {
        return Err(Cause::damaged("chunk row"));
    }
    for chunk in &chunks {
        table.insert(&order_key(no, &chunk.low), &row::encode_chunk(&chunk.sum))?;
    }
    Ok(chunks)
}

/// Cuts items into chunks: even ones, or full ones where history grows at its end.
fn cut(items: &[Item], low: Item, last: bool) -> Vec<Chunk> {
    let pieces = items.len().div_ceil(CHUNK_FILL);
    let size = if last {
        CHUNK_FILL
    } else {
        items.len().div_ceil(pieces)
    };
    let chunk = |(at, items): (usize, &[Item])| {
        let mut sum = Summary::EMPTY;
        for item in items {
            sum.insert(&item.id);
        }
        Chunk {
            low: if at == 0 { low } else { items[0] },
            sum,
        }
    };
    items.chunks(size).enumerate().map(chunk).collect()
}

/// The items of a chunk, from the table.
pub(crate) fn items_of(
    order: &impl ReadableTable<&'static [u8; 44], ()>,
    no: TopicNo,
    found: &Found,
) -> Result<Vec<Item>, Cause> {
    let (from, to) = bounds(no, found);
    order
        .range::<&[u8; 44]>(&from..&to)?
        .map(|row| Ok(item_of(row?.0.value())))
        .collect()
}

/// The keys that a chunk spans: inclusive, exclusive.
pub(crate) fn bounds(no: TopicNo, found: &Found) -> ([u8; 44], [u8; 44]) {
    let from = if found.first {
        lowest(no)
    } else {
        order_key(no, &found.chunk.low)
    };
    let to = found
        .next
        .map_or_else(|| highest(no), |next| order_key(no, &next));
    (from, to)
}

/// Below every entry of a topic.
pub(crate) fn lowest(no: TopicNo) -> [u8; 44] {
    order_key(no, &Item::new(0, [0; 32]))
}

/// Above every entry of a topic: times end one before the greatest number.
pub(crate) fn highest(no: TopicNo) -> [u8; 44] {
    order_key(no, &Item::new(u64::MAX, [0xff; 32]))
}

/// The key of an item.
pub(crate) fn order_key(no: TopicNo, item: &Item) -> [u8; 44] {
    let mut key = [0; 44];
    key[..4].copy_from_slice(&key::topic(no));
    key[4..12].copy_from_slice(&item.time.to_be_bytes());
    key[12..].copy_from_slice(&item.id);
    key
}

/// The item of a key.
pub(crate) fn item_of(key: &[u8; 44]) -> Item {
    let place = key::order_of(key);
    Item::new(place.time.as_millis(), *place.hash.as_bytes())
}
