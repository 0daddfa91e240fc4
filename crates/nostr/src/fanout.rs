//! Which subscriptions a new event concerns, without asking all of them.
//!
//! Each filter is registered under **one** dimension: its ids, its authors, one of its tags, its
//! kinds, or none. A new event then looks up its own id, author, tag values and kind, and only the
//! filters found there are asked, with the predicate that serves stored events (`NOS-45`). So the
//! cost of an event does not grow with subscriptions that it does not concern (row B3).
//!
//! An index is owned by whoever reads it: readers wait for nobody because nobody shares it. A
//! relay keeps one for each worker, with the connections that the worker serves, and offers every
//! event to each; where a copy must be read elsewhere, cloning makes an immutable one.

mod bucket;

use std::collections::BTreeMap;

use self::bucket::{Bucket, Slot, cost, forget_all, values_of};
use crate::{
    event::Event,
    filter::Filter,
    key::{EventId, PublicKey},
    kind::EventKind,
    tag::{Letter, Tag},
};

/// How much more often events come with one kind than with one author, one tag value, one id: a
/// guess, from a text note being one event in two while an author writes one in some thousands.
/// It only moves where filters are registered, never what matches.
const KIND_WEIGHT: usize = 16_384;
const AUTHOR_WEIGHT: usize = 64;
const TAG_WEIGHT: usize = 64;
const ID_WEIGHT: usize = 1;

/// The index, for subscriptions named by `K`.
#[derive(Debug, Clone)]
pub struct Fanout<K> {
    next: Slot,
    slots: BTreeMap<Slot, Registered<K>>,
    by_key: BTreeMap<K, Vec<Slot>>,
    ids: BTreeMap<EventId, Bucket>,
    authors: BTreeMap<PublicKey, Bucket>,
    tags: BTreeMap<Letter, BTreeMap<Box<str>, Bucket>>,
    kinds: BTreeMap<EventKind, Bucket>,
    unindexed: Bucket,
}

#[derive(Debug, Clone)]
struct Registered<K> {
    key: K,
    filter: Filter,
    dimension: Dimension,
}

/// Where a filter is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Ids,
    Authors,
    Tag(Letter),
    Kinds,
    Unindexed,
}

impl<K> Default for Fanout<K> {
    fn default() -> Self {
        Self {
            next: 0,
            slots: BTreeMap::new(),
            by_key: BTreeMap::new(),
            ids: BTreeMap::new(),
            authors: BTreeMap::new(),
            tags: BTreeMap::new(),
            kinds: BTreeMap::new(),
            unindexed: Bucket::new(),
        }
    }
}

impl<K: Ord + Copy> Fanout<K> {
    /// An index of no subscriptions.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many subscriptions are registered.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether none is registered.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Registers a subscription; one of the same name is replaced. Filters that match nothing
    /// take no room.
    pub fn insert(&mut self, key: K, filters: impl IntoIterator<Item = Filter>) {
        self.remove(&key);
        let live = filters
            .into_iter()
            .filter(|filter| !filter.matches_nothing());
        let slots: Vec<Slot> = live.map(|filter| self.register(key, filter)).collect();
        self.by_key.insert(key, slots);
    }

