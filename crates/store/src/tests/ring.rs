//! Rings (`STO-12`, `STO-13`): what a ring holds, and that it agrees with an archive.

use std::collections::BTreeSet;

use osier_core::{
    Coverage, Entry, EntryHash, OrderKey, Role, Verified,
    testing::{Chain, topic},
};
use osier_proto::{StoreId, View};
use proptest::prelude::*;

use super::history::{chain, deal, honest, steps, write};
use crate::{
    Batch, FUTURE_SLACK_MS, Fate, Retention, Store, TopicRecord, UNHEARD_KEPT_MAX, Unheard, key,
};

const ID: StoreId = StoreId::from_bytes([6; 16]);

fn ring(retention: Retention) -> Store {
    let store = Store::in_memory(ID).unwrap();
    let record = TopicRecord {
        ticket: vec![1],
        role: Role::Replay,
        retention,
        policy: Vec::new(),
    };
    store.set_topic(topic(), &record).unwrap();
    assert_eq!(store.topic(topic()).unwrap(), Some(record));
    store
}

fn commit(store: &Store, entries: &[Verified<Entry>]) -> Vec<Fate> {
    let mut batch = Batch::new();
    batch.extend(entries.iter().cloned());
    let committed = store.commit(&batch).unwrap();
    committed.topics.get(&topic()).map_or(Vec::new(), |topic| {
        topic.entries.iter().map(|(_, fate)| *fate).collect()
    })
}

fn clean(store: &Store) {
    let report = store.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
}

fn floor(store: &Store) -> Option<OrderKey> {
    match store.snapshot(topic()).unwrap().summary().coverage {
        Coverage::Complete => None,
        Coverage::From { floor } => Some(floor),
    }
}

fn held(store: &Store, entries: &[Verified<Entry>]) -> BTreeSet<EntryHash> {
    let view = store.snapshot(topic()).unwrap();
    entries
        .iter()
        .map(|e| e.hash())
        .filter(|hash| view.holds(hash).unwrap())
        .collect()
}

/// What all batches and prunes must keep true; ends with everything delivered twice.
fn run(entries: &[Verified<Entry>], batches: &[Vec<Verified<Entry>>], keep: u64) -> (Store, Store) {
    let (ring, archive) = (
        ring(Retention::Newest { entries: keep }),
        Store::in_memory(ID).unwrap(),
    );
    for (at, batch) in batches.iter().enumerate() {
        commit(&ring, batch);
        commit(&archive, batch);
        let before = floor(&ring);
        let snapshot = ring.snapshot(topic()).unwrap();
        let (summary, items) = (snapshot.summary(), snapshot.order().len().unwrap());
        if at % 3 == 1 {
            ring.prune(topic(), 1_050, None).unwrap();
        }
        assert!(floor(&ring) >= before, "the floor never goes down");
        assert_eq!(snapshot.summary(), summary, "a snapshot stays");
        assert_eq!(snapshot.order().len().unwrap(), items);
        assert_eq!(summary.set.count(), items);
        clean(&ring);
    }
    commit(&ring, entries);
    commit(&archive, entries);
    ring.prune(topic(), 1_050, None).unwrap();
    commit(&ring, entries);
    clean(&ring);
    (ring, archive)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// At or above its floor a ring holds what an archive holds, whatever authors do.
    #[test]
    fn a_ring_holds_everything_from_its_floor(
        steps in steps(50),
        keys in prop::collection::vec(any::<u32>(), 50),
        keep in 0_u64..30,
    ) {
        let entries = write(&steps);
        let (ring, _) = run(&entries, &deal(&entries, &keys, 8), keep);
        let floor = floor(&ring).unwrap_or(OrderKey::MIN);
        let above: BTreeSet<EntryHash> = entries
            .iter()
            .filter(|entry| key::place(&entry.order_key()) >= floor)
            .map(|entry| entry.hash())
            .collect();
        prop_assert!(held(&ring, &entries).is_superset(&above));
        // Where nothing but tips would go, the floor stays: they are held anyway.
        let heads = ring.snapshot(topic()).unwrap().heads(None, 1000).unwrap();
        let tips: BTreeSet<EntryHash> = heads.iter().map(|head| head.hash).collect();
        let countable = entries.iter().filter(|entry| {
            let place = key::place(&entry.order_key());
            let counts = place.time.as_millis() <= 1_050 + FUTURE_SLACK_MS;
            place >= floor && counts && !tips.contains(&entry.hash())
        });
        prop_assert!(countable.count() as u64 <= 2 * keep);
        prop_assert_eq!(floor.hash, EntryHash::MIN, "a floor is the start of a millisecond");
    }

    /// With honest authors, whatever their clocks, a ring agrees with an archive.
    #[test]
    fn a_ring_agrees_with_an_archive(
        steps in steps(50),
        keys in prop::collection::vec(any::<u32>(), 50),
        keep in 0_u64..30,
    ) {
        let entries = write(&honest(&steps));
        let (ring, archive) = run(&entries, &deal(&entries, &keys, 8), keep);
        let (ring, archive) = (ring.snapshot(topic()).unwrap(), archive.snapshot(topic()).unwrap());
        prop_assert_eq!(ring.summary().state, archive.summary().state);
        prop_assert_eq!(ring.heads(None, 100).unwrap(), archive.heads(None, 100).unwrap());
        prop_assert_eq!(ring.hole_count(), 0);
    }
}

