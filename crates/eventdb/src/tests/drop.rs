//! Texts that leave the log: what is shown, here and at nodes that come later, stays the same.

use bytes::Bytes;
use osier_core::{DropReason, Entry, Item, SignedEntry, Verified, testing::topic};
use osier_nostr::{Event, EventId};
use osier_store::{Batch, ItemReader, Lsn};
use proptest::{prelude::*, sample::Index, test_runner::Config};

use super::{
    generate::history,
    support::{Bench, Pen, author, event, seconds, viewer},
};

/// After every expiration that histories have.
const LATE: u64 = 25;

fn log_of(bench: &Bench) -> Vec<Verified<Entry>> {
    let txn = bench.store().begin_read().unwrap();
    let number = bench.store().topic_number(&txn, &topic()).unwrap();
    let Some(number) = number else {
        return Vec::new();
    };
    let reader = ItemReader::open(&txn).unwrap();
    let page = reader.entries(number, Lsn::START, usize::MAX, usize::MAX);
    let read = |(_, wire)| SignedEntry::parse(wire).unwrap().trust_stored();
    page.unwrap().into_iter().map(read).collect()
}

/// Why each item has gone, in order; none for those that are held.
fn gone(bench: &Bench) -> Vec<Option<DropReason>> {
    let log = log_of(bench);
    let items = log.iter().flat_map(|entry| entry.items());
    items.map(Item::reason).collect()
}

/// Takes entries in, as from a session; unsigned events are verified by nothing but a vouching.
fn take(bench: &Bench, entries: &[Verified<Entry>], events: &[Event]) {
    for entry in entries {
        for event in events {
            bench.index.db().vouch(event);
        }
        let mut batch = Batch::new();
        batch.push(entry.clone());
        bench.store().commit(&batch).unwrap();
    }
}

fn drop_all(bench: &Bench, now: u64) {
    bench.index.purge(seconds(now)).unwrap();
    bench.index.drop_hidden().unwrap();
}

fn check(bench: &Bench, events: &[Event]) {
    for event in events {
        bench.index.db().vouch(event);
    }
    let report = bench.index.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
}

/// NOS-113: what is hidden for good goes, each with its reason, and nothing else.
#[test]
fn what_is_hidden_for_good_leaves_the_log() {
    let mut bench = Bench::new();
    let d: &[&[&str]] = &[&["d", "x"]];
    let note = event(1, 1, 1, &[], "to be deleted");
    let old = event(1, 2, 30_000, d, "old");
    let new = event(1, 3, 30_000, d, "new");
    let soon = event(2, 4, 1, &[&["expiration", "9"]], "soon over");
    let theirs = event(3, 5, 1, &[], "to be forgotten");
    let kept = event(2, 6, 1, &[], "kept");
    bench.commit(&[note.clone(), old, new.clone(), soon, theirs, kept]);
    bench.commit_one(&note);
    let delete = event(1, 7, 5, &[&["e", &note.id().to_string()]], "");
    let vanish = event(3, 8, 62, &[&["relay", "ALL_RELAYS"]], "");
    bench.commit(&[delete, vanish]);
    assert_eq!(gone(&bench), [None; 9]);
    drop_all(&bench, 9);
    let reasons = [
        Some(DropReason::Deleted),
        Some(DropReason::Replaced),
        None,
        Some(DropReason::Expired),
        Some(DropReason::Vanished),
        None,
        Some(DropReason::Deleted),
        None,
        None,
    ];
    assert_eq!(gone(&bench), reasons, "the copy too");
    bench.check();
    assert_eq!(bench.index.drop_hidden().unwrap(), 0);

    // The newest version is hidden and stays: it keeps older ones away.
    let delete = event(1, 9, 5, &[&["e", &new.id().to_string()]], "");
    bench.commit_one(&delete);
    drop_all(&bench, 9);
    assert_eq!(gone(&bench)[..9], reasons);
    // Deleted by its address, up to its second, it need not.
    let address = format!("30000:{}:x", author(1));
    bench.commit_one(&event(1, 10, 5, &[&["a", &address]], ""));
    let newer = event(1, 9, 30_000, d, "dated before the deletion");
    bench.commit_one(&newer);
    drop_all(&bench, 9);
    assert_eq!(gone(&bench).last(), Some(&Some(DropReason::Deleted)));
    bench.check();
}

fn shown(bench: &Bench) -> Vec<Vec<EventId>> {
    let viewers = [&[][..], &[0], &[1, 2, 3]];
    let all = viewers.map(|keys| bench.ids("{}", &viewer(keys), LATE));
    all.to_vec()
}

fn entries_of(pen: &mut Pen, events: &[Event], a_few: usize) -> Vec<Verified<Entry>> {
    let entry = |events: &[Event]| {
        let items: Vec<Bytes> = events.iter().map(Event::to_bytes).collect();
        pen.entry(topic(), items)
    };
    events.chunks(a_few).map(entry).collect()
}

proptest! {
    #![proptest_config(Config { cases: 300, ..Config::default() })]

    /// NOS-29, NOS-113: a node that drops, one that gets its log from it, and one that drops
    /// nothing show the same, also after everything has come again in another entry.
    #[test]
    fn dropping_shows_nowhere(
        events in history(24), at in any::<Index>(), a_few in 1_usize..5,
        again in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let (early, late) = events.split_at(at.index(events.len()));
        let repeated: Vec<Event> = again.iter().map(|at| events[at.index(events.len())].clone())
            .collect();
        let first = entries_of(&mut Pen::new(1), early, a_few);
        let mut pen = Pen::new(2);
        let second = entries_of(&mut pen, late, a_few);
        let third = entries_of(&mut pen, &repeated, a_few);
        let (drops, joins, keeps) = (Bench::new(), Bench::new(), Bench::new());
        take(&drops, &first, &events);
        drop_all(&drops, LATE);
        take(&joins, &log_of(&drops), &events);
        take(&keeps, &first, &events);
        for entries in [&second, &third] {
            for bench in [&drops, &joins, &keeps] {
                take(bench, entries, &events);
            }
            drop_all(&drops, LATE);
            prop_assert_eq!(shown(&drops), shown(&keeps));
            prop_assert_eq!(shown(&joins), shown(&keeps));
        }
        check(&drops, &events);
        check(&joins, &events);
    }
}
