//! A snapshot of the index: every answer comes from the same moment.

use std::sync::Arc;

use osier_nostr::{
    Commit, CountAnswer, Event, EventId, Filter, Hidden, Page, Published, Seconds, hidden_from_all,
    nip::nip17::Viewer,
};
use osier_store::{ItemPlace, ItemReader, ItemSource, RangeSet, Store};
use redb::{ReadTransaction, ReadableTable};

use crate::{
    apply::read_text,
    count,
    db::EventDb,
    error::EventDbError,
    fact, key, meta,
    records::Records,
    row::{EventRow, Expires, damaged},
    scan::Scan,
    schema::ReadTables,
};

/// The index as of one durable batch. Clones are the same snapshot. Holds disk pages until it is
/// dropped, so the file grows while it is kept. The gate of viewers is that of
/// [`crate::Settings::gate`].
#[derive(Debug, Clone)]
pub struct EventView {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) db: Arc<EventDb>,
    pub(crate) txn: ReadTransaction,
    pub(crate) tables: ReadTables,
    pub(crate) items: ItemReader,
    pub(crate) commit: Commit,
    /// Whether the index holds what the log holds.
    pub(crate) is_whole: bool,
}

/// Whether an event may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is not held and nothing hides it.
    New,
    /// It is held and nothing hides it from all.
    Held,
    /// It would not be shown (`NOS-32`).
    Hidden(Hidden),
}

impl Admission {
    /// What the publisher of an event that is not appended is told; none if it is to be appended.
    pub fn answer(self) -> Option<Published> {
        match self {
            Self::New => None,
            Self::Held => Some(Published::Duplicate),
            Self::Hidden(hidden) => Some(Published::Refused(hidden.reason())),
        }
    }
}

impl EventView {
    pub(crate) fn open(db: &Arc<EventDb>, store: &Store) -> Result<Self, EventDbError> {
        let fail = |cause| EventDbError::new("open", cause);
        let txn = store
            .begin_read()
            .map_err(|cause| EventDbError::new("open", cause))?;
        let open = || -> Result<Inner, redb::Error> {
            let tables = ReadTables::open(&txn)?;
            Ok(Inner {
                db: Arc::clone(db),
                items: ItemReader::open(&txn)?,
                commit: meta::commit(&tables.meta)?,
                is_whole: !meta::is_behind(&tables.meta)?,
                tables,
                txn,
            })
        };
        let inner = Arc::new(open().map_err(fail)?);
        Ok(Self { inner })
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The last batch that the snapshot holds.
    pub fn commit(&self) -> Commit {
        self.inner.commit
    }

    /// Whether the index holds all that the log holds. It does not while it is built; then no
    /// scan is drained and counts are approximate (`NOS-107`).
    pub fn is_whole(&self) -> bool {
        self.inner.is_whole
    }

    /// Whether a verified event may be appended as of this snapshot. What else waits for the same
    /// batch is not looked at.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn admit(&self, event: &Event, now: Seconds) -> Result<Admission, EventDbError> {
        let admit = || -> Result<Admission, redb::Error> {
            let facts = fact::read(&self.inner.tables);
            if let Some(hidden) = hidden_from_all(event, &facts, now)? {
                return Ok(Admission::Hidden(hidden));
            }
            let held = self
                .inner
                .tables
                .event
                .get(event.id().as_bytes())?
                .is_some();
            Ok(if held {
                Admission::Held
            } else {
                Admission::New
            })
        };
        admit().map_err(|cause| EventDbError::new("look an event up in", cause))
    }

