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
/// `linked_by` says which author's stored, authentic entry names a hash as its `prev`: such an
/// entry needs no signature of its own if it claims that author.
pub fn authenticate(
    batch: Vec<SignedEntry>,
    keys: &mut KeyCache,
    linked_by: &dyn Fn(&EntryHash) -> Option<NodeId>,
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

fn judge(
    batch: &[SignedEntry],
    keys: &mut KeyCache,
    linked_by: &dyn Fn(&EntryHash) -> Option<NodeId>,
) -> Vec<bool> {
    let place: BTreeMap<EntryHash, usize> = batch
        .iter()
        .enumerate()
        .map(|(at, entry)| (entry.hash(), at))
        .collect();
    let before = |at: usize| -> Option<usize> {
        let prev = place.get(&batch[at].claimed_prev()?).copied()?;
        (batch[prev].claimed_author() == batch[at].claimed_author()).then_some(prev)
    };
    let mut has_successor = vec![false; batch.len()];
    (0..batch.len())
        .filter_map(before)
        .for_each(|prev| has_successor[prev] = true);

    let mut authentic = vec![false; batch.len()];
    let mut seen = vec![false; batch.len()];
    for tip in (0..batch.len()).filter(|&at| !has_successor[at]) {
        let mut linked = false;
        let mut next = Some(tip);
        // Walks down the chain; the hash links cannot form a circle, and a branch already walked
        // is walked again only to pass on a better verdict.
        while let Some(at) = next {
            if seen[at] && (authentic[at] || !linked) {
                break;
            }
            let entry = &batch[at];
            let known = linked_by(&entry.hash()) == Some(entry.claimed_author());
            let checked = seen[at];
            linked = linked || known || (!checked && entry.check_signature(keys).is_ok());
            seen[at] = true;
            authentic[at] = linked;
            next = before(at);
        }
    }
    authentic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Chain, with_bad_signature};

    fn judged(batch: Vec<SignedEntry>) -> (usize, usize) {
        let result = authenticate(batch, &mut KeyCache::new(), &|_| None);
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
        let later = authenticate(vec![bad], &mut KeyCache::new(), &|_| Some(author));
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
