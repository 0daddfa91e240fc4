//! The slow and obvious twin of the fan-out index: it asks every filter.

use std::collections::BTreeMap;

use crate::{event::Event, filter::Filter};

/// All subscriptions with their filters.
#[derive(Debug, Clone, Default)]
pub struct Matcher<K>(BTreeMap<K, Vec<Filter>>);

impl<K: Ord + Copy> Matcher<K> {
    /// None.
    pub fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Registers a subscription; one of the same name is replaced.
    pub fn insert(&mut self, key: K, filters: impl IntoIterator<Item = Filter>) {
        self.0.insert(key, filters.into_iter().collect());
    }

    /// Forgets a subscription; true if it was there.
    pub fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key).is_some()
    }

    /// The subscriptions that match the event, each once, in order (`NOS-45`).
    pub fn matching(&self, event: &Event) -> Vec<K> {
        let matches = |filters: &[Filter]| filters.iter().any(|filter| filter.matches(event));
        let found = self.0.iter().filter(|(_, filters)| matches(filters));
        found.map(|(key, _)| *key).collect()
    }
}
