//! The index of Nostr events: a projection of the log, in the same file and the same transaction.
//!
//! ```text
//!  EventDb::new(Settings) --> StoreOptions::projection --> store opened
//!  EventDb::attach(&Store) --> EventIndex          what the log has and the index lacks is added
//!       vouch(&Event)                              before a batch: no second Schnorr check
//!  EventIndex::fresh(topic, lsn, now)              after a batch: what is to be fanned out
//!  EventIndex::view() --> EventView                a snapshot, for REQ, COUNT and NIP-77:
//!       scan(pages, viewer, now) --> Scan          newest first, in chunks
//!       count(filters, viewer, now)                from index keys
//!       records(filter, viewer, now, cap)          a `Storage` to reconcile over
//! ```

mod db;
mod error;
mod index;
mod records;
mod scan;
mod settings;
mod view;

pub use db::EventDb;
pub use error::EventDbError;
pub use index::{CheckReport, EventIndex, Fresh, RebuildReport};
pub use records::Records;
pub use scan::{Budget, Hit, Scan, ScanChunk, ScanOutcome};
pub use settings::{CACHE_BYTES_DEFAULT, Settings};
pub use view::{Admission, EventView};