    /// Forgets a subscription; true if it was there.
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(slots) = self.by_key.remove(key) else {
            return false;
        };
        for slot in slots {
            if let Some(registered) = self.slots.remove(&slot) {
                self.unregister(slot, &registered);
            }
        }
        true
    }

    /// The subscriptions that match the event, each once, in order (`NOS-45`).
    pub fn matching(&self, event: &Event) -> Vec<K> {
        let mut keys = Vec::new();
        self.candidates(event, |key, filter| {
            if filter.matches(event) {
                keys.push(key);
            }
        });
        // Several filters of one subscription may match.
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Calls `each` for every filter that may match the event, once each: a superset of those
    /// that do. An event that repeats a tag, or has many that one filter asks for, costs no more.
    pub fn candidates(&self, event: &Event, mut each: impl FnMut(K, &Filter)) {
        for slot in self.slots_for(event) {
            if let Some(registered) = self.slots.get(&slot) {
                each(registered.key, &registered.filter);
            }
        }
    }

    /// How many filters are asked about the event: what it costs.
    pub fn candidates_count(&self, event: &Event) -> usize {
        self.slots_for(event).len()
    }

    fn slots_for(&self, event: &Event) -> Vec<Slot> {
        let of_id = self.ids.get(&event.id());
        let of_author = self.authors.get(&event.pubkey());
        let of_kind = self.kinds.get(&event.kind());
        let mut values: Vec<(Letter, &str)> = if self.tags.is_empty() {
            Vec::new()
        } else {
            event.tags().iter().filter_map(Tag::indexed).collect()
        };
        values.sort_unstable();
        values.dedup();
        let of_tag = |(letter, value)| self.tags.get(&letter)?.get(value);
        let of_tags = values.into_iter().filter_map(of_tag);
        let buckets = [of_id, of_author, of_kind, Some(&self.unindexed)];
        let all = buckets.into_iter().flatten().chain(of_tags);
        let mut slots: Vec<Slot> = all.flatten().copied().collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn register(&mut self, key: K, filter: Filter) -> Slot {
        let slot = self.next;
        self.next += 1;
        let dimension = self.most_selective(&filter);
        self.each_bucket(&filter, dimension, |bucket| {
            bucket.insert(slot);
        });
        self.slots.insert(
            slot,
            Registered {
                key,
                filter,
                dimension,
            },
        );
        slot
    }

    /// The dimension under which the filter will be asked least, judged by the buckets that it
    /// would join: a crowded value is a busy one. Ties go to ids, then authors, tags, kinds.
    fn most_selective(&self, filter: &Filter) -> Dimension {
        let mut best = (usize::MAX, Dimension::Unindexed);
        let mut offer = |cost: usize, dimension| {
            if cost < best.0 {
                best = (cost, dimension);
            }
        };
        if let Some(ids) = filter.ids() {
            offer(
                cost(ID_WEIGHT, ids.iter().map(|id| self.ids.get(id))),
                Dimension::Ids,
            );
        }
        if let Some(authors) = filter.authors() {
            let buckets = authors.iter().map(|author| self.authors.get(author));
            offer(cost(AUTHOR_WEIGHT, buckets), Dimension::Authors);
        }
        for condition in filter.tags() {
            let letter = condition.letter();
            let values = self.tags.get(&letter);
            let buckets = condition.values().iter().map(|value| values?.get(value));
            offer(cost(TAG_WEIGHT, buckets), Dimension::Tag(letter));
        }
        if let Some(kinds) = filter.kinds() {
            let buckets = kinds.iter().map(|kind| self.kinds.get(kind));
            offer(cost(KIND_WEIGHT, buckets), Dimension::Kinds);
        }
        best.1
    }

    fn each_bucket(
        &mut self,
        filter: &Filter,
        dimension: Dimension,
        mut each: impl FnMut(&mut Bucket),
    ) {
        match dimension {
            Dimension::Ids => {
                for id in filter.ids().unwrap_or_default() {
                    each(self.ids.entry(*id).or_default());
                }
            }
            Dimension::Authors => {
                for author in filter.authors().unwrap_or_default() {
                    each(self.authors.entry(*author).or_default());
                }
            }
            Dimension::Tag(letter) => {
                let own = self.tags.entry(letter).or_default();
                for value in values_of(filter, letter) {
                    each(own.entry(value.clone()).or_default());
                }
            }
            Dimension::Kinds => {
                for kind in filter.kinds().unwrap_or_default() {
                    each(self.kinds.entry(*kind).or_default());
                }
            }
            Dimension::Unindexed => each(&mut self.unindexed),
        }
    }

    fn unregister(&mut self, slot: Slot, registered: &Registered<K>) {
        let Registered {
            filter, dimension, ..
        } = registered;
        match *dimension {
            Dimension::Ids => forget_all(&mut self.ids, filter.ids().unwrap_or_default(), slot),
            Dimension::Authors => {
                forget_all(
                    &mut self.authors,
                    filter.authors().unwrap_or_default(),
                    slot,
                );
            }
            Dimension::Tag(letter) => {
                if let Some(own) = self.tags.get_mut(&letter) {
                    forget_all(own, values_of(filter, letter), slot);
                    if own.is_empty() {
                        self.tags.remove(&letter);
                    }
                }
            }
            Dimension::Kinds => {
                forget_all(&mut self.kinds, filter.kinds().unwrap_or_default(), slot);
            }
            Dimension::Unindexed => {
                self.unindexed.remove(&slot);
            }
        }
    }
}

#[cfg(test)]
mod tests;
