//! What was used lately, bounded: events by id, for reading and for vouching.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use osier_nostr::{Event, EventId};

/// Events in two generations: what is used moves to the young one; when that is half full the old
/// one is forgotten. Nothing here says that an event may be shown; the index does.
#[derive(Debug)]
pub(crate) struct Recent {
    halves: Mutex<Halves>,
    cost_max: usize,
    cost: fn(&Event) -> usize,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<EventId, Event>,
    old: HashMap<EventId, Event>,
    young_cost: usize,
}

impl Recent {
    /// At most so many events.
    pub(crate) fn of_events(events_max: usize) -> Self {
        Self::new(events_max, |_| 1)
    }

    /// At most so many bytes of memory, about.
    pub(crate) fn of_bytes(bytes_max: usize) -> Self {
        // The text, its parts once more, and what allocators and the map add.
        Self::new(bytes_max, |event| 2 * event.json().len() + 512)
    }

    fn new(cost_max: usize, cost: fn(&Event) -> usize) -> Self {
        Self {
            halves: Mutex::default(),
            cost_max,
            cost,
        }
    }

    /// Keeps an event; one of the same id is replaced.
    pub(crate) fn insert(&self, event: &Event) {
        let cost = (self.cost)(event);
        if cost > self.cost_max / 2 {
            return;
        }
        let mut halves = self.lock();
        self.put(&mut halves, event.clone(), cost);
    }

    /// The event with an id, if it is kept.
    pub(crate) fn get(&self, id: &EventId) -> Option<Event> {
        let mut halves = self.lock();
        if let Some(event) = halves.young.get(id) {
            return Some(event.clone());
        }
        let event = halves.old.remove(id)?;
        let cost = (self.cost)(&event);
        self.put(&mut halves, event.clone(), cost);
        Some(event)
    }

    /// Forgets an event.
    pub(crate) fn take(&self, id: &EventId) -> Option<Event> {
        let mut halves = self.lock();
        match halves.young.remove(id) {
            Some(event) => {
                halves.young_cost = halves.young_cost.saturating_sub((self.cost)(&event));
                Some(event)
            }
            None => halves.old.remove(id),
        }
    }

    fn put(&self, halves: &mut Halves, event: Event, cost: usize) {
        if halves.young_cost + cost > self.cost_max / 2 {
            halves.old = std::mem::take(&mut halves.young);
            halves.young_cost = 0;
        }
        if halves.young.insert(event.id(), event).is_none() {
            halves.young_cost += cost;
        }
    }

    /// A panic elsewhere leaves nothing half done that the lock guards.
    fn lock(&self) -> MutexGuard<'_, Halves> {
        self.halves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use osier_nostr::testing;

    use super::*;

    #[test]
    fn what_is_used_stays_and_the_bound_holds() {
        let recent = Recent::of_events(8);
        let author = testing::pubkey(1);
        let events: Vec<Event> = (0..100)
            .map(|n| testing::draft(n, 1, &[], "").unsigned(&author))
            .collect();
        for event in &events {
            recent.insert(event);
            assert!(
                recent.get(&events[0].id()).is_some(),
                "the first is used all the time"
            );
            let halves = recent.lock();
            assert!(halves.young.len() + halves.old.len() <= 8);
        }
        assert!(recent.get(&events[50].id()).is_none());
        assert_eq!(recent.take(&events[99].id()), Some(events[99].clone()));
        assert!(recent.get(&events[99].id()).is_none());
    }
}
