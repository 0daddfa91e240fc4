//! The projection: what the store calls in each of its transactions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use osier_core::{Entry, SignedEntry, TopicId, Verified, WireEntry};
use osier_nostr::{Commit, ENTRY_KIND, Event};
use osier_store::{ItemPlace, LogChange, LogItems, Lsn, Projection, RangeSets, Store, TopicNo};
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    apply::Writer,
    error::EventDbError,
    fact,
    index::EventIndex,
    key, limit, meta,
    recent::Recent,
    row::{EntryRow, damaged},
    schema,
    settings::Settings,
    verify::{Arrival, Verifier},
};

/// The event index of one store. Give it to [`osier_store::StoreOptions::projection`] before the
/// store is opened, then [attach](EventDb::attach) it.
#[derive(Debug)]
pub struct EventDb {
    settings: Settings,
    /// What the state row must say.
    pub(crate) state: Vec<u8>,
    pub(crate) sets: RangeSets,
    pub(crate) cache: Recent,
    verifier: Verifier,
    fresh: Mutex<BTreeMap<(TopicId, Lsn), FreshEvents>>,
    // The last batch of the transaction under way, if it has one, and the last that is durable.
    pub(crate) pending: AtomicU64,
    durable: AtomicU64,
}

/// The fresh events of an entry, until they are asked for.
#[derive(Debug, Clone)]
pub(crate) struct FreshEvents {
    pub(crate) commit: Commit,
    pub(crate) events: Vec<Event>,
}

