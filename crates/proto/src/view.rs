//! The reads that a session needs of a topic, all from one snapshot.

use osier_core::{EntryHash, Head, NodeId, OrderKey, Seq, TopicId, WireEntry};
use osier_reconcile::{Item, Storage};
use serde::{Deserialize, Serialize};

use crate::message::Summary;

/// Local sequence number: an entry's place in this node's log of a topic, from 1. Never compared
/// with another node's.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Lsn(u64);

impl Lsn {
    /// Before the first entry.
    pub const START: Self = Self(0);

    /// The place with this number.
    pub const fn new(lsn: u64) -> Self {
        Self(lsn)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Names one store for life; 16 random bytes drawn when it is made. A wiped store has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StoreId([u8; 16]);

impl StoreId {
    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Where a snapshot stands in its store's log of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorePoint {
    /// Which store.
    pub store: StoreId,
    /// The last place in the log; [`Lsn::START`] when empty.
    pub last: Lsn,
    /// How many entries retention has removed so far. A resume token is only good while it stands.
    pub pruned: u64,
}

/// A stretch of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPage {
    /// Entries in log order with their places; places of pruned entries are passed over.
    pub entries: Vec<(Lsn, WireEntry)>,
    /// Whether the snapshot holds nothing after the last of these.
    pub done: bool,
}

/// A read or a write that failed: our own disk is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the store while {doing}: {cause}")]
pub struct ViewError {
    /// What was being done.
    pub doing: &'static str,
    /// The store's own words.
    pub cause: String,
}

/// One topic of one store, frozen. All methods answer from the same moment.
///
/// Costs are those of a store with an order index: nothing here is O(history) but the scans that
/// say so.
#[expect(
    clippy::missing_errors_doc,
    reason = "said once, at the first method that can fail"
)]
pub trait View: Send {
    /// Entries, state hash, authors and coverage; O(1).
    fn summary(&self) -> Summary;

    /// Where the snapshot stands in the log; O(1).
    fn point(&self) -> StorePoint;

    /// Whether the entry is held.
    ///
    /// # Errors
    /// When the disk cannot be read; so for every method below.
    fn holds(&self, hash: &EntryHash) -> Result<bool, ViewError>;

    /// An entry with the items that are left of it.
    fn entry(&self, hash: &EntryHash) -> Result<Option<WireEntry>, ViewError>;

    /// Entries after a place in the log, at most `entries_max` and, beyond the first, at most
    /// `bytes_max` together.
    fn log(&self, after: Lsn, entries_max: usize, bytes_max: usize) -> Result<LogPage, ViewError>;

    /// All tips of authors greater than `after`, sorted by (author, seq, hash); stops at a whole
    /// author once `heads_min` are found, so an empty answer means there are no more.
    fn heads(&self, after: Option<NodeId>, heads_min: usize) -> Result<Vec<Head>, ViewError>;

    /// Held entries of an author with a seq greater than `after` (all of them for none), every
    /// branch, ascending by (seq, hash), at most `max`.
    fn chain(
        &self,
        author: &NodeId,
        after: Option<Seq>,
        max: usize,
    ) -> Result<Vec<(Seq, EntryHash)>, ViewError>;

    /// Number of holes: hashes that a held entry names as `prev` or `dep` and that are not held.
    fn hole_count(&self) -> u64;

    /// Holes greater than `after` in hash order, at most `max`.
    fn holes(&self, after: Option<EntryHash>, max: usize) -> Result<Vec<EntryHash>, ViewError>;

    /// The author whose held entry names this hash as its `prev` (rule V); none if nobody's does.
    fn linked_by(&self, hash: &EntryHash) -> Result<Option<NodeId>, ViewError>;

    /// Whether a held entry of `author` names this hash as its `prev` (rule V). A store in which
    /// several authors can name one hash answers this itself: [`View::linked_by`] knows only one,
    /// and a hostile author must not be able to hide an honest link by naming the same hash.
    fn links(&self, author: &NodeId, hash: &EntryHash) -> Result<bool, ViewError> {
        Ok(self.linked_by(hash)? == Some(*author))
    }

    /// Where the entry stands in the log, for sending in log order; none if it is not held or the
    /// store does not know. A wrong answer costs order, never correctness.
    fn place(&self, hash: &EntryHash) -> Result<Option<Lsn>, ViewError> {
        let _ = hash;
        Ok(None)
    }

    /// Entries held that carry the owner's words and stand below a floor, tips or not, for a ring
    /// and for those who join through one (`SES-9`); in the order of the owner's chain.
    fn low_words(&self, _floor: &OrderKey) -> Result<Vec<EntryHash>, ViewError> {
        Ok(Vec::new())
    }

    /// The entries in range order, for negentropy: items are made by [`range_item`].
    fn order(&self) -> &dyn Storage<Error = ViewError>;
}

/// An entry's item in the range order. Negentropy keeps the time `u64::MAX` for itself, so an entry
/// that claims it stands one millisecond earlier there: every store must use this (`SES-8`).
pub fn range_item(key: &OrderKey) -> Item {
    let time = key.time.as_millis().min(u64::MAX - 1);
    Item::new(time, *key.hash.as_bytes())
}

/// Where snapshots come from.
pub trait Source: Send + Sync {
    /// A snapshot of a topic as of the last durable batch. An unknown topic is an empty one.
    ///
    /// # Errors
    /// When the disk cannot be read.
    fn view(&self, topic: TopicId) -> Result<Box<dyn View>, ViewError>;
}
