//! What the exchange asks of a set.

use std::{error::Error, ops::Range};

use crate::{Bound, Item, Summary};

/// A sorted set, addressed by rank: the item at rank 0 is the smallest.
///
/// A storage is a *snapshot*: between the first frame of an exchange and its last, every answer
/// must come from the same set, strictly ascending and without doubles. Ranks given to these
/// methods are at most [`Storage::len`], and no range is inverted; what happens otherwise is the
/// implementation's choice.
///
/// The trait is object-safe: `&dyn Storage<Error = E>` can be exchanged over.
///
/// *Cost.* One frame with `r` ranges asks for `r` ranks and at most `17 r + 1` summaries, and
/// walks only items whose ids go on the wire or are compared with ids that came from it. An index
/// that keeps chunks of items with their summaries, and prefix sums over the chunks, answers each
/// in O(log n) plus one or two chunks.
pub trait Storage {
    /// What can go wrong when reading.
    type Error: Error + 'static;

    /// How many items there are.
    ///
    /// # Errors
    ///
    /// When the set cannot be read.
    fn len(&self) -> Result<u64, Self::Error>;

    /// Whether there is no item.
    ///
    /// # Errors
    ///
    /// When the set cannot be read.
    fn is_empty(&self) -> Result<bool, Self::Error> {
        Ok(self.len()? == 0)
    }

    /// Count and sum of the items at `ranks`.
    ///
    /// # Errors
    ///
    /// When the set cannot be read.
    fn summary(&self, ranks: Range<u64>) -> Result<Summary, Self::Error>;

    /// The item at `rank`, which is below [`Storage::len`].
    ///
    /// # Errors
    ///
    /// When the set cannot be read.
    fn at(&self, rank: u64) -> Result<Item, Self::Error>;

    /// Calls `each` for every item at `ranks`, in ascending order.
    ///
    /// # Errors
    ///
    /// When the set cannot be read; `each` may have been called for a part of it.
    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), Self::Error>;

    /// How many items lie below `bound`: the rank of the first one that does not.
    ///
    /// # Errors
    ///
    /// When the set cannot be read.
    fn rank(&self, bound: &Bound) -> Result<u64, Self::Error>;
}

impl<S: Storage + ?Sized> Storage for &S {
    type Error = S::Error;

    fn len(&self) -> Result<u64, S::Error> {
        (**self).len()
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, S::Error> {
        (**self).summary(ranks)
    }

    fn at(&self, rank: u64) -> Result<Item, S::Error> {
        (**self).at(rank)
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), S::Error> {
        (**self).items(ranks, each)
    }

    fn rank(&self, bound: &Bound) -> Result<u64, S::Error> {
        (**self).rank(bound)
    }
}
