//! The redb store: log, chains, order index, frontier tree, group commit.
//!
//! One file a node, one writer, any number of snapshots. Synchronous: the node gives it a thread.
//! `specs/06-store.md` has the layout on disk byte by byte, what is durable when, and what a crash
//! can leave.
//!
//! ```text
//! Store::commit(&Batch) -> Committed     one transaction, one sync, then it is acknowledged
//! Store::snapshot(topic) -> Snapshot     `osier_proto::View`: what a session reads
//! Store::prune(topic, now_ms)            rings: the floor goes up, tips stay
//! Store::check, Store::backup            is it whole; a copy while in use
//! restore, compact                       a file that nobody has open
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | `open`, `look`, `migrate` | opening: look first, refuse what is not ours, bring old forward |
//! | `store` | the handle: transactions, snapshots, the order indexes in memory |
//! | `schema`, `key`, `row`, `log` | tables, keys, values |
//! | `batch`, `commit`, `write_rows` | the write path |
//! | `gate`, `writer`, `waiting`, `cut_off` | who may write in a granted topic |
//! | `causal` | what is named comes first in the log |
//! | `author`, `hole`, `frontier_tree`, `order_index` | what a batch changes besides the log |
//! | `snapshot`, `order_view`, `open_chunk`, `lookup` | the read path |
//! | `retention`, `unheard`, `drop` | rings |
//! | `gone` | items whose bytes have left |
//! | `topic`, `token`, `trust`, `control`, `point` | rows beside history |
//! | `projection`, `item` | indexes that others keep in the same transaction, and what they serve |
//! | `range_set` | sets of (time, id) with chunk sums for them: the `order_index` for hire |
//! | `backup`, `restore`, `check` | copies, what is put in their place, proofs |
//! | `error` | what went wrong, who is at fault, what to do |
//! | `testing` | (feature `testing`) back ends that crash and fail |
//!
//! Deliberately absent: clocks, randomness, threads, and anything that grows with history and is
//! read when a store is opened.

mod author;
mod backup;
mod batch;
mod causal;
mod check;
mod commit;
mod control;
mod cut_off;
mod drop;
mod error;
mod frontier_tree;
mod gate;
mod gone;
mod hole;
mod item;
mod key;
mod log;
mod look;
mod lookup;
mod migrate;
mod open;
mod open_chunk;
mod order_index;
mod order_view;
mod point;
mod projection;
mod range_set;
mod restore;
mod retention;
mod row;
mod schema;
mod snapshot;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod token;
mod topic;
mod trust;
mod unheard;
mod waiting;
mod write_rows;
mod writer;

pub use backup::BackupReport;
pub use batch::{Batch, Committed, CommittedTopic, Fate, Forked};
pub use check::{CheckReport, FINDINGS_MAX, Finding};
pub use control::{ControlRow, WORDS_KEPT_MAX};
pub use error::{StoreError, StoreFault};
pub use item::{ItemPlace, ItemReader, ItemSource, LogEnd, LogItems};
pub use key::TopicNo;
pub use open::{CACHE_BYTES_DEFAULT, StoreOptions};
// What a projection's signatures speak of.
pub use osier_proto::{Lsn, StoreId, ViewError};
pub use osier_reconcile::{Bound, Item, Storage, Sum, Summary, VectorStorage};
pub use projection::{LogChange, Projection};
pub use range_set::{RangeSet, RangeSets};
pub use restore::{Compacted, Restored, compact, restore};
pub use retention::{FUTURE_SLACK_MS, PruneReport, Retention};
pub use snapshot::Snapshot;
pub use store::Store;
pub use topic::{TOPIC_RECORD_BYTES_MAX, TopicRecord};
pub use trust::TrustRow;
pub use unheard::{UNHEARD_KEPT_MAX, UNHEARD_STRETCH_MAX, Unheard};
pub use waiting::{
    WAITING_BYTES_MAX, WAITING_BYTES_PER_AUTHOR_MAX, WAITING_MAX, WAITING_PER_AUTHOR_MAX,
};

#[cfg(test)]
mod tests;
