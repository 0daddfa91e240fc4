//! The bridge to Nostr: events that entries carry, and the event index over a node's own store.
//!
//! Every node of such a run is a relay. Authors reply to, replace, delete and make vanish what
//! others wrote; the same event is accepted at several nodes; some items are no events at all. The
//! index that ships is on the disk of the log, in the same transactions, under the same faults.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use osier_core::{SignedEntry, TopicId};
use osier_eventdb::{Budget, EventDb, EventIndex, Settings};
use osier_nostr::{
    ENTRY_KIND, Event, EventId, Filter, Page, Seconds,
    nip::nip17::{Gate, Viewer},
    testing::{self, Oracle},
};
use osier_proto::{Lsn, Source};
use osier_store::Store;

use crate::dice::{Dice, Purpose};

/// Users who sign events.
const USERS: u8 = 4;

/// Seconds in which events are made: few, so that versions meet.
const TIMES: u64 = 12;

/// When what expires does so. All of it is over when nodes are compared, whatever their clocks say.
const EXPIRES: u64 = 500;

/// When nodes are compared.
const COMPARED: u64 = 1_000;

/// Memory for the texts of events: more than a run has.
const CACHE_BYTES: usize = 1 << 20;

/// What users of all nodes publish.
#[derive(Debug)]
pub(crate) struct Events {
    dice: Dice,
    /// Every event that was ever put into an entry, by its text.
    known: BTreeMap<Bytes, Event>,
    order: Vec<Event>,
}

impl Events {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed, Purpose::Events),
            known: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// The items of one entry.
    pub(crate) fn items(&mut self) -> Vec<Bytes> {
        (0..self.dice.range(1, 3)).map(|_| self.item()).collect()
    }

    fn item(&mut self) -> Bytes {
        if self.dice.chance(8) {
            return self.no_event();
        }
        // The same event is accepted at more than one node.
        let event = match self.known() {
            Some(event) if self.dice.chance(20) => event,
            _ => self.event(),
        };
        self.order.push(event.clone());
        self.known.insert(event.to_bytes(), event.clone());
        event.to_bytes()
    }

    fn known(&mut self) -> Option<Event> {
        let at = self.dice.index(self.order.len().max(1));
        self.order.get(at).cloned()
    }

    fn event(&mut self) -> Event {
        let at = self.dice.below(TIMES);
        let user = u8::try_from(self.dice.below(u64::from(USERS))).expect("few users");
        let content = self.dice.below(4).to_string();
        let kind = *self
            .dice
            .pick(&[0, 1, 1, 5, 5, 7, 62, 1059, 30_000, 30_000]);
        match (kind, self.known()) {
            (5, Some(target)) => deletion(user, at, &target, self.dice.chance(80)),
            (7, Some(target)) => {
                let e = target.id().to_string();
                testing::event(user, at, 7, &[&["e", &e]], "+")
            }
            (62, _) if self.dice.chance(25) => {
                testing::event(user, at, 62, &[&["relay", "ALL_RELAYS"]], "")
            }
            (1059, _) => {
                let p = testing::pubkey(user).to_string();
                testing::event(USERS, at, 1059, &[&["p", &p]], &content)
            }
            (30_000, _) => testing::event(user, at, 30_000, &[&["d", &content]], &content),
            (0, _) => testing::event(user, at, 0, &[], &content),
            _ if self.dice.chance(15) => {
                let expires = EXPIRES.to_string();
                testing::event(user, at, 1, &[&["expiration", &expires]], &content)
            }
            _ => testing::note(user, at, &content),
        }
    }

    /// What an entry of this kind may hold as well, and what every node must pass over alike.
    fn no_event(&mut self) -> Bytes {
        let event = self.event();
        match self.dice.below(3) {
            // Signed for another content.
            0 => Bytes::from(
                event
                    .json()
                    .replacen("\"content\":\"", "\"content\":\"x", 1),
            ),
            // Not in the canonical form.
            1 => Bytes::from(format!("{} ", event.json())),
            _ => testing::event(1, 1, 20_001, &[], "ephemeral").to_bytes(),
        }
    }
}

