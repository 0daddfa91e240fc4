//! What a fingerprint is made of: a count and a sum that items join and leave in any order.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use sha2::{Digest, Sha256};

use crate::{Id, varint};

/// The first 16 bytes of a SHA-256 over a [`Summary`].
pub type Fingerprint = [u8; 16];

/// Ids added up as 256-bit little-endian integers; what leaves the top is dropped.
///
/// A sum is not a commitment: whoever may choose ids can find two sets with one sum in about
/// 2^31 steps (a generalised birthday search). It finds differences between honest sets; no
/// marker may rest on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum([u64; 4]);

impl Sum {
    /// The sum of nothing.
    pub const ZERO: Self = Self([0; 4]);

    /// The number as 32 little-endian bytes, as it is hashed and stored.
    pub fn to_le_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let (words, _) = bytes.as_chunks_mut::<8>();
        for (word, lane) in words.iter_mut().zip(self.0) {
            *word = lane.to_le_bytes();
        }
        bytes
    }

    /// The number that 32 little-endian bytes spell; an id is such a number.
    pub fn from_le_bytes(bytes: &[u8; 32]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let mut lanes = [0; 4];
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = u64::from_le_bytes(*word);
        }
        Self(lanes)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        let mut carry = false;
        for (lane, addend) in self.0.iter_mut().zip(other.0) {
            let (partial, over_a) = lane.overflowing_add(addend);
            let (total, over_b) = partial.overflowing_add(u64::from(carry));
            *lane = total;
            carry = over_a || over_b;
        }
    }
}

impl SubAssign for Sum {
    fn sub_assign(&mut self, other: Self) {
        let mut borrow = false;
        for (lane, taken) in self.0.iter_mut().zip(other.0) {
            let (partial, under_a) = lane.overflowing_sub(taken);
            let (rest, under_b) = partial.overflowing_sub(u64::from(borrow));
            *lane = rest;
            borrow = under_a || under_b;
        }
    }
}

/// How many items a range holds, and the sum of their ids.
///
/// Summaries of adjacent ranges add up, and the summary of a part can be taken from that of the
/// whole: prefix sums over chunks are all that an index needs to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Items in the range.
    pub count: u64,
    /// Sum of their ids.
    pub sum: Sum,
}

impl Summary {
    /// The summary of an empty range.
    pub const EMPTY: Self = Self {
        count: 0,
        sum: Sum::ZERO,
    };

    /// Counts an item in.
    pub fn insert(&mut self, id: &Id) {
        *self += Self {
            count: 1,
            sum: Sum::from_le_bytes(id),
        };
    }

    /// Counts an item out; it must have been counted in.
    pub fn remove(&mut self, id: &Id) {
        *self -= Self {
            count: 1,
            sum: Sum::from_le_bytes(id),
        };
    }

    /// The fingerprint of the range: the first 16 bytes of SHA-256 over the sum (32 little-endian
    /// bytes) and the count (varint). Rule REC-5.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut count = Vec::with_capacity(varint::BYTES_MAX);
        varint::write(&mut count, self.count);
        let digest = Sha256::new()
            .chain_update(self.sum.to_le_bytes())
            .chain_update(&count)
            .finalize();
        let mut fingerprint = [0; 16];
        for (byte, hashed) in fingerprint.iter_mut().zip(digest) {
            *byte = hashed;
        }
        fingerprint
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
    }
}

impl SubAssign for Summary {
    fn sub_assign(&mut self, other: Self) {
        self.count = self
            .count
            .checked_sub(other.count)
            .expect("a part holds no more items than the whole");
        self.sum -= other.sum;
    }
}

macro_rules! by_assignment {
    ($($kind:ident)*) => {$(
        impl Add for $kind {
            type Output = Self;
            fn add(mut self, other: Self) -> Self {
                self += other;
                self
            }
        }

        impl Sub for $kind {
            type Output = Self;
            fn sub(mut self, other: Self) -> Self {
                self -= other;
                self
            }
        }
    )*};
}
by_assignment!(Sum Summary);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn carries_cross_every_lane_and_leave_at_the_top() {
        let mut one = [0; 32];
        one[0] = 1;
        let one = Sum::from_le_bytes(&one);
        let all = Sum::from_le_bytes(&[0xff; 32]);
        assert_eq!(all + one, Sum::ZERO);
        assert_eq!(Sum::ZERO - one, all);

        let mut low = [0; 32];
        low[..16].fill(0xff);
        let mut next = [0; 32];
        next[16] = 1;
        assert_eq!(
            Sum::from_le_bytes(&low) + one,
            Sum::from_le_bytes(&next),
            "a carry passes through a full lane"
        );
    }

    #[test]
    fn fingerprint_of_nothing_is_the_known_one() {
        // SHA-256 of 33 zero bytes: the sum, then the count.
        let expected = [
            0x7f, 0x9c, 0x9e, 0x31, 0xac, 0x82, 0x56, 0xca, 0x2f, 0x25, 0x85, 0x83, 0xdf, 0x26,
            0x2d, 0xbc,
        ];
        assert_eq!(Summary::EMPTY.fingerprint(), expected);
    }

    proptest! {
        #[test]
        fn what_is_added_can_be_taken_away(ids in prop::collection::vec(any::<Id>(), 0..20)) {
            let mut summary = Summary::EMPTY;
            for id in &ids {
                summary.insert(id);
            }
            prop_assert_eq!(Sum::from_le_bytes(&summary.sum.to_le_bytes()), summary.sum);
            for id in ids.iter().rev() {
                summary.remove(id);
            }
            prop_assert_eq!(summary, Summary::EMPTY);
        }
    }
}
