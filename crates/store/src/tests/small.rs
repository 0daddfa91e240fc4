//! The rows beside history, backups, projections, checks that find something.

use std::sync::{Arc, Mutex};

use osier_core::{
    Entry, Role, TopicId, Verified, WireEntry,
    testing::{secret, topic},
};
use osier_proto::{Lsn, Source, StoreId, Token, View};
use redb::backends::InMemoryBackend;

use super::history::chain;
use crate::{
    Batch, Fate, LogChange, Projection, Retention, Store, StoreFault, StoreOptions, TopicRecord,
    TrustRow, schema::Tables,
};

const ID: StoreId = StoreId::from_bytes([3; 16]);

fn filled(entries: &[Verified<Entry>]) -> Store {
    let store = Store::in_memory(ID).unwrap();
    let mut batch = Batch::new();
    batch.extend(entries.iter().cloned());
    store.commit(&batch).unwrap();
    store
}

#[test]
fn an_unknown_topic_is_an_empty_one() {
    let store = Store::in_memory(ID).unwrap();
    let view = store.view(topic()).unwrap();
    assert_eq!(view.summary(), osier_proto::Summary::empty());
    assert_eq!(view.point().last, Lsn::START);
    assert!(view.log(Lsn::START, 10, 10).unwrap().done);
    assert!(view.heads(None, 10).unwrap().is_empty());
    osier_reconcile::testing::conform(view.order(), &[]);
    assert_eq!(store.prune(topic(), 0, None).unwrap().removed, 0);
    assert!(store.topics().unwrap().is_empty());
}

#[test]
fn tokens_trust_and_topics_are_kept_and_forgotten() {
    let store = filled(&chain(1, topic(), 3));
    let (a, b) = (secret(1).node_id(), secret(2).node_id());
    let token = Token(vec![1, 2, 3]);
    let mut batch = Batch::new();
    batch.keep_token(topic(), a, token.clone());
    assert!(!batch.is_empty());
    store.commit(&batch).unwrap();
    assert_eq!(store.token(topic(), a).unwrap(), Some(token.clone()));
    assert_eq!(store.tokens(topic()).unwrap(), [(a, token)]);
    assert_eq!(store.token(topic(), b).unwrap(), None);
    store.remove_token(topic(), a).unwrap();
    assert_eq!(store.token(topic(), a).unwrap(), None);

    let trusted = |node, rank| TrustRow {
        node,
        rank,
        role: Role::Archive,
    };
    store.set_trust(topic(), trusted(a, 1)).unwrap();
    store.set_trust(topic(), trusted(b, 2)).unwrap();
    store.set_trust(topic(), trusted(a, 3)).unwrap();
    assert_eq!(
        store
            .trust(topic())
            .unwrap()
            .iter()
            .map(|row| row.rank)
            .sum::<u32>(),
        5
    );
    assert!(store.remove_trust(topic(), b).unwrap());
    assert_eq!(store.trust(topic()).unwrap(), [trusted(a, 3)]);

    let record = TopicRecord {
        ticket: vec![7; 100],
        role: Role::Archive,
        retention: Retention::All,
        policy: vec![1],
    };
    store.set_topic(topic(), &record).unwrap();
    assert_eq!(store.topics().unwrap(), [(topic(), record.clone())]);
    let large = TopicRecord {
        policy: vec![0; 70_000],
        ..record
    };
    let error = store.set_topic(topic(), &large).unwrap_err();
    assert!(matches!(error.fault(), StoreFault::Misuse(_)), "{error}");

    let before = store.snapshot(topic()).unwrap();
    assert!(store.remove_topic(topic()).unwrap());
    assert!(!store.remove_topic(topic()).unwrap());
    assert_eq!(before.summary().set.count(), 3, "a snapshot stays");
    assert_eq!(
        store.snapshot(topic()).unwrap().summary(),
        osier_proto::Summary::empty()
    );
    assert!(store.trust(topic()).unwrap().is_empty());
}

#[test]
fn a_batch_merges_and_spans_topics() {
    let other = TopicId::from_bytes([4; 32]);
    let (mut one, mut two) = (Batch::new(), Batch::new());
    one.extend(chain(1, topic(), 2));
    two.extend(chain(1, other, 3));
    two.extend(chain(1, topic(), 4));
    one.merge(two);
    assert_eq!((one.len(), one.entries(&other).len()), (9, 3));
    let store = Store::in_memory(ID).unwrap();
    let committed = store.commit(&one).unwrap();
    assert_eq!(committed.new_entries(), 7);
    let fates: Vec<_> = committed.topics[&topic()]
        .entries
        .iter()
        .map(|(_, fate)| *fate)
        .collect();
    assert_eq!(fates[2..4], [Fate::Duplicate; 2]);
}

