//! Sending entries (`SES-10`): what is planned, in batches that are made when there is room.

use std::collections::VecDeque;

use osier_core::{EntryHash, NodeId, Seq, SetSum, WireEntry};

use crate::{
    heads::{Tails, chain_page},
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

/// Entries planned to be sent. Their bodies are read when their batch is made.
#[derive(Debug, Default)]
pub(crate) struct Shipment {
    pieces: VecDeque<Piece>,
}

#[derive(Debug)]
enum Piece {
    Entry(EntryHash),
    /// What follows a place in an author's chain: read page by page, so that a long one costs no
    /// memory.
    Chain(NodeId, Option<Seq>),
}

impl Shipment {
    /// How much is remembered: entries, or chains of any length.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
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
        self.pieces.extend(hashes.into_iter().map(Piece::Entry));
        Ok(())
    }

    /// Plans what follows from heads: in log order if it is little, else chain by chain.
    pub(crate) fn plan_tails(&mut self, tails: Tails, view: &dyn View) -> Result<(), ViewError> {
        if tails.sum.count() > PLAN_SORT_MAX as u64 {
            let chains = tails.chains.into_iter();
            self.pieces
                .extend(chains.map(|(author, after)| Piece::Chain(author, after)));
            return Ok(());
        }
        let mut hashes = Vec::new();
        for (author, after) in tails.chains {
            let mut rest = Some(after);
            while let Some(after) = rest {
                let page = chain_page(view, &author, after)?;
                hashes.extend(page.hashes);
                rest = page.rest.map(Some);
            }
        }
        self.plan(hashes, view)
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
            let hash = match self.pieces.pop_front() {
                None => break,
                Some(Piece::Entry(hash)) => hash,
                Some(Piece::Chain(author, after)) => {
                    self.unfold(view, author, after)?;
                    continue;
                }
            };
            let entry = view.entry(&hash)?.ok_or_else(|| damaged(&hash))?;
            bytes += entry.size();
            tally.note(&hash);
            batch.push(entry);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// Puts the next page of a chain in front, and its rest behind that.
    fn unfold(
        &mut self,
        view: &dyn View,
        author: NodeId,
        after: Option<Seq>,
    ) -> Result<(), ViewError> {
        let page = chain_page(view, &author, after)?;
        if page.rest.is_some() {
            self.pieces.push_front(Piece::Chain(author, page.rest));
        }
        for hash in page.hashes.into_iter().rev() {
            self.pieces.push_front(Piece::Entry(hash));
        }
        Ok(())
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

pub(crate) fn damaged(hash: &EntryHash) -> ViewError {
    ViewError {
        doing: "reading an entry that the index names",
        cause: format!("entry {hash} is not there: run `osier check`"),
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::Chain;

    use super::*;
    use crate::testing::{MemorySource, PairConfig};

    /// A plan by chains sends the same as a plan by hashes, whatever the pages.
    #[test]
    fn chains_unfold_to_their_entries() {
        let topic = PairConfig::topic();
        let mut chain = Chain::in_topic(3, topic);
        let entries: Vec<_> = (0..2500).map(|_| chain.next(&[1; 200])).collect();
        let view = MemorySource::with(1, &entries).snapshot(topic);
        let mut shipment = Shipment::default();
        shipment
            .pieces
            .push_back(Piece::Chain(entries[0].signer(), Some(Seq::FIRST)));
        let mut tally = Tally::default();
        let mut sent = Vec::new();
        while let Some(batch) = shipment.next_batch(&view, &mut tally).unwrap() {
            let bytes: usize = batch.iter().map(WireEntry::size).sum();
            assert!(bytes < BATCH_BYTES_TARGET + 1000 && batch.len() <= BATCH_ENTRIES_MAX);
            sent.extend(batch.iter().map(WireEntry::hash));
        }
        let expected: Vec<_> = entries[1..].iter().map(|entry| entry.hash()).collect();
        assert_eq!(sent, expected);
        assert_eq!(tally.count(), 2499);
    }
}
