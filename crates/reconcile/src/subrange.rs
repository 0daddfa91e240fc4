//! A window of a storage.

use std::ops::Range;

use crate::{Bound, Item, Storage, Summary};

/// The items of a storage from a lower bound to below an upper bound, as a storage of its own.
///
/// Both ends of an exchange must take the same window: the wire does not carry it, and what lies
/// outside on one side only would be reported as a difference.
#[derive(Debug)]
pub struct SubRange<'a, S: ?Sized> {
    inner: &'a S,
    // Ranks of the inner storage; start <= end.
    start: u64,
    end: u64,
}

impl<'a, S: Storage + ?Sized> SubRange<'a, S> {
    /// The window of `inner` from `lower` (inclusive) to `upper` (exclusive); empty when they are
    /// out of order. Costs two ranks of the inner storage.
    ///
    /// # Errors
    ///
    /// When the inner storage cannot be read.
    pub fn new(inner: &'a S, lower: &Bound, upper: &Bound) -> Result<Self, S::Error> {
        let start = inner.rank(lower)?;
        let end = inner.rank(upper)?.max(start);
        Ok(Self { inner, start, end })
    }

    fn inner_ranks(&self, ranks: &Range<u64>) -> Range<u64> {
        let start = self.inner_rank(ranks.start);
        start..self.inner_rank(ranks.end).max(start)
    }

    fn inner_rank(&self, rank: u64) -> u64 {
        self.start.saturating_add(rank).min(self.end)
    }
}

impl<S: Storage + ?Sized> Storage for SubRange<'_, S> {
    type Error = S::Error;

    fn len(&self) -> Result<u64, S::Error> {
        Ok(self.end - self.start)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, S::Error> {
        self.inner.summary(self.inner_ranks(&ranks))
    }

    fn at(&self, rank: u64) -> Result<Item, S::Error> {
        self.inner.at(self.inner_rank(rank))
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), S::Error> {
        self.inner.items(self.inner_ranks(&ranks), each)
    }

    fn rank(&self, bound: &Bound) -> Result<u64, S::Error> {
        let rank = self.inner.rank(bound)?;
        Ok(rank.clamp(self.start, self.end) - self.start)
    }
}
