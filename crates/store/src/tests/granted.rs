//! Granted topics: what counts is a function of the owner's words and of what came (`ENT-41` to
//! `ENT-43`), in any order.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use osier_core::{
    Control, Entry, EntryDraft, EntryHash, Kind, NodeId, Role, Seq, Ticket, Timestamp, TopicSecret,
    Verified, Writing,
    testing::{Chain, secret, topic},
};
use osier_proto::{StoreId, View};
use proptest::prelude::*;

use super::{
    history::{steps, write},
    model::Model,
};
use crate::{
    Batch, CommittedTopic, ControlRow, Fate, Retention, Store, TopicRecord, WAITING_PER_AUTHOR_MAX,
};

const ID: StoreId = StoreId::from_bytes([8; 16]);
/// The owner's number; the authors of random histories have smaller ones.
const OWNER: u64 = 9;

fn node(n: u64) -> NodeId {
    secret(n).node_id()
}

fn granted(retention: Retention) -> Store {
    let store = Store::in_memory(ID).unwrap();
    let key = TopicSecret::from_bytes([3; 32]);
    let ticket = Ticket::of(Writing::Granted, node(OWNER), key, "lobby").unwrap();
    let record = TopicRecord {
        ticket: ticket.to_string().into_bytes(),
        role: Role::Archive,
        retention,
        policy: Vec::new(),
    };
    store.set_topic(topic(), &record).unwrap();
    store
}

/// The owner's chain.
#[derive(Clone, Default)]
struct Owner {
    last: Option<(Seq, EntryHash)>,
}

impl Owner {
    fn say(&mut self, control: &Control) -> Verified<Entry> {
        let seq = self.last.map_or(Seq::FIRST, |(seq, _)| seq.next().unwrap());
        let draft = EntryDraft {
            topic: topic(),
            seq,
            prev: self.last.map(|(_, hash)| hash),
            deps: Vec::new(),
            time: Timestamp::from_millis(1_000 + seq.get()),
            kind: Kind::CONTROL,
            items: vec![Bytes::from(control.to_bytes())],
        };
        let entry = draft.sign(&secret(OWNER)).unwrap();
        self.last = Some((seq, entry.hash()));
        entry
    }

    fn grant(&mut self, n: u64) -> Verified<Entry> {
        self.say(&Control::Grant {
            node: node(n),
            rank: 5,
            role: Role::Peer,
        })
    }

    fn revoke(&mut self, n: u64, last: Option<&Verified<Entry>>) -> Verified<Entry> {
        let last = last.map(|entry| (entry.header().seq(), entry.hash()));
        self.say(&Control::Revoke {
            node: node(n),
            last,
        })
    }
}

fn commit(store: &Store, entries: &[Verified<Entry>]) -> CommittedTopic {
    let mut batch = Batch::new();
    batch.extend(entries.iter().cloned());
    for entry in entries.iter().filter(|entry| entry.signer() == node(OWNER)) {
        if let Some(control) = Control::of(entry) {
            let row = ControlRow {
                seq: entry.header().seq(),
                hash: entry.hash(),
                bytes: control.to_bytes().into(),
            };
            batch.keep_control(topic(), row);
        }
    }
    let committed = store.commit(&batch).unwrap();
    let done = committed.topics[&topic()].clone();
    let report = store.check(&mut |_, _| {}).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    done
}

fn held(store: &Store, entries: &[Verified<Entry>]) -> Vec<bool> {
    let view = store.snapshot(topic()).unwrap();
    let held = entries
        .iter()
        .map(|entry| view.holds(&entry.hash()).unwrap());
    held.collect()
}

fn chain(n: u64, length: usize) -> Vec<Verified<Entry>> {
    let mut chain = Chain::in_topic(n, topic());
    (0..length).map(|_| chain.next(b"x")).collect()
}

