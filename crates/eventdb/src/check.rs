//! Is the index what the log says (`NOS-111`): every table is computed again from the log and
//! compared.
//!
//! Reads one snapshot, twice. Memory grows with what events have done to others (addresses,
//! deletions), not with events.

mod fact;
mod sum;

use std::collections::{BTreeMap, BTreeSet};

use osier_core::TopicId;
use osier_nostr::{ENTRY_KIND, Event, hidden_from_all, read_item};
use osier_store::{Item, ItemPlace, Lsn, RangeSet, RangeSets, TopicNo};
use redb::ReadableTableMetadata;

use crate::{
    build::{Entries, read_entries},
    db::looked_at,
    error::EventDbError,
    facet,
    index::EventIndex,
    key, limit, meta,
    row::{EventRow, Expires, FacetRow},
    schema, sets,
    view::{EventView, Inner},
};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Entries looked at.
    pub entries: u64,
    /// Events in the index.
    pub events: u64,
    /// What is wrong, at most [`crate::limit::FINDINGS_MAX`]. Building the index anew mends it;
    /// that it was wrong is a fault of ours, or of the disk.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In which table.
    pub table: &'static str,
    /// What.
    pub what: String,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, table: &'static str, what: String) {
        if self.findings.len() < limit::FINDINGS_MAX {
            self.findings.push(Finding { table, what });
        } else {
            self.more += 1;
        }
    }

    fn expect<T: PartialEq + std::fmt::Debug>(
        &mut self,
        table: &'static str,
        what: &str,
        stored: &T,
        right: &T,
    ) {
        if stored != right {
            self.find(
                table,
                format!("{what}: {stored:?} is stored, {right:?} is right"),
            );
        }
    }
}

impl EventIndex {
    /// Computes every table again from the log and compares. Each signature is checked again: some
    /// 30 microseconds an event, on all cores. `progress` is told how many entries have been looked
    /// at, and of how many; each is looked at twice.
    ///
    /// # Errors
    /// Our disk is at fault; what can be read and is wrong is a finding.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<CheckReport, EventDbError> {
        let fail = |cause| EventDbError::new("check", cause);
        let view = self.view()?;
        let topics = self.store.topic_numbers(&view.inner().txn);
        let topics = topics.map_err(|cause| EventDbError::new("check", cause))?;
        let topics = topics
            .into_iter()
            .filter(|(topic, _)| self.db.serves(topic))
            .collect();
        let run = || -> Result<CheckReport, redb::Error> {
            let mut checking = Checking::new(&view, topics, progress)?;
            checking.run()?;
            Ok(checking.report)
        };
        run().map_err(fail)
    }
}

/// A check under way.
struct Checking<'a> {
    inner: &'a Inner,
    topics: Vec<(TopicId, TopicNo)>,
    report: CheckReport,
    progress: &'a mut dyn FnMut(u64, u64),
    /// Entries to look at, both times together.
    total: u64,
    done: u64,
    /// Items of entries that are no events.
    invalid: BTreeSet<ItemPlace>,
    facts: fact::Right,
    /// Whether the log has lost some of what it held.
    pruned: bool,
    sets: BTreeMap<u32, RangeSet>,
    right: Totals,
}

/// Rows that there must be.
#[derive(Debug, Default)]
struct Totals {
    events: u64,
    copies: u64,
    facets: u64,
    expiries: u64,
    sets: BTreeMap<u32, u64>,
}