#[test]
fn the_floor_is_exact_and_only_the_tip_stays_below() {
    let ring = ring(Retention::Newest { entries: 3 });
    let idle = Chain::new(9).at(5).next(b"long ago");
    let busy = chain(1, topic(), 10);
    commit(&ring, std::slice::from_ref(&idle));
    commit(&ring, &busy);
    let report = ring.prune(topic(), 1_800_000_000_000, None).unwrap();
    assert_eq!(report.removed, 7);
    let start = OrderKey {
        hash: EntryHash::MIN,
        ..busy[7].order_key()
    };
    assert_eq!(report.floor, Some(start));
    assert_eq!(held(&ring, &busy).len(), 3);
    assert!(ring.snapshot(topic()).unwrap().holds(&idle.hash()).unwrap());
    assert_eq!(ring.snapshot(topic()).unwrap().point().pruned, 7);
    assert_eq!(
        ring.snapshot(topic()).unwrap().hole_count(),
        0,
        "what was dropped is no hole"
    );
    assert_eq!(
        ring.prune(topic(), 1_800_000_000_000, None)
            .unwrap()
            .removed,
        0
    );
    assert_eq!(commit(&ring, &busy[..1]), [Fate::BelowFloor]);
    clean(&ring);
}

/// `STO-18`: what nobody else has is kept, and what is above it, until that is too much.
#[test]
fn own_entries_that_nobody_else_has_are_kept() {
    let me = chain(1, topic(), 100);
    let unheard = |from: usize| {
        let (author, from) = (me[0].signer(), me[from].header().seq());
        Some(Unheard { author, from })
    };
    let now = me[99].header().time().as_millis();
    let store = ring(Retention::Newest { entries: 10 });
    commit(&store, &me);
    store.prune(topic(), now, unheard(0)).unwrap();
    assert_eq!(held(&store, &me).len(), 100);
    store.prune(topic(), now, unheard(60)).unwrap();
    assert_eq!(held(&store, &me), held(&store, &me[60..]));
    assert_eq!(held(&store, &me).len(), 40);
    store.prune(topic(), now, unheard(95)).unwrap();
    assert_eq!(held(&store, &me).len(), 10, "the ring keeps more");
    clean(&store);
}

/// An own tip that stands below the floor, as after a restart when nothing is known to be heard,
/// holds no floor back.
#[test]
fn an_own_tip_below_the_floor_holds_nothing_back() {
    let store = ring(Retention::Newest { entries: 10 });
    let own = Chain::new(1).at(5).next(b"long ago");
    let (author, from) = (own.signer(), own.header().seq());
    let others = chain(2, topic(), 60);
    commit(&store, std::slice::from_ref(&own));
    for part in others.chunks(30) {
        commit(&store, part);
        let now = part[29].header().time().as_millis();
        store.prune(topic(), now, None).unwrap();
    }
    let more = chain(3, topic(), 90);
    commit(&store, &more);
    let now = more[89].header().time().as_millis();
    let unheard = Some(Unheard { author, from });
    store.prune(topic(), now, unheard).unwrap();
    assert!(held(&store, &more).len() <= 20);
    assert_eq!(held(&store, std::slice::from_ref(&own)).len(), 1);
    clean(&store);
}

