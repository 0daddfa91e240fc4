//! Sending entries (`SES-10`): what is planned, in batches that are made when there is room.

use std::collections::VecDeque;

use osier_core::{EntryHash, SetSum, WireEntry};

use crate::{
    limit::{BATCH_BYTES_TARGET, BATCH_ENTRIES_MAX, PLAN_SORT_MAX},
    marker::Streamed,
    view::{Lsn, View, ViewError},
};

/// Count, sum and last of the entries that went one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    set: SetSum,
    last: Option<EntryHash>,
}

impl Tally {
    pub(crate) fn note(&mut self, hash: &EntryHash) {
        self.set.insert(hash);
        self.last = Some(*hash);
    }

    pub(crate) fn set(&self) -> SetSum {
        self.set
    }

    pub(crate) fn count(&self) -> u64 {
        self.set.count()
    }

    pub(crate) fn last(&self) -> Option<EntryHash> {
        self.last
    }

    pub(crate) fn streamed(&self) -> Streamed {
        assert_eq!(
            self.last.is_some(),
            self.count() > 0,
            "what was counted has a last"
        );
        self.last
            .map_or(Streamed::Nothing, |last| Streamed::Entries {
                count: self.count(),
                last,
            })
    }
}

/// Entries planned to be sent, by hash. Their bodies are read when their batch is made.
#[derive(Debug, Default)]
pub(crate) struct Shipment {
    hashes: VecDeque<EntryHash>,
}

impl Shipment {
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Plans what is known to be held, in log order if the view knows it, else as given.
    pub(crate) fn plan(
        &mut self,
        mut hashes: Vec<EntryHash>,
        view: &dyn View,
    ) -> Result<(), ViewError> {
        if hashes.len() <= PLAN_SORT_MAX {
            hashes = in_log_order(hashes, view)?;
        }
        self.hashes.extend(hashes);
        Ok(())
    }

    /// The next batch; none when all is sent.
    ///
    /// An entry that was planned and is not in the same snapshot now is damage of our own store.
    pub(crate) fn next_batch(
        &mut self,
        view: &dyn View,
        tally: &mut Tally,
    ) -> Result<Option<Vec<WireEntry>>, ViewError> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES_TARGET && batch.len() < BATCH_ENTRIES_MAX {
            let Some(hash) = self.hashes.pop_front() else {
                break;
            };
            let entry = view.entry(&hash)?.ok_or_else(|| damaged(&hash))?;
            bytes += entry.size();
            tally.note(&hash);
            batch.push(entry);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

fn in_log_order(hashes: Vec<EntryHash>, view: &dyn View) -> Result<Vec<EntryHash>, ViewError> {
    let mut placed = Vec::with_capacity(hashes.len());
    for hash in hashes {
        placed.push((view.place(&hash)?.unwrap_or(Lsn::START), hash));
    }
    // Stable: where the view knows no places the given order stays.
    placed.sort_by_key(|(lsn, _)| *lsn);
    Ok(placed.into_iter().map(|(_, hash)| hash).collect())
}

fn damaged(hash: &EntryHash) -> ViewError {
    ViewError {
        doing: "reading an entry that the index names",
        cause: format!("entry {hash} is not there: run `osier check`"),
    }
}
