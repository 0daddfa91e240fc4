//! One walk over one frame: compare each range with the own set, write the answer, cut it when it
//! gets too long. Both ends do the same; only id lists mean different things to them.

use std::ops::{ControlFlow, Range};

use crate::{Bound, Fingerprint, FrameLimit, FrameWriter, Id, Item, Split, Storage, writer::Mark};

/// The answer to one frame in the making.
pub(crate) struct Pass<'s, S: ?Sized> {
    storage: &'s S,
    limit: FrameLimit,
    split: Split,
    // Rank of infinity: how many items take part.
    end: u64,
    out: FrameWriter,
    // The part of `out` that a cut leaves standing, and the rank up to which it speaks.
    kept: Mark,
    kept_rank: u64,
    // Where the range at hand begins, by rank and by bound.
    lower: u64,
    lower_bound: Bound,
    // Ranges just passed need no work and are not in `out` yet.
    skipping: bool,
    // Where the first open range of the answer begins.
    edge: Option<Bound>,
}

impl<'s, S: Storage + ?Sized> Pass<'s, S> {
    pub(crate) fn new(storage: &'s S, limit: FrameLimit, split: Split) -> Result<Self, S::Error> {
        let out = FrameWriter::new();
        Ok(Self {
            storage,
            limit,
            split,
            end: storage.rank(&Bound::INFINITY)?,
            kept: out.mark(),
            out,
            kept_rank: 0,
            lower: 0,
            lower_bound: Bound::ZERO,
            skipping: false,
            edge: None,
        })
    }

    /// The first frame of an exchange: everything, split.
    pub(crate) fn open(mut self, buckets: u32) -> Result<Vec<u8>, S::Error> {
        let all = 0..self.end;
        if self.split.lists(self.end) {
            self.list_all(&Bound::INFINITY, all)?;
        } else {
            self.split(&Bound::INFINITY, all, u64::from(buckets).min(self.end))?;
        }
        Ok(self.out.finish())
    }

    /// The ranks of the own items from where the last range ended up to `upper`.
    pub(crate) fn ranks(&self, upper: &Bound) -> Result<Range<u64>, S::Error> {
        let rank = self.storage.rank(upper)?;
        Ok(self.lower..rank.clamp(self.lower, self.end))
    }

    /// The range needs no more work.
    pub(crate) fn skip(&mut self) {
        self.skipping = true;
    }

    /// Compares digests; a range that differs is split. Rule REC-6.
    pub(crate) fn compare(
        &mut self,
        upper: &Bound,
        ranks: Range<u64>,
        theirs: &Fingerprint,
    ) -> Result<(), S::Error> {
        let ours = self.storage.summary(ranks.clone())?.fingerprint();
        if ours == *theirs {
            self.skipping = true;
            return Ok(());
        }
        self.flush_skip();
        let count = ranks.end - ranks.start;
        if self.split.lists(count) {
            return self.list_all(upper, ranks);
        }
        self.split(upper, ranks, self.split.parts_of(count))
    }

    /// Answers an id list with the own ids, as many as fit; returns the rank up to which it got.
    /// Rule REC-7.
    ///
    /// The own range is not walked beyond what is written: which ids differ is the initiator's
    /// business.
    pub(crate) fn list(&mut self, upper: &Bound, ranks: Range<u64>) -> Result<u64, S::Error> {
        let room = self.limit.cut_bytes().saturating_sub(self.out.len()) / 32;
        let room = u64::try_from(room).unwrap_or(u64::MAX).saturating_add(1);
        let fits = ranks.end - ranks.start <= room;
        self.flush_skip();
        let stop = if fits {
            let ids = self.ids(ranks.clone())?;
            self.out.ids(upper, &ids);
            ranks.end
        } else {
            let stop = ranks.start + room;
            let shrunk = Bound::at_item(&self.storage.at(stop)?);
            let ids = self.ids(ranks.start..stop)?;
            self.out.ids(&shrunk, &ids);
            stop
        };
        self.keep(stop);
        Ok(stop)
    }

    /// Ends a range. When the frame has grown over the cut, the range is taken back unless it is
    /// kept already, the rest of the order goes in as one fingerprint, and the answer is done:
    /// breaks. Rule REC-8.
    pub(crate) fn close(&mut self, upper: &Bound, rank: u64) -> Result<ControlFlow<()>, S::Error> {
        if self.out.len() > self.limit.cut_bytes() {
            self.out.rewind(self.kept);
            // The receiver takes this range to begin where the last one written ends.
            let rest = self.storage.summary(self.kept_rank..self.end)?;
            self.out.fingerprint(&Bound::INFINITY, &rest.fingerprint());
            return Ok(ControlFlow::Break(()));
        }
        if self.out.len() > self.kept.length() {
            self.keep(rank);
        }
        self.lower = rank;
        self.lower_bound = *upper;
        Ok(ControlFlow::Continue(()))
    }

    /// The answer, and where its first open range begins; none when nothing is open.
    pub(crate) fn finish(self) -> (Vec<u8>, Option<Bound>) {
        (self.out.finish(), self.edge)
    }

    fn keep(&mut self, rank: u64) {
        self.kept = self.out.mark();
        self.kept_rank = rank;
    }

    /// Writes the skip that is due before an open range.
    fn flush_skip(&mut self) {
        if self.edge.is_none() {
            self.edge = Some(self.lower_bound);
        }
        if self.skipping {
            self.skipping = false;
            self.out.skip(&self.lower_bound);
        }
    }

    /// Few items are listed.
    fn list_all(&mut self, upper: &Bound, ranks: Range<u64>) -> Result<(), S::Error> {
        let ids = self.ids(ranks)?;
        self.out.ids(upper, &ids);
        Ok(())
    }

    /// Many items are split into at most as many parts of equal size, the first ones larger by one
    /// while there is a remainder.
    fn split(&mut self, upper: &Bound, ranks: Range<u64>, buckets: u64) -> Result<(), S::Error> {
        let count = ranks.end - ranks.start;
        let (size, larger) = (count / buckets, count % buckets);
        let mut start = ranks.start;
        for bucket in 0..buckets {
            let next = start + size + u64::from(bucket < larger);
            let bound = if next == ranks.end {
                *upper
            } else {
                self.bound_at(next)?
            };
            let summary = self.storage.summary(start..next)?;
            self.out.fingerprint(&bound, &summary.fingerprint());
            start = next;
        }
        Ok(())
    }

    /// The shortest bound before the item at `rank`, which has one before it.
    fn bound_at(&self, rank: u64) -> Result<Bound, S::Error> {
        let mut before = None;
        let mut after = Item::new(0, [0; 32]);
        self.storage.items(rank - 1..rank + 1, &mut |item| {
            before.get_or_insert(item);
            after = item;
        })?;
        Ok(Bound::between(&before.unwrap_or(after), &after))
    }

    fn ids(&self, ranks: Range<u64>) -> Result<Vec<Id>, S::Error> {
        // Reserved by what is there, not by what a damaged index may claim.
        let mut ids = Vec::new();
        self.storage.items(ranks, &mut |item| ids.push(item.id))?;
        Ok(ids)
    }
}
