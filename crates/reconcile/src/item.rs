//! What is reconciled, and the places between.

use std::cmp::Ordering;

/// 32 bytes that name an item; opaque here. Compared as unsigned bytes, first byte first.
pub type Id = [u8; 32];

/// One element of a set: ordered by time, then by id. Rule REC-3.
///
/// Items at time [`u64::MAX`] take no part in an exchange: the protocol keeps that time for
/// [`Bound::INFINITY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// When, in whatever unit the set uses: both ends must use the same one.
    pub time: u64,
    /// Which.
    pub id: Id,
}

impl Item {
    /// An item.
    pub const fn new(time: u64, id: Id) -> Self {
        Self { time, id }
    }

    /// Whether the item lies before `bound`; an item at the bound lies behind it.
    pub fn is_below(&self, bound: &Bound) -> bool {
        (self.time, &self.id) < (bound.time, &bound.id)
    }
}

/// A place in the order of items: the exclusive end of one range and the inclusive start of the
/// next.
///
/// It is a time and the first 0 to 32 bytes of an id, the rest of which count as zero. Two bounds
/// at the same place are equal, however many zero bytes each spells out.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    time: u64,
    id: Id,
    prefix_bytes: u8,
}

/// An id prefix of more than 32 bytes was given for a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id prefix has at most 32 bytes, not {bytes}")]
pub struct PrefixTooLong {
    /// How many bytes were given.
    pub bytes: usize,
}

impl Bound {
    /// Before every item.
    pub const ZERO: Self = Self::at_time(0);
    /// Behind every item that an exchange can hold.
    pub const INFINITY: Self = Self::at_time(u64::MAX);

    /// Before every item of this time.
    pub const fn at_time(time: u64) -> Self {
        Self {
            time,
            id: [0; 32],
            prefix_bytes: 0,
        }
    }

    /// Just before `item`.
    pub const fn at_item(item: &Item) -> Self {
        Self {
            time: item.time,
            id: item.id,
            prefix_bytes: 32,
        }
    }

    /// Before every item of this time whose id is at least `prefix` followed by zeros.
    ///
    /// # Errors
    ///
    /// When the prefix is longer than an id.
    pub fn with_prefix(time: u64, prefix: &[u8]) -> Result<Self, PrefixTooLong> {
        let bytes = prefix.len();
        let too_long = PrefixTooLong { bytes };
        let mut id = [0; 32];
        id.get_mut(..bytes).ok_or(too_long)?.copy_from_slice(prefix);
        let prefix_bytes = u8::try_from(bytes).map_err(|_| too_long)?;
        Ok(Self {
            time,
            id,
            prefix_bytes,
        })
    }

    /// The shortest bound that has `before` on its left and `after` on its right.
    ///
    /// The order is the caller's to keep: `before < after`.
    pub fn between(before: &Item, after: &Item) -> Self {
        if before.time != after.time {
            return Self::at_time(after.time);
        }
        let shared = before
            .id
            .iter()
            .zip(&after.id)
            .take_while(|(left, right)| left == right)
            .count();
        let kept = (shared + 1).min(32);
        let mut bound = Self::at_item(after);
        bound.id.iter_mut().skip(kept).for_each(|byte| *byte = 0);
        bound.prefix_bytes = u8::try_from(kept).expect("at most 32");
        bound
    }

    /// The time of the bound; [`u64::MAX`] only at infinity.
    pub const fn time(&self) -> u64 {
        self.time
    }

    /// The id bytes that the bound spells out: 0 to 32.
    pub fn prefix(&self) -> &[u8] {
        self.id
            .get(..usize::from(self.prefix_bytes))
            .expect("a prefix has at most 32 bytes")
    }

    /// The first item that could lie behind the bound: its prefix, filled up with zeros.
    pub const fn floor(&self) -> Item {
        Item::new(self.time, self.id)
    }

    /// Whether this is the end of everything.
    pub fn is_infinity(&self) -> bool {
        *self == Self::INFINITY
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.floor().cmp(&other.floor())
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Bound {}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(time: u64, first: u8, second: u8) -> Item {
        let mut id = [7; 32];
        id[0] = first;
        id[1] = second;
        Item::new(time, id)
    }

    #[test]
    fn between_is_the_shortest_separator() {
        let bound = Bound::between(&item(3, 9, 9), &item(5, 0, 0));
        assert_eq!((bound.time(), bound.prefix()), (5, &[][..]));

        let bound = Bound::between(&item(5, 9, 1), &item(5, 9, 2));
        assert_eq!((bound.time(), bound.prefix()), (5, &[9, 2][..]));

        let bound = Bound::between(&item(5, 0x7f, 1), &item(5, 0x80, 0));
        assert!(item(5, 0x7f, 1).is_below(&bound));
        assert!(!item(5, 0x80, 0).is_below(&bound));
    }

    #[test]
    fn zero_bytes_spelled_out_do_not_move_a_bound() {
        let short = Bound::with_prefix(4, &[1]).unwrap();
        let long = Bound::with_prefix(4, &[1, 0, 0]).unwrap();
        assert_eq!(short, long);
        assert_ne!(short.prefix(), long.prefix());
        assert!(Bound::ZERO < short && short < Bound::INFINITY);
    }

    #[test]
    fn a_prefix_longer_than_an_id_is_refused() {
        assert!(Bound::with_prefix(0, &[0; 32]).is_ok());
        let refused = Bound::with_prefix(0, &[0; 33]);
        assert_eq!(refused, Err(PrefixTooLong { bytes: 33 }));
    }
}
