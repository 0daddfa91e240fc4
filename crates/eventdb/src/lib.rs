//! The index of Nostr events: a projection of the log, in the same file and the same transaction.
//!
//! ```text
//!  EventDb::new(Settings) --> StoreOptions::projection --> store opened
//!  EventDb::attach(&Store) --> EventIndex          what the log has and the index lacks is added
//!       vouch(&Event)                              before a batch: no second Schnorr check
//!  EventIndex::fresh(topic, lsn, now)              after a batch: what is to be fanned out
//!  EventIndex::view() --> EventView                a snapshot, for REQ, COUNT and NIP-77:
//!       admit(&event, now)                         may it be appended: new, held, hidden
//!       scan(pages, viewer, now) --> Scan          newest first, in chunks
//!       count(filters, viewer, now)                from index rows
//!       records(filter, viewer, now, cap)          a `Storage` to reconcile over
//! ```
//!
//! An event is found under its *facets*: its author, its kind, each tag with its value. A facet is
//! hashed to 16 bytes, and its rows are in the order of answers:
//!
//! ```text
//!  facet 16 | inverted time 8 | id 32  ->  kind 2, expiration 5, its part of a sketch 2
//! ```
//!
//! So any condition is one range, pages and counts and reconciliation read keys alone, and the text
//! is copied from the log. `specs/07-nostr.md` has the tables byte by byte.
//!
//! Every row is a function of the set of events (`NOS-104`); what they did to others outlasts them
//! (`NOS-102`); a plan is a range or a merge of ranges (`NOS-109`).
//!
//! | module | what it holds |
//! | --- | --- |
//! | `settings`, [`limit`] | what an operator sets; every bound |
//! | `db`, `index`, `build` | the projection; its handle; bringing it up to the log |
//! | `schema`, `key`, `row`, `meta` | tables, keys, values; what the index is |
//! | `verify`, `recent` | which items are events; what was used lately |
//! | `fact` | what events did to others, on disk |
//! | `facet`, `sets`, `sketch` | under what an event is found, compared and counted |
//! | `apply`, `doom` | the write path; which texts may leave the log |
//! | `plan`, `cursor`, `merge` | from a filter to candidates in order |
//! | `view`, `scan`, `count`, `records` | the read path |
//! | `check` | is it what the log says |
//! | `error` | what went wrong |
//!
//! Deliberately absent: clocks (each question brings its `now`), threads but for signatures, and a
//! copy of any event's text on disk.

mod apply;
mod build;
mod check;
mod count;
mod covered;
mod cursor;
mod db;
mod doom;
mod error;
mod facet;
mod fact;
mod index;
mod key;
pub mod limit;
mod merge;
mod meta;
mod plan;
mod recent;
mod records;
mod row;
mod scan;
mod schema;
mod sets;
mod settings;
mod sketch;
mod verify;
mod view;

pub use build::RebuildReport;
pub use check::{CheckReport, Finding};
pub use covered::CoveredKey;
pub use db::EventDb;
pub use error::EventDbError;
pub use index::{EventIndex, Fresh};
pub use records::Records;
pub use scan::{Budget, Hit, Scan, ScanChunk, ScanOutcome};
pub use settings::{CACHE_BYTES_DEFAULT, Settings};
pub use view::{Admission, EventView};

#[cfg(test)]
mod tests;
