//! Sorted sets of (time, id) with chunk sums, for projections: what `order` and `chunk` are to the
//! log (`STO-5`), in tables of the projection's own.
//!
//! A set has a number and a version. Each edit makes the next version; who edits keeps the version
//! in a row of the same transaction, and who reads names the one of its snapshot, so that chunks
//! kept in memory are never those of another moment.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use osier_proto::ViewError;
use osier_reconcile::{Bound, Item, Storage, Summary};
use redb::{ReadTransaction, Table, TableDefinition, TableError, WriteTransaction};

use crate::{
    error::Cause,
    key::TopicNo,
    order_index::{self, OrderIndex},
    order_view::OrderView,
    write_rows,
};

type Key = &'static [u8; 44];

/// Versions of one set that are kept in memory: the durable one, the one under way, and one for
/// readers who have just begun.
const VERSIONS_KEPT: usize = 3;

/// Chunks of a set by version, ascending.
type Versions = Vec<(u64, Arc<OrderIndex>)>;

/// Any number of sets in two tables.
pub struct RangeSets {
    order: TableDefinition<'static, Key, ()>,
    chunk: TableDefinition<'static, Key, &'static [u8; 36]>,
    kept: Mutex<BTreeMap<u32, Versions>>,
}

impl RangeSets {
    /// Sets in the tables with these names.
    pub const fn new(order: &'static str, chunk: &'static str) -> Self {
        Self {
            order: TableDefinition::new(order),
            chunk: TableDefinition::new(chunk),
            kept: Mutex::new(BTreeMap::new()),
        }
    }

    /// Removes some items and adds others: makes version `version + 1` of `version`. Both lists are
    /// sorted, without doubles, and share no item; what is removed is there, what is added is not.
    ///
    /// # Errors
    /// Our disk is at fault, or an item to remove is not there, or one to add is.
    pub fn edit(
        &self,
        txn: &WriteTransaction,
        set: u32,
        version: u64,
        added: &[Item],
        removed: &[Item],
    ) -> Result<(), redb::Error> {
        let mut order = txn.open_table(self.order)?;
        let mut chunk = txn.open_table(self.chunk)?;
        let no = TopicNo(set);
        let before = match self.find(set, version) {
            Some(index) => index,
            None => Arc::new(OrderIndex::load(&chunk, no)?),
        };
        write(&mut order, no, added, removed)?;
        let after = before.edit(&mut chunk, &order, no, added, removed)?;
        self.keep(set, version + 1, Arc::new(after));
        Ok(())
    }

    /// Removes every set. The caller's versions must go on from where they are.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn clear(&self, txn: &WriteTransaction) -> Result<(), redb::Error> {
        txn.delete_table(self.order)?;
        txn.delete_table(self.chunk)?;
        Ok(())
    }

    /// A set as of a transaction, in which it has this version. A set that nobody has edited is
    /// empty.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn open(
        &self,
        txn: &ReadTransaction,
        set: u32,
        version: u64,
    ) -> Result<RangeSet, redb::Error> {
        let order = match txn.open_table(self.order) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(RangeSet(None)),
            order => order?,
        };
        let chunk = txn.open_table(self.chunk)?;
        let kept = self.find(set, version);
        let missing = kept.is_none();
        let view = OrderView::new(Some(TopicNo(set)), order, chunk, kept);
        if missing {
            self.offer(set, version, view.index()?);
        }
        Ok(RangeSet(Some(view)))
    }

    fn find(&self, set: u32, version: u64) -> Option<Arc<OrderIndex>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.get(&set)?.iter().find(|(of, _)| *of == version);
        found.map(|(_, index)| Arc::clone(index))
    }

    /// A version that a transaction makes. One of the same number is of a transaction that was
    /// undone, and later ones are of none at all.
    fn keep(&self, set: u32, version: u64, index: Arc<OrderIndex>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = kept.entry(set).or_default();
        versions.retain(|(of, _)| *of < version);
        versions.push((version, index));
        let surplus = versions.len().saturating_sub(VERSIONS_KEPT);
        versions.drain(..surplus);
    }

    /// A version that a reader has loaded.
    fn offer(&self, set: u32, version: u64, index: &Arc<OrderIndex>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = kept.entry(set).or_default();
        if versions.is_empty() {
            versions.push((version, Arc::clone(index)));
        }
    }
}

impl std::fmt::Debug for RangeSets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RangeSets(in {})", self.order)
    }
}

fn write(
    order: &mut Table<'_, Key, ()>,
    no: TopicNo,
    added: &[Item],
    removed: &[Item],
) -> Result<(), Cause> {
    for item in removed {
        let was = order.remove(&order_index::order_key(no, item))?;
        if was.is_none() {
            return Err(Cause::damaged("an item that a set should hold"));
        }
    }
    let keys: Vec<[u8; 44]> = added
        .iter()
        .map(|item| order_index::order_key(no, item))
        .collect();
    // An item that is there already cannot be put before itself: that is an error.
    write_rows::insert_runs(order, &keys)
}

