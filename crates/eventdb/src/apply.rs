//! The write path: what events that come and entries that go change in the index.
//!
//! Everything here is a function of the set of events (`NOS-29`, `NOS-104`): which of them came
//! first, and how they were cut into batches, leaves no trace but in `entry`.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use osier_nostr::{Event, EventId, EventKind, Letter, Seconds, UnverifiedEvent, effects};
use osier_store::{Item, ItemPlace, ItemSource, LogItems};
use redb::{CursorError, ReadableTable, Table, WriteTransaction};

use crate::{
    db::EventDb,
    facet,
    fact::{self, Concerns},
    key::{self, Facet, FacetKey},
    row::{EventRow, Expires, FACET_BYTES, FacetRow, damaged},
    schema::Tables,
    sets,
    sketch::SketchChanges,
    verify::Arrival,
};

/// Events that are removed at once: what is loaded in memory.
const REMOVE_STEP: usize = 1_024;

/// Rows of one facet from which on they are inserted as a run.
const RUN_MIN: usize = 8;

type FacetPair = (FacetKey, [u8; FACET_BYTES]);
type FacetTable<'txn> = Table<'txn, &'static FacetKey, &'static [u8; FACET_BYTES]>;

/// The index within one write transaction.
pub(crate) struct Writer<'a> {
    pub(crate) db: &'a EventDb,
    pub(crate) txn: &'a WriteTransaction,
    pub(crate) tables: Tables<'a>,
    items: &'a LogItems<'a>,
    /// Up to when expired events have been taken out; they do not come in again.
    pub(crate) purged: Seconds,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        db: &'a EventDb,
        txn: &'a WriteTransaction,
        items: &'a LogItems<'a>,
    ) -> Result<Self, redb::Error> {
        let tables = Tables::open(txn)?;
        let purged = crate::meta::purged(&tables.meta)?;
        Ok(Self {
            db,
            txn,
            tables,
            items,
            purged,
        })
    }

    /// Takes in events; returns those that were not held before and are shown, with the first of
    /// their places.
    pub(crate) fn arrive(&mut self, arrivals: Vec<Arrival>) -> Result<Vec<Arrival>, redb::Error> {
        let mut unknown = Vec::new();
        for (id, mut same) in by_id(arrivals) {
            same.sort_unstable_by_key(|arrival| arrival.place);
            let held = self
                .tables
                .event
                .get(id.as_bytes())?
                .map(|row| EventRow::decode(row.value()));
            match held.transpose()? {
                Some(row) => self.again(&id, row, same.iter().map(|arrival| arrival.place))?,
                None => unknown.push(same),
            }
        }
        let mut suspects = BTreeSet::new();
        for event in unknown.iter().filter_map(|same| same.first()) {
            self.record(&event.event, &mut suspects)?;
        }
        self.remove_hidden(&suspects)?;
        self.insert_shown(unknown)
    }

    /// An event that is held has come again: the first of its places is the one it is read from,
    /// so that the order of arrival leaves no trace.
    fn again(
        &mut self,
        id: &EventId,
        mut row: EventRow,
        places: impl Iterator<Item = ItemPlace>,
    ) -> Result<(), redb::Error> {
        for place in places {
            if place == row.place {
                continue;
            }
            self.tables
                .copy
                .insert(&key::copy(id, &row.place.max(place)), ())?;
            if place < row.place {
                row.place = place;
                self.tables.event.insert(id.as_bytes(), &row.encode())?;
                self.db.cache.take(id);
            }
        }
        Ok(())
    }

    /// Records what an event does to others; collects which events it may hide.
    fn record(
        &mut self,
        event: &Event,
        suspects: &mut BTreeSet<EventId>,
    ) -> Result<(), redb::Error> {
        for effect in effects(event, &self.db.settings().urls) {
            match fact::record(&mut self.tables, &effect)? {
                Concerns::Nothing => {}
                Concerns::Event(id) => {
                    suspects.insert(id);
                }
                Concerns::Key(pubkey, until) => {
                    let hex = pubkey.to_string();
                    let wraps = |kind| kind == EventKind::GIFT_WRAP;
                    self.older(&key::author(&pubkey), until, &|_| true, suspects)?;
                    self.older(&key::tag(Letter::P, &hex), until, &wraps, suspects)?;
                    self.older(&key::involved(&pubkey), until, &|_| true, suspects)?;
                }
            }
        }
        Ok(())
    }

    /// Events with a facet up to a second.
    fn older(
        &self,
        facet: &Facet,
        until: Seconds,
        kinds: &dyn Fn(EventKind) -> bool,
        found: &mut BTreeSet<EventId>,
    ) -> Result<(), redb::Error> {
        let from = key::facet(facet, until, &[0; 32]);
        let to = key::facet(facet, Seconds::ZERO, &[0xff; 32]);
        for row in self.tables.facet.range::<&FacetKey>(&from..=&to)? {
            let (key, row) = row?;
            if kinds(FacetRow::decode(row.value()).kind) {
                let (_, id) = key::of_facet(key.value()).ok_or_else(|| damaged("a facet row"))?;
                found.insert(id);
            }
        }
        Ok(())
    }

    /// Takes out those of some events that are hidden for good by now.
    fn remove_hidden(&mut self, suspects: &BTreeSet<EventId>) -> Result<(), redb::Error> {
        let mut gone = Vec::new();
        for id in suspects {
            let Some(event) = self.load(id)? else {
                continue;
            };
            if let Some(hidden) = self.hidden(&event)? {
                self.doom(&event, hidden)?;
                gone.push(event);
            }
            if gone.len() == REMOVE_STEP {
                self.change(&[], &std::mem::take(&mut gone))?;
            }
        }
        self.change(&[], &gone)
    }

    fn insert_shown(&mut self, unknown: Vec<Vec<Arrival>>) -> Result<Vec<Arrival>, redb::Error> {
        let mut shown = Vec::new();
        for same in unknown {
            let places: Vec<ItemPlace> = same.iter().map(|it| it.place).collect();
            let mut same = same.into_iter();
            let Some(first) = same.next() else { continue };
            if let Some(hidden) = self.hidden(&first.event)? {
                self.doom_at(&first.event, hidden, &places)?;
                continue;
            }
            for other in same {
                self.tables
                    .copy
                    .insert(&key::copy(&first.event.id(), &other.place), ())?;
            }
            shown.push(first);
        }
        self.change(&shown, &[])?;
        Ok(shown)
    }

    /// The text of an event that is in the index.
    pub(crate) fn load(&self, id: &EventId) -> Result<Option<Event>, redb::Error> {
        let Some(row) = self.tables.event.get(id.as_bytes())? else {
            return Ok(None);
        };
        if let Some(event) = self.db.cache.get(id) {
            return Ok(Some(event));
        }
        let place = EventRow::decode(row.value())?.place;
        read_text(self.items, place).map(Some)
    }

    /// An entry's item has left the log.
    pub(crate) fn dropped(&mut self, event: &Event, place: &ItemPlace) -> Result<(), redb::Error> {
        let id = event.id();
        let row = self
            .tables
            .event
            .get(id.as_bytes())?
            .map(|row| EventRow::decode(row.value()));
        let Some(mut row) = row.transpose()? else {
            return Ok(());
        };
        if row.place != *place {
            self.tables.copy.remove(&key::copy(&id, place))?;
            return Ok(());
        }
        let Some(next) = self.first_copy(&id)? else {
            return self.change(&[], std::slice::from_ref(event));
        };
        self.tables.copy.remove(&key::copy(&id, &next))?;
        row.place = next;
        self.tables.event.insert(id.as_bytes(), &row.encode())?;
        self.db.cache.take(&id);
        Ok(())
    }

    fn first_copy(&self, id: &EventId) -> Result<Option<ItemPlace>, redb::Error> {
        let (from, to) = copies(id);
        let first = self
            .tables
            .copy
            .range::<&[u8; 45]>(&from..=&to)?
            .next()
            .transpose()?;
        Ok(first.map(|(key, _)| key::of_copy(key.value())))
    }

    /// Writes the rows of events that come and removes those of events that go, table by table in
    /// key order.
    pub(crate) fn change(&mut self, come: &[Arrival], go: &[Event]) -> Result<(), redb::Error> {
        if come.is_empty() && go.is_empty() {
            return Ok(());
        }
        let mut sketches = SketchChanges::default();
        self.event_rows(come, go)?;
        self.facet_rows(come, go, &mut sketches)?;
        self.set_items(come, go)?;
        sketches.write(&mut self.tables, self.db.settings())?;
        for arrival in come {
            self.db.cache.insert(&arrival.event);
        }
        for event in go {
            self.db.cache.take(&event.id());
        }
        Ok(())
    }

    fn event_rows(&mut self, come: &[Arrival], go: &[Event]) -> Result<(), redb::Error> {
        for event in go {
            let id = event.id();
            self.tables.event.remove(id.as_bytes())?;
            if let Some(at) = Expires::of(event).get() {
                self.tables.expiry.remove(&key::expiry(at, &id))?;
            }
            let (from, to) = copies(&id);
            self.tables
                .copy
                .retain_in::<&[u8; 45], _>(&from..=&to, |_, ()| false)?;
        }
        let mut rows: Vec<_> = come
            .iter()
            .map(|it| (it.event.id(), event_row(it)))
            .collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        for (id, row) in rows {
            self.tables.event.insert(id.as_bytes(), &row.encode())?;
            if let Some(at) = row.expires.get() {
                self.tables.expiry.insert(&key::expiry(at, &id), ())?;
            }
        }
        Ok(())
    }

    fn facet_rows(
        &mut self,
        come: &[Arrival],
        go: &[Event],
        sketches: &mut SketchChanges,
    ) -> Result<(), redb::Error> {
        let settings = self.db.settings();
        let mut gone: Vec<FacetKey> = Vec::new();
        for event in go {
            let facets = facet::of(settings, event);
            sketches.go(settings, event, &facets);
            let (time, id) = (event.created_at(), event.id());
            gone.extend(
                facets
                    .iter()
                    .map(|(of, _)| key::facet(of, time, id.as_bytes())),
            );
        }
        gone.sort_unstable();
        for key in &gone {
            self.tables.facet.remove(key)?;
        }
        let mut rows: Vec<FacetPair> = Vec::new();
        for Arrival { event, .. } in come {
            let facets = facet::of(settings, event);
            sketches.come(settings, event, &facets);
            let (time, id) = (event.created_at(), event.id());
            let row =
                |(of, row): &(Facet, FacetRow)| (key::facet(of, time, id.as_bytes()), row.encode());
            rows.extend(facets.iter().map(row));
        }
        rows.sort_unstable();
        for run in rows.chunk_by(|(one, _), (two, _)| one[..16] == two[..16]) {
            if run.len() < RUN_MIN {
                for (key, row) in run {
                    self.tables.facet.insert(key, row)?;
                }
            } else {
                insert_run(&mut self.tables.facet, run)?;
            }
        }
        Ok(())
    }

    fn set_items(&mut self, come: &[Arrival], go: &[Event]) -> Result<(), redb::Error> {
        let settings = self.db.settings();
        let mut changed: BTreeMap<u32, (Vec<Item>, Vec<Item>)> = BTreeMap::new();
        for Arrival { event, .. } in come {
            for set in sets::of(settings, event) {
                let item = key::item(event.created_at(), &event.id());
                changed.entry(set).or_default().0.push(item);
            }
        }
        for event in go {
            for set in sets::of(settings, event) {
                let item = key::item(event.created_at(), &event.id());
                changed.entry(set).or_default().1.push(item);
            }
        }
        for (set, (mut added, mut removed)) in changed {
            added.sort_unstable();
            removed.sort_unstable();
            let key = set.to_be_bytes();
            let version = self
                .tables
                .set
                .get(&key)?
                .map_or(0, |row| u64::from_be_bytes(*row.value()));
            self.db
                .sets
                .edit(self.txn, set, version, &added, &removed)?;
            self.tables.set.insert(&key, &(version + 1).to_be_bytes())?;
        }
        Ok(())
    }
}

