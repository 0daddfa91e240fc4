//! Properties over random filters, events and orders of arrival.

use std::collections::BTreeSet;

use osier_nostr::{
    Event, EventId, Fanout, Filter, Ledger, Matcher, PublicKey, Seconds, Sketch,
    nip::{
        nip17::{Gate, Viewer},
        nip42::RelayUrls,
        nip45::HllRule,
    },
    testing::{self, Oracle},
};
use proptest::prelude::*;

use crate::support::cases;

fn now() -> Seconds {
    Seconds::new(1_000).expect("in range")
}

fn viewer(keys: &[u8]) -> Viewer {
    let mut viewer = Viewer::new(Gate::default());
    for n in keys {
        viewer.authenticate(author(*n));
    }
    viewer
}

/// Keys that sign nothing: these tests look at no signature.
fn author(n: u8) -> PublicKey {
    PublicKey::from_bytes([n % 4; 32])
}

fn hex(n: u8) -> String {
    author(n).to_string()
}

/// Few values everywhere, so that events and filters meet.
fn event() -> impl Strategy<Value = Event> {
    let kinds = prop::sample::select(vec![0_u16, 1, 3, 7, 1059, 10_000, 30_000]);
    let tag = (prop::sample::select(vec!["t", "p", "e", "d", "T"]), 0_u8..3);
    let tags = prop::collection::vec(tag, 0..3);
    (0_u8..4, 0_u64..6, kinds, tags, 0_u8..3).prop_map(|(n, at, kind, tags, content)| {
        let named = |name: &str, value: u8| match name {
            "p" | "e" => hex(value),
            _ => value.to_string(),
        };
        let tags: Vec<[String; 2]> = tags
            .iter()
            .map(|(name, value)| [(*name).to_owned(), named(name, *value)])
            .collect();
        let tags: Vec<[&str; 2]> = tags.iter().map(|tag| [&*tag[0], &*tag[1]]).collect();
        let tags: Vec<&[&str]> = tags.iter().map(|tag| &tag[..]).collect();
        testing::draft(at, kind, &tags, &content.to_string()).unsigned(&author(n))
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let authors = prop::option::of(prop::collection::vec((0_u8..5).prop_map(hex), 0..3));
    let kinds = prop::option::of(prop::collection::vec(
        prop::sample::select(vec![0_u64, 1, 3, 7, 1059, 30_000, 70_000]),
        0..3,
    ));
    let t = prop::option::of(prop::collection::vec(
        (0_u8..3).prop_map(|n| n.to_string()),
        0..3,
    ));
    let p = prop::option::of(prop::collection::vec((0_u8..3).prop_map(hex), 0..2));
    let since = prop::option::of(0_u64..6);
    let until = prop::option::of(0_u64..6);
    (authors, kinds, t, p, since, until).prop_map(|(authors, kinds, t, p, since, until)| {
        let value = serde_json::json!({
            "authors": authors, "kinds": kinds, "#t": t, "#p": p, "since": since, "until": until,
        });
        let serde_json::Value::Object(fields) = value else {
            unreachable!()
        };
        let kept: serde_json::Value = fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect();
        Filter::parse(&kept.to_string()).expect("a filter")
    })
}

/// Events of which some delete, replace and make vanish what others are.
fn history() -> impl Strategy<Value = Vec<Event>> {
    let plain = prop::collection::vec(event(), 1..12);
    let request = (any::<prop::sample::Index>(), 0_u8..4, 0_u64..8, 0_u8..4);
    let requests = prop::collection::vec(request, 0..8);
    (plain, requests).prop_map(|(mut events, requests)| {
        for (target, by, at, form) in requests {
            let target = events[target.index(events.len())].clone();
            let id = target.id().to_string();
            let address = target
                .address()
                .map(|it| format!("{}:{}:{}", it.kind.get(), it.pubkey, it.d));
            let by = if form < 3 {
                target.pubkey()
            } else {
                author(by)
            };
            let draft = match (form, address) {
                (0, _) => testing::draft(at, 62, &[&["relay", "ALL_RELAYS"]], ""),
                (1, Some(address)) => testing::draft(at, 5, &[&["a", &address]], ""),
                _ => testing::draft(at, 5, &[&["e", &id]], ""),
            };
            events.push(draft.unsigned(&by));
        }
        events
    })
}

fn visible(oracle: &Oracle) -> BTreeSet<EventId> {
    let viewer = viewer(&[0, 1, 2, 3]);
    let shown = oracle.matching(&Filter::default(), &viewer, now());
    shown.into_iter().map(Event::id).collect()
}

proptest! {
    #![proptest_config(cases())]

    /// NOS-45: the index finds what a walk over all filters finds, whatever was registered,
    /// replaced and removed before.
    #[test]
    fn fan_out_is_the_walk(
        steps in prop::collection::vec((0_u8..12, prop::collection::vec(filter(), 0..3)), 1..40),
        events in prop::collection::vec(event(), 1..20),
    ) {
        let (mut fanout, mut walk) = (Fanout::new(), Matcher::new());
        for (key, filters) in steps {
            if filters.is_empty() {
                prop_assert_eq!(fanout.remove(&key), walk.remove(&key));
            } else {
                fanout.insert(key, filters.iter().cloned());
                walk.insert(key, filters);
            }
        }
        for event in &events {
            prop_assert_eq!(fanout.matching(event), walk.matching(event));
        }
    }

    /// NOS-10: what a filter finds stored it would have found live.
    #[test]
    fn stored_is_live(
        filters in prop::collection::vec(filter(), 1..4),
        events in prop::collection::vec(event(), 1..20),
    ) {
        let mut fanout = Fanout::new();
        fanout.insert((), filters.iter().cloned());
        let everybody = viewer(&[0, 1, 2, 3]);
        for event in &events {
            let mut alone = Oracle::default();
            alone.receive(event);
            let found = |it: &Filter| !alone.matching(it, &everybody, now()).is_empty();
            let stored = filters.iter().any(found);
            prop_assert_eq!(stored, !fanout.matching(event).is_empty());
        }
    }

    /// NOS-67 and NOS-27: a count is the length of the answer.
    #[test]
    fn count_is_req(
        filters in prop::collection::vec(filter(), 1..4),
        events in prop::collection::vec(event(), 0..20),
        keys in prop::collection::vec(0_u8..4, 0..2),
    ) {
        let mut oracle = Oracle::default();
        for event in &events {
            oracle.receive(event);
        }
        let viewer = viewer(&keys);
        let pages: Vec<_> = filters.iter().map(|filter| osier_nostr::Page {
            filter: filter.clone(),
            events_max: 500,
            whole_second: true,
        }).collect();
        let answer = oracle.answer(&pages, &viewer, now());
        let counted = oracle.count(&filters, &viewer, now());
        prop_assert!(answer.drained);
        prop_assert_eq!(answer.events.len() as u64, counted);
        prop_assert!(answer.events.iter().all(|event| viewer.sees(event)));
        let records = oracle.records(&filters[0], &viewer, now());
        let first = oracle.count(&filters[..1], &viewer, now());
        prop_assert_eq!(records.as_slice().len() as u64, first);
    }

    /// NOS-29: deletion, replacement and vanishing converge in any order of arrival, and from
    /// any two halves.
    #[test]
    fn the_fate_of_events_does_not_depend_on_their_order(
        (events, shuffled) in history().prop_flat_map(|events| {
            let shuffled = Just(events.clone()).prop_shuffle();
            (Just(events), shuffled)
        }),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut one, mut two) = (Oracle::default(), Oracle::default());
        for event in &events {
            one.receive(event);
        }
        for event in &shuffled {
            two.receive(event);
        }
        for event in shuffled.iter().rev() {
            two.receive(event);
        }
        prop_assert_eq!(visible(&one), visible(&two));

        let urls = RelayUrls::default();
        let ledger = |events: &[Event]| {
            let mut ledger = Ledger::default();
            for event in events {
                ledger.record_event(event, &urls);
            }
            ledger
        };
        let (left, right) = shuffled.split_at(cut.index(shuffled.len()));
        let mut joined = ledger(right);
        joined.join(&ledger(left));
        prop_assert_eq!(joined, ledger(&events));
    }

    /// NOS-29: what is hidden from all stays hidden as more comes in.
    #[test]
    fn what_is_hidden_stays_hidden(events in history()) {
        let mut oracle = Oracle::default();
        let mut hidden: BTreeSet<EventId> = BTreeSet::new();
        for (index, event) in events.iter().enumerate() {
            oracle.receive(event);
            let shown = visible(&oracle);
            prop_assert!(hidden.is_disjoint(&shown));
            let known = events.iter().take(index + 1).map(Event::id);
            hidden.extend(known.filter(|id| !shown.contains(id)));
        }
    }

    /// NOS-22: of one address at most one is shown, and it is the newest.
    #[test]
    fn at_most_one_version_is_shown(events in prop::collection::vec(event(), 1..20)) {
        let mut oracle = Oracle::default();
        for event in &events {
            oracle.receive(event);
        }
        let shown = visible(&oracle);
        for event in &events {
            let Some(address) = event.address() else { continue };
            let versions = events.iter().filter(|it| it.address().as_ref() == Some(&address));
            let newest = versions.min_by_key(|it| (std::cmp::Reverse(it.created_at()), it.id()));
            prop_assert_eq!(shown.contains(&event.id()), newest.map(Event::id) == Some(event.id()));
        }
    }

    /// NOS-62 and NOS-65: a sketch of a union is the merge of the sketches.
    #[test]
    fn a_sketch_of_a_union_is_the_merge(
        one in prop::collection::vec(any::<[u8; 32]>(), 0..40),
        two in prop::collection::vec(any::<[u8; 32]>(), 0..40),
        seed in "[0-9a-f]{64}",
        draft: bool,
    ) {
        let rule = if draft { HllRule::Draft } else { HllRule::Merged };
        let filter = Filter::parse(&format!(r##"{{"#e":["{seed}"]}}"##)).unwrap();
        let offset = rule.offset(&filter).unwrap();
        let sketch = |keys: &[[u8; 32]]| {
            let mut sketch = Sketch::empty();
            for key in keys {
                rule.add(&mut sketch, offset, &PublicKey::from_bytes(*key));
            }
            sketch
        };
        let mut merged = sketch(&one);
        merged.merge(&sketch(&two));
        prop_assert_eq!(merged, sketch(&[one, two].concat()));
    }
}

/// An estimate is within a few percent for random keys.
#[test]
fn an_estimate_is_near_the_number_of_keys() {
    use sha2::{Digest, Sha256};

    let filter = Filter::parse(&format!(r##"{{"#p":["{}"]}}"##, "0".repeat(64))).unwrap();
    let offset = HllRule::Merged.offset(&filter).unwrap();
    for count in [10_u32, 200, 1_000, 20_000] {
        let mut sketch = Sketch::empty();
        for n in 0..count {
            let key: [u8; 32] = Sha256::digest(n.to_be_bytes()).into();
            HllRule::Merged.add(&mut sketch, offset, &PublicKey::from_bytes(key));
        }
        let off = sketch.estimate().abs_diff(u64::from(count));
        assert!(off * 5 < u64::from(count), "{count}: {}", sketch.estimate());
    }
}
