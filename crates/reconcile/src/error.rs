//! Who is at fault when an exchange ends early.

use std::error::Error;

use crate::Malformed;

/// Why an exchange cannot go on. After any of these it is over: open a new one.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError<E: Error + 'static> {
    /// The peer's bytes are not a frame.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The peer answered in another version of the protocol. Only an initiator sees this; a
    /// responder answers with the version it speaks.
    #[error("the peer speaks negentropy version byte {version:#04x}, not 0x61")]
    Incompatible {
        /// The first byte of its frame, 0x60 to 0x6f.
        version: u8,
    },
    /// The peer's frame is well formed and breaks a rule.
    #[error(transparent)]
    Misbehaved(#[from] Misbehaved),
    /// Our own set could not be read.
    #[error("the set cannot be read")]
    Storage(#[source] E),
    /// A frame was given to an exchange that had ended.
    #[error("the exchange has ended")]
    Ended,
}

/// The rule that a peer broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaved {
    /// The reply opens a range that this end had closed. Rule REC-9.
    #[error("the reply reopens a range that was settled")]
    Reopened,
    /// Nothing was settled for [`crate::STALL_ROUNDS_MAX`] rounds. Rule REC-10.
    #[error("no progress in {rounds} rounds")]
    Stalled {
        /// Rounds since the last progress.
        rounds: u32,
    },
    /// More rounds than were allowed. Rule REC-10.
    #[error("more than {rounds} rounds")]
    TooManyRounds {
        /// How many were allowed.
        rounds: u32,
    },
}
