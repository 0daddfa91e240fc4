//! What a NIP-77 session compares.

use std::ops::Range;

use osier_store::{Bound, Item, Storage, Summary, ViewError};

/// A set of (time, id) as of one snapshot; it owns what it needs, and can be sent between threads.
#[derive(Debug)]
pub struct Records {}

impl Storage for Records {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        todo!()
    }

    fn summary(&self, _ranks: Range<u64>) -> Result<Summary, ViewError> {
        todo!()
    }

    fn at(&self, _rank: u64) -> Result<Item, ViewError> {
        todo!()
    }

    fn items(&self, _ranks: Range<u64>, _each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        todo!()
    }

    fn rank(&self, _bound: &Bound) -> Result<u64, ViewError> {
        todo!()
    }
}
