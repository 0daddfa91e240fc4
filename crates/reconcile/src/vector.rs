//! The slow and obvious storage.

use std::{convert::Infallible, ops::Range};

use crate::{Bound, Item, Storage, Summary};

/// A sorted vector. A summary walks its range: the oracle against which cleverer storages are
/// tested, and good enough for a few thousand items.
///
/// Ranks past the end are read as the end; [`Storage::at`] panics there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorStorage {
    // Strictly ascending.
    items: Vec<Item>,
}

impl VectorStorage {
    /// Sorts the items and drops doubles.
    pub fn new(mut items: Vec<Item>) -> Self {
        items.sort_unstable();
        items.dedup();
        Self { items }
    }

    /// The items, strictly ascending.
    pub fn as_slice(&self) -> &[Item] {
        &self.items
    }

    fn slice(&self, ranks: &Range<u64>) -> &[Item] {
        let end = self.index(ranks.end);
        let start = self.index(ranks.start).min(end);
        self.items
            .get(start..end)
            .expect("both ends were brought into the vector")
    }

    fn index(&self, rank: u64) -> usize {
        usize::try_from(rank).map_or(self.items.len(), |rank| rank.min(self.items.len()))
    }
}

impl FromIterator<Item> for VectorStorage {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl Storage for VectorStorage {
    type Error = Infallible;

    fn len(&self) -> Result<u64, Infallible> {
        Ok(count(self.items.len()))
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, Infallible> {
        let mut summary = Summary::EMPTY;
        for item in self.slice(&ranks) {
            summary.insert(&item.id);
        }
        Ok(summary)
    }

    fn at(&self, rank: u64) -> Result<Item, Infallible> {
        let item = self.items.get(self.index(rank));
        Ok(*item.expect("the caller keeps the rank below the length"))
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), Infallible> {
        self.slice(&ranks).iter().copied().for_each(each);
        Ok(())
    }

    fn rank(&self, bound: &Bound) -> Result<u64, Infallible> {
        Ok(count(
            self.items.partition_point(|item| item.is_below(bound)),
        ))
    }
}

fn count(items: usize) -> u64 {
    u64::try_from(items).expect("a vector has fewer than 2^64 items")
}
