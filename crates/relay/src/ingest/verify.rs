//! Checking id and signature, on worker threads.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use osier_nostr::{Prefix, Published, Purpose, Reason, UnverifiedEvent};
use secp256k1::{Secp256k1, VerifyOnly};

use super::room::Held;
use crate::{
    peer::{Mail, Peer},
    workers::Job,
};

/// An event to be checked.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) peer: Arc<Peer>,
    pub(super) purpose: Purpose,
    pub(super) event: UnverifiedEvent,
    pub(super) _held: Held,
}

impl Job for Check {
    fn owner(&self) -> u64 {
        self.peer.id.0
    }
}

/// Checks it and tells who sent it.
pub(super) fn check(secp: &Secp256k1<VerifyOnly>, check: Check) {
    let id = check.event.claimed_id();
    let (peer, purpose, event) = (check.peer, check.purpose, check.event);
    // A panic is a bug, and no reason to leave a client without an answer.
    let verified = catch_unwind(AssertUnwindSafe(|| event.verify(secp).map(Box::new)));
    let told = verified.map(|outcome| Mail::Verified {
        purpose,
        id,
        outcome,
    });
    peer.post(told.unwrap_or_else(|_| {
        let sentence = "the relay failed at this event; that is a bug";
        let outcome = Published::Refused(Reason::new(Prefix::Error, sentence));
        Mail::Published { id, outcome }
    }));
}
