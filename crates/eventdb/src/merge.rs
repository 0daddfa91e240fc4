//! Several cursors as one: in order, each event once.

use std::{cmp::Reverse, collections::BinaryHeap};

use osier_nostr::nip::nip01::Version;

use crate::{
    cursor::{Candidate, Cursor},
    view::Inner,
};

/// The streams of one filter, merged.
#[derive(Debug)]
pub(crate) struct Merge {
    cursors: Vec<Cursor>,
    heads: Vec<Option<Candidate>>,
    order: BinaryHeap<Reverse<(Version, usize)>>,
    last: Option<Version>,
    is_started: bool,
}

impl Merge {
    pub(crate) fn new(cursors: Vec<Cursor>) -> Self {
        Self {
            heads: vec![None; cursors.len()],
            order: BinaryHeap::with_capacity(cursors.len()),
            cursors,
            last: None,
            is_started: false,
        }
    }

    /// The next candidate; adds to `cost` the rows that were read.
    pub(crate) fn next(
        &mut self,
        inner: &Inner,
        cost: &mut usize,
    ) -> Result<Option<Candidate>, redb::Error> {
        if !self.is_started {
            self.is_started = true;
            for at in 0..self.cursors.len() {
                self.advance(at, inner, cost)?;
            }
        }
        while let Some(Reverse((version, at))) = self.order.pop() {
            let head = self.heads[at].take();
            self.advance(at, inner, cost)?;
            if self.last != Some(version) {
                self.last = Some(version);
                return Ok(head);
            }
        }
        Ok(None)
    }

    fn advance(&mut self, at: usize, inner: &Inner, cost: &mut usize) -> Result<(), redb::Error> {
        let head = self.cursors[at].next(inner, cost)?;
        if let Some(candidate) = &head {
            self.order.push(Reverse((candidate.version, at)));
        }
        self.heads[at] = head;
        Ok(())
    }
}
