//! The `negentropy` crate behind the same API: for sets that fit in memory, and as the oracle of
//! our own engine.
//!
//! The crate reads a frame more loosely than the specification allows (it takes a number that
//! ends too soon for what it has read so far), so every frame is checked by [`Frame::decode`]
//! before it gets there. Its responder walks the whole range of every id list: for small sets.

use std::collections::BTreeSet;

use negentropy::{Error, Negentropy, NegentropyStorageVector};

use crate::{
    Frame, FrameLimit, Id, Item, Malformed, Misbehaved, Progress, ROUNDS_MAX, ReconcileError,
    VERSION,
    exchange::decode_reply,
    progress::{Watch, first_open},
};

type Engine = Negentropy<'static, NegentropyStorageVector>;

/// [`crate::Initiator`] over a set in memory. Items at time [`u64::MAX`] are left out.
#[derive(Debug)]
pub struct MemoryInitiator {
    engine: Engine,
    watch: Watch,
    // All of it: the set is small.
    have: BTreeSet<Id>,
    need: BTreeSet<Id>,
    ended: bool,
}

impl MemoryInitiator {
    /// Sorts the set and opens an exchange; returns its first frame too.
    ///
    /// # Errors
    ///
    /// When the crate fails.
    pub fn start(
        items: &[Item],
        limit: FrameLimit,
    ) -> Result<(Self, Vec<u8>), ReconcileError<Error>> {
        let mut engine = engine(items, limit)?;
        let frame = engine.initiate().map_err(ReconcileError::Storage)?;
        let initiator = Self {
            engine,
            watch: Watch::new(ROUNDS_MAX),
            have: BTreeSet::new(),
            need: BTreeSet::new(),
            ended: false,
        };
        Ok((initiator, frame))
    }

    /// Reads a reply: what it tells, and the next frame. See [`crate::Initiator::reconcile`].
    ///
    /// # Errors
    ///
    /// As there; the crate's own errors stand in for the storage's.
    pub fn reconcile(&mut self, reply: &[u8]) -> Result<Progress, ReconcileError<Error>> {
        if self.ended {
            return Err(ReconcileError::Ended);
        }
        let outcome = self.read(reply);
        self.ended = !matches!(&outcome, Ok(Progress { next: Some(_), .. }));
        outcome
    }

    /// How many replies have been read.
    pub const fn rounds(&self) -> u32 {
        self.watch.rounds()
    }

    fn read(&mut self, reply: &[u8]) -> Result<Progress, ReconcileError<Error>> {
        let frame = decode_reply(reply)?;
        self.watch.received(&frame)?;
        let (mut have, mut need) = (Vec::new(), Vec::new());
        let next = self
            .engine
            .reconcile_with_ids(reply, &mut have, &mut need)
            .map_err(ReconcileError::Storage)?;
        if let Some(next) = &next
            && let Some(edge) = first_open(&Frame::decode(next)?)?
        {
            self.watch.sending(edge)?;
        }
        let mut progress = Progress {
            next,
            have: keep_new(&mut self.have, have),
            need: keep_new(&mut self.need, need),
        };
        progress.need.sort_unstable();
        Ok(progress)
    }
}

/// [`crate::Responder`] over a set in memory. Items at time [`u64::MAX`] are left out.
#[derive(Debug)]
pub struct MemoryResponder {
    engine: Engine,
    rounds: u32,
}

impl MemoryResponder {
    /// Sorts the set.
    ///
    /// # Errors
    ///
    /// When the crate fails.
    pub fn new(items: &[Item], limit: FrameLimit) -> Result<Self, ReconcileError<Error>> {
        let engine = engine(items, limit)?;
        Ok(Self { engine, rounds: 0 })
    }

    /// Answers a frame. See [`crate::Responder::answer`].
    ///
    /// # Errors
    ///
    /// As there; the crate's own errors stand in for the storage's.
    pub fn answer(&mut self, frame: &[u8]) -> Result<Vec<u8>, ReconcileError<Error>> {
        if self.rounds >= ROUNDS_MAX {
            let rounds = ROUNDS_MAX;
            return Err(Misbehaved::TooManyRounds { rounds }.into());
        }
        self.rounds += 1;
        match Frame::decode(frame) {
            Err(Malformed::OtherVersion { .. }) => return Ok(vec![VERSION]),
            decoded => decoded?,
        };
        self.engine
            .reconcile(frame)
            .map_err(ReconcileError::Storage)
    }
}

fn engine(items: &[Item], limit: FrameLimit) -> Result<Engine, ReconcileError<Error>> {
    let build = || {
        let mut vector = NegentropyStorageVector::with_capacity(items.len());
        for item in items.iter().filter(|item| item.time < u64::MAX) {
            vector.insert(item.time, negentropy::Id::from_byte_array(item.id))?;
        }
        vector.seal()?;
        let bytes = u64::try_from(limit.bytes().unwrap_or(0)).unwrap_or(u64::MAX);
        Negentropy::owned(vector, bytes)
    };
    build().map_err(ReconcileError::Storage)
}

fn keep_new(seen: &mut BTreeSet<Id>, found: Vec<negentropy::Id>) -> Vec<Id> {
    found
        .into_iter()
        .map(negentropy::Id::to_bytes)
        .filter(|id| seen.insert(*id))
        .collect()
}
