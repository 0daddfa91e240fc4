//! The handle of an attached index.

use std::sync::Arc;

use osier_core::TopicId;
use osier_nostr::{Commit, Event, Seconds};
use osier_store::{ItemPlace, Lsn, Store};

use crate::{
    apply::Writer, db::EventDb, error::EventDbError, key, limit, meta, row::EntryRow,
    view::EventView,
};

/// The index of an open store. Clones are the same index.
#[derive(Debug, Clone)]
pub struct EventIndex {
    pub(crate) db: Arc<EventDb>,
    pub(crate) store: Store,
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

impl EventIndex {
    pub(crate) fn new(db: Arc<EventDb>, store: Store) -> Self {
        Self { db, store }
    }

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
        EventView::open(&self.db, &self.store)
    }

    /// What an entry that is durable brought, for the live fan-out (`NOS-108`). None if the index
    /// knows no such entry, or it carries no events. An entry that is told of twice brings the
    /// same again.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn fresh(
        &self,
        topic: TopicId,
        lsn: Lsn,
        now: Seconds,
    ) -> Result<Option<Fresh>, EventDbError> {
        let view = self.view()?;
        let inner = view.inner();
        let fail = |cause| EventDbError::new("read what is new in", cause);
        let Some(number) = self
            .store
            .topic_number(&inner.txn, &topic)
            .map_err(|cause| EventDbError::new("read what is new in", cause))?
        else {
            return Ok(None);
        };
        let read = || -> Result<Option<Fresh>, redb::Error> {
            let Some(row) = inner.tables.entry.get(&key::entry(number, lsn))? else {
                return Ok(None);
            };
            let row = EntryRow::decode(row.value())?;
            let kept = self.db.take_fresh(topic, lsn);
            let kept = kept.filter(|kept| kept.commit == row.commit);
            let events = if let Some(kept) = kept {
                kept.events
            } else {
                let place = |item: &u8| ItemPlace {
                    topic: number,
                    lsn,
                    item: u16::from(*item),
                };
                inner.events_at(row.first.iter().map(place))?
            };
            let mut shown = Vec::with_capacity(events.len());
            for event in events {
                if let Some(row) = inner.row(&event.id())?
                    && !row.expires.is_over(now)
                {
                    shown.push(event);
                }
            }
            Ok(Some(Fresh {
                commit: row.commit,
                events: shown,
            }))
        };
        read().map_err(fail)
    }

    /// The last batch that is durable. Costs nothing, unlike [`EventView::commit`] of a new view,
    /// which may be later by what has become durable since.
    pub fn commit(&self) -> Commit {
        self.db.durable()
    }

    /// Takes expired events out of the index, in steps of one transaction each; how many. They
    /// were hidden before, and do not come in again: this frees room.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn purge(&self, now: Seconds) -> Result<u64, EventDbError> {
        let mut purged = 0;
        loop {
            let step = self.purge_step(now)?;
            purged += step;
            if step < limit::PURGE_STEP_EVENTS as u64 {
                return Ok(purged);
            }
        }
    }

    fn purge_step(&self, now: Seconds) -> Result<u64, EventDbError> {
        let view = self.view()?;
        let nothing = view
            .inner()
            .next_expiry()
            .map_err(|cause| EventDbError::new("purge", cause))?;
        if nothing.is_none_or(|at| at > now) {
            return Ok(0);
        }
        drop(view);
        let step = self
            .store
            .project("purge the event index of", |txn, items| {
                if !meta::is_current(txn, &self.db.state)? {
                    return Ok(0);
                }
                let mut writer = Writer::new(&self.db, txn, items)?;
                let to = key::expiry(now, &osier_nostr::EventId::from_bytes([0xff; 32]));
                let mut ids = Vec::new();
                for row in redb::ReadableTable::range::<&[u8; 40]>(&writer.tables.expiry, ..=&to)?
                    .take(limit::PURGE_STEP_EVENTS)
                {
                    ids.push(key::of_expiry(row?.0.value()));
                }
                let mut gone = Vec::with_capacity(ids.len());
                for id in &ids {
                    gone.extend(writer.load(id)?);
                }
                for event in &gone {
                    writer.doom(event, osier_nostr::Hidden::Expired)?;
                }
                writer.change(&[], &gone)?;
                if ids.len() < limit::PURGE_STEP_EVENTS {
                    let until = meta::purged(&writer.tables.meta)?.max(now);
                    meta::set_purged(&mut writer.tables.meta, until)?;
                }
                Ok(ids.len() as u64)
            });
        step.map_err(|cause| EventDbError::new("purge", cause))
    }
}
