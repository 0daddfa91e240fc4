//! The projection: what the store calls in each of its transactions.

use std::sync::Arc;

use osier_core::{Entry, Verified, WireEntry};
use osier_nostr::Event;
use osier_store::{LogChange, Lsn, Projection, Store};

use crate::{error::EventDbError, index::EventIndex, settings::Settings};

/// The event index of one store. Give it to [`osier_store::StoreOptions::projection`] before the
/// store is opened, then [attach](EventDb::attach) it.
#[derive(Debug)]
pub struct EventDb {
    settings: Settings,
}

impl EventDb {
    /// An index with these settings, of no store yet.
    pub fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self { settings })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// This event has been verified, moments ago and by this node: when it comes with an entry,
    /// byte for byte, it is neither parsed nor verified again. Kept until it comes; of too many
    /// the oldest are forgotten, and verified when they come.
    pub fn vouch(&self, event: &Event) {
        let _ = event;
        todo!()
    }

    /// Brings the index up to what the store holds, and returns what reads it. `progress` is told
    /// how many entries have been looked at, and of how many. An index that another version or
    /// other settings made is built anew. Until this has returned once for a store, nothing is
    /// indexed.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn attach(
        self: &Arc<Self>,
        store: &Store,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EventIndex, EventDbError> {
        let _ = (store, progress);
        todo!()
    }
}

impl Projection for EventDb {
    fn stored(
        &self,
        _change: &LogChange<'_>,
        _entries: &[(Lsn, &Verified<Entry>)],
    ) -> Result<(), redb::Error> {
        todo!()
    }

    fn dropped(
        &self,
        _change: &LogChange<'_>,
        _entries: &[(Lsn, WireEntry)],
    ) -> Result<(), redb::Error> {
        todo!()
    }
}