/// Reads an event that this node has verified before it was put in the index.
pub(crate) fn read_text(items: &impl ItemSource, place: ItemPlace) -> Result<Event, redb::Error> {
    let item = items
        .item(place)?
        .ok_or_else(|| damaged("an event that the log should hold"))?;
    let text = std::str::from_utf8(&item).map_err(|_| damaged("an event's text"))?;
    let event = UnverifiedEvent::parse(text).map_err(|_| damaged("an event's text"))?;
    Ok(event.trust_stored())
}

/// Inserts sorted rows of one facet. What is new is mostly newer than what is there: then all of
/// them fall into one gap of the table, and its pages are filled once.
fn insert_run(table: &mut FacetTable<'_>, run: &[FacetPair]) -> Result<(), redb::Error> {
    let mut rest = run;
    while let Some((first, _)) = rest.first() {
        let mut cursor = table.lower_bound_mut(Bound::Included(first))?;
        let mut done = 0;
        for (key, row) in rest {
            match cursor.insert_before(key, row) {
                Ok(()) => done += 1,
                Err(CursorError::UnorderedKey) if done > 0 => break,
                Err(error) => return Err(error.into()),
            }
        }
        cursor.close()?;
        rest = rest.get(done..).unwrap_or_default();
    }
    Ok(())
}

fn by_id(arrivals: Vec<Arrival>) -> BTreeMap<EventId, Vec<Arrival>> {
    let mut by_id: BTreeMap<EventId, Vec<Arrival>> = BTreeMap::new();
    for arrival in arrivals {
        by_id.entry(arrival.event.id()).or_default().push(arrival);
    }
    by_id
}

fn event_row(arrival: &Arrival) -> EventRow {
    EventRow {
        time: arrival.event.created_at(),
        kind: arrival.event.kind(),
        expires: Expires::of(&arrival.event),
        place: arrival.place,
    }
}

/// All copies of an event.
pub(crate) fn copies(id: &EventId) -> ([u8; 45], [u8; 45]) {
    let (mut from, mut to) = ([0; 45], [0xff; 45]);
    from[..32].copy_from_slice(id.as_bytes());
    to[..32].copy_from_slice(id.as_bytes());
    (from, to)
}
