//! Bringing the index up to the log: when it is attached, and when it is built anew (`NOS-100`).
//!
//! Events may come in while that goes on: the order does not matter (`NOS-104`), and what is looked
//! at twice is the same.

use osier_core::{Entry, SignedEntry, TopicId, Verified, WireEntry};
use osier_store::{ItemReader, LogItems, Lsn, TopicNo};
use redb::{ReadableTableMetadata, TableHandle, WriteTransaction};

use crate::{
    db::looked_at,
    error::EventDbError,
    index::EventIndex,
    limit, meta,
    row::damaged,
    schema::{self, Tables},
};

/// Tables whose rows a log that has been pruned cannot give again.
const FACTS: [&str; 4] = [
    "nostr_newest",
    "nostr_deleted",
    "nostr_deleted_address",
    "nostr_vanished",
];

/// What building anew did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RebuildReport {
    /// Entries looked at.
    pub entries: u64,
    /// Events that are in the index now.
    pub events: u64,
}

type Topics = Vec<(TopicId, TopicNo)>;

impl EventIndex {
    /// Drops the index and builds it from the log. Queries are answered from what there is
    /// meanwhile, and do not say that they are complete.
    ///
    /// What events that the log no longer holds have done to others is kept (`NOS-29`).
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn rebuild(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RebuildReport, EventDbError> {
        let topics = self.topics()?;
        self.clear(&topics, true)?;
        let entries = self.catch_up(&topics, progress)?;
        let view = self.view()?;
        let events = view.inner().tables.event.len();
        let events = events.map_err(|cause| fail(redb::Error::from(cause)))?;
        Ok(RebuildReport { entries, events })
    }

    /// Makes the index current: drops what is not, and adds what the log has and it lacks.
    pub(crate) fn bring_up(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), EventDbError> {
        let topics = self.topics()?;
        self.clear(&topics, false)?;
        self.catch_up(&topics, progress)?;
        Ok(())
    }

    /// The topics that are served.
    fn topics(&self) -> Result<Topics, EventDbError> {
        let txn = self.store.begin_read().map_err(fail)?;
        let all = self.store.topic_numbers(&txn).map_err(fail)?;
        Ok(all
            .into_iter()
            .filter(|(topic, _)| self.db.serves(topic))
            .collect())
    }

    /// Empties the index if it is not current, or if told to; says whether it is behind the log.
    fn clear(&self, topics: &Topics, always: bool) -> Result<(), EventDbError> {
        let run = |txn: &WriteTransaction, items: &LogItems<'_>| {
            if always || !meta::is_current(txn, &self.db.state)? {
                let mut pruned = false;
                for (_, number) in topics {
                    pruned |= items.log_end(*number)?.pruned > 0;
                }
                empty(self, txn, pruned)?;
            }
            let mut tables = Tables::open(txn)?;
            let mut behind = false;
            for (_, number) in topics {
                behind |= looked_at(&tables.topic, *number)? < items.log_end(*number)?.last;
            }
            meta::set_behind(&mut tables.meta, behind)
        };
        self.store
            .project("prepare the event index of", run)
            .map_err(fail)
    }

    /// Looks at all entries that have not been looked at; how many there were.
    fn catch_up(
        &self,
        topics: &Topics,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, EventDbError> {
        let total = self.entries_of(topics)?;
        let mut done = 0;
        progress(done, total);
        for topic in topics {
            loop {
                let step = self.catch_up_step(*topic)?;
                if step == 0 {
                    break;
                }
                done += step;
                progress(done, total.max(done));
            }
        }
        self.store
            .project("finish the event index of", |txn, _| {
                meta::set_behind(&mut txn.open_table(schema::meta)?, false)
            })
            .map_err(fail)?;
        Ok(done)
    }

    fn entries_of(&self, topics: &Topics) -> Result<u64, EventDbError> {
        let txn = self.store.begin_read().map_err(fail)?;
        let read = || -> Result<u64, redb::Error> {
            let items = ItemReader::open(&txn)?;
            let ends = topics
                .iter()
                .map(|(_, number)| Ok(items.log_end(*number)?.entries));
            ends.sum()
        };
        read().map_err(fail)
    }

    /// One step of one topic; 0 when there is nothing left. Signatures are checked before the
    /// transaction, so that others do not wait for them.
    fn catch_up_step(&self, (topic, number): (TopicId, TopicNo)) -> Result<u64, EventDbError> {
        let txn = self.store.begin_read().map_err(fail)?;
        let verify_ahead = || -> Result<(), redb::Error> {
            let after = looked_at(&txn.open_table(schema::topic)?, number)?;
            let entries = read_entries(&ItemReader::open(&txn)?.entries(
                number,
                after,
                limit::CATCH_UP_ENTRIES,
                limit::CATCH_UP_BYTES,
            )?)?;
            let named = entries.iter().map(|(lsn, entry)| (*lsn, &**entry));
            for arrival in self.db.arrivals(number, named) {
                self.db.vouch(&arrival.event);
            }
            Ok(())
        };
        verify_ahead().map_err(fail)?;
        drop(txn);
        let run = |txn: &WriteTransaction, items: &LogItems<'_>| {
            let after = looked_at(&txn.open_table(schema::topic)?, number)?;
            let page = items.entries(
                number,
                after,
                limit::CATCH_UP_ENTRIES,
                limit::CATCH_UP_BYTES,
            )?;
            let entries = read_entries(&page)?;
            let named = entries.iter().map(|(lsn, entry)| (*lsn, &**entry));
            let arrivals = self.db.arrivals(number, named);
            self.db.take_in(txn, items, (topic, number), arrivals)?;
            let last = match page.last() {
                Some((last, _)) => *last,
                None => items.log_end(number)?.last,
            };
            let mut table = txn.open_table(schema::topic)?;
            table.insert(&number.get().to_be_bytes(), &last.get().to_be_bytes())?;
            Ok(page.len() as u64)
        };
        self.store
            .project("build the event index of", run)
            .map_err(fail)
    }
}

fn fail(cause: impl Into<crate::error::Cause>) -> EventDbError {
    EventDbError::new("build", cause)
}

pub(crate) type Entries = Vec<(Lsn, Verified<Entry>)>;

/// Entries as they were when they were verified.
pub(crate) fn read_entries(page: &[(Lsn, WireEntry)]) -> Result<Entries, redb::Error> {
    let read = |(lsn, wire): &(Lsn, WireEntry)| {
        let entry = SignedEntry::parse(wire.clone()).map_err(|_| damaged("an entry of the log"))?;
        Ok((*lsn, entry.trust_stored()))
    };
    page.iter().map(read).collect()
}

/// Removes all tables but those that say how far batches and sets have been counted; also but the
/// facts, if the log cannot give them again.
fn empty(index: &EventIndex, txn: &WriteTransaction, keep_facts: bool) -> Result<(), redb::Error> {
    let names: Vec<_> = txn
        .list_tables()?
        .filter(|table| {
            let name = table.name();
            let counts = name == schema::meta.name() || name == schema::set.name();
            name.starts_with(schema::PREFIX) && !counts && !(keep_facts && FACTS.contains(&name))
        })
        .collect();
    for table in names {
        txn.delete_table(table)?;
    }
    let mut tables = Tables::open(txn)?;
    let mut versions = Vec::new();
    for row in redb::ReadableTable::iter(&tables.set)? {
        let (set, version) = row?;
        versions.push((*set.value(), u64::from_be_bytes(*version.value())));
    }
    for (set, version) in versions {
        tables.set.insert(&set, &(version + 1).to_be_bytes())?;
    }
    meta::set_state(&mut tables.meta, &index.db.state)
}
