//! The order in which the entries of one transaction go into the log: what an entry names comes
//! before it (`STO-15`). Otherwise they stay as they came.

use osier_core::{Entry, EntryHash, Verified};

/// Places of `entries` named by `fresh`, in causal order. Hash links cannot form a circle.
pub(crate) fn order(entries: &[Verified<Entry>], fresh: Vec<usize>) -> Vec<usize> {
    let batch = Links::of(entries, &fresh);
    if batch.are_in_order() {
        return fresh;
    }
    let mut placed = vec![false; fresh.len()];
    let mut order = Vec::with_capacity(fresh.len());
    for at in 0..fresh.len() {
        // Depth first without recursion: an entry is placed when all that it names has been.
        let mut path = vec![at];
        while let Some(&top) = path.last() {
            if placed[top] {
                path.pop();
                continue;
            }
            let before = path.len();
            path.extend(batch.named(top).filter(|&named| !placed[named]));
            if path.len() == before {
                placed[top] = true;
                order.push(fresh[top]);
                path.pop();
            }
        }
    }
    assert_eq!(order.len(), fresh.len(), "every entry is placed once");
    order
}

/// Who names whom within a batch, by place among the fresh entries.
struct Links<'b> {
    entries: &'b [Verified<Entry>],
    fresh: &'b [usize],
    by_hash: Vec<(EntryHash, usize)>,
}

impl<'b> Links<'b> {
    fn of(entries: &'b [Verified<Entry>], fresh: &'b [usize]) -> Self {
        let places = fresh.iter().enumerate();
        let mut by_hash: Vec<_> = places.map(|(at, &of)| (entries[of].hash(), at)).collect();
        by_hash.sort_unstable();
        Self {
            entries,
            fresh,
            by_hash,
        }
    }

    /// What an entry names and is in the batch, the first named last.
    fn named(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let links = self.entries[self.fresh[at]].header().links();
        links.filter_map(|hash| {
            let found = self.by_hash.binary_search_by(|(own, _)| own.cmp(&hash));
            found.ok().map(|found| self.by_hash[found].1)
        })
    }

    /// Nearly every batch is: a sender goes by its own log, or by chains.
    fn are_in_order(&self) -> bool {
        (0..self.fresh.len()).all(|at| self.named(at).all(|named| named < at))
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::Chain;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_in_order_stays() {
        let mut chain = Chain::new(1);
        let entries: Vec<_> = (0..5).map(|_| chain.next(b"x")).collect();
        assert_eq!(order(&entries, vec![0, 2, 3, 4]), [0, 2, 3, 4]);
    }

    /// A long chain in reverse: no recursion on its depth, and linear work.
    #[test]
    fn a_chain_in_reverse_is_turned() {
        let mut chain = Chain::new(1);
        let mut entries: Vec<_> = (0..20_000).map(|_| chain.next(b"x")).collect();
        entries.reverse();
        let expected: Vec<usize> = (0..20_000).rev().collect();
        assert_eq!(order(&entries, (0..20_000).collect()), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 64,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Authors who depend on each other, in any order.
        #[test]
        fn every_name_comes_before_its_entry(keys in prop::collection::vec(any::<u32>(), 40)) {
            let mut chains: Vec<_> = (1..=4).map(Chain::new).collect();
            let mut entries: Vec<Verified<Entry>> = Vec::new();
            for (at, key) in keys.iter().enumerate() {
                let mut deps: Vec<_> = entries.iter().rev().take(3).map(|e| e.hash()).collect();
                deps.sort_unstable();
                let author = (*key as usize + at) % chains.len();
                entries.push(chains[author].next_with(b"x", deps));
            }
            let mut shuffled: Vec<_> = keys.iter().zip(entries).collect();
            shuffled.sort_by_key(|(key, _)| **key);
            let shuffled: Vec<_> = shuffled.into_iter().map(|(_, entry)| entry).collect();
            let order = order(&shuffled, (0..shuffled.len()).collect());
            let mut seen = Vec::new();
            for at in order {
                prop_assert!(shuffled[at].header().links().all(|hash| seen.contains(&hash)));
                seen.push(shuffled[at].hash());
            }
            prop_assert_eq!(seen.len(), shuffled.len());
        }
    }
}
