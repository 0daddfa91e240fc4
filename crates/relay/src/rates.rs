//! How often each of many may do something: a bucket a key, and a bounded number of them.

use std::collections::BTreeMap;

use osier::Instant;
use osier_nostr::{Bucket, Rate};

/// Buckets in two generations: what is used moves to the young one; when that is half full the old
/// one is forgotten. Who comes under a new key is let in as one who comes for the first time, so a
/// bound by key holds back a key, and a bound by address whoever makes many.
#[derive(Debug)]
pub(crate) struct Rates<K> {
    rate: Rate,
    keys_max: usize,
    young: BTreeMap<K, Bucket>,
    old: BTreeMap<K, Bucket>,
}

impl<K: Ord> Rates<K> {
    /// So often each, remembering so many.
    pub(crate) fn new(rate: Rate, keys_max: usize) -> Self {
        Self {
            rate,
            keys_max,
            young: BTreeMap::new(),
            old: BTreeMap::new(),
        }
    }

    /// Whether this one may do it once more now; if so, it has.
    pub(crate) fn take(&mut self, key: K, now: Instant) -> bool {
        let mut bucket = self
            .young
            .get(&key)
            .or_else(|| self.old.get(&key))
            .copied()
            .unwrap_or_default();
        let taken = bucket.take(self.rate, now);
        if !self.young.contains_key(&key) && self.young.len() >= self.keys_max / 2 {
            self.young.retain(|_, bucket| !bucket.is_full(now));
            if self.young.len() >= self.keys_max / 4 {
                self.old = std::mem::take(&mut self.young);
            }
        }
        self.young.insert(key, bucket);
        taken
    }
}

#[cfg(test)]
mod tests {
    use osier::Duration;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START.after(Duration::from_millis(ms))
    }

    #[test]
    fn each_key_has_its_own_share() {
        let mut rates = Rates::new(Rate::per_second(1, 3), 100);
        let taken = |rates: &mut Rates<u32>, key| (0..9).filter(|_| rates.take(key, at(5))).count();
        assert_eq!((taken(&mut rates, 1), taken(&mut rates, 2)), (3, 3));
        assert_eq!(taken(&mut rates, 1), 0);
        assert!(rates.take(1, at(1_005)) && !rates.take(1, at(1_005)));
    }

    #[test]
    fn the_table_has_a_bound_and_keeps_who_is_held_back() {
        let mut rates = Rates::new(Rate::per_minute(1, 1), 100);
        assert!(rates.take(0, at(0)));
        for key in 1..10_000 {
            assert!(rates.take(key, at(1)));
            assert!(!rates.take(0, at(1)), "who goes on asking is not forgotten");
            assert!(rates.young.len() + rates.old.len() <= 100);
        }
        // A minute later all of them are forgotten before any that is still held back.
        for key in 0..60 {
            rates.take(20_000 + key, at(120_000));
        }
        assert!(rates.young.len() <= 61);
    }
}
