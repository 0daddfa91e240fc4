//! Holes: what the log names and does not hold.

use std::collections::BTreeMap;

use osier_core::{EntryHash, NodeId};

use super::{Checking, DERIVED};
use crate::{error::Cause, key, row::HoleRow};

impl Checking<'_> {
    pub(super) fn check_holes(&mut self) -> Result<(), Cause> {
        let missing = std::mem::take(&mut self.found.missing);
        let stored = self.stored_holes()?;
        let mut holes = 0;
        for (hash, row) in &stored {
            holes += u64::from(!row.boundary);
            let counted: Vec<_> = missing
                .get(hash)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .filter(|(lsn, _)| *lsn >= row.since)
                .collect();
            self.expect(
                &format!("referrers of {hash:?}"),
                &row.refs,
                &(counted.len() as u64),
            );
            let mut awaited: BTreeMap<NodeId, u64> = BTreeMap::new();
            for author in counted.iter().filter_map(|(_, author)| *author) {
                *awaited.entry(author).or_insert(0) += 1;
            }
            let kept = self.awaited(hash)?;
            self.expect(&format!("authors who await {hash:?}"), &kept, &awaited);
        }
        let point = self.point;
        self.expect("holes", &point.holes, &holes);
        self.expect("rows of hole", &point.hole_rows, &(stored.len() as u64));
        if self.point.floor.is_none() {
            // In a ring, what was dropped leaves names behind that are no holes.
            for hash in missing.keys().filter(|hash| !stored.contains_key(hash)) {
                self.find(
                    DERIVED,
                    format!("{hash:?} is named, not held and not a hole"),
                );
            }
        }
        Ok(())
    }

    fn stored_holes(&self) -> Result<BTreeMap<EntryHash, HoleRow>, Cause> {
        let from = key::hole(self.no, &EntryHash::MIN);
        let to = key::hole(self.no, &EntryHash::MAX);
        let mut holes = BTreeMap::new();
        for row in self.tables.hole.range::<&[u8; 36]>(&from..=&to)? {
            let (key, row) = row?;
            holes.insert(
                key::hash_of_hole(key.value()),
                HoleRow::decode(row.value())?,
            );
        }
        Ok(holes)
    }

    fn awaited(&self, hash: &EntryHash) -> Result<BTreeMap<NodeId, u64>, Cause> {
        let from = key::awaited(self.no, hash, &NodeId::NOBODY);
        let to = key::awaited(self.no, hash, &NodeId::from_bytes([0xff; 32]));
        let mut authors = BTreeMap::new();
        for row in self.tables.awaited.range::<&[u8; 68]>(&from..=&to)? {
            let (key, count) = row?;
            let count = u64::from_be_bytes(*count.value());
            authors.insert(key::author_of_awaited(key.value()), count);
        }
        Ok(authors)
    }
}
