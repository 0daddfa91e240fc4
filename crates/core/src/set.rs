//! The additive fingerprint of a set of entries, and the order that range sync walks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{id::EntryHash, time::Timestamp};

/// Count, and sum modulo 2^256 of the hashes, of a set of entries (`ENT-12`).
///
/// Two sets with equal sums are equal unless an author mined hashes for it; use it to find and to
/// account for differences, never as the state hash that a marker rests on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SetSum {
    count: u64,
    sum: [u8; 32],
}

impl SetSum {
    /// The empty set.
    pub const EMPTY: Self = Self {
        count: 0,
        sum: [0; 32],
    };

    /// A sum from its parts: `sum` is little-endian. Every value is legal.
    pub const fn from_parts(count: u64, sum: [u8; 32]) -> Self {
        Self { count, sum }
    }

    /// Number of entries in the set.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the hashes, read as little-endian numbers, modulo 2^256; little-endian.
    pub const fn sum(&self) -> &[u8; 32] {
        &self.sum
    }

    /// Whether nothing is in the set.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Puts one entry in. The caller knows that it was not in.
    pub fn insert(&mut self, hash: &EntryHash) {
        self.add(&Self {
            count: 1,
            sum: *hash.as_bytes(),
        });
    }

    /// Takes one entry out. The caller knows that it was in.
    pub fn remove(&mut self, hash: &EntryHash) {
        self.subtract(&Self {
            count: 1,
            sum: *hash.as_bytes(),
        });
    }

    /// Joins a disjoint set.
    pub fn add(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        let mut carry = 0_u16;
        for (mine, theirs) in self.sum.iter_mut().zip(other.sum) {
            let total = u16::from(*mine) + u16::from(theirs) + carry;
            *mine = total.to_le_bytes()[0];
            carry = total >> 8;
        }
    }

    /// Takes a subset out.
    pub fn subtract(&mut self, other: &Self) {
        self.count = self.count.wrapping_sub(other.count);
        let mut borrow = false;
        for (mine, theirs) in self.sum.iter_mut().zip(other.sum) {
            let (once, under) = mine.overflowing_sub(theirs);
            let (twice, under_again) = once.overflowing_sub(u8::from(borrow));
            *mine = twice;
            borrow = under || under_again;
        }
    }
}

impl fmt::Debug for SetSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = data_encoding::HEXLOWER.encode(&self.sum[..4]);
        write!(f, "SetSum({} entries, {head}..)", self.count)
    }
}

impl FromIterator<EntryHash> for SetSum {
    fn from_iter<I: IntoIterator<Item = EntryHash>>(hashes: I) -> Self {
        let mut sum = Self::EMPTY;
        hashes.into_iter().for_each(|hash| sum.insert(&hash));
        sum
    }
}

/// Place of an entry in the range order: its author's clock, then its hash (`ENT-13`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderKey {
    /// The author's clock when it wrote the entry.
    pub time: Timestamp,
    /// The entry's hash, compared as unsigned bytes.
    pub hash: EntryHash,
}

impl OrderKey {
    /// The greatest time in the order. Negentropy keeps the last millisecond of all for infinity:
    /// an entry placed there could never be exchanged.
    pub const TIME_MAX: Timestamp = Timestamp::from_millis(u64::MAX - 1);

    /// Before every entry.
    pub const MIN: Self = Self {
        time: Timestamp::from_millis(0),
        hash: EntryHash::MIN,
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(hashes in prop::collection::vec(any::<[u8; 32]>(), 0..40)) {
            let hashes: Vec<_> = hashes.into_iter().map(EntryHash::from_bytes).collect();
            let mut sum: SetSum = hashes.iter().copied().collect();
            let mut reversed: SetSum = hashes.iter().rev().copied().collect();
            prop_assert_eq!(sum, reversed);
            for hash in &hashes {
                sum.remove(hash);
            }
            prop_assert_eq!(sum, SetSum::EMPTY);
            let half: SetSum = hashes[..hashes.len() / 2].iter().copied().collect();
            reversed.subtract(&half);
            let rest: SetSum = hashes[hashes.len() / 2..].iter().copied().collect();
            prop_assert_eq!(reversed, rest);
        }
    }

    #[test]
    fn carry_crosses_every_byte() {
        let mut sum = SetSum::from_parts(1, [0xff; 32]);
        let mut one = [0; 32];
        one[0] = 1;
        sum.insert(&EntryHash::from_bytes(one));
        assert_eq!(sum, SetSum::from_parts(2, [0; 32]));
    }
}
