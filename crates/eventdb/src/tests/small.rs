//! Attaching, building, dropping, counting at size, and checks that find something.

use std::sync::Arc;

use bytes::Bytes;
use osier_core::{Role, TopicId, testing::topic};
use osier_nostr::{CanonicalQuestion, Event, nip::nip45::HllRule, testing};
use osier_store::{
    Batch, ItemPlace, Lsn, Retention, Storage, Store, StoreOptions, TopicNo, TopicRecord,
    testing::SimDisk,
};

use super::support::{Bench, ID, Pen, author, event, filter, page, seconds, viewer};
use crate::{
    EventDb, EventIndex, EventView, Scan, Settings, key, limit,
    row::SketchRow,
    schema::{self, Tables},
};

const OTHER: TopicId = TopicId::from_bytes([8; 32]);

#[test]
fn what_is_kept_while_a_client_reads_can_be_sent_between_threads() {
    fn is<T: Send + 'static>() {}
    fn is_shared<T: Send + Sync + 'static>() {}
    is::<Scan>();
    is::<crate::Records>();
    is_shared::<EventView>();
    is_shared::<EventIndex>();
}

fn ring(store: &Store, of: TopicId, entries: u64) {
    let retention = Retention::Newest { entries };
    let record = TopicRecord {
        ticket: Vec::new(),
        role: Role::Replay,
        retention,
        policy: Vec::new(),
    };
    store.set_topic(of, &record).unwrap();
}

/// NOS-70: what is no event is stepped over, forged ones among it.
#[test]
fn items_that_are_no_events_are_not_indexed() {
    let mut bench = Bench::new();
    let good = testing::note(1, 1, "good");
    let forged = testing::draft(1, 1, &[], "forged").unsigned(&testing::pubkey(1));
    let mut batch = Batch::new();
    let items = vec![
        Bytes::from_static(b"{}"),
        forged.to_bytes(),
        good.to_bytes(),
        Bytes::from(good.json().replacen(':', ": ", 1)),
    ];
    batch.push(bench.pen.entry(topic(), items));
    bench.store().commit(&batch).unwrap();
    assert_eq!(bench.ids("{}", &viewer(&[]), 9), [good.id()]);
    assert_eq!(bench.fresh(1, 9), [good.id()]);
    bench.check();
}

/// An event in several entries, of several topics, is one event; it goes with its last copy.
#[test]
fn an_event_goes_with_its_last_copy() {
    let mut bench = Bench::new();
    ring(bench.store(), topic(), 1);
    ring(bench.store(), OTHER, 1);
    let note = testing::note(1, 1, "twice");
    let filler = |n| testing::note(2, n, "filler");
    bench.commit_in(OTHER, std::slice::from_ref(&note));
    bench.commit_in(topic(), std::slice::from_ref(&note));
    bench.commit_in(topic(), &[filler(1)]);
    assert_eq!(bench.ids("{}", &viewer(&[]), 9).len(), 2);
    bench.check();
    bench
        .store()
        .prune(topic(), 1_800_000_000_000, None)
        .unwrap();
    assert!(
        bench.ids("{}", &viewer(&[]), 9).contains(&note.id()),
        "the other topic holds it"
    );
    bench.check();
    bench.commit_in(OTHER, &[filler(2)]);
    bench.store().prune(OTHER, 1_800_000_000_000, None).unwrap();
    let mut left = vec![filler(2).id(), filler(1).id()];
    assert_eq!(bench.ids("{}", &viewer(&[]), 9), left);
    bench.check();
    // The copy that is not read goes first.
    let again = testing::note(1, 2, "twice again");
    bench.commit_in(topic(), std::slice::from_ref(&again));
    bench.commit_in(OTHER, std::slice::from_ref(&again));
    bench.commit_in(OTHER, &[filler(3)]);
    bench.store().prune(OTHER, 1_800_000_000_000, None).unwrap();
    left = vec![filler(3).id(), again.id(), filler(1).id()];
    assert_eq!(bench.ids("{}", &viewer(&[]), 9), left);
    bench.check();
    assert!(bench.store().remove_topic(OTHER).unwrap());
    left.remove(0);
    assert_eq!(bench.ids("{}", &viewer(&[]), 9), left);
    bench.check();
}