impl EventDb {
    /// An index with these settings, of no store yet. Settings that make no difference to what is
    /// indexed (limits in filters) are left out.
    pub fn new(mut settings: Settings) -> Arc<Self> {
        let unlimited = |filter: osier_nostr::Filter| filter.with_limit(None);
        settings.compared = settings.compared.into_iter().map(unlimited).collect();
        Arc::new(Self {
            state: meta::state(&settings),
            sets: RangeSets::new(schema::ORDER, schema::CHUNK),
            cache: Recent::of_bytes(settings.cache_bytes),
            verifier: Verifier::new(),
            fresh: Mutex::default(),
            pending: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            settings,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// This event has been verified, moments ago and by this node: when it comes with an entry,
    /// byte for byte, it is neither parsed nor verified again. Kept until it comes; of more than
    /// [`limit::VOUCHED_EVENTS_MAX`] the oldest are forgotten, and verified when they come.
    pub fn vouch(&self, event: &Event) {
        self.verifier.vouched.insert(event);
    }

    /// Brings the index up to what the store holds, and returns what reads it. `progress` is told
    /// how many entries have been looked at, and of how many. An index that another version or
    /// other settings made is built anew (`NOS-100`). Until this has returned once, nothing is
    /// indexed, and what comes in meanwhile is indexed by it.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn attach(
        self: &Arc<Self>,
        store: &Store,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EventIndex, EventDbError> {
        let index = EventIndex::new(Arc::clone(self), store.clone());
        index.bring_up(progress)?;
        // A batch that has become durable meanwhile is later.
        let seen = index.view()?.commit().0;
        self.durable.fetch_max(seen, Ordering::SeqCst);
        Ok(index)
    }

    /// Whether events of a topic are indexed.
    pub(crate) fn serves(&self, topic: &TopicId) -> bool {
        self.settings
            .topics
            .as_ref()
            .is_none_or(|topics| topics.contains(topic))
    }

    /// The events among the items of entries.
    pub(crate) fn arrivals<'e>(
        &self,
        topic: TopicNo,
        entries: impl IntoIterator<Item = (Lsn, &'e Entry)>,
    ) -> Vec<Arrival> {
        let mut items: Vec<(ItemPlace, Bytes)> = Vec::new();
        for (lsn, entry) in entries {
            if entry.header().kind() != ENTRY_KIND {
                continue;
            }
            for (item, number) in entry.items().iter().zip(0_u16..) {
                let place = ItemPlace {
                    topic,
                    lsn,
                    item: number,
                };
                items.extend(item.bytes().map(|bytes| (place, bytes.clone())));
            }
        }
        self.verifier.events(&self.cache, items)
    }

    /// Takes in the events of entries, in the transaction of the log or in one of our own.
    pub(crate) fn take_in(
        &self,
        txn: &WriteTransaction,
        items: &LogItems<'_>,
        topic: (TopicId, TopicNo),
        arrivals: Vec<Arrival>,
    ) -> Result<(), redb::Error> {
        if arrivals.is_empty() {
            return Ok(());
        }
        let mut writer = Writer::new(self, txn, items)?;
        let entries: BTreeSet<Lsn> = arrivals.iter().map(|arrival| arrival.place.lsn).collect();
        let shown = writer.arrive(arrivals)?;
        let commit = meta::next_commit(&mut writer.tables.meta)?;
        self.pending.store(commit.0, Ordering::SeqCst);
        let mut first: BTreeMap<Lsn, Vec<Arrival>> = BTreeMap::new();
        for arrival in shown {
            first.entry(arrival.place.lsn).or_default().push(arrival);
        }
        for lsn in entries {
            let mut fresh = first.remove(&lsn).unwrap_or_default();
            fresh.sort_unstable_by_key(|arrival| arrival.place.item);
            let key = key::entry(topic.1, lsn);
            // One that is looked at again keeps what it said.
            if writer.tables.entry.get(&key)?.is_none() {
                let numbers = fresh
                    .iter()
                    .filter_map(|it| u8::try_from(it.place.item).ok());
                let row = EntryRow {
                    commit,
                    first: numbers.collect(),
                };
                writer.tables.entry.insert(&key, row.encode().as_slice())?;
                self.keep_fresh(topic.0, lsn, commit, fresh);
            }
        }
        Ok(())
    }

    fn keep_fresh(&self, topic: TopicId, lsn: Lsn, commit: Commit, arrivals: Vec<Arrival>) {
        let mut fresh = self.lock_fresh();
        while fresh.len() >= limit::FRESH_ENTRIES_MAX {
            fresh.pop_first();
        }
        let events = arrivals.into_iter().map(|arrival| arrival.event).collect();
        fresh.insert((topic, lsn), FreshEvents { commit, events });
    }

    /// The last batch that is durable.
    pub(crate) fn durable(&self) -> Commit {
        Commit(self.durable.load(Ordering::SeqCst))
    }

    /// The fresh events of an entry, if they are in memory; they are forgotten.
    pub(crate) fn take_fresh(&self, topic: TopicId, lsn: Lsn) -> Option<FreshEvents> {
        self.lock_fresh().remove(&(topic, lsn))
    }

    fn lock_fresh(&self) -> MutexGuard<'_, BTreeMap<(TopicId, Lsn), FreshEvents>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Projection for EventDb {
    fn ended(&self, kept: bool) {
        let pending = self.pending.swap(0, Ordering::SeqCst);
        if kept && pending > 0 {
            self.durable.store(pending, Ordering::SeqCst);
        }
    }

    fn stored(
        &self,
        change: &LogChange<'_>,
        entries: &[(Lsn, &Verified<Entry>)],
    ) -> Result<(), redb::Error> {
        let Some((first, _)) = entries.first().filter(|_| self.serves(&change.topic())) else {
            return Ok(());
        };
        if !meta::is_current(change.txn(), &self.state)? {
            return Ok(());
        }
        let named = entries.iter().map(|(lsn, entry)| (*lsn, &***entry));
        let arrivals = self.arrivals(change.number(), named);
        let topic = (change.topic(), change.number());
        self.take_in(change.txn(), change.items(), topic, arrivals)?;
        advance(
            change.txn(),
            change.number(),
            *first,
            entries.last().map_or(*first, |last| last.0),
        )
    }

    fn dropped(
        &self,
        change: &LogChange<'_>,
        entries: &[(Lsn, WireEntry)],
    ) -> Result<(), redb::Error> {
        if !self.serves(&change.topic()) || !meta::is_current(change.txn(), &self.state)? {
            return Ok(());
        }
        let mut writer = Writer::new(self, change.txn(), change.items())?;
        for (lsn, wire) in entries {
            writer
                .tables
                .entry
                .remove(&key::entry(change.number(), *lsn))?;
            let entry = SignedEntry::parse(wire.clone()).map_err(|_| damaged("a dropped entry"))?;
            let entry = entry.trust_stored();
            if entry.header().kind() != ENTRY_KIND {
                continue;
            }
            for (item, number) in entry.items().iter().zip(0_u16..) {
                let place = ItemPlace {
                    topic: change.number(),
                    lsn: *lsn,
                    item: number,
                };
                // What is no event is at no place of the index.
                let text = item
                    .bytes()
                    .and_then(|bytes| osier_nostr::read_item(bytes).ok());
                if let Some(event) = text {
                    writer.dropped(&event.trust_stored(), &place)?;
                }
            }
        }
        Ok(())
    }

    /// What events that have left the log did to others (`NOS-102`).
    fn back_up(&self, from: &ReadTransaction, to: &WriteTransaction) -> Result<u64, redb::Error> {
        fact::copy(from, to)
    }
}

/// Remembers how far the log has been looked at, where nothing was left out before.
fn advance(
    txn: &WriteTransaction,
    topic: TopicNo,
    first: Lsn,
    last: Lsn,
) -> Result<(), redb::Error> {
    let mut table = txn.open_table(schema::topic)?;
    if looked_at(&table, topic)?.get() + 1 == first.get() {
        table.insert(&topic.get().to_be_bytes(), &last.get().to_be_bytes())?;
    }
    Ok(())
}

/// The last place of a topic's log that has been looked at.
pub(crate) fn looked_at(
    table: &impl ReadableTable<&'static [u8; 4], &'static [u8; 8]>,
    topic: TopicNo,
) -> Result<Lsn, redb::Error> {
    let row = table.get(&topic.get().to_be_bytes())?;
    Ok(Lsn::new(
        row.map_or(0, |row| u64::from_be_bytes(*row.value())),
    ))
}
