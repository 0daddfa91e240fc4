//! A store with an index, and the oracle that it is compared with.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use osier_core::{
    Entry, EntryDraft, EntryHash, NodeSecret, Seq, Timestamp, TopicId, Verified,
    testing::{secret, topic},
};
use osier_nostr::{
    ENTRY_KIND, Event, EventId, Filter, Page, PublicKey, Seconds,
    nip::nip17::{Gate, Viewer},
    testing::Oracle,
};
use osier_store::{Batch, Lsn, Store, StoreId, StoreOptions, testing::SimDisk};
use redb::{ReadableTable, backends::InMemoryBackend};

use crate::{Budget, EventDb, EventIndex, EventView, ScanOutcome, Settings};

pub(super) const ID: StoreId = StoreId::from_bytes([5; 16]);

pub(super) fn seconds(at: u64) -> Seconds {
    Seconds::new(at).unwrap()
}

/// Keys that sign nothing: most tests look at no signature.
pub(super) fn author(n: u8) -> PublicKey {
    PublicKey::from_bytes([n; 32])
}

pub(super) fn viewer(keys: &[u8]) -> Viewer {
    let mut viewer = Viewer::new(Gate::default());
    for n in keys {
        viewer.authenticate(author(*n));
    }
    viewer
}

pub(super) fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap()
}

pub(super) fn page(text: &str) -> Page {
    let filter = filter(text);
    let events_max = filter.limit().unwrap_or(500).min(500);
    Page {
        filter,
        events_max,
        whole_second: false,
    }
}

/// An event without a signature.
pub(super) fn event(n: u8, at: u64, kind: u16, tags: &[&[&str]], content: &str) -> Event {
    osier_nostr::testing::draft(at, kind, tags, content).unsigned(&author(n))
}

/// Writes entries of events, one author a topic.
#[derive(Debug)]
pub(super) struct Pen {
    secret: NodeSecret,
    last: BTreeMap<TopicId, (Seq, EntryHash)>,
}

impl Pen {
    pub(super) fn new(n: u64) -> Self {
        Self {
            secret: secret(n),
            last: BTreeMap::new(),
        }
    }

    pub(super) fn entry(&mut self, topic: TopicId, items: Vec<Bytes>) -> Verified<Entry> {
        let last = self.last.get(&topic).copied();
        let seq = last.map_or(Seq::FIRST, |(seq, _)| seq.next().unwrap());
        let draft = EntryDraft {
            topic,
            seq,
            prev: last.map(|(_, hash)| hash),
            deps: Vec::new(),
            time: Timestamp::from_millis(1_700_000_000_000 + seq.get()),
            kind: ENTRY_KIND,
            items,
        };
        let entry = draft.sign(&self.secret).unwrap();
        self.last.insert(topic, (seq, entry.hash()));
        entry
    }
}