/// NOS-29: what an event did lasts when retention has removed it, also when the index is rebuilt.
#[test]
fn effects_outlast_the_entries_that_had_them() {
    let mut bench = Bench::new();
    ring(bench.store(), topic(), 1);
    let target = testing::note(1, 1, "target");
    let deletion = testing::event(1, 2, 5, &[&["e", &target.id().to_string()]], "");
    bench.commit(&[deletion]);
    bench.commit(&[testing::note(2, 1, "later")]);
    bench
        .store()
        .prune(topic(), 1_800_000_000_000, None)
        .unwrap();
    bench.commit_one(&target);
    for _ in 0..2 {
        assert_eq!(bench.ids(r#"{"kinds":[5]}"#, &viewer(&[]), 9), []);
        let found = bench.ids("{}", &viewer(&[]), 9);
        assert!(!found.contains(&target.id()));
        bench.check();
        bench.index.rebuild(&mut |_, _| {}).unwrap();
    }
}

/// NOS-102: a backup of a log that has been pruned keeps what its events did; the rest of the index
/// is built when the backup is used.
#[test]
fn a_backup_keeps_what_the_log_has_lost() {
    let mut bench = Bench::new();
    ring(bench.store(), topic(), 1);
    let target = testing::note(1, 1, "target");
    let deletion = testing::event(1, 2, 5, &[&["e", &target.id().to_string()]], "");
    bench.commit_one(&deletion);
    bench.commit_one(&testing::note(2, 1, "later"));
    bench
        .store()
        .prune(topic(), 1_800_000_000_000, None)
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("backup");
    bench.store().backup(&path).unwrap();
    let db = EventDb::new(Settings::default());
    let projection: Arc<EventDb> = Arc::clone(&db);
    let store = StoreOptions::new()
        .projection(projection)
        .open(&path, ID)
        .unwrap();
    let index = db.attach(&store, &mut |_, _| {}).unwrap();
    let admitted = index.view().unwrap().admit(&target, seconds(9)).unwrap();
    assert_eq!(
        admitted,
        crate::Admission::Hidden(osier_nostr::Hidden::Deleted)
    );
    assert!(index.check(&mut |_, _| {}).unwrap().is_clean());
    let count = index
        .view()
        .unwrap()
        .count(&[filter("{}")], &viewer(&[]), seconds(9))
        .unwrap();
    assert_eq!(count.count, 1);
}

/// NOS-100: what was written while nobody kept the index is added when it is attached.
#[test]
fn an_index_that_was_left_behind_catches_up() {
    let disk = SimDisk::new();
    let first = testing::note(1, 1, "first");
    Bench::on(&disk, Settings::default()).commit_one(&first);
    let (second, third) = (testing::note(1, 2, "second"), testing::note(1, 3, "third"));
    let deletion = testing::event(1, 4, 5, &[&["e", &first.id().to_string()]], "");
    let mut pen = Pen::new(2);
    {
        let store = StoreOptions::new()
            .open_backend(disk.backend(), "disk", ID)
            .unwrap();
        let mut batch = Batch::new();
        batch.push(pen.entry(topic(), vec![second.to_bytes(), deletion.to_bytes()]));
        store.commit(&batch).unwrap();
    }
    let db = EventDb::new(Settings::default());
    let projection: Arc<EventDb> = Arc::clone(&db);
    let options = StoreOptions::new().projection(projection);
    let store = options.open_backend(disk.backend(), "disk", ID).unwrap();
    // What comes before it is attached is not the next entry: it waits for what lies between.
    let mut batch = Batch::new();
    batch.push(pen.entry(topic(), vec![third.to_bytes()]));
    store.commit(&batch).unwrap();
    let mut told = Vec::new();
    let index = db
        .attach(&store, &mut |done, of| told.push((done, of)))
        .unwrap();
    assert_eq!(
        told.last(),
        Some(&(2, 3)),
        "entries looked at, of all: {told:?}"
    );
    let report = index.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    let view = index.view().unwrap();
    assert!(view.is_whole());
    let (found, _) = super::support::scan(
        &view,
        &[page(r#"{"kinds":[1]}"#)],
        &viewer(&[]),
        9,
        crate::Budget::default(),
    );
    assert_eq!(found, [third.clone(), second]);
    // What came in before it was caught up with is fresh once, with its own batch.
    let fresh = index
        .fresh(topic(), Lsn::new(3), seconds(9))
        .unwrap()
        .unwrap();
    assert_eq!((fresh.events, fresh.commit.0), (vec![third], 2));
}

/// NOS-107: while the index lacks what the log has, nothing is said to be complete.
#[test]
fn an_index_that_is_behind_says_so() {
    let mut bench = Bench::new();
    bench.commit(&[testing::note(1, 1, "")]);
    let behind = |behind| {
        let write = |txn: &redb::WriteTransaction, _: &osier_store::LogItems<'_>| {
            crate::meta::set_behind(&mut txn.open_table(schema::meta)?, behind)
        };
        bench.store().project("test", write).unwrap();
    };
    behind(true);
    let view = bench.view();
    assert!(!view.is_whole());
    let budget = crate::Budget::default();
    let (_, outcome) = super::support::scan(&view, &[page("{}")], &viewer(&[]), 9, budget);
    assert!(!outcome.drained && !outcome.more);
    assert!(
        view.count(&[filter("{}")], &viewer(&[]), seconds(9))
            .unwrap()
            .approximate
    );
    behind(false);
    assert!(
        !bench
            .view()
            .count(&[filter("{}")], &viewer(&[]), seconds(9))
            .unwrap()
            .approximate
    );
}

/// NOS-100: other settings, another index; the same again, the same.
#[test]
fn settings_that_decide_what_is_indexed_have_it_built_anew() {
    let disk = SimDisk::new();
    let wrap = testing::event(1, 1, 1059, &[&["p", &testing::pubkey(2).to_string()]], "");
    let urls: osier_nostr::nip::nip42::RelayUrls =
        osier_nostr::nip::nip42::RelayUrl::parse("wss://us")
            .into_iter()
            .collect();
    let vanish = testing::event(3, 9, 62, &[&["relay", "wss://us"]], "");
    let theirs = testing::note(3, 5, "theirs");
    {
        let mut bench = Bench::on(&disk, Settings::default());
        bench.commit(&[wrap.clone(), theirs.clone(), vanish.clone()]);
        bench.commit_in(OTHER, &[testing::note(4, 1, "other")]);
        assert_eq!(bench.ids("{}", &viewer(&[]), 99).len(), 3);
    }
    let gate = osier_nostr::nip::nip17::Gate::open();
    let topics = Some([topic()].into());
    let open = Settings {
        gate: gate.clone(),
        urls,
        topics,
        ..Settings::default()
    };
    let bench = Bench::on(&disk, open);
    let everybody = osier_nostr::nip::nip17::Viewer::new(gate);
    let found = bench.ids("{}", &everybody, 99);
    assert_eq!(
        found,
        [vanish.id(), wrap.id()],
        "no gate, one topic, a URL that vanishing names"
    );
    bench.check();
    drop(bench);
    let bench = Bench::on(&disk, Settings::default());
    assert_eq!(bench.ids("{}", &viewer(&[]), 99).len(), 3);
    bench.check();
}

/// NOS-28: gift wraps go with who received them, gated or not.
#[test]
fn vanishing_takes_gift_wraps_with_it() {
    for gate in [
        osier_nostr::nip::nip17::Gate::default(),
        osier_nostr::nip::nip17::Gate::open(),
    ] {
        let mut bench = Bench::with(Settings {
            gate,
            ..Settings::default()
        });
        let to = author(1).to_string();
        let wrap = |at| event(9, at, 1059, &[&["p", &to]], "");
        let vanish = event(1, 5, 62, &[&["relay", "ALL_RELAYS"]], "");
        bench.commit(&[
            wrap(4),
            wrap(6),
            event(1, 3, 4, &[], ""),
            event(2, 3, 1, &[&["p", &to]], ""),
        ]);
        bench.commit_one(&vanish);
        let found = bench.ids("{}", &viewer(&[1]), 99);
        let right = [
            wrap(6).id(),
            vanish.id(),
            event(2, 3, 1, &[&["p", &to]], "").id(),
        ];
        assert_eq!(found, right);
        bench.check();
    }
}

/// NOS-108: fresh events come from memory or, when asked for late, from the disk.
#[test]
fn what_is_fresh_can_be_asked_for_late() {
    let mut bench = Bench::new();
    let events: Vec<Event> = (0..limit::FRESH_ENTRIES_MAX as u64 + 5)
        .map(|at| event(1, at, 1, &[], ""))
        .collect();
    for one in &events {
        bench.commit(&[one.clone(), events[0].clone()]);
    }
    for round in 0..2 {
        for (one, lsn) in events.iter().zip(1..) {
            assert_eq!(bench.fresh(lsn, 9), [one.id()], "round {round}");
        }
    }
    let fresh = bench
        .index
        .fresh(topic(), Lsn::new(3), seconds(9))
        .unwrap()
        .unwrap();
    assert_eq!(fresh.commit.0, 3);
    assert_eq!(bench.view().commit().0, events.len() as u64);
    assert_eq!(
        bench
            .index
            .fresh(topic(), Lsn::new(999), seconds(9))
            .unwrap(),
        None
    );
    assert_eq!(
        bench.index.fresh(OTHER, Lsn::new(1), seconds(9)).unwrap(),
        None
    );
    // What was replaced meanwhile is not fanned out.
    let old = event(2, 1, 0, &[], "old");
    bench.commit_one(&old);
    bench.commit(&[event(2, 2, 0, &[], "new")]);
    assert_eq!(bench.fresh(events.len() as u64 + 1, 9), []);
}

/// NOS-106: a follower count is kept, exact, whatever comes and goes, and its sketch follows.
#[test]
fn large_counts_are_kept_and_stay_exact() {
    let mut bench = Bench::new();
    let p = "ab".repeat(32);
    let follower = |n: u32, at: u64, follows: bool| {
        let key = *blake3::hash(&n.to_be_bytes()).as_bytes();
        let key = osier_nostr::PublicKey::from_bytes(key);
        let tags: &[&[&str]] = if follows { &[&["p", &p]] } else { &[] };
        testing::draft(at, 3, tags, "").unsigned(&key)
    };
    let followers: Vec<Event> = (0..2600).map(|n| follower(n, 1, true)).collect();
    for part in followers.chunks(200) {
        bench.commit(part);
    }
    let ask = |bench: &Bench, text: &str, now: u64| {
        bench
            .view()
            .count(&[filter(text)], &viewer(&[]), seconds(now))
            .unwrap()
    };
    let text = CanonicalQuestion::Followers.filter_text(&p);
    let any = format!(r##"{{"#p":["{p}"]}}"##);
    let kept = |bench: &Bench| {
        let facet = key::tag(osier_nostr::Letter::P, &p);
        let asked = Some(CanonicalQuestion::Followers);
        crate::sketch::kept(&bench.view().inner().tables.sketch, asked, &facet).unwrap()
    };
    assert!(kept(&bench).is_some(), "the row is there");
    for text in [&text, &any, r#"{"kinds":[3]}"#] {
        assert_eq!(ask(&bench, text, 9).count, 2600, "{text}");
    }
    let walked = format!(r##"{{"kinds":[3],"#p":["{p}"],"since":0}}"##);
    assert_eq!(ask(&bench, &text, 9).sketch, ask(&bench, &walked, 9).sketch);
    let estimate = ask(&bench, &text, 9).sketch.unwrap().estimate();
    assert!((2200..3000).contains(&estimate), "{estimate}");
    // Some stop to follow: the count is exact, the sketch is made again before it is far off.
    let gone: Vec<Event> = (0..900).map(|n| follower(n, 2, false)).collect();
    for part in gone.chunks(100) {
        bench.commit(part);
        let row = kept(&bench).unwrap();
        assert!(row.lowered * limit::SKETCH_STALE_PART <= row.count);
    }
    assert_eq!(ask(&bench, &text, 9).count, 1700);
    assert_eq!(ask(&bench, &walked, 9).count, 1700);
    // One that has expired and is not purged does not count.
    let expiring = event(1, 5, 3, &[&["p", &p], &["expiration", "50"]], "");
    bench.commit(&[expiring]);
    assert_eq!(ask(&bench, &text, 49).count, 1701);
    assert_eq!(ask(&bench, &text, 50).count, 1700);
    assert_eq!(ask(&bench, r#"{"kinds":[3]}"#, 50).count, 2600);
    bench.check();
    // And few are not worth a row.
    let gone: Vec<Event> = (900..2000).map(|n| follower(n, 2, false)).collect();
    for part in gone.chunks(200) {
        bench.commit(part);
    }
    assert!(kept(&bench).is_none());
    assert_eq!(ask(&bench, &text, 50).count, 600);
    bench.check();
}

/// NOS-110: a question that would read too much is refused, never cut; from rows it is answered.
#[test]
fn a_question_that_reads_too_much_is_refused() {
    let mut bench = Bench::with(Settings {
        read_events_max: 10,
        ..Settings::default()
    });
    let events: Vec<Event> = (0..11)
        .map(|at| event(1, at, 1, &[&["t", "x"], &["l", "y"]], ""))
        .collect();
    bench.commit(&events[..10]);
    let both = filter(r##"{"#t":["x"],"#l":["y"]}"##);
    let one = filter(r##"{"#t":["x"]}"##);
    let ask = |bench: &Bench, of: &osier_nostr::Filter| {
        let (view, nobody, now) = (bench.view(), viewer(&[]), seconds(99));
        let records = view.records(of, &nobody, now, 100);
        let counted = view.count(std::slice::from_ref(of), &nobody, now);
        (
            counted.map(|answer| answer.count),
            records.map(|records| records.len().unwrap()),
        )
    };
    assert!(matches!(ask(&bench, &both), (Ok(10), Ok(10))));
    bench.commit(&events[10..]);
    assert!(matches!(ask(&bench, &one), (Ok(11), Ok(11))));
    let (counted, records) = ask(&bench, &both);
    for refused in [counted, records] {
        let error = refused.unwrap_err();
        assert!(error.is_too_much());
        assert!(error.reason().text().starts_with("blocked: "), "{error}");
    }
}

/// Both rules for sketches.
#[test]
fn sketches_follow_the_rule_that_is_set() {
    for rule in [HllRule::Merged, HllRule::Draft] {
        let mut bench = Bench::with(Settings {
            hll_rule: rule,
            ..Settings::default()
        });
        let e = "0123456789abcdef".repeat(4);
        let events: Vec<Event> = (1..40).map(|n| event(n, 1, 7, &[&["e", &e]], "")).collect();
        bench.commit(&events);
        let asked = filter(&format!(r##"{{"kinds":[7],"#e":["{e}"]}}"##));
        let mut right = osier_nostr::Sketch::empty();
        let offset = rule.offset(&asked).unwrap();
        for event in &events {
            rule.add(&mut right, offset, &event.pubkey());
        }
        let found = bench
            .view()
            .count(&[asked], &viewer(&[]), seconds(9))
            .unwrap();
        assert_eq!((found.count, found.sketch), (39, Some(right)));
    }
}

/// NOS-111: a check finds each kind of damage.
#[test]
fn a_check_finds_what_was_changed() {
    type Damage = fn(&mut Tables<'_>, &Event);
    let damages: &[(&str, Damage)] = &[
        ("nostr_event", |tables, event| {
            tables.event.remove(event.id().as_bytes()).unwrap();
        }),
        ("nostr_event", |tables, event| {
            let row = redb::ReadableTable::get(&tables.event, event.id().as_bytes());
            let row = *row.unwrap().unwrap().value();
            tables.event.insert(&[7; 32], &row).unwrap();
        }),
        ("nostr_facet", |tables, event| {
            let facet = key::author(&event.pubkey());
            let key = key::facet(&facet, event.created_at(), event.id().as_bytes());
            tables.facet.remove(&key).unwrap();
        }),
        ("nostr_facet", |tables, event| {
            let key = key::facet(&[1; 16], event.created_at(), event.id().as_bytes());
            tables.facet.insert(&key, &[0; 9]).unwrap();
        }),
        ("nostr_expiry", |tables, _| {
            tables.expiry.retain(|_, ()| false).unwrap();
        }),
        ("nostr_copy", |tables, event| {
            let at = ItemPlace {
                topic: TopicNo::new(1),
                lsn: Lsn::new(9),
                item: 0,
            };
            tables
                .copy
                .insert(&key::copy(&event.id(), &at), ())
                .unwrap();
        }),
        ("nostr_newest", |tables, _| {
            tables.newest.retain(|_, _| false).unwrap();
        }),
        ("nostr_deleted", |tables, _| {
            tables.deleted.insert(&[1; 16], ()).unwrap();
        }),
        ("nostr_deleted_address", |tables, _| {
            tables.deleted_address.retain(|_, _| false).unwrap();
        }),
        ("nostr_vanished", |tables, event| {
            tables
                .vanished
                .insert(event.pubkey().as_bytes(), &[0; 8])
                .unwrap();
        }),
        ("nostr_sketch", |tables, event| {
            let row = SketchRow {
                count: 7,
                lowered: 0,
                sketch: osier_nostr::Sketch::empty(),
            };
            let key = key::sketch(0, &key::author(&event.pubkey()));
            tables.sketch.insert(&key, &row.encode()).unwrap();
        }),
        ("nostr_topic", |tables, _| {
            tables.topic.retain(|_, _| false).unwrap();
        }),
    ];
    for (table, damage) in damages {
        let mut bench = Bench::new();
        let note = event(1, 5, 1, &[&["expiration", "50"]], "");
        let address = format!("30000:{}:", author(1));
        let deletion = event(1, 6, 5, &[&["a", &address]], "");
        bench.commit(&[note.clone(), event(1, 5, 0, &[], ""), deletion]);
        bench.check();
        let write = |txn: &redb::WriteTransaction, _: &osier_store::LogItems<'_>| {
            damage(&mut Tables::open(txn)?, &note);
            Ok(())
        };
        bench.store().project("damage", write).unwrap();
        bench.vouch_again();
        let report = bench.index.check(&mut |_, _| {}).unwrap();
        let tables: Vec<_> = report
            .findings
            .iter()
            .map(|finding| finding.table)
            .collect();
        assert!(tables.contains(table), "{table}: {:?}", report.findings);
    }
}

/// A chunk whose sum is wrong is found, and so is an item without its place.
#[test]
fn a_check_finds_a_damaged_set() {
    for table in [schema::ORDER, schema::CHUNK] {
        let mut bench = Bench::new();
        bench.commit(&[event(1, 5, 1, &[], "")]);
        let write = |txn: &redb::WriteTransaction, _: &osier_store::LogItems<'_>| {
            type Key = &'static [u8; 44];
            let order: redb::TableDefinition<'_, Key, ()> =
                redb::TableDefinition::new(schema::ORDER);
            let chunk: redb::TableDefinition<'_, Key, &'static [u8; 36]> =
                redb::TableDefinition::new(schema::CHUNK);
            if table == schema::ORDER {
                txn.open_table(order)?.insert(&[0; 44], ())?;
            } else {
                let mut chunk = txn.open_table(chunk)?;
                let (key, mut row) = {
                    let (key, row) = redb::ReadableTable::first(&chunk)?.unwrap();
                    (*key.value(), *row.value())
                };
                row[20] ^= 1;
                chunk.insert(&key, &row)?;
            }
            Ok(())
        };
        bench.store().project("damage", write).unwrap();
        bench.vouch_again();
        let report = bench.index.check(&mut |_, _| {}).unwrap();
        assert!(!report.is_clean(), "{table}");
    }
}

/// What is told to be durable is that of the newest snapshot, and a transaction that fails does not
/// count.
#[test]
fn the_last_durable_batch_is_known_without_a_snapshot() {
    let mut bench = Bench::new();
    for time in 1..4 {
        bench.commit(&[event(1, time, 1, &[], "")]);
        let newest = bench.index.view().unwrap().commit();
        assert_eq!(bench.index.commit(), newest);
    }
    let before = bench.index.commit();
    bench
        .index
        .db
        .pending
        .store(77, std::sync::atomic::Ordering::SeqCst);
    let fails = |_: &redb::WriteTransaction, _: &osier_store::LogItems<'_>| {
        Err::<(), redb::Error>(redb::Error::Corrupted("on purpose".to_owned()))
    };
    assert!(bench.store().project("fail", fails).is_err());
    bench.store().project("do nothing", |_, _| Ok(())).unwrap();
    assert_eq!(bench.index.commit(), before);
}