/// One set as of one transaction: ranks and sums in O(log n), and its items in order.
pub struct RangeSet(Option<OrderView>);

impl RangeSet {
    /// The items before a place, the last one first, each with its own cost only: for pages.
    /// At most so many.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn before(&self, place: &Item, items_max: usize) -> Result<Vec<Item>, redb::Error> {
        match &self.0 {
            None => Ok(Vec::new()),
            Some(view) => Ok(view.items_before(place, items_max)?),
        }
    }

    /// The items from a place on, in order. At most so many.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn from(&self, place: &Item, items_max: usize) -> Result<Vec<Item>, redb::Error> {
        match &self.0 {
            None => Ok(Vec::new()),
            Some(view) => Ok(view.items_from(place, items_max)?),
        }
    }
}

impl std::fmt::Debug for RangeSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RangeSet")
    }
}

impl Storage for RangeSet {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        self.0.as_ref().map_or(Ok(0), Storage::len)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, ViewError> {
        let empty = Ok(Summary::EMPTY);
        self.0.as_ref().map_or(empty, |view| view.summary(ranks))
    }

    fn at(&self, rank: u64) -> Result<Item, ViewError> {
        let missing = || ViewError {
            doing: "reading a set",
            cause: "it is empty".to_owned(),
        };
        self.0.as_ref().ok_or_else(missing)?.at(rank)
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        self.0
            .as_ref()
            .map_or(Ok(()), |view| view.items(ranks, each))
    }

    fn rank(&self, bound: &Bound) -> Result<u64, ViewError> {
        self.0.as_ref().map_or(Ok(0), |view| view.rank(bound))
    }
}

#[cfg(test)]
mod tests {
    use osier_reconcile::VectorStorage;
    use proptest::prelude::*;
    use redb::{Database, ReadableDatabase, backends::InMemoryBackend};

    use super::*;

    fn item(n: u16) -> Item {
        let mut id = [0; 32];
        id[..2].copy_from_slice(&n.to_be_bytes());
        Item::new(u64::from(n / 7), id)
    }

    #[test]
    fn what_is_there_cannot_be_added_and_what_is_not_cannot_be_removed() {
        let db = Database::builder()
            .create_with_backend(InMemoryBackend::new())
            .unwrap();
        let sets = RangeSets::new("order_x", "chunk_x");
        let txn = db.begin_write().unwrap();
        let some: Vec<Item> = (0..20).map(item).collect();
        sets.edit(&txn, 0, 0, &some, &[]).unwrap();
        assert!(sets.edit(&txn, 0, 1, &some[5..6], &[]).is_err());
        assert!(sets.edit(&txn, 0, 1, &[item(30)], &[item(31)]).is_err());
    }

    proptest! {
        /// Edits and undone edits leave a set that answers like a sorted vector.
        #[test]
        fn a_set_answers_like_a_vector(
            edits in prop::collection::vec(
                (prop::collection::btree_set(0_u16..4000, 0..900), any::<bool>()), 1..8),
        ) {
            let db = Database::builder().create_with_backend(InMemoryBackend::new()).unwrap();
            let sets = RangeSets::new("order_x", "chunk_x");
            let mut held: std::collections::BTreeSet<Item> = std::collections::BTreeSet::new();
            let mut version = 0;
            for (toggled, undone) in edits {
                let toggled: Vec<Item> = toggled.into_iter().map(item).collect();
                let (removed, added): (Vec<Item>, Vec<Item>) =
                    toggled.into_iter().partition(|item| held.contains(item));
                let txn = db.begin_write().unwrap();
                sets.edit(&txn, 3, version, &added, &removed).unwrap();
                if undone {
                    txn.abort().unwrap();
                } else {
                    txn.commit().unwrap();
                    version += 1;
                    held.retain(|item| !removed.contains(item));
                    held.extend(added);
                }
                let set = sets.open(&db.begin_read().unwrap(), 3, version).unwrap();
                let oracle: VectorStorage = held.iter().copied().collect();
                let len = oracle.len().unwrap();
                prop_assert_eq!(set.len().unwrap(), len);
                let middle = len / 3..len - len / 4;
                prop_assert_eq!(
                    set.summary(middle.clone()).unwrap(), oracle.summary(middle).unwrap());
                let place = item(2000);
                let before: Vec<Item> = held.range(..place).rev().take(9).copied().collect();
                prop_assert_eq!(set.before(&place, 9).unwrap(), before);
                let from: Vec<Item> = held.range(place..).take(9).copied().collect();
                prop_assert_eq!(set.from(&place, 9).unwrap(), from);
            }
        }
    }
}
