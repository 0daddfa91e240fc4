//! Crash images (`NOS-112`): at every sync of a workload, and torn between syncs, the index is that
//! of the log, and holds every event that was acknowledged.

use osier_nostr::{Event, testing};
use osier_store::testing::{DiskFault, SimDisk};

use super::support::{Bench, dump, filter, page, seconds};
use crate::{EventIndex, Settings};

fn settings() -> Settings {
    Settings {
        compared: vec![filter(r#"{"kinds":[1]}"#)],
        ..Settings::default()
    }
}

/// Signed events of each kind of effect, in the order in which they come.
fn history() -> Vec<Vec<Event>> {
    let id = |event: &Event| event.id().to_string();
    let p = testing::pubkey(2).to_string();
    let mut entries = Vec::new();
    let first = testing::note(1, 10, "first");
    entries.push(vec![
        first.clone(),
        testing::event(1, 11, 0, &[], "old profile"),
    ]);
    entries.push(vec![testing::event(2, 12, 1059, &[&["p", &p]], "wrapped")]);
    entries.push(vec![
        testing::event(1, 13, 0, &[], "new profile"),
        first.clone(),
    ]);
    let late = testing::event(2, 14, 7, &[&["e", &id(&first)]], "+");
    entries.push(vec![testing::event(2, 15, 5, &[&["e", &id(&late)]], "")]);
    entries.push(vec![
        late,
        testing::event(1, 16, 1, &[&["expiration", "50"]], "soon"),
    ]);
    let article: &[&[&str]] = &[&["d", "a"], &["t", "x"]];
    entries.push(vec![testing::event(3, 17, 30_000, article, "one")]);
    entries.push(vec![testing::event(3, 18, 30_000, article, "two")]);
    let address = format!("30000:{}:a", testing::pubkey(3));
    entries.push(vec![testing::event(3, 18, 5, &[&["a", &address]], "")]);
    entries.push((20..40).map(|n| testing::note(3, n, "many")).collect());
    entries.push(vec![testing::event(
        3,
        30,
        62,
        &[&["relay", "ALL_RELAYS"]],
        "",
    )]);
    entries
}

struct Acknowledged {
    syncs: usize,
    entries: usize,
}

fn workload(disk: &SimDisk, settings: Settings) -> Vec<Acknowledged> {
    let mut bench = Bench::on(disk, settings);
    let mut done = Vec::new();
    for (entry, entries) in history().iter().zip(1..) {
        bench.commit(entry);
        if entries % 4 == 0 {
            bench.index.purge(seconds(60)).unwrap();
        }
        done.push(Acknowledged {
            syncs: disk.syncs(),
            entries,
        });
    }
    done
}

/// What is shown of the first entries, oldest first.
fn shown(entries: usize) -> Vec<Event> {
    let mut oracle = testing::Oracle::default();
    history()
        .iter()
        .take(entries)
        .flatten()
        .for_each(|event| oracle.receive(event));
    let nobody = super::support::viewer(&[]);
    let found = oracle.matching(&filter("{}"), &nobody, seconds(20));
    found.into_iter().cloned().collect()
}

fn examine(image: Vec<u8>, least: usize) {
    let bench = Bench::on(&SimDisk::from_image(image), settings());
    let report = bench.index.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    let held = entries(&bench.index);
    assert!(
        held >= least,
        "{least} entries were acknowledged, {held} are there"
    );
    let nobody = super::support::viewer(&[]);
    let (found, drained) = bench.req(&[page("{}")], &nobody, 20);
    let mut right = shown(held);
    let purged = |event: &Event| event.values("expiration").next().is_some();
    if found.iter().all(|event| !purged(event)) {
        right.retain(|event| !purged(event));
    }
    assert_eq!(found, right);
    assert!(drained);
    let before = dump(&bench.view());
    bench.index.rebuild(&mut |_, _| {}).unwrap();
    assert_eq!(
        dump(&bench.view()),
        before,
        "as it was built, so it is rebuilt"
    );
}

fn entries(index: &EventIndex) -> usize {
    let inner = index.view().unwrap();
    let inner = inner.inner();
    let topic = index
        .store()
        .topic_number(&inner.txn, &osier_core::testing::topic());
    let Some(topic) = topic.unwrap() else {
        return 0;
    };
    usize::try_from(inner.items.log_end(topic).unwrap().entries).unwrap()
}

#[test]
fn at_every_sync_and_between_the_index_is_that_of_the_log() {
    let disk = SimDisk::recording();
    let done = workload(&disk, settings());
    let first = done[0].syncs;
    for sync in first - 1..=disk.syncs() {
        let acknowledged = done.iter().rev().find(|it| it.syncs <= sync);
        let least = acknowledged.map_or(0, |it| it.entries);
        examine(disk.image_at(sync), least);
        examine(disk.torn_image_at(sync, sync as u64), least);
    }
}

/// A crash in the middle of building anew: the next start goes on.
#[test]
fn a_crash_while_it_is_rebuilt_leaves_an_index_that_is_mended() {
    let disk = SimDisk::recording();
    workload(&disk, settings());
    let before = disk.syncs();
    // Other settings: everything is dropped and built again.
    let other = Settings {
        compared: Vec::new(),
        ..settings()
    };
    drop(Bench::on(&disk, other));
    assert!(disk.syncs() > before);
    for sync in before..=disk.syncs() {
        examine(disk.image_at(sync), history().len());
        examine(disk.torn_image_at(sync, sync as u64), history().len());
    }
}

/// A batch that fails is not in the index, and is when it is written again.
#[test]
fn a_batch_that_the_disk_refuses_leaves_no_trace() {
    for writes in 0..24 {
        let disk = SimDisk::new();
        let mut bench = Bench::on(&disk, settings());
        let (one, two) = (testing::note(1, 1, "one"), testing::note(1, 2, "two"));
        bench.commit_one(&one);
        disk.fail_after(writes, DiskFault::Full);
        let mut batch = osier_store::Batch::new();
        batch.push(
            bench
                .pen
                .entry(osier_core::testing::topic(), vec![two.to_bytes()]),
        );
        let failed = bench.store().commit(&batch).is_err();
        disk.heal();
        let disk = disk.crash(writes);
        drop(bench);
        let bench = Bench::on(&disk, settings());
        let found = bench.ids("{}", &super::support::viewer(&[]), 9);
        assert!(found.contains(&one.id()));
        assert!(failed || found.contains(&two.id()));
        bench.store().commit(&batch).unwrap();
        let found = bench.ids("{}", &super::support::viewer(&[]), 9);
        assert_eq!(found, [two.id(), one.id()]);
        bench.check();
    }
}
