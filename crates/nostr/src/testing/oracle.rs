//! A set of events and what a relay must answer from it: slow, obvious, the oracle of an index.

use std::collections::BTreeMap;

use osier_reconcile::VectorStorage;

use crate::{
    connection::{Page, Published},
    effect::Ledger,
    event::Event,
    filter::Filter,
    key::EventId,
    limit,
    nip::{nip01::Version, nip17::Viewer, nip42::RelayUrls, nip77},
    time::Seconds,
    visible::{Hidden, hidden, hidden_from_all},
};

/// Every event that ever came, hidden or not.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    events: BTreeMap<EventId, Event>,
    ledger: Ledger,
    urls: RelayUrls,
}

/// The stored events for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The newest first, each once.
    pub events: Vec<Event>,
    /// Whether every filter was read to its end.
    pub drained: bool,
}

impl Oracle {
    /// No events, on a relay with these URLs.
    pub fn new(urls: RelayUrls) -> Self {
        Self {
            urls,
            ..Self::default()
        }
    }

    /// Takes in an event that a peer sent: it is part of the set, whatever becomes of it.
    pub fn receive(&mut self, event: &Event) {
        if !event.kind().is_ephemeral() {
            self.ledger.record_event(event, &self.urls);
            self.events.insert(event.id(), event.clone());
        }
    }

    /// Takes in an event that a client published, unless it is held or hidden already (`NOS-32`).
    pub fn publish(&mut self, event: &Event, now: Seconds) -> Published {
        if self.events.contains_key(&event.id()) && self.fate(event, now).is_none() {
            return Published::Duplicate;
        }
        if let Some(hidden) = self.fate(event, now) {
            return Published::Refused(hidden.reason());
        }
        self.receive(event);
        Published::Stored
    }

    /// Why nobody is shown the event, if nobody is.
    pub fn fate(&self, event: &Event, now: Seconds) -> Option<Hidden> {
        hidden_from_all(event, &self.ledger, now).unwrap_or_else(|never| match never {})
    }

    /// All that matches a filter and may be seen, the newest first; limits are not looked at.
    pub fn matching(&self, filter: &Filter, viewer: &Viewer, now: Seconds) -> Vec<&Event> {
        let shown = |event: &Event| {
            let hidden = hidden(event, &self.ledger, now, viewer);
            hidden.unwrap_or_else(|never| match never {}).is_none()
        };
        let found = self
            .events
            .values()
            .filter(|event| filter.matches(event) && shown(event));
        let mut found: Vec<&Event> = found.collect();
        found.sort_by_key(|event| Version::of(event));
        found
    }

    /// What a `REQ` gets.
    pub fn answer(&self, pages: &[Page], viewer: &Viewer, now: Seconds) -> Answer {
        let mut events: BTreeMap<Version, Event> = BTreeMap::new();
        let mut drained = true;
        for page in pages {
            let found = self.matching(&page.filter, viewer, now);
            let length = page_length(&found, page);
            drained &= length == found.len();
            let kept = found.into_iter().take(length);
            events.extend(kept.map(|event| (Version::of(event), event.clone())));
        }
        Answer {
            events: events.into_values().collect(),
            drained,
        }
    }

    /// What a `COUNT` gets: the size of the union, each filter with its own limit (`NOS-67`).
    pub fn count(&self, filters: &[Filter], viewer: &Viewer, now: Seconds) -> u64 {
        let of = |filter: &Filter| {
            let most = usize::try_from(filter.limit().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
            let found = self.matching(filter, viewer, now).into_iter().take(most);
            found.map(Event::id).collect::<Vec<_>>()
        };
        let mut ids: Vec<EventId> = filters.iter().flat_map(of).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() as u64
    }

    /// The set that a negentropy session compares.
    pub fn records(&self, filter: &Filter, viewer: &Viewer, now: Seconds) -> VectorStorage {
        let most = usize::try_from(filter.limit().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let found = self.matching(filter, viewer, now).into_iter().take(most);
        found.map(nip77::item).collect()
    }
}

/// How many events of a page are sent.
fn page_length(found: &[&Event], page: &Page) -> usize {
    let most = |events: u64| {
        usize::try_from(events)
            .unwrap_or(usize::MAX)
            .min(found.len())
    };
    let length = most(page.events_max);
    let last = found
        .get(length.saturating_sub(1))
        .filter(|_| page.whole_second && length > 0);
    let Some(last) = last else {
        return length;
    };
    let same = |event: &&&Event| event.created_at() == last.created_at();
    let rest = found.iter().skip(length).take_while(same).count();
    (length + rest).min(most(limit::PAGE_EVENTS_HARD_MAX))
}
