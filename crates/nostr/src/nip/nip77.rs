//! NIP-77, negentropy: <https://github.com/nostr-protocol/nips/blob/master/77.md>.
//!
//! This is the responder of one session. It reads a snapshot that its driver holds, in which
//! there is exactly what the client may see and can fetch (`NOS-80`).

use std::error::Error;

use osier_core::{Duration, Instant};
use osier_reconcile::{FrameLimit, Item, Misbehaved, ReconcileError, Responder, Storage};

use crate::{
    event::Event,
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
        Self {
            reason: Reason::new(prefix, sentence),
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
