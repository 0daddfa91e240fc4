//! The conformance suite that every [`Storage`] passes (feature `testing`).

use std::ops::Range;

use crate::{Bound, Item, Storage, VectorStorage};

/// Compares a storage with the sorted vector of the items that it should hold.
///
/// All ranges are compared when there are at most 40 items; otherwise those that begin and end
/// near a multiple of an uneven step, so that a storage in chunks is met inside, at and across
/// their borders.
///
/// # Panics
///
/// When an answer differs, and says which.
pub fn conform<S: Storage + ?Sized>(storage: &S, items: &[Item]) {
    let oracle = VectorStorage::new(items.to_vec());
    let count = answer(oracle.len());
    assert_eq!(answer(storage.len()), count, "len");
    assert_eq!(answer(storage.is_empty()), count == 0, "is_empty");

    let ranks = probe_ranks(count);
    for rank in ranks.iter().copied().filter(|rank| *rank < count) {
        let item = answer(oracle.at(rank));
        assert_eq!(answer(storage.at(rank)), item, "item at rank {rank}");
        for bound in bounds_around(&item) {
            let expected = answer(oracle.rank(&bound));
            assert_eq!(answer(storage.rank(&bound)), expected, "rank of {bound:?}");
        }
    }
    for bound in [Bound::ZERO, Bound::INFINITY] {
        let expected = answer(oracle.rank(&bound));
        assert_eq!(answer(storage.rank(&bound)), expected, "rank of {bound:?}");
    }
    for (index, start) in ranks.iter().enumerate() {
        for end in ranks.iter().skip(index) {
            let range = *start..*end;
            let expected = answer(oracle.summary(range.clone()));
            let summary = answer(storage.summary(range.clone()));
            assert_eq!(summary, expected, "summary of {range:?}");
            let expected = walk(&oracle, range.clone());
            assert_eq!(walk(storage, range.clone()), expected, "items at {range:?}");
        }
    }
}

fn answer<T, E: std::error::Error>(outcome: Result<T, E>) -> T {
    outcome.unwrap_or_else(|error| panic!("the storage failed: {error}"))
}

fn walk<S: Storage + ?Sized>(storage: &S, ranks: Range<u64>) -> Vec<Item> {
    let mut items = Vec::new();
    answer(storage.items(ranks, &mut |item| items.push(item)));
    items
}

/// At most 41 ranks, the first and the end among them.
fn probe_ranks(count: u64) -> Vec<u64> {
    if count <= 40 {
        return (0..=count).collect();
    }
    let mut ranks = vec![0, count];
    for step in 1..=13 {
        let rank = count * step / 14;
        ranks.extend([rank - 1, rank, rank + 1]);
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// Bounds on, just before and just behind an item, spelled in full and in short.
fn bounds_around(item: &Item) -> Vec<Bound> {
    let mut bounds = vec![
        Bound::at_item(item),
        Bound::at_time(item.time),
        Bound::at_time(item.time.saturating_add(1)),
    ];
    for length in [0, 1, 31] {
        let prefix = item.id.get(..length).unwrap_or_default();
        bounds.extend(Bound::with_prefix(item.time, prefix));
        let mut above = prefix.to_vec();
        if let Some(last) = above.last_mut() {
            *last = last.saturating_add(1);
        }
        bounds.extend(Bound::with_prefix(item.time, &above));
    }
    bounds
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::SubRange;

    fn items(count: u64) -> Vec<Item> {
        let item = |index: u64| {
            let mut id = [0; 32];
            id[..8].copy_from_slice(&index.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            Item::new(index / 7, id)
        };
        (0..count).map(item).collect()
    }

    #[test]
    fn a_vector_conforms_to_itself_through_dyn() {
        for count in [0, 1, 2, 40, 41, 500] {
            let vector = VectorStorage::new(items(count));
            let storage: &dyn Storage<Error = Infallible> = &vector;
            conform(storage, vector.as_slice());
        }
    }

    #[test]
    fn bounds_out_of_order_make_an_empty_window() {
        let vector = VectorStorage::new(items(50));
        let window = SubRange::new(&vector, &Bound::at_time(5), &Bound::at_time(2)).unwrap();
        conform(&window, &[]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_window_holds_what_lies_between_its_bounds(from in 0_u64..20, until in 0_u64..20) {
            let vector = VectorStorage::new(items(100));
            let (lower, upper) = (Bound::at_time(from), Bound::at_time(until));
            let window = SubRange::new(&vector, &lower, &upper).unwrap();
            let inside = |item: &&Item| !item.is_below(&lower) && item.is_below(&upper);
            let expected: Vec<Item> = vector.as_slice().iter().filter(inside).copied().collect();
            conform(&window, &expected);
            let inner = SubRange::new(&window, &Bound::at_time(3), &Bound::INFINITY).unwrap();
            let late = expected.iter().filter(|item| item.time >= 3).copied();
            conform(&inner, &late.collect::<Vec<_>>());
        }
    }
}
