//! Crash images (`STO-8`, `STO-9`): at every sync of a workload, and torn between syncs, the store
//! opens, holds everything that was acknowledged, and is whole.

use std::collections::BTreeSet;

use osier_core::{EntryHash, Role, TopicId, testing::topic};
use osier_proto::{StoreId, Token, View};

use super::history::chain;
use crate::{
    Batch, Retention, Store, StoreOptions, TopicRecord,
    testing::{DiskFault, SimDisk},
};

const ID: StoreId = StoreId::from_bytes([7; 16]);
const SECOND: TopicId = TopicId::from_bytes([8; 32]);

fn open(disk: &SimDisk) -> Store {
    let options = StoreOptions::new().cache_bytes(1 << 20);
    options
        .open_backend(disk.backend(), "crash image", ID)
        .unwrap()
}

/// What was acknowledged after how many syncs.
struct Acknowledged {
    syncs: usize,
    entries: BTreeSet<(TopicId, EntryHash)>,
    token: Token,
}

/// 30 batches over two topics, one of them a ring that is pruned now and then.
fn workload(disk: &SimDisk) -> Vec<Acknowledged> {
    let store = open(disk);
    let retention = Retention::Newest { entries: 20 };
    let record = TopicRecord {
        ticket: Vec::new(),
        role: Role::Replay,
        retention,
        policy: vec![1],
    };
    store.set_topic(SECOND, &record).unwrap();
    let chains: Vec<_> = (0..4).map(|author| chain(author, topic(), 30)).collect();
    let second = chain(1, SECOND, 60);
    let mut done = Vec::new();
    let mut entries = BTreeSet::new();
    for at in 0..30_usize {
        let mut batch = Batch::new();
        for (author, chain) in chains.iter().enumerate() {
            // The last author's chain comes backwards: holes and many tips.
            let entry = if author == 3 {
                &chain[29 - at]
            } else {
                &chain[at]
            };
            entries.insert((topic(), entry.hash()));
            batch.push(entry.clone());
        }
        batch.extend(second[at * 2..at * 2 + 2].iter().cloned());
        let token = Token(vec![u8::try_from(at).unwrap()]);
        batch.keep_token(topic(), chains[0][0].signer(), token.clone());
        store.commit(&batch).unwrap();
        done.push(Acknowledged {
            syncs: disk.syncs(),
            entries: entries.clone(),
            token,
        });
        if at % 7 == 6 {
            store.prune(SECOND, 1_800_000_000_000, None).unwrap();
        }
    }
    done
}

fn examine(image: Vec<u8>, acknowledged: Option<&Acknowledged>) {
    let backend = SimDisk::from_image(image).backend();
    let options = StoreOptions::new().cache_bytes(1 << 20);
    let store = match options.open_backend(backend, "crash image", ID) {
        Ok(store) => store,
        // Torn while it was being made. A file is made under another name, so nobody opens it.
        Err(error) if acknowledged.is_none() && error.is_refused_file() => return,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(store.id(), ID);
    let report = store.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let Some(acknowledged) = acknowledged else {
        return;
    };
    for (topic, hash) in &acknowledged.entries {
        assert!(
            store.snapshot(*topic).unwrap().holds(hash).unwrap(),
            "{hash:?} was lost"
        );
    }
    let provider = osier_core::testing::secret(0).node_id();
    let token = store.token(topic(), provider).unwrap().unwrap();
    assert!(token.0 >= acknowledged.token.0, "a token was lost");
    let second = token.0[0];
    let count = store.snapshot(topic()).unwrap().summary().set.count();
    assert_eq!(
        count,
        (u64::from(second) + 1) * 4,
        "token and entries stand or fall together"
    );
}

#[test]
fn every_sync_point_and_torn_points_between() {
    let disk = SimDisk::recording();
    let done = workload(&disk);
    assert_eq!(done.len(), 30);
    for sync in 0..=disk.syncs() {
        let acknowledged = done.iter().rev().find(|a| a.syncs <= sync);
        examine(disk.image_at(sync), acknowledged);
        for seed in 0..2 {
            examine(
                disk.torn_image_at(sync, seed ^ (sync as u64) << 8),
                acknowledged,
            );
        }
    }
}

/// A disk that fails: the batch is not acknowledged and not there; what was, stays; opening again
/// goes on.
#[test]
fn a_failing_disk_loses_nothing_that_was_acknowledged() {
    for writes in 0..30 {
        for fault in [DiskFault::Full, DiskFault::Broken] {
            let disk = SimDisk::new();
            let store = open(&disk);
            let entries = chain(1, topic(), 40);
            let (mut first, mut second) = (Batch::new(), Batch::new());
            first.extend(entries[..20].iter().cloned());
            second.extend(entries[20..].iter().cloned());
            store.commit(&first).unwrap();
            disk.fail_after(writes, fault);
            let failed = store.commit(&second);
            disk.heal();
            if let Err(error) = &failed {
                assert_eq!(error.is_disk_full(), fault == DiskFault::Full, "{error}");
            }
            drop(store);
            let store = open(&disk.crash(writes));
            let view = store.snapshot(topic()).unwrap();
            let expected = if failed.is_ok() { 40 } else { 20 };
            assert!(view.summary().set.count() >= expected);
            assert!(store.check(&mut |_, _| {}).unwrap().is_clean());
            store.commit(&second).unwrap();
            assert_eq!(store.snapshot(topic()).unwrap().summary().set.count(), 40);
        }
    }
}