impl<'a> Checking<'a> {
    fn new(
        view: &'a EventView,
        topics: Vec<(TopicId, TopicNo)>,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Result<Self, redb::Error> {
        let inner = view.inner();
        // Sets of their own: those that are kept in memory would hide damage on the disk.
        let from_disk = RangeSets::new(schema::ORDER, schema::CHUNK);
        let mut sets = BTreeMap::new();
        for set in sets::all(inner.db.settings()) {
            sets.insert(set, from_disk.open(&inner.txn, set, 0)?);
        }
        let (mut total, mut pruned) = (0, false);
        for (_, number) in &topics {
            let end = inner.items.log_end(*number)?;
            total += 2 * end.entries;
            pruned |= end.pruned > 0;
        }
        Ok(Self {
            inner,
            topics,
            report: CheckReport::default(),
            progress,
            total,
            done: 0,
            invalid: BTreeSet::new(),
            facts: fact::Right::default(),
            pruned,
            sets,
            right: Totals::default(),
        })
    }

    fn run(&mut self) -> Result<(), redb::Error> {
        self.each_page(|own, topic, entries| {
            own.learn(topic, entries);
            Ok(())
        })?;
        self.facts
            .compare(self.inner, self.pruned, &mut self.report)?;
        self.report.entries = self.done;
        self.each_page(Self::compare)?;
        self.check_totals()?;
        sum::check_sets(&self.sets, &self.right.sets, &mut self.report);
        sum::check_sketches(self.inner, &mut self.report)?;
        self.check_progress()
    }

    fn each_page(
        &mut self,
        mut look: impl FnMut(&mut Self, TopicNo, &Entries) -> Result<(), redb::Error>,
    ) -> Result<(), redb::Error> {
        for (_, number) in self.topics.clone() {
            let mut after = Lsn::START;
            loop {
                let (entries_max, bytes_max) = (limit::CATCH_UP_ENTRIES, limit::CATCH_UP_BYTES);
                let page = self
                    .inner
                    .items
                    .entries(number, after, entries_max, bytes_max)?;
                let Some((last, _)) = page.last() else { break };
                after = *last;
                look(self, number, &read_entries(&page)?)?;
                self.done += page.len() as u64;
                (self.progress)(self.done, self.total.max(self.done));
            }
        }
        Ok(())
    }

    /// The first time: which items are events, and what they do to others.
    fn learn(&mut self, topic: TopicNo, entries: &Entries) {
        let named = entries.iter().map(|(lsn, entry)| (*lsn, &**entry));
        let arrivals = self.inner.db.arrivals(topic, named);
        let mut valid = arrivals.iter().map(|arrival| arrival.place).peekable();
        for (place, _) in items(topic, entries) {
            if valid.next_if_eq(&place).is_none() {
                self.invalid.insert(place);
            }
        }
        // What was dropped cannot say again what it did.
        let mut items = entries.iter().flat_map(|(_, entry)| entry.items());
        self.pruned |= items.any(|item| item.bytes().is_none());
        for arrival in &arrivals {
            self.facts
                .record(&arrival.event, &self.inner.db.settings().urls);
        }
    }

    /// The second time: which rows each event must have.
    fn compare(&mut self, topic: TopicNo, entries: &Entries) -> Result<(), redb::Error> {
        let purged = meta::purged(&self.inner.tables.meta)?;
        for (place, text) in items(topic, entries) {
            if self.invalid.contains(&place) {
                continue;
            }
            // It was read the first time.
            let Ok(event) = read_item(text) else { continue };
            let event = event.trust_stored();
            let facts = crate::fact::read(&self.inner.tables);
            let hidden = hidden_from_all(&event, &facts, purged)?;
            let row = self.inner.row(&event.id())?;
            match (hidden, row) {
                (Some(_), None) => {}
                (Some(hidden), Some(_)) => {
                    let what = format!("{:?} is there and should not be: {hidden:?}", event.id());
                    self.report.find("nostr_event", what);
                }
                (None, None) => {
                    let what = format!("{:?} is missing", event.id());
                    self.report.find("nostr_event", what);
                }
                (None, Some(row)) => self.compare_event(&event, place, &row)?,
            }
        }
        Ok(())
    }

    fn compare_event(
        &mut self,
        event: &Event,
        place: ItemPlace,
        row: &EventRow,
    ) -> Result<(), redb::Error> {
        let id = event.id();
        if row.place != place {
            self.right.copies += 1;
            let held = self
                .inner
                .tables
                .copy
                .get(&key::copy(&id, &place))?
                .is_some();
            if !held || place < row.place {
                self.report
                    .find("nostr_copy", format!("{id:?} at {place:?} is not known"));
            }
            return Ok(());
        }
        self.right.events += 1;
        let expires = Expires::of(event);
        let right = EventRow {
            time: event.created_at(),
            kind: event.kind(),
            expires,
            place,
        };
        self.report
            .expect("nostr_event", &format!("{id:?}"), row, &right);
        if let Some(at) = expires.get() {
            self.right.expiries += 1;
            let held = self
                .inner
                .tables
                .expiry
                .get(&key::expiry(at, &id))?
                .is_some();
            self.report
                .expect("nostr_expiry", &format!("a row of {id:?}"), &held, &true);
        }
        self.compare_facets(event)?;
        for set in sets::of(self.inner.db.settings(), event) {
            *self.right.sets.entry(set).or_default() += 1;
            let item: Item = key::item(event.created_at(), &id);
            let held = match self.sets.get(&set) {
                Some(items) => items.from(&item, 1)?.first() == Some(&item),
                None => false,
            };
            self.report
                .expect(schema::ORDER, &format!("{id:?} in set {set}"), &held, &true);
        }
        Ok(())
    }

    fn compare_facets(&mut self, event: &Event) -> Result<(), redb::Error> {
        for (of, right) in facet::of(self.inner.db.settings(), event) {
            self.right.facets += 1;
            let key = key::facet(&of, event.created_at(), event.id().as_bytes());
            let row = self
                .inner
                .tables
                .facet
                .get(&key)?
                .map(|row| FacetRow::decode(row.value()));
            let what = format!("a row of {:?}", event.id());
            self.report.expect("nostr_facet", &what, &row, &Some(right));
        }
        Ok(())
    }

    /// Each table has the rows that were found above, and no more.
    fn check_totals(&mut self) -> Result<(), redb::Error> {
        let tables = &self.inner.tables;
        let report = &mut self.report;
        report.events = tables.event.len()?;
        let rows = "number of rows";
        report.expect(
            "nostr_event",
            rows,
            &tables.event.len()?,
            &self.right.events,
        );
        report.expect("nostr_copy", rows, &tables.copy.len()?, &self.right.copies);
        report.expect(
            "nostr_facet",
            rows,
            &tables.facet.len()?,
            &self.right.facets,
        );
        report.expect(
            "nostr_expiry",
            rows,
            &tables.expiry.len()?,
            &self.right.expiries,
        );
        Ok(())
    }

    /// How far the log has been looked at.
    fn check_progress(&mut self) -> Result<(), redb::Error> {
        for (topic, number) in &self.topics {
            let last = self.inner.items.log_end(*number)?.last;
            let looked_at = looked_at(&self.inner.tables.topic, *number)?;
            let what = format!("the last entry of {topic:?} that was looked at");
            self.report.expect("nostr_topic", &what, &looked_at, &last);
        }
        Ok(())
    }
}

/// The items of entries that may hold events, with their places, in order.
fn items(topic: TopicNo, entries: &Entries) -> impl Iterator<Item = (ItemPlace, &[u8])> {
    let carriers = entries
        .iter()
        .filter(|(_, entry)| entry.header().kind() == ENTRY_KIND);
    carriers.flat_map(move |(lsn, entry)| {
        let numbered = entry.items().iter().zip(0_u16..);
        numbered.filter_map(move |(item, number)| {
            let place = ItemPlace {
                topic,
                lsn: *lsn,
                item: number,
            };
            item.bytes().map(|bytes| (place, &**bytes))
        })
    })
}
