//! What can go wrong: our own disk, or a question that costs too much.

use osier_nostr::{Prefix, Reason};
use osier_store::{StoreError, ViewError};

/// A read or a write of the index that failed. Our disk is at fault, or a client has asked for too
/// much ([`EventDbError::is_too_much`]); a peer never is.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the event index: {cause}")]
pub struct EventDbError {
    doing: &'static str,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("{0}; check the disk, then build the index again")]
    Redb(#[from] redb::Error),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    View(#[from] ViewError),
    #[error("too many events would have to be read")]
    TooMuch,
}

impl EventDbError {
    pub(crate) fn new(doing: &'static str, cause: impl Into<Cause>) -> Self {
        Self {
            doing,
            cause: cause.into(),
        }
    }

    /// Whether the question was refused: for it, more events would have to be read than
    /// [`crate::Settings::read_events_max`].
    pub fn is_too_much(&self) -> bool {
        matches!(self.cause, Cause::TooMuch)
    }

    /// What the client who asked is told: of our own trouble no more than that it is ours.
    pub fn reason(&self) -> Reason {
        match self.cause {
            Cause::TooMuch => Reason::new(
                Prefix::Blocked,
                "too many events would have to be read for this; ask for fewer conditions or a \
                 shorter time",
            ),
            _ => Reason::new(Prefix::Error, "the events cannot be read now"),
        }
    }
}

impl From<redb::StorageError> for Cause {
    fn from(error: redb::StorageError) -> Self {
        Self::Redb(error.into())
    }
}