/// `STO-18`: a ring that never meets anybody keeps so many of its own entries and no more.
#[test]
fn own_entries_that_nobody_else_has_have_a_bound() {
    let over = 500;
    let me = chain(1, topic(), UNHEARD_KEPT_MAX + over);
    let store = ring(Retention::Newest { entries: 10 });
    commit(&store, &me);
    let (author, from) = (me[0].signer(), me[0].header().seq());
    let now = me[me.len() - 1].header().time().as_millis();
    let unheard = Some(Unheard { author, from });
    store.prune(topic(), now, unheard).unwrap();
    assert_eq!(held(&store, &me).len(), UNHEARD_KEPT_MAX);
}

/// `STO-12`: of an author who forks, a ring keeps both tips, however the entries are cut into
/// batches.
#[test]
fn a_fork_that_comes_at_once_keeps_both_tips() {
    let tips = |size: usize| {
        let store = ring(Retention::Newest { entries: 12 });
        commit(&store, &chain(9, topic(), 30));
        store.prune(topic(), u64::MAX / 2, None).unwrap();
        let later = floor(&store).unwrap().time.as_millis() + 1_000;
        let branch = |count: u64, body: &'static [u8]| -> Vec<_> {
            let mut chain = Chain::new(1);
            (0..count)
                .map(|at| chain.at(later + at).next(body))
                .collect()
        };
        commit(&store, &branch(4, b"one"));
        for part in branch(3, b"other").chunks(size) {
            commit(&store, part);
        }
        let author = branch(1, b"one")[0].signer();
        let heads = store.snapshot(topic()).unwrap().heads(None, 100).unwrap();
        let own = heads.iter().filter(|head| head.author == author);
        own.map(|head| head.seq.get()).collect::<Vec<_>>()
    };
    assert_eq!(tips(1), [3, 4]);
    assert_eq!(tips(3), [3, 4]);
}

/// An author with a wrong clock must not push honest entries out.
#[test]
fn entries_from_the_future_do_not_count() {
    let ring = ring(Retention::Newest { entries: 5 });
    let honest = chain(1, topic(), 5);
    let now = honest[4].header().time().as_millis();
    let mut wrong = Chain::new(2);
    let future: Vec<_> = (1..=20)
        .map(|n| wrong.at(now + FUTURE_SLACK_MS + n).next(b"tomorrow"))
        .collect();
    commit(&ring, &honest);
    commit(&ring, &future);
    assert_eq!(ring.prune(topic(), now, None).unwrap().removed, 0);
    assert_eq!(held(&ring, &honest).len(), 5);
    assert_eq!(floor(&ring), None, "nothing was dropped");
}

/// Entries of one millisecond stand in the order of their hashes: they stay or go together, so that
/// a ring keeps no pieces of chains (`STO-12`).
#[test]
fn a_millisecond_is_kept_or_dropped_whole() {
    for (burst, kept) in [(6, 8), (12, 2)] {
        let ring = ring(Retention::Newest { entries: 4 });
        let mut chain = Chain::new(1);
        let mut entries: Vec<_> = (0..5).map(|n| chain.at(100 + n).next(b"before")).collect();
        entries.extend((0..burst).map(|_| chain.at(200).next(b"at once")));
        entries.extend((0..2).map(|n| chain.at(300 + n).next(b"after")));
        commit(&ring, &entries);
        let report = ring.prune(topic(), 1_000, None).unwrap();
        assert_eq!(held(&ring, &entries).len(), kept);
        assert_eq!(report.floor.map(|floor| floor.hash), Some(EntryHash::MIN));
        clean(&ring);
    }
}

#[test]
fn a_ring_of_time_drops_what_is_older() {
    let ring = ring(Retention::Within { ms: 4_500 });
    let entries = chain(1, topic(), 10);
    commit(&ring, &entries);
    let now = entries[9].header().time().as_millis();
    let report = ring.prune(topic(), now, None).unwrap();
    assert_eq!(report.removed, 5);
    assert_eq!(report.floor.unwrap().time.as_millis(), now - 4_500);
    let report = ring.prune(topic(), now, None).unwrap();
    assert_eq!(report.removed, 0);
    clean(&ring);
}