    /// The event with an id, if it is held and this viewer may see it.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn get(
        &self,
        id: &EventId,
        viewer: &Viewer,
        now: Seconds,
    ) -> Result<Option<Event>, EventDbError> {
        let get = || -> Result<Option<Event>, redb::Error> {
            match self.inner.row(id)? {
                Some(row) if !row.expires.is_over(now) => {
                    let event = self.inner.load(id)?;
                    Ok(Some(event).filter(|event| viewer.sees(event)))
                }
                _ => Ok(None),
            }
        };
        get().map_err(|cause| EventDbError::new("read an event of", cause))
    }

    /// The stored events for a request: newest first, in one second the lowest id first (`NOS-16`),
    /// each once, each page with its own bounds. Nothing is read yet.
    pub fn scan(&self, pages: Vec<Page>, viewer: &Viewer, now: Seconds) -> Scan {
        Scan::new(self.clone(), pages, viewer, now)
    }

    /// The size of the union of what filters match (`NOS-67`), and for one filter with a tag, and
    /// without a limit, a sketch.
    ///
    /// It is counted from index rows alone, as long as one condition besides kinds and times is
    /// asked for; of others the events are read.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn count(
        &self,
        filters: &[Filter],
        viewer: &Viewer,
        now: Seconds,
    ) -> Result<CountAnswer, EventDbError> {
        count::run(&self.inner, filters, viewer, now)
            .map_err(|cause| EventDbError::new("count in", cause))
    }

    /// The set that a NIP-77 session compares (`NOS-80`). More than `cap` items are not gathered
    /// (`NOS-81`): then [`Records::gathered`] says so, its length is more than `cap`, and it holds
    /// nothing else that is right. What an order index holds (`NOS-105`) has no cap.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn records(
        &self,
        filter: &Filter,
        viewer: &Viewer,
        now: Seconds,
        cap: u64,
    ) -> Result<Records, EventDbError> {
        Records::of(self, filter, viewer, now, cap)
            .map_err(|cause| EventDbError::new("gather records of", cause))
    }
}

impl Inner {
    /// What is known of an event without its text; none if it is not in the index.
    pub(crate) fn row(&self, id: &EventId) -> Result<Option<EventRow>, redb::Error> {
        let row = self.tables.event.get(id.as_bytes())?;
        row.map(|row| EventRow::decode(row.value())).transpose()
    }

    /// The text of an event that is in the index.
    pub(crate) fn load(&self, id: &EventId) -> Result<Event, redb::Error> {
        if let Some(event) = self.db.cache.get(id) {
            return Ok(event);
        }
        let row = self
            .row(id)?
            .ok_or_else(|| damaged("an event that a row names"))?;
        let event = read_text(&self.items, row.place)?;
        self.db.cache.insert(&event);
        Ok(event)
    }

    /// The events at some places; what is there no longer is left out.
    pub(crate) fn events_at(
        &self,
        places: impl Iterator<Item = ItemPlace>,
    ) -> Result<Vec<Event>, redb::Error> {
        let mut events = Vec::new();
        for place in places {
            if self.items.item(place)?.is_some() {
                events.push(read_text(&self.items, place)?);
            }
        }
        Ok(events)
    }

    /// A set that can be reconciled.
    pub(crate) fn set(&self, set: u32) -> Result<RangeSet, redb::Error> {
        let version = self.tables.set.get(&set.to_be_bytes())?;
        let version = version.map_or(0, |row| u64::from_be_bytes(*row.value()));
        self.db.sets.open(&self.txn, set, version)
    }

    /// When the next event expires.
    pub(crate) fn next_expiry(&self) -> Result<Option<Seconds>, redb::Error> {
        let Some((key, _)) = self.tables.expiry.first()? else {
            return Ok(None);
        };
        let id = key::of_expiry(key.value());
        Ok(self.row(&id)?.and_then(|row| Expires::get(row.expires)))
    }

    /// Events that have expired and have not been purged.
    pub(crate) fn expired(&self, now: Seconds) -> Result<Vec<(EventId, EventRow)>, redb::Error> {
        let to = key::expiry(now, &EventId::from_bytes([0xff; 32]));
        let mut expired = Vec::new();
        for row in self.tables.expiry.range::<&[u8; 40]>(..=&to)? {
            let id = key::of_expiry(row?.0.value());
            let row = self
                .row(&id)?
                .ok_or_else(|| damaged("an event that expires"))?;
            expired.push((id, row));
        }
        Ok(expired)
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventView(as of {:?})", self.commit)
    }
}