/// A store, its index, and the oracle that has been told the same.
pub(super) struct Bench {
    pub(super) index: EventIndex,
    pub(super) oracle: Oracle,
    pub(super) pen: Pen,
    events: Vec<Event>,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let db = EventDb::new(settings);
        let projection: Arc<EventDb> = Arc::clone(&db);
        let options = StoreOptions::new()
            .cache_bytes(4 << 20)
            .projection(projection);
        let store = options
            .open_backend(InMemoryBackend::new(), "memory", ID)
            .unwrap();
        Self::over(&db, &store)
    }

    pub(super) fn on(disk: &SimDisk, settings: Settings) -> Self {
        let db = EventDb::new(settings);
        let projection: Arc<EventDb> = Arc::clone(&db);
        let options = StoreOptions::new()
            .cache_bytes(4 << 20)
            .projection(projection);
        let store = options.open_backend(disk.backend(), "disk", ID).unwrap();
        Self::over(&db, &store)
    }

    fn over(db: &Arc<EventDb>, store: &Store) -> Self {
        let index = db.attach(store, &mut |_, _| {}).unwrap();
        let oracle = Oracle::new(db.settings().urls.clone());
        Self {
            index,
            oracle,
            pen: Pen::new(1),
            events: Vec::new(),
        }
    }

    pub(super) fn store(&self) -> &Store {
        self.index.store()
    }

    pub(super) fn view(&self) -> EventView {
        self.index.view().unwrap()
    }

    /// Commits events as one entry of a topic.
    pub(super) fn commit_in(&mut self, topic: TopicId, events: &[Event]) {
        let items = events.iter().map(Event::to_bytes).collect();
        let mut batch = Batch::new();
        batch.push(self.pen.entry(topic, items));
        for event in events {
            self.index.db().vouch(event);
            self.oracle.receive(event);
            self.events.push(event.clone());
        }
        self.store().commit(&batch).unwrap();
    }

    pub(super) fn commit_one(&mut self, event: &Event) {
        self.commit(std::slice::from_ref(event));
    }

    pub(super) fn commit(&mut self, events: &[Event]) {
        self.commit_in(topic(), events);
    }

    /// Vouches again for all that came: unsigned events are verified by nothing else.
    pub(super) fn vouch_again(&self) {
        self.events
            .iter()
            .for_each(|event| self.index.db().vouch(event));
    }

    /// The index agrees with the log.
    pub(super) fn check(&self) {
        self.vouch_again();
        let report = self.index.check(&mut |_, _| {}).unwrap();
        assert!(report.is_clean(), "{:#?}", report.findings);
    }

    pub(super) fn fresh(&self, lsn: u64, now: u64) -> Vec<EventId> {
        let fresh = self
            .index
            .fresh(topic(), Lsn::new(lsn), seconds(now))
            .unwrap()
            .unwrap();
        fresh.events.iter().map(Event::id).collect()
    }

    /// All that a request gets.
    pub(super) fn req(&self, pages: &[Page], viewer: &Viewer, now: u64) -> (Vec<Event>, bool) {
        let (events, outcome) = scan(&self.view(), pages, viewer, now, Budget::default());
        assert_eq!(outcome.drained, !outcome.more);
        (events, outcome.drained)
    }

    pub(super) fn ids(&self, text: &str, viewer: &Viewer, now: u64) -> Vec<EventId> {
        self.req(&[page(text)], viewer, now)
            .0
            .iter()
            .map(Event::id)
            .collect()
    }

    pub(super) fn count(&self, text: &str, viewer: &Viewer, now: u64) -> u64 {
        self.view()
            .count(&[filter(text)], viewer, seconds(now))
            .unwrap()
            .count
    }
}

/// Reads a scan to its end.
pub(super) fn scan(
    view: &EventView,
    pages: &[Page],
    viewer: &Viewer,
    now: u64,
    budget: Budget,
) -> (Vec<Event>, ScanOutcome) {
    let mut scan = view.scan(pages.to_vec(), viewer, seconds(now));
    let mut events = Vec::new();
    loop {
        let chunk = scan.next(budget).unwrap();
        assert!(chunk.events.len() <= budget.events);
        events.extend(chunk.events.iter().map(|hit| hit.event().clone()));
        if let Some(outcome) = chunk.end {
            assert_eq!(scan.next(budget).unwrap().events, []);
            return (events, outcome);
        }
    }
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// The tables that are functions of the set of events, and of where the log holds them.
pub(super) fn dump(view: &EventView) -> BTreeMap<&'static str, Rows> {
    let tables = &view.inner().tables;
    let mut all = BTreeMap::new();
    macro_rules! rows {
        ($($name:ident),+) => {$(
            let rows = tables.$name.iter().unwrap().map(|row| {
                let (key, value) = row.unwrap();
                let value = bytes(&value.value());
                (key.value().to_vec(), value)
            });
            all.insert(stringify!($name), rows.collect());
        )+};
    }
    rows!(
        event,
        copy,
        facet,
        expiry,
        newest,
        deleted,
        deleted_address,
        vanished
    );
    all
}

/// The bytes of a value; none of `()`.
fn bytes<T: AsBytes>(value: &T) -> Vec<u8> {
    value.as_bytes()
}

trait AsBytes {
    fn as_bytes(&self) -> Vec<u8>;
}

impl AsBytes for () {
    fn as_bytes(&self) -> Vec<u8> {
        Vec::new()
    }
}

impl<const N: usize> AsBytes for &[u8; N] {
    fn as_bytes(&self) -> Vec<u8> {
        self.to_vec()
    }
}
