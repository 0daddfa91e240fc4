//! Checking id and signature, on worker threads.

use std::sync::Arc;

use osier_nostr::{Purpose, UnverifiedEvent};
use secp256k1::{Secp256k1, VerifyOnly};

use super::room::Held;
use crate::peer::{Mail, Peer};

/// An event to be checked.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) peer: Arc<Peer>,
    pub(super) purpose: Purpose,
    pub(super) event: UnverifiedEvent,
    pub(super) _held: Held,
}

/// Checks it and tells who sent it.
pub(super) fn check(secp: &Secp256k1<VerifyOnly>, check: Check) {
    let id = check.event.claimed_id();
    let outcome = check.event.verify(secp).map(Box::new);
    check.peer.post(Mail::Verified {
        purpose: check.purpose,
        id,
        outcome,
    });
}
