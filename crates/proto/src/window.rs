//! The part of the order that two sides compare when either is a ring (`SES-9`).

use osier_core::{Coverage, OrderKey, SetSum};
use osier_reconcile::{Bound, Storage, SubRange};

use crate::view::{View, ViewError, range_item};

/// The higher of both floors; none when both sides keep everything.
pub(crate) fn common_floor(a: &Coverage, b: &Coverage) -> Option<OrderKey> {
    let floor = |coverage: &Coverage| match coverage {
        Coverage::Complete => None,
        Coverage::From { floor } => Some(*floor),
    };
    floor(a).max(floor(b))
}

/// Whether an entry's place lies in the window, as the range order sees it.
pub(crate) fn contains(floor: Option<&OrderKey>, key: &OrderKey) -> bool {
    floor.is_none_or(|floor| range_item(key) >= range_item(floor))
}

/// The entries at or above the floor, as a storage of their own.
pub(crate) fn above(
    view: &dyn View,
    floor: Option<OrderKey>,
) -> Result<SubRange<'_, dyn Storage<Error = ViewError> + '_>, ViewError> {
    let lower = floor.map_or(Bound::ZERO, |floor| Bound::at_item(&range_item(&floor)));
    SubRange::new(view.order(), &lower, &Bound::INFINITY)
}

/// Count and sum of the entries at or above the floor.
pub(crate) fn set_above(view: &dyn View, floor: &OrderKey) -> Result<SetSum, ViewError> {
    let window = above(view, Some(*floor))?;
    let summary = window.summary(0..window.len()?)?;
    Ok(SetSum::from_parts(summary.count, summary.sum.to_le_bytes()))
}
