//! Chunks of one snapshot that were read lately, with the sum before each of their items.
//!
//! Negentropy asks for ranks and sums that lie near each other: both ends of a range, the two items
//! on either side of a bound, sixteen parts of a range. Each is a look into a chunk that is open.

use std::sync::{Arc, Mutex, PoisonError};

use osier_reconcile::{Item, Sum, Summary};

use crate::error::Cause;

/// Chunks that are kept: those of both ends of a range, and one in front of them. Each takes some
/// 40 KiB at its fullest.
const KEPT: usize = 3;

/// A chunk, read.
#[derive(Debug)]
pub(crate) struct OpenChunk {
    /// The rank of its first item.
    start: u64,
    pub(crate) items: Vec<Item>,
    /// The sum of the items before each.
    sums: Vec<Sum>,
}

impl OpenChunk {
    pub(crate) fn new(start: u64, items: Vec<Item>) -> Self {
        let mut sum = Sum::ZERO;
        let before = |item: &Item| {
            let before = sum;
            sum += Sum::from_le_bytes(&item.id);
            before
        };
        let sums = items.iter().map(before).collect();
        Self { start, items, sums }
    }

    /// What the first so many items sum up to; none if there are not more than so many.
    pub(crate) fn first(&self, count: usize) -> Option<Summary> {
        let sum = *self.sums.get(count)?;
        let count = count as u64;
        Some(Summary { count, sum })
    }
}

/// Those that were read lately, the last one first.
#[derive(Debug, Default)]
pub(crate) struct OpenChunks(Mutex<Vec<Arc<OpenChunk>>>);

impl OpenChunks {
    /// The chunk whose first item has a rank; read if it is not kept.
    pub(crate) fn get(
        &self,
        start: u64,
        read: impl FnOnce() -> Result<Vec<Item>, Cause>,
    ) -> Result<Arc<OpenChunk>, Cause> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let chunk = match kept.iter().position(|chunk| chunk.start == start) {
            Some(at) => kept.remove(at),
            None => Arc::new(OpenChunk::new(start, read()?)),
        };
        kept.insert(0, Arc::clone(&chunk));
        kept.truncate(KEPT);
        Ok(chunk)
    }
}
