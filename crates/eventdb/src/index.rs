//! The handle of an attached index.

use std::sync::Arc;

use osier_core::TopicId;
use osier_nostr::{Commit, Event, Seconds};
use osier_store::{Lsn, Store};

use crate::{db::EventDb, error::EventDbError, view::EventView};

/// The index of an open store. Clones are the same index.
#[derive(Debug, Clone)]
pub struct EventIndex {
    db: Arc<EventDb>,
    store: Store,
}

/// What an entry brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The batch that made it durable; to compare with [`EventView::commit`].
    pub commit: Commit,
    /// The events that came with it first and that nothing hides from all now, in the entry's
    /// order. Who may see them is for the fan-out to look at.
    pub events: Vec<Event>,
}

/// What building anew did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RebuildReport {
    /// Entries looked at.
    pub entries: u64,
    /// Events that are in the index now.
    pub events: u64,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Events in the index.
    pub events: u64,
    /// What is wrong: each says which row of which table, what is stored and what is right. The
    /// first [`crate::EventDb`] bound of them.
    pub findings: Vec<String>,
    /// More that are not listed.
    pub more: u64,
}

impl EventIndex {
    /// The index itself, for [`EventDb::vouch`].
    pub fn db(&self) -> &Arc<EventDb> {
        &self.db
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A snapshot of the last durable batch.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn view(&self) -> Result<EventView, EventDbError> {
        todo!()
    }

    /// What an entry that is durable brought, for the live fan-out. None if the index knows no
    /// such entry, or it carries no events.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn fresh(
        &self,
        topic: TopicId,
        lsn: Lsn,
        now: Seconds,
    ) -> Result<Option<Fresh>, EventDbError> {
        let _ = (topic, lsn, now);
        todo!()
    }

    /// Takes expired events out of the index, in steps of one transaction each; how many. They
    /// were hidden before: this frees room.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn purge(&self, now: Seconds) -> Result<u64, EventDbError> {
        let _ = now;
        todo!()
    }

    /// Drops the index and builds it from the log. Queries are answered from what there is
    /// meanwhile.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn rebuild(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RebuildReport, EventDbError> {
        let _ = progress;
        todo!()
    }

    /// Computes every table again from the log and compares.
    ///
    /// # Errors
    /// Our disk is at fault; what can be read and is wrong is a finding.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<CheckReport, EventDbError> {
        let _ = progress;
        todo!()
    }
}
