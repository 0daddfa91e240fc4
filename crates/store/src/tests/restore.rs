//! Restoring and compacting (`STO-16`).

use std::fs;

use osier_core::testing::topic;
use osier_proto::{StoreId, View};

use super::history::chain;
use crate::{Batch, Retention, Store, StoreFault, TopicRecord, compact, restore};

const ID: StoreId = StoreId::from_bytes([3; 16]);

fn fill(path: &std::path::Path, entries: usize) -> Store {
    let store = Store::open(path, ID).unwrap();
    let mut batch = Batch::new();
    batch.extend(chain(1, topic(), entries));
    store.commit(&batch).unwrap();
    store
}

fn count(path: &std::path::Path) -> u64 {
    let store = Store::open(path, ID).unwrap();
    assert!(store.check(&mut |_, _| {}).unwrap().is_clean());
    store.snapshot(topic()).unwrap().summary().set.count()
}

#[test]
fn a_backup_takes_the_place_of_a_store_which_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (live, copy) = (path("store.redb"), path("copy"));
    let store = fill(&live, 10);
    store.backup(&copy).unwrap();
    drop(store);
    drop(fill(&live, 30));

    let refused = restore(&copy, &live, false).unwrap_err();
    assert!(
        matches!(refused.fault(), StoreFault::Misuse(_)),
        "{refused}"
    );
    assert_eq!(count(&live), 30);

    let restored = restore(&copy, &live, true).unwrap();
    assert_eq!(count(&live), 10);
    assert_eq!(count(&restored.before.unwrap()), 30);
    assert_eq!(restored.bytes, fs::metadata(&copy).unwrap().len());
    assert_eq!(count(&copy), 10, "the backup is still there");

    // Again: the second one that was there goes beside the first.
    let again = restore(&copy, &live, true).unwrap().before.unwrap();
    assert_eq!(count(&again), 10);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn a_damaged_store_can_be_replaced_and_an_empty_place_filled() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fill(&path("live"), 5).backup(&path("copy")).unwrap();
    fs::write(path("damaged"), b"these are not pages").unwrap();
    assert!(restore(&path("copy"), &path("damaged"), true).is_ok());
    assert_eq!(count(&path("damaged")), 5);
    assert_eq!(
        restore(&path("copy"), &path("new"), false).unwrap().before,
        None
    );
    assert_eq!(count(&path("new")), 5);
}

#[test]
fn what_is_no_store_or_is_in_use_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    drop(fill(&path("live"), 5));
    fs::write(path("junk"), b"these are not pages").unwrap();
    let junk = restore(&path("junk"), &path("live"), true).unwrap_err();
    assert!(junk.is_refused_file(), "{junk}");
    assert!(junk.to_string().contains("junk"), "{junk}");
    let absent = restore(&path("absent"), &path("live"), true).unwrap_err();
    assert!(matches!(absent.fault(), StoreFault::Disk(_)), "{absent}");

    let used = fill(&path("used"), 7);
    let source = restore(&path("used"), &path("live"), true).unwrap_err();
    assert!(source.is_locked(), "{source}");
    let target = restore(&path("live"), &path("used"), true).unwrap_err();
    assert!(target.is_locked(), "{target}");
    drop(used);
    assert_eq!((count(&path("live")), count(&path("used"))), (5, 7));
    // Nothing is left lying about.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn compacting_gives_room_back_and_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = fill(&path, 3_000);
    let used = compact(&path).unwrap_err();
    assert!(used.is_locked(), "{used}");
    let record = TopicRecord {
        ticket: vec![7; 100],
        role: osier_core::Role::Replay,
        retention: Retention::Newest { entries: 100 },
        policy: vec![1],
    };
    store.set_topic(topic(), &record).unwrap();
    store.prune(topic(), u64::MAX, None).unwrap();
    let held = store.snapshot(topic()).unwrap().summary();
    drop(store);
    let compacted = compact(&path).unwrap();
    assert!(compacted.bytes < compacted.bytes_before, "{compacted:?}");
    assert_eq!(compacted.bytes, fs::metadata(&path).unwrap().len());
    let store = Store::open(&path, ID).unwrap();
    assert_eq!(store.snapshot(topic()).unwrap().summary(), held);
    assert!(store.check(&mut |_, _| {}).unwrap().is_clean());
}