/// `ENT-41`, `ENT-43`: what comes before its grant waits and counts nowhere.
#[test]
fn an_entry_waits_for_its_grant() {
    let store = granted(Retention::All);
    let entries = chain(1, 3);
    let done = commit(&store, &entries);
    assert!(done.entries.iter().all(|(_, fate)| *fate == Fate::Withheld));
    assert_eq!(done.summary.set.count(), 0);
    let done = commit(&store, &[Owner::default().grant(1)]);
    assert_eq!((done.released.len(), done.missed), (3, false));
    assert_eq!(held(&store, &entries), [true; 3]);
}

/// `ENT-42`: a revocation leaves the chain that it names, and a later grant gives the rest back.
#[test]
fn a_revocation_cuts_off_what_comes_after_and_beside() {
    let store = granted(Retention::All);
    let mut owner = Owner::default();
    let entries = chain(1, 5);
    let branch = Chain::in_topic(1, topic()).next(b"other");
    commit(&store, &[owner.grant(1)]);
    commit(&store, &entries);
    commit(&store, std::slice::from_ref(&branch));
    let done = commit(&store, &[owner.revoke(1, Some(&entries[2]))]);
    assert_eq!(done.removed.len(), 3);
    assert_eq!(held(&store, &entries), [true, true, true, false, false]);
    assert_eq!(held(&store, std::slice::from_ref(&branch)), [false]);
    let again = commit(&store, std::slice::from_ref(&branch));
    assert_eq!(again.entries[0].1, Fate::Withheld, "it is not smuggled in");
    let done = commit(&store, &[owner.grant(1)]);
    assert_eq!((done.removed.len(), done.released.len()), (0, 3));
    assert_eq!(held(&store, &entries), [true; 5]);
}

/// A node of whom nothing is left is no author; its number is given to another.
#[test]
fn a_revocation_of_everything_leaves_no_author() {
    let store = granted(Retention::All);
    let mut owner = Owner::default();
    commit(&store, &[owner.grant(1), owner.grant(2), owner.grant(3)]);
    commit(&store, &[chain(1, 2), chain(2, 2)].concat());
    let done = commit(&store, &[owner.revoke(1, None)]);
    assert_eq!((done.removed.len(), done.summary.authors), (2, 2));
    let done = commit(&store, &chain(3, 1));
    assert_eq!(done.summary.authors, 3);
    let done = commit(&store, &[owner.grant(1)]);
    assert_eq!(done.summary.authors, 4);
}

/// `ENT-43`: an outsider's entries take no more than their room, and what was dropped is
/// remembered as missed.
#[test]
fn what_waits_is_bounded_and_what_is_dropped_is_missed() {
    let store = granted(Retention::All);
    let most = WAITING_PER_AUTHOR_MAX as usize;
    let entries = chain(1, most + 1);
    commit(&store, &entries);
    let done = commit(&store, &[Owner::default().grant(1)]);
    assert_eq!((done.released.len(), done.missed), (most, true));
}

/// `ENT-34`, `STO-12`: a ring keeps the owner's words, for those who join through it.
#[test]
fn a_ring_keeps_the_owners_words() {
    let store = granted(Retention::Newest { entries: 2 });
    let mut owner = Owner::default();
    let words = [owner.grant(1), owner.grant(2), owner.revoke(2, None)];
    commit(&store, &words);
    commit(&store, &chain(1, 40));
    let report = store.prune(topic(), u64::MAX / 2, None).unwrap();
    assert!(report.removed > 30 && report.floor.is_some());
    assert_eq!(held(&store, &words), [true; 3]);
    let late = owner.grant(3);
    commit(&store, std::slice::from_ref(&late));
    assert_eq!(
        held(&store, &words),
        [true; 3],
        "also when they are no tips"
    );
    // One that joins what the ring holds knows them, too.
    let joiner = granted(Retention::Newest { entries: 2 });
    let view = store.snapshot(topic()).unwrap();
    assert!(
        view.low_words(&report.floor.unwrap())
            .unwrap()
            .contains(&words[0].hash())
    );
    commit(
        &joiner,
        &[words[0].clone(), words[1].clone(), words[2].clone()],
    );
    assert_eq!(joiner.control(topic()).unwrap().len(), 3);
}