#[test]
fn a_backup_holds_the_same_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&chain(1, topic(), 900));
    let path = folder.path().join("copy");
    assert!(store.backup(&path).unwrap().rows > 900);
    let error = store.backup(&path).unwrap_err();
    assert!(matches!(error.fault(), StoreFault::Misuse(_)), "{error}");
    let copy = Store::open(&path, StoreId::from_bytes([9; 16])).unwrap();
    assert_eq!(copy.id(), ID, "a copy is the same store: do not run both");
    assert_eq!(
        copy.snapshot(topic()).unwrap().summary(),
        store.snapshot(topic()).unwrap().summary()
    );
    assert!(copy.check(&mut |_, _| {}).unwrap().is_clean());
}

#[derive(Default)]
struct Seen {
    stored: Mutex<Vec<(TopicId, Lsn)>>,
    dropped: Mutex<Vec<Lsn>>,
}

impl Projection for Seen {
    fn stored(
        &self,
        change: &LogChange<'_>,
        entries: &[(Lsn, &Verified<Entry>)],
    ) -> Result<(), redb::Error> {
        let topic = change.topic();
        self.stored
            .lock()
            .unwrap()
            .extend(entries.iter().map(|(lsn, _)| (topic, *lsn)));
        Ok(())
    }

    fn dropped(&self, _: &LogChange<'_>, entries: &[(Lsn, WireEntry)]) -> Result<(), redb::Error> {
        self.dropped
            .lock()
            .unwrap()
            .extend(entries.iter().map(|(lsn, _)| *lsn));
        Ok(())
    }
}

#[test]
fn a_projection_sees_what_comes_and_what_goes() {
    let seen = Arc::new(Seen::default());
    let options = StoreOptions::new().projection(Arc::<Seen>::clone(&seen));
    let store = options
        .open_backend(InMemoryBackend::new(), "memory", ID)
        .unwrap();
    let record = TopicRecord {
        ticket: Vec::new(),
        role: Role::Replay,
        retention: Retention::Newest { entries: 2 },
        policy: Vec::new(),
    };
    store.set_topic(topic(), &record).unwrap();
    let mut batch = Batch::new();
    batch.extend(chain(1, topic(), 5));
    store.commit(&batch).unwrap();
    store.prune(topic(), 1_800_000_000_000, None).unwrap();
    assert_eq!(seen.stored.lock().unwrap().len(), 5);
    assert_eq!(*seen.dropped.lock().unwrap(), [1, 2, 3].map(Lsn::new));
}

/// `check` finds each kind of damage (`STO-14`).
#[test]
fn a_check_finds_what_was_changed() {
    type Damage = fn(&mut Tables<'_>);
    let damages: [(&str, Damage); 8] = [
        ("by_hash", |tables| {
            drop(tables.by_hash.pop_first().unwrap());
        }),
        ("chain", |tables| drop(tables.chain.pop_last().unwrap())),
        ("order", |tables| drop(tables.order.pop_first().unwrap())),
        ("chunk", |tables| drop(tables.chunk.pop_first().unwrap())),
        ("log", |tables| drop(tables.log.pop_last().unwrap())),
        ("hole", |tables| drop(tables.hole.pop_first().unwrap())),
        ("frontier", |tables| {
            drop(tables.frontier.pop_first().unwrap());
        }),
        ("entry", |tables| {
            let (key, mut row) = {
                let (key, row) = tables.log.pop_first().unwrap().unwrap();
                (*key.value(), row.value().to_vec())
            };
            row[10] ^= 1;
            tables.log.insert(&key, row.as_slice()).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let mut entries = chain(1, topic(), 4);
        entries.extend(chain(2, topic(), 4).drain(1..));
        let store = filled(&entries);
        assert!(store.check(&mut |_, _| {}).unwrap().is_clean());
        store
            .write("damage", |writing| {
                let mut tables = Tables::open(writing.txn)?;
                damage(&mut tables);
                Ok(())
            })
            .unwrap();
        let found = store.check(&mut |_, _| {});
        let whole = found.as_ref().is_ok_and(crate::CheckReport::is_clean);
        assert!(!whole, "damage to {name} was not found");
        if let Ok(report) = found {
            assert!(
                report
                    .findings
                    .iter()
                    .all(|finding| finding.topic == topic())
            );
        }
    }
}