/// A deletion of an event, or of its address; by its author or by somebody else.
fn deletion(user: u8, at: u64, target: &Event, is_own: bool) -> Event {
    let own = (0..=USERS).find(|user| testing::pubkey(*user) == target.pubkey());
    let user = own.filter(|_| is_own).unwrap_or(user);
    match target.address() {
        Some(it) => {
            let address = format!("{}:{}:{}", it.kind.get(), it.pubkey, it.d);
            testing::event(user, at, 5, &[&["a", &address]], "")
        }
        None => testing::event(user, at, 5, &[&["e", &target.id().to_string()]], ""),
    }
}

/// An index of no store yet.
pub(crate) fn index() -> Arc<EventDb> {
    let kinds = |text| Filter::parse(text).expect("a filter of ours");
    EventDb::new(Settings {
        compared: vec![kinds(r#"{"kinds":[1]}"#)],
        cache_bytes: CACHE_BYTES,
        ..Settings::default()
    })
}

/// What is wrong with an index, held against the log of its store.
pub(crate) fn wrong(index: &EventIndex) -> Option<String> {
    let report = index.check(&mut |_, _| {}).expect("memory can be read");
    let first = report.findings.first()?;
    let count = report.findings.len() as u64 + report.more;
    Some(format!(
        "the event index disagrees with the log in {count} places: {}: {}",
        first.table, first.what
    ))
}

/// Takes out what has expired; whatever that is, it was hidden before.
pub(crate) fn purge(index: &EventIndex) {
    index.purge(seconds(COMPARED)).expect("memory is written");
}

/// The events that the relay of a store shows to one who may see all, newest first.
pub(crate) fn shown(index: &EventIndex) -> Vec<EventId> {
    let view = index.view().expect("memory can be read");
    let page = Page {
        filter: Filter::default(),
        events_max: u64::MAX,
        whole_second: false,
    };
    let mut scan = view.scan(vec![page], &everyone(), seconds(COMPARED));
    let mut shown = Vec::new();
    loop {
        let chunk = scan.next(Budget::default()).expect("memory can be read");
        shown.extend(chunk.events.iter().map(|hit| hit.event().id()));
        if chunk.end.is_some() {
            return shown;
        }
    }
}

/// The same by the slow oracle, from the logs of some topics alone.
pub(crate) fn should_show(events: &Events, store: &Store, topics: &[TopicId]) -> Vec<EventId> {
    let mut oracle = Oracle::default();
    for topic in topics {
        let view = store.view(*topic).expect("memory can be read");
        let page = view.log(Lsn::START, usize::MAX, usize::MAX);
        for (_, wire) in page.expect("memory can be read").entries {
            let entry = SignedEntry::parse(wire)
                .expect("a stored entry")
                .trust_stored();
            if entry.header().kind() != ENTRY_KIND {
                continue;
            }
            let items = entry.items().iter().filter_map(|item| item.bytes());
            items
                .filter_map(|item| events.known.get(item))
                .for_each(|event| oracle.receive(event));
        }
    }
    let found = oracle.matching(&Filter::default(), &everyone(), seconds(COMPARED));
    found.into_iter().map(Event::id).collect()
}

fn everyone() -> Viewer {
    let mut viewer = Viewer::new(Gate::default());
    (0..=USERS).for_each(|user| viewer.authenticate(testing::pubkey(user)));
    viewer
}

fn seconds(at: u64) -> Seconds {
    Seconds::new(at).expect("in range")
}

#[cfg(test)]
mod tests {
    use osier_nostr::EventKind;

    use super::*;

    /// A run has deletions, versions and repetitions, and not only notes.
    #[test]
    fn events_of_a_seed_have_something_to_do_with_each_other() {
        let mut events = Events::new(3);
        let items: Vec<Bytes> = (0..200).flat_map(|_| events.items()).collect();
        let known = items.iter().filter(|item| events.known.contains_key(*item));
        let known = known.count();
        assert!(known < items.len() && known > items.len() * 3 / 4);
        assert!(events.known.len() < known);
        let mut oracle = Oracle::default();
        events.order.iter().for_each(|it| oracle.receive(it));
        let shown = oracle.matching(&Filter::default(), &everyone(), seconds(COMPARED));
        assert!(!shown.is_empty() && shown.len() * 2 < events.known.len());
        let kinds = |kind| shown.iter().any(|it| it.kind() == EventKind::new(kind));
        assert!(kinds(1) && kinds(5) && kinds(30_000));
    }
}