/// What counts, by the rule and nothing else.
fn valid(all: &[Verified<Entry>]) -> Vec<Verified<Entry>> {
    let mut words: BTreeMap<NodeId, ((Seq, EntryHash), osier_core::Leave)> = BTreeMap::new();
    for entry in all.iter().filter(|entry| entry.signer() == node(OWNER)) {
        let place = (entry.header().seq(), entry.hash());
        if let Some((node, leave)) = Control::of(entry).and_then(|control| control.leave())
            && words.get(&node).is_none_or(|(before, _)| *before < place)
        {
            words.insert(node, (place, leave));
        }
    }
    let by_hash: BTreeMap<EntryHash, &Verified<Entry>> =
        all.iter().map(|entry| (entry.hash(), entry)).collect();
    let counts = |entry: &&Verified<Entry>| {
        let author = entry.signer();
        match words.get(&author) {
            _ if author == node(OWNER) => true,
            Some((_, osier_core::Leave::All)) => true,
            None | Some((_, osier_core::Leave::UpTo(None))) => false,
            Some((_, osier_core::Leave::UpTo(Some((seq, head))))) => {
                let (mut part, mut next) = (BTreeSet::new(), Some((seq.get(), *head)));
                while let Some((seq, hash)) = next.filter(|(seq, _)| *seq > 0) {
                    let found = by_hash.get(&hash).filter(|found| {
                        found.signer() == author && found.header().seq().get() == seq
                    });
                    let Some(found) = found else { break };
                    part.insert(hash);
                    next = found.header().prev().map(|prev| (seq - 1, prev));
                }
                let floor = next.map_or(0, |(seq, _)| seq);
                part.contains(&entry.hash()) || entry.header().seq().get() < floor
            }
        }
    };
    all.iter().filter(counts).cloned().collect()
}

/// A word: on whom, and what: even is a grant, else a revocation after one of the node's entries,
/// or of one that never was.
type Said = (u64, u8, prop::sample::Index);

fn say(said: &[Said], entries: &[Verified<Entry>]) -> Vec<Verified<Entry>> {
    let mut owner = Owner::default();
    let word = |(who, what, which): &Said| {
        let own: Vec<_> = entries
            .iter()
            .filter(|e| e.signer() == node(*who))
            .collect();
        match what {
            0..=3 => owner.grant(*who),
            4 => owner.revoke(*who, None),
            5 => owner.say(&Control::Revoke {
                node: node(*who),
                last: Seq::new(3).map(|seq| (seq, EntryHash::from_bytes([9; 32]))),
            }),
            _ if own.is_empty() => owner.revoke(*who, None),
            _ => owner.revoke(*who, Some(own[which.index(own.len())])),
        }
    };
    said.iter().map(word).collect()
}

fn dealt(all: &[Verified<Entry>], keys: &[u32]) -> Vec<Vec<Verified<Entry>>> {
    let mut sorted: Vec<_> = all.iter().zip(keys).collect();
    sorted.sort_by_key(|(_, key)| **key);
    let mut batches: Vec<Vec<Verified<Entry>>> = vec![Vec::new()];
    for (entry, key) in sorted {
        batches.last_mut().unwrap().push(entry.clone());
        if key % 4 == 0 {
            batches.push(Vec::new());
        }
    }
    batches.retain(|batch| !batch.is_empty());
    batches
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Words and entries in any order and any cut end in the set that the rule names.
    #[test]
    fn any_order_of_words_and_entries_ends_alike(
        steps in steps(30),
        said in prop::collection::vec((0_u64..4, 0_u8..9, any::<prop::sample::Index>()), 0..8),
        keys in prop::collection::vec(any::<u32>(), 40),
        other in prop::collection::vec(any::<u32>(), 40),
    ) {
        let mut all = write(&steps);
        all.extend(say(&said, &all.clone()));
        let mut model = Model::default();
        model.store(&valid(&all));
        for keys in [&keys, &other] {
            let store = granted(Retention::All);
            for batch in dealt(&all, keys) {
                commit(&store, &batch);
            }
            let view = store.snapshot(topic()).unwrap();
            prop_assert_eq!(view.summary(), model.summary());
            prop_assert_eq!(view.holes(None, 1000).unwrap(), model.holes());
        }
    }
}
