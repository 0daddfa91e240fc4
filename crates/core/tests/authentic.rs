//! Rule V (`ENT-10`) against hostile authors: what is authentic is a function of the set, not of
//! the order or the batches in which it came; and no shape makes the judge slow.

use std::{cell::Cell, collections::BTreeSet};

use bytes::Bytes;
use osier_core::{
    Authenticity, EntryDraft, EntryHash, KeyCache, Kind, NodeId, Seq, SignedEntry, Timestamp,
    authenticate,
    testing::{secret, topic, with_bad_signature},
};
use proptest::prelude::*;

/// An entry that a hostile author makes: whose, after which earlier one (of whatever author), and
/// whether it is signed well.
#[derive(Debug, Clone, Copy)]
struct Plan {
    author: u64,
    after: Option<usize>,
    signed_well: bool,
}

fn entry(n: usize, author: u64, prev: Option<EntryHash>) -> SignedEntry {
    let seq = if prev.is_some() { 2 } else { 1 };
    let draft = EntryDraft {
        topic: topic(),
        seq: Seq::new(seq).expect("not 0"),
        prev,
        deps: Vec::new(),
        time: Timestamp::from_millis(0),
        kind: Kind::APPLICATION,
        items: vec![Bytes::copy_from_slice(&n.to_be_bytes())],
    };
    let entry = draft.sign(&secret(author)).expect("a small draft");
    SignedEntry::parse(entry.to_wire()).expect("own entries parse")
}

fn make(plans: &[Plan]) -> Vec<SignedEntry> {
    let mut made: Vec<SignedEntry> = Vec::new();
    for (n, plan) in plans.iter().enumerate() {
        let prev = plan.after.filter(|&at| at < n).map(|at| made[at].hash());
        let entry = entry(n, plan.author, prev);
        made.push(if plan.signed_well {
            entry
        } else {
            with_bad_signature(entry)
        });
    }
    made
}

/// The rule as it is written: the least set closed under it.
fn oracle(entries: &[SignedEntry]) -> BTreeSet<EntryHash> {
    let good = |entry: &SignedEntry| entry.clone().verify(&mut KeyCache::new()).is_ok();
    let mut authentic: Vec<&SignedEntry> = entries.iter().filter(|e| good(e)).collect();
    let mut at = 0;
    while let Some(entry) = authentic.get(at).copied() {
        let linked = entries.iter().filter(|other| {
            entry.claimed_prev() == Some(other.hash())
                && entry.claimed_author() == other.claimed_author()
        });
        let linked: Vec<_> = linked.filter(|other| !authentic.contains(other)).collect();
        authentic.extend(linked);
        at += 1;
    }
    authentic.iter().map(|entry| entry.hash()).collect()
}

/// A node: what it has stored, and what waits.
#[derive(Default)]
struct Node {
    stored: BTreeSet<EntryHash>,
    links: BTreeSet<(EntryHash, NodeId)>,
    waiting: Vec<SignedEntry>,
    keys: KeyCache,
}

impl Node {
    fn take(&mut self, batch: &[SignedEntry]) {
        let mut batch = batch.to_vec();
        batch.append(&mut self.waiting);
        let linked_by = |hash: &EntryHash, author: &NodeId| self.links.contains(&(*hash, *author));
        let Authenticity { verified, waiting } = authenticate(batch, &mut self.keys, &linked_by);
        for entry in verified {
            self.stored.insert(entry.hash());
            let prev = entry.header().prev();
            self.links.extend(prev.map(|prev| (prev, entry.signer())));
        }
        self.waiting = waiting;
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        1..4_u64,
        prop::option::weighted(0.9, 0..14_usize),
        any::<bool>(),
    )
        .prop_map(|(author, after, signed_well)| Plan {
            author,
            after,
            signed_well,
        })
}

fn order() -> impl Strategy<Value = (Vec<Plan>, Vec<usize>, Vec<usize>)> {
    prop::collection::vec(plan(), 1..14).prop_flat_map(|plans| {
        // Some entries come twice.
        let twice = plans.len() + plans.len() / 4;
        let order: Vec<usize> = (0..twice).map(|at| at % plans.len()).collect();
        let cuts = prop::collection::vec(1..6_usize, twice);
        (Just(plans), Just(order).prop_shuffle(), cuts)
    })
}

