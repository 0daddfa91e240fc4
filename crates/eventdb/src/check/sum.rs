//! What is kept of many rows: chunks of sets, counts, sketches.

use std::collections::BTreeMap;

use osier_nostr::Sketch;
use osier_store::{RangeSet, Storage, Summary, ViewError};
use redb::ReadableTable;

use super::CheckReport;
use crate::{
    key::FacetKey,
    row::{FacetRow, SketchRow},
    schema, sketch,
    view::Inner,
};

/// Items of a set whose sum is compared at once: several chunks.
const STRETCH: u64 = 2_048;

/// The sizes of all sets, and the sums of all their stretches.
pub(super) fn check_sets(
    sets: &BTreeMap<u32, RangeSet>,
    right: &BTreeMap<u32, u64>,
    report: &mut CheckReport,
) {
    for (set, items) in sets {
        let right = right.get(set).copied().unwrap_or(0);
        if let Err(error) = check_set(*set, items, right, report) {
            report.find(schema::CHUNK, format!("set {set}: {error}"));
        }
    }
}

fn check_set(
    set: u32,
    items: &RangeSet,
    right: u64,
    report: &mut CheckReport,
) -> Result<(), ViewError> {
    let length = items.len()?;
    report.expect(
        schema::ORDER,
        &format!("items of set {set}"),
        &length,
        &right,
    );
    let mut start = 0;
    while start < length {
        let end = (start + STRETCH).min(length);
        let mut right = Summary::EMPTY;
        items.items(start..end, &mut |item| right.insert(&item.id))?;
        let what = format!("items {start} to {end} of set {set}");
        report.expect(schema::CHUNK, &what, &items.summary(start..end)?, &right);
        start = end;
    }
    Ok(())
}

/// Each kept count is exact; each kept sketch holds at least what the rows do, and no more where
/// nothing has gone since it was made.
pub(super) fn check_sketches(inner: &Inner, report: &mut CheckReport) -> Result<(), redb::Error> {
    for row in inner.tables.sketch.iter()? {
        let (key, stored) = row?;
        let stored = SketchRow::decode(stored.value());
        let (number, facet) = sketch::of_key(key.value());
        let (from, to) = sketch::all_of(&facet);
        let mut count = 0;
        let mut right = Sketch::empty();
        for row in inner.tables.facet.range::<&FacetKey>(&from..=&to)? {
            let row = FacetRow::decode(row?.1.value());
            if sketch::is_about(number, row.kind) {
                count += 1;
                right.raise(row.register, row.rank);
            }
        }
        let table = "nostr_sketch";
        report.expect(table, "a count", &stored.count, &count);
        let mut both = right.clone();
        both.merge(&stored.sketch);
        let is_right = both == stored.sketch && (stored.lowered > 0 || stored.sketch == right);
        report.expect(
            table,
            "a sketch holds what its events add",
            &is_right,
            &true,
        );
    }
    Ok(())
}
