//! The filters under one value, and taking one out of many.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    filter::{Filter, TagCondition},
    tag::Letter,
};

/// Names a registered filter.
pub(super) type Slot = u64;

/// The filters under one value.
pub(super) type Bucket = BTreeSet<Slot>;

/// The values that the filter asks for under this letter.
pub(super) fn values_of(filter: &Filter, letter: Letter) -> &[Box<str>] {
    filter
        .tag(letter)
        .map(TagCondition::values)
        .unwrap_or_default()
}

/// What it costs to be asked for each event with one of the values.
pub(super) fn cost<'a>(weight: usize, buckets: impl Iterator<Item = Option<&'a Bucket>>) -> usize {
    let each = buckets.map(|bucket| weight * (bucket.map_or(0, Bucket::len) + 1));
    each.fold(0, usize::saturating_add)
}

/// Takes the slot out of the buckets of these values; an empty bucket goes too.
pub(super) fn forget_all<V: Ord>(buckets: &mut BTreeMap<V, Bucket>, values: &[V], slot: Slot) {
    for value in values {
        let is_empty = buckets.get_mut(value).is_some_and(|bucket| {
            bucket.remove(&slot);
            bucket.is_empty()
        });
        if is_empty {
            buckets.remove(value);
        }
    }
}
