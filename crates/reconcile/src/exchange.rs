//! The two ends of an exchange.
//!
//! Neither end owns the set: the storage is handed to each call, and must be the same snapshot
//! from the first to the last. For a part of the order, hand in a [`crate::SubRange`].

use std::ops::{self, ControlFlow};

use crate::{
    BUCKETS, BUCKETS_MAX, Frame, FrameLimit, Id, Malformed, Misbehaved, Payload, Progress,
    ROUNDS_MAX, Range, ReconcileError, Split, Storage, VERSION,
    limit::RANGE_HEAD_BYTES_MAX,
    pass::Pass,
    progress::{Reported, Tally, Watch},
};

/// How an exchange begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// How long the own frames may be.
    pub limit: FrameLimit,
    /// Into how many parts the first frame splits the set; [`BUCKETS`] to [`BUCKETS_MAX`], and
    /// never so many that a part has under 16 items or the frame outgrows its limit: what does
    /// not fit is brought into bounds. More parts cost bytes at once and can save a round later.
    pub buckets: u32,
    /// How ranges that differ go on.
    pub split: Split,
    /// How many frames of the responder are read at most.
    pub rounds_max: u32,
}

impl Opening {
    /// Sixteen parts, and [`ROUNDS_MAX`] rounds.
    pub const fn new(limit: FrameLimit) -> Self {
        Self {
            limit,
            buckets: BUCKETS,
            split: Split::REFERENCE,
            rounds_max: ROUNDS_MAX,
        }
    }

    /// The number of parts that suits a set of `count` items.
    fn buckets_for(&self, count: u64) -> u32 {
        let room = (self.limit.cut_bytes() - 1) / RANGE_HEAD_BYTES_MAX;
        let room = u32::try_from(room).unwrap_or(BUCKETS_MAX);
        let items = u32::try_from(count / 16).unwrap_or(BUCKETS_MAX);
        let most = BUCKETS_MAX.min(room).min(items).max(BUCKETS);
        self.buckets.clamp(BUCKETS, most)
    }
}

impl Default for Opening {
    fn default() -> Self {
        Self::new(FrameLimit::NONE)
    }
}

/// The end that asks, and learns the difference.
///
/// The exchange ends by itself when two honest ends meet. Against any other it ends with an error
/// after at most [`Opening::rounds_max`] replies, and earlier when
/// [`crate::STALL_ROUNDS_MAX`] of them settle nothing.
#[derive(Debug, Clone)]
pub struct Initiator {
    limit: FrameLimit,
    split: Split,
    watch: Watch,
    reported: Reported,
    ended: bool,
}

impl Initiator {
    /// Opens an exchange; returns its first frame too.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub fn start<S: Storage + ?Sized>(
        storage: &S,
        limit: FrameLimit,
    ) -> Result<(Self, Vec<u8>), ReconcileError<S::Error>> {
        Self::start_with(storage, &Opening::new(limit))
    }

    /// Opens an exchange with a first split into `buckets` parts (see [`Opening::buckets`]).
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub fn start_with_buckets<S: Storage + ?Sized>(
        storage: &S,
        limit: FrameLimit,
        buckets: u32,
    ) -> Result<(Self, Vec<u8>), ReconcileError<S::Error>> {
        let opening = Opening {
            buckets,
            ..Opening::new(limit)
        };
        Self::start_with(storage, &opening)
    }

    /// Opens an exchange as described.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub fn start_with<S: Storage + ?Sized>(
        storage: &S,
        opening: &Opening,
    ) -> Result<(Self, Vec<u8>), ReconcileError<S::Error>> {
        let count = storage.len().map_err(ReconcileError::Storage)?;
        let frame = Pass::new(storage, opening.limit, opening.split)
            .and_then(|pass| pass.open(opening.buckets_for(count)))
            .map_err(ReconcileError::Storage)?;
        let initiator = Self {
            limit: opening.limit,
            split: opening.split,
            watch: Watch::new(opening.rounds_max),
            reported: Reported::default(),
            ended: false,
        };
        Ok((initiator, frame))
    }

    /// Reads a reply: what it tells, and the next frame.
    ///
    /// # Errors
    ///
    /// When the bytes are not a frame, the peer speaks another version or breaks a rule, the
    /// storage fails, or the exchange had ended; it has ended after any of them. What earlier
    /// rounds reported stays true.
    pub fn reconcile<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        reply: &[u8],
    ) -> Result<Progress, ReconcileError<S::Error>> {
        if self.ended {
            return Err(ReconcileError::Ended);
        }
        let outcome = self.read(storage, reply);
        self.ended = !matches!(&outcome, Ok(Progress { next: Some(_), .. }));
        outcome
    }

    /// How many replies have been read.
    pub const fn rounds(&self) -> u32 {
        self.watch.rounds()
    }

    fn read<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        reply: &[u8],
    ) -> Result<Progress, ReconcileError<S::Error>> {
        let frame = decode_reply(reply)?;
        self.watch.received(&frame)?;
        let mut pass =
            Pass::new(storage, self.limit, self.split).map_err(ReconcileError::Storage)?;
        let mut tally = Tally::default();
        let mut ranges = frame.ranges();
        while let Some(range) = ranges.next_range()? {
            let step = self.range(storage, &mut pass, &mut tally, &range);
            if step.map_err(ReconcileError::Storage)?.is_break() {
                break;
            }
        }
        let (next, edge) = pass.finish();
        let Some(edge) = edge else {
            return Ok(tally.finish(None));
        };
        self.watch.sending(edge)?;
        self.reported.settle(&tally, &edge);
        Ok(tally.finish(Some(next)))
    }

    fn range<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        pass: &mut Pass<'_, S>,
        tally: &mut Tally,
        Range { upper, payload }: &Range<'_>,
    ) -> Result<ControlFlow<()>, S::Error> {
        let ranks = pass.ranks(upper)?;
        let end = ranks.end;
        match payload {
            Payload::Skip => pass.skip(),
            Payload::Fingerprint(theirs) => pass.compare(upper, ranks, theirs)?,
            Payload::Ids(theirs) => {
                let (have, need) = difference(storage, ranks, theirs)?;
                self.reported.add_new(tally, *upper, have, need);
                pass.skip();
            }
        }
        pass.close(upper, end)
    }
}