/// A ring that was away has not seen what leads from a tip below its floor to what its author wrote
/// since: the old tip is none any more, in whatever order things come (`STO-12`).
#[test]
fn a_low_tip_goes_when_its_author_has_gone_on() {
    let mut author = Chain::new(1);
    let low: Vec<_> = (0..4).map(|n| author.at(100 + n).next(b"low")).collect();
    let high = author.at(9_000).next(b"high");
    let others = chain(2, topic(), 6);
    let archive = Store::in_memory(ID).unwrap();
    commit(
        &archive,
        &[low.clone(), vec![high.clone()], others.clone()].concat(),
    );
    for order in 0..3 {
        let ring = ring(Retention::Newest { entries: 4 });
        commit(&ring, &low[..2]);
        if order == 0 {
            commit(&ring, std::slice::from_ref(&high));
        }
        commit(&ring, &others);
        ring.prune(topic(), 1_800_000_000_000, None).unwrap();
        if order == 1 {
            commit(&ring, std::slice::from_ref(&high));
        } else if order == 2 {
            commit(&ring, &[high.clone(), low[1].clone()]);
        }
        clean(&ring);
        let (ring, archive) = [&ring, &archive]
            .map(|store| store.snapshot(topic()).unwrap())
            .into();
        assert_eq!(
            ring.heads(None, 9).unwrap(),
            archive.heads(None, 9).unwrap()
        );
        assert_eq!(ring.summary().state, archive.summary().state);
    }
}

/// An entry that names what lies below the floor makes no hole once that was refused.
#[test]
fn a_name_below_the_floor_is_settled_by_its_refusal() {
    let ring = ring(Retention::Newest { entries: 2 });
    let old = chain(1, topic(), 6);
    commit(&ring, &old);
    ring.prune(topic(), 1_800_000_000_000, None).unwrap();
    let late = Chain::new(2)
        .at(1_790_000_000_000)
        .next_with(b"late", vec![old[1].hash()]);
    commit(&ring, &[late]);
    assert_eq!(
        ring.snapshot(topic()).unwrap().holes(None, 9).unwrap(),
        [old[1].hash()]
    );
    assert_eq!(commit(&ring, &old[1..2]), [Fate::BelowFloor]);
    assert_eq!(ring.snapshot(topic()).unwrap().hole_count(), 0);
    clean(&ring);
}

/// More tips than one row keeps: the smallest make the state hash, none is forgotten.
#[test]
fn an_author_of_many_forks_costs_no_more_than_its_row() {
    let store = Store::in_memory(ID).unwrap();
    let mut root = Chain::new(1);
    let first = root.next(b"root");
    let forks: Vec<_> = (0..40_u8).map(|n| root.clone().next(&[n])).collect();
    commit(&store, &[first]);
    for fork in &forks {
        commit(&store, std::slice::from_ref(fork));
    }
    let head = store.snapshot(topic()).unwrap().heads(None, 1).unwrap();
    assert_eq!(head.len(), osier_core::limit::AUTHOR_TIPS_MAX);
    clean(&store);
    let mut sorted: Vec<_> = forks.iter().map(|fork| fork.hash()).collect();
    sorted.sort_unstable();
    assert_eq!(
        head.iter().map(|head| head.hash).collect::<Vec<_>>(),
        sorted[..16]
    );
    let mut next = root.clone();
    let by_hash = |hash: &EntryHash| forks.iter().find(|fork| fork.hash() == *hash).unwrap();
    for hash in [&sorted[0], &sorted[30]] {
        next.follow(&osier_core::SignedEntry::parse(by_hash(hash).to_wire()).unwrap());
        commit(&store, &[next.next(b"goes on")]);
        clean(&store);
    }
    let heads = store.snapshot(topic()).unwrap().heads(None, 1).unwrap();
    assert_eq!(heads[15].hash, sorted[16], "the next one moved up");
}

/// What a session serves is a snapshot: a ring that drops meanwhile takes nothing from it.
#[test]
fn pruning_during_a_session() {
    let store = ring(Retention::Newest { entries: 10 });
    let chain = chain(3, topic(), 40);
    commit(&store, &chain[..20]);
    store.prune(topic(), 1_800_000_000_000, None).unwrap();
    let before = held(&store, &chain);
    let view = store.snapshot(topic()).unwrap();
    let summary = view.summary();
    commit(&store, &chain[20..]);
    store.prune(topic(), 1_800_000_000_000, None).unwrap();
    let after = held(&store, &chain);
    assert!(!before.is_subset(&after), "the ring has gone on");
    assert!(before.iter().all(|hash| view.holds(hash).unwrap()));
    assert_eq!(view.summary(), summary);
}
