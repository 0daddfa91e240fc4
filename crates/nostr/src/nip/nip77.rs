//! NIP-77, negentropy: <https://github.com/nostr-protocol/nips/blob/master/77.md>.
//!
//! [`NegSession`] is the responder of one session. It reads a snapshot that its driver holds, in
//! which there is exactly what the client may see and can fetch (`NOS-80`). [`NegAsking`] is the
//! other end: this node as a client of another relay.

use std::error::Error;

use osier_core::{Duration, Instant};
use osier_reconcile::{
    FrameLimit, Initiator, Item, Misbehaved, ReconcileError, Responder, Storage,
};

use crate::{
    event::Event,
    key::EventId,
    limit,
    reason::{Prefix, Reason},
};

/// An event's place in a set that is compared: its time in seconds, and its id.
pub fn item(event: &Event) -> Item {
    Item::new(event.created_at().get(), *event.id().as_bytes())
}

/// Why a session ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NegEnd {
    /// What the client is told.
    pub reason: Reason,
    /// How many records a session may have, where there were too many.
    pub cap: Option<u64>,
    /// Our own trouble, for our log and never for the client.
    pub trouble: Option<Box<str>>,
}

impl NegEnd {
    fn new(prefix: Prefix, sentence: &str) -> Self {
        Self::because(Reason::new(prefix, sentence))
    }

    /// The reason says it all.
    pub fn because(reason: Reason) -> Self {
        Self {
            reason,
            cap: None,
            trouble: None,
        }
    }

    /// More records match than a session may have: never cut silently (`NOS-81`).
    pub fn too_many(cap: u64) -> Self {
        let sentence = format!("this query has more than {cap} records");
        Self {
            cap: Some(cap),
            ..Self::new(Prefix::Blocked, &sentence)
        }
    }

    /// All sessions together hold as many records as there is memory for (`NOS-86`).
    pub fn crowded() -> Self {
        let sentence = "too many records are being compared, all clients together; try again later";
        Self::new(Prefix::RateLimited, sentence)
    }

    /// The session has taken so long that its snapshot costs too much (`NOS-48`).
    pub fn too_long() -> Self {
        Self::new(Prefix::Closed, "the session took too long; open another")
    }

    /// No frame of this session came for too long.
    pub fn idle() -> Self {
        Self::new(Prefix::Closed, "no message for too long")
    }
}

/// The relay's end of one session.
#[derive(Debug, Clone)]
pub struct NegSession {
    responder: Responder,
    progress_at: Instant,
}

impl NegSession {
    /// Opens a session over a snapshot.
    ///
    /// # Errors
    /// If the snapshot holds more than `cap` records, or cannot be read.
    pub fn open<S: Storage + ?Sized>(storage: &S, cap: u64, now: Instant) -> Result<Self, NegEnd> {
        let records = storage.len().map_err(|error| failed(&error))?;
        if records > cap {
            return Err(NegEnd::too_many(cap));
        }
        let frames = FrameLimit::new(limit::NEG_FRAME_BYTES_MAX).unwrap_or(FrameLimit::SMALLEST);
        let responder = Responder::with_rounds_max(frames, limit::NEG_ROUNDS_MAX);
        Ok(Self {
            responder,
            progress_at: now,
        })
    }

    /// Answers a frame. One of another version is answered with the byte of the version spoken
    /// here, and the session stays open (`NOS-82`).
    ///
    /// # Errors
    /// If the bytes are not a frame, the rounds are used up, or the snapshot cannot be read. The
    /// session is over then; others are not concerned.
    pub fn answer<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        frame: &[u8],
        now: Instant,
    ) -> Result<Vec<u8>, NegEnd> {
        let reply = self
            .responder
            .answer(storage, frame)
            .map_err(|error| match error {
                ReconcileError::Malformed(why) => NegEnd::new(Prefix::Invalid, &why.to_string()),
                ReconcileError::Misbehaved(Misbehaved::TooManyRounds { .. }) => {
                    NegEnd::new(Prefix::Closed, "too many messages")
                }
                ReconcileError::Storage(error) => failed(&error),
                other => NegEnd::new(Prefix::Error, &other.to_string()),
            })?;
        self.progress_at = now;
        Ok(reply)
    }

    /// Whether the session has made no progress of its own for so long (`NOS-83`). What else
    /// happens on the connection does not count.
    pub fn is_idle(&self, limit: Duration, now: Instant) -> bool {
        now.since(self.progress_at) >= limit
    }
}

/// Our own trouble: the client hears that it is ours, and no more of it.
fn failed(error: &dyn Error) -> NegEnd {
    let end = NegEnd::new(Prefix::Error, "the records cannot be read now");
    NegEnd {
        trouble: Some(error.to_string().into()),
        ..end
    }
}

/// What a reply told the one who asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The next frame to send; none when the comparison is over.
    pub next: Option<Vec<u8>>,
    /// Events that this end has and the relay has not.
    pub have: Vec<EventId>,
    /// Events that the relay has and this end has not. Its word: it may not serve them.
    pub need: Vec<EventId>,
}

/// The client's end of one session.
#[derive(Debug)]
pub struct NegAsking {
    initiator: Initiator,
}

impl NegAsking {
    /// Opens a comparison of this set; returns the first frame too.
    ///
    /// # Errors
    /// If the set cannot be read: a sentence on why.
    pub fn open<S: Storage + ?Sized>(storage: &S) -> Result<(Self, Vec<u8>), String> {
        let frames = FrameLimit::new(limit::NEG_FRAME_BYTES_MAX).unwrap_or(FrameLimit::SMALLEST);
        let (initiator, frame) =
            Initiator::start(storage, frames).map_err(|error| error.to_string())?;
        Ok((Self { initiator }, frame))
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// If it is no frame of our version, breaks a rule, or the set cannot be read: a sentence on
    /// why. The comparison is over then.
    pub fn reply<S: Storage + ?Sized>(
        &mut self,
        storage: &S,
        frame: &[u8],
    ) -> Result<Found, String> {
        let progress = self.initiator.reconcile(storage, frame);
        let progress = progress.map_err(|error| error.to_string())?;
        let ids = |ids: Vec<osier_reconcile::Id>| ids.into_iter().map(EventId::from_bytes);
        Ok(Found {
            next: progress.next,
            have: ids(progress.have).collect(),
            need: ids(progress.need).collect(),
        })
    }
}
