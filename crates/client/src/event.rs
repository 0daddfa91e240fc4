//! What a watcher is told.

use osier_core::{Entry, Verified};
use osier_engine::{EntryPhase, SyncEvent};

use crate::{error::Error, position::Position};

/// One thing that a watcher is told, in order.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, and most are entries"
)]
pub enum Event {
    /// An entry, each exactly once, in the order of this node's log.
    Entry {
        /// The entry; its signature, or a signature that commits to it, was verified.
        entry: Verified<Entry>,
        /// Its place: a watch from here goes on behind it.
        position: Position,
        /// Whether it was caught up on or came as it was written.
        phase: EntryPhase,
    },
    /// Something happened to the topic. Entries that precede it have been told before it.
    Sync(SyncEvent),
    /// The stream cannot go on: the log could not be read. Always last.
    Broken(Error),
}