proptest! {
    /// Any order and any cut into batches, with what waits carried over, gives the same set.
    #[test]
    fn what_is_authentic_is_a_function_of_the_set((plans, order, cuts) in order()) {
        let entries = make(&plans);
        let mut node = Node::default();
        let mut rest = &order[..];
        for cut in cuts {
            let (batch, later) = rest.split_at(cut.min(rest.len()));
            let batch: Vec<_> = batch.iter().map(|&at| entries[at].clone()).collect();
            node.take(&batch);
            rest = later;
        }
        prop_assert!(rest.is_empty());
        prop_assert_eq!(&node.stored, &oracle(&entries));
        prop_assert!(node.waiting.iter().all(|entry| !node.stored.contains(&entry.hash())));
    }
}

fn judged(batch: Vec<SignedEntry>, linked: Option<EntryHash>) -> (usize, usize, usize) {
    let author = batch[0].claimed_author();
    let asked = Cell::new(0);
    let linked_by = |hash: &EntryHash, by: &NodeId| {
        asked.set(asked.get() + 1);
        linked == Some(*hash) && *by == author
    };
    let result = authenticate(batch, &mut KeyCache::new(), &linked_by);
    (result.verified.len(), result.waiting.len(), asked.get())
}

/// A chain with a leaf on each entry, nothing of it signed well: each leaf starts a walk that could
/// go down the whole chain.
fn comb(teeth: usize) -> (Vec<SignedEntry>, EntryHash) {
    let mut batch = Vec::new();
    let mut spine = with_bad_signature(entry(0, 1, None));
    for n in 0..teeth {
        batch.push(with_bad_signature(entry(2 * n + 1, 1, Some(spine.hash()))));
        let next = with_bad_signature(entry(2 * n + 2, 1, Some(spine.hash())));
        batch.push(std::mem::replace(&mut spine, next));
    }
    let top = spine.hash();
    batch.push(spine);
    (batch, top)
}

/// Each place is looked at once: the store is asked at most once an entry.
#[test]
fn hostile_shapes_cost_one_look_an_entry() {
    let (batch, top) = comb(300);
    let n = batch.len();
    assert_eq!(judged(batch.clone(), None), (0, n, n));
    let (verified, waiting, asked) = judged(batch.clone(), Some(top));
    assert_eq!((verified, waiting), (301, 300), "the chain, not its leaves");
    assert!(asked <= n, "{asked} look-ups for {n} entries");
    let reversed = batch.into_iter().rev().collect();
    let (verified, _, asked) = judged(reversed, Some(top));
    assert!(verified == 301 && asked <= n);
}

/// Leaves that are judged one by one, each better than the last, raise the chain below only once.
#[test]
fn a_good_leaf_after_many_bad_ones_raises_the_chain_once() {
    let (mut batch, top) = comb(200);
    batch.push(entry(9999, 1, Some(top)));
    let n = batch.len();
    let (verified, waiting, asked) = judged(batch, None);
    assert_eq!((verified, waiting), (202, 200));
    assert!(asked <= n);
}

/// An entry that comes twice in a batch has one verdict.
#[test]
fn equal_entries_share_a_verdict() {
    let bad = with_bad_signature(entry(0, 1, None));
    let good = entry(1, 1, Some(bad.hash()));
    let batch = vec![bad.clone(), good, bad.clone(), bad];
    assert_eq!(judged(batch, None).0, 4);
}

/// A stranger who names the same hash neither helps nor hinders.
#[test]
fn a_strangers_link_hides_nothing() {
    let bad = with_bad_signature(entry(0, 1, None));
    let stranger = entry(1, 2, Some(bad.hash()));
    let own = entry(2, 1, Some(bad.hash()));
    for batch in [
        [&bad, &stranger, &own],
        [&own, &stranger, &bad],
        [&stranger, &own, &bad],
    ] {
        assert_eq!(judged(batch.map(Clone::clone).to_vec(), None).0, 3);
    }
    let mut node = Node::default();
    for entry in [stranger, own, bad] {
        node.take(&[entry]);
    }
    assert_eq!(node.stored.len(), 3);
}
