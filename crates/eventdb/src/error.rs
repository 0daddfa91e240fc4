//! What can go wrong: our own disk, and nothing else.

use osier_store::{StoreError, ViewError};

/// A read or a write of the index that failed. Our disk is at fault, never a client or a peer.
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
}

impl EventDbError {
    pub(crate) fn new(doing: &'static str, cause: impl Into<Cause>) -> Self {
        Self {
            doing,
            cause: cause.into(),
        }
    }
}
