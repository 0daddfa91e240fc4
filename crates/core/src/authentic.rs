//! Rule V (`ENT-10`): an entry is authentic if its own signature verifies strictly, or if an
//! authentic entry of the same author links to it by `prev`.
//!
//! The hash covers the signature bytes, so nobody but the author can vary them. A batch therefore
//! costs one signature an author and a hash link for each of the rest.

use std::collections::BTreeMap;

use crate::{
    entry::{Entry, SignedEntry},
    envelope::{KeyCache, Verified},
    id::{EntryHash, NodeId},
};

/// A batch, judged.
#[derive(Debug, Default)]
pub struct Authenticity {
    /// Authentic, in the order of the batch.
    pub verified: Vec<Verified<Entry>>,
    /// Neither signed well nor linked to so far. They wait for a successor in a bounded area and
    /// are never served.
    pub waiting: Vec<SignedEntry>,
}

/// Judges a batch by rule V.
///
/// `linked_by` says whether a stored, authentic entry of this author names this hash as its `prev`:
/// such an entry needs no signature of its own if it claims that author. It is asked by author,
/// because strangers may name the same hash: their link must not hide an honest one, or nodes
/// disagree for ever.
pub fn authenticate(
    batch: Vec<SignedEntry>,
    keys: &mut KeyCache,
    linked_by: &dyn Fn(&EntryHash, &NodeId) -> bool,
) -> Authenticity {
    let mut judged = judge(&batch, keys, linked_by).into_iter();
    let mut result = Authenticity::default();
    for entry in batch {
        match judged.next() {
            Some(true) => result.verified.push(entry.accept()),
            _ => result.waiting.push(entry),
        }
    }
    result
}

/// The verdict on each place of the batch, in O(n log n) whatever its shape: a place is judged by
/// itself at most once (one look-up in the store, one signature), and raised by a better branch at
/// most once, so all walks together take at most two steps a place and one more a tip.
fn judge(
    batch: &[SignedEntry],
    keys: &mut KeyCache,
    linked_by: &dyn Fn(&EntryHash, &NodeId) -> bool,
) -> Vec<bool> {
    let chains = Chains::of(batch);
    let mut judged = vec![None; batch.len()];
    for tip in chains.tips() {
        let mut linked = false;
        let mut next = Some(tip);
        // Down the chain until a verdict stands that this branch cannot better. Hash links cannot
        // form a circle.
        while let Some(at) = next {
            let entry = &batch[at];
            linked = match judged[at] {
                None => {
                    linked
                        || linked_by(&entry.hash(), &entry.claimed_author())
                        || entry.check_signature(keys).is_ok()
                }
                Some(false) if linked => true,
                Some(_) => break,
            };
            judged[at] = Some(linked);
            next = chains.before[at];
        }
    }
    let verdict = |&at: &usize| judged[at] == Some(true);
    chains.stands_for.iter().map(verdict).collect()
}

/// How the entries of a batch hang together.
struct Chains {
    /// The first place that holds the same entry: equal entries share a verdict.
    stands_for: Vec<usize>,
    /// Where the predecessor is, if it is in the batch and claims the same author.
    before: Vec<Option<usize>>,
}

impl Chains {
    fn of(batch: &[SignedEntry]) -> Self {
        let mut place: BTreeMap<EntryHash, usize> = BTreeMap::new();
        let stands_for = batch
            .iter()
            .enumerate()
            .map(|(at, entry)| *place.entry(entry.hash()).or_insert(at))
            .collect();
        let before = batch.iter().map(|entry| {
            let prev = *place.get(&entry.claimed_prev()?)?;
            (batch[prev].claimed_author() == entry.claimed_author()).then_some(prev)
        });
        Self {
            stands_for,
            before: before.collect(),
        }
    }

    /// Entries that no other names as its predecessor, each once.
    fn tips(&self) -> impl Iterator<Item = usize> {
        let mut is_tip: Vec<bool> = (0..self.before.len())
            .map(|at| self.stands_for[at] == at)
            .collect();
        self.before
            .iter()
            .flatten()
            .for_each(|&at| is_tip[at] = false);
        let tips = is_tip.into_iter().enumerate();
        tips.filter_map(|(at, is_tip)| is_tip.then_some(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Chain, with_bad_signature};

    fn judged(batch: Vec<SignedEntry>) -> (usize, usize) {
        let result = authenticate(batch, &mut KeyCache::new(), &|_, _| false);
        (result.verified.len(), result.waiting.len())
    }

    #[test]
    fn a_good_tip_carries_its_chain() {
        let mut chain = Chain::new(1);
        let batch: Vec<_> = (0..10).map(|_| chain.signed(b"x")).collect();
        assert_eq!(judged(batch), (10, 0));
    }

    #[test]
    fn a_bad_tip_waits_and_the_rest_stand_on_their_own() {
        let mut chain = Chain::new(1);
        let mut batch: Vec<_> = (0..4).map(|_| chain.signed(b"x")).collect();
        batch.push(with_bad_signature(chain.signed(b"x")));
        assert_eq!(judged(batch), (4, 1));
    }

    /// An author may sign badly and link to it well: all nodes must agree whatever came first.
    #[test]
    fn a_badly_signed_entry_is_authentic_by_its_successor() {
        let mut chain = Chain::new(1);
        let bad = with_bad_signature(chain.signed(b"x"));
        chain.follow(&bad);
        let good = chain.signed(b"y");
        assert_eq!(judged(vec![bad.clone()]), (0, 1));
        assert_eq!(judged(vec![good.clone(), bad.clone()]), (2, 0));
        let author = bad.claimed_author();
        let by_author = |_: &EntryHash, by: &NodeId| *by == author;
        let later = authenticate(vec![bad], &mut KeyCache::new(), &by_author);
        assert_eq!(later.verified.len(), 1);
    }

    #[test]
    fn another_author_cannot_vouch() {
        let mut chain = Chain::new(1);
        let bad = with_bad_signature(chain.signed(b"x"));
        let mut other = Chain::new(2);
        other.follow(&bad);
        let claim = other.signed(b"y");
        assert_eq!(judged(vec![bad, claim]), (1, 1));
    }
}