/// The end that answers. It learns nothing, and keeps nothing but a count of rounds.
#[derive(Debug, Clone)]
pub struct Responder {
    limit: FrameLimit,
    split: Split,
    rounds: u32,
    rounds_max: u32,
}

impl Responder {
    /// A responder that answers at most [`ROUNDS_MAX`] frames.
    pub const fn new(limit: FrameLimit) -> Self {
        Self::with_rounds_max(limit, ROUNDS_MAX)
    }

    /// A responder that answers at most `rounds_max` frames.
    pub const fn with_rounds_max(limit: FrameLimit, rounds_max: u32) -> Self {
        Self {
            limit,
            split: Split::REFERENCE,
            rounds: 0,
            rounds_max,
        }
    }

    /// The same, going on with ranges that differ in this way.
    #[must_use]
    pub const fn with_split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// How many frames have been answered.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Answers a frame. A frame of another version is answered with the one byte of the version
    /// spoken here. Rule REC-1.
    ///
    /// # Errors
    ///
    /// When the bytes are not a frame, the rounds are used up, or the storage fails.
    pub fn answer<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        frame: &[u8],
    ) -> Result<Vec<u8>, ReconcileError<S::Error>> {
        if self.rounds >= self.rounds_max {
            let rounds = self.rounds_max;
            return Err(Misbehaved::TooManyRounds { rounds }.into());
        }
        self.rounds += 1;
        let frame = match Frame::decode(frame) {
            Err(Malformed::OtherVersion { .. }) => return Ok(vec![VERSION]),
            decoded => decoded?,
        };
        let mut pass =
            Pass::new(storage, self.limit, self.split).map_err(ReconcileError::Storage)?;
        let mut ranges = frame.ranges();
        while let Some(range) = ranges.next_range()? {
            let step = answer_range(&mut pass, &range);
            if step.map_err(ReconcileError::Storage)?.is_break() {
                break;
            }
        }
        Ok(pass.finish().0)
    }
}

fn answer_range<S: Storage + ?Sized>(
    pass: &mut Pass<'_, S>,
    Range { upper, payload }: &Range<'_>,
) -> Result<ControlFlow<()>, S::Error> {
    let ranks = pass.ranks(upper)?;
    let mut end = ranks.end;
    match payload {
        Payload::Skip => pass.skip(),
        Payload::Fingerprint(theirs) => pass.compare(upper, ranks, theirs)?,
        Payload::Ids(_) => end = pass.list(upper, ranks)?,
    }
    pass.close(upper, end)
}

/// A reply in another version ends an initiator's exchange with an error of its own.
pub(crate) fn decode_reply<E: std::error::Error + 'static>(
    reply: &[u8],
) -> Result<Frame<'_>, ReconcileError<E>> {
    Frame::decode(reply).map_err(|fault| match fault {
        Malformed::OtherVersion { byte } => ReconcileError::Incompatible { version: byte },
        fault => fault.into(),
    })
}

/// Compares the own items at `ranks` with the ids that the responder holds there: what only this
/// end has, and what only the responder has.
fn difference<S: Storage + ?Sized>(
    storage: &S,
    ranks: ops::Range<u64>,
    theirs: &[Id],
) -> Result<(Vec<Id>, Vec<Id>), S::Error> {
    let mut theirs = theirs.to_vec();
    theirs.sort_unstable();
    theirs.dedup();
    let mut shared = vec![false; theirs.len()];
    let mut have = Vec::new();
    storage.items(ranks, &mut |item| match theirs.binary_search(&item.id) {
        Ok(index) => shared
            .iter_mut()
            .skip(index)
            .take(1)
            .for_each(|seen| *seen = true),
        Err(_) => have.push(item.id),
    })?;
    let need = theirs
        .into_iter()
        .zip(shared)
        .filter_map(|(id, shared)| (!shared).then_some(id))
        .collect();
    Ok((have, need))
}
