//! From a published event to its durable place: signatures on worker threads, then one batch for
//! all that waits.
//!
//! ```text
//!  connection -> verifiers -> connection (admission) -> appender -> node -> OK
//!                                         (ephemeral) -> passer   -> node, hub -> OK
//! ```

mod append;
mod pass;
mod room;
mod verify;

use std::{io, sync::Arc};

use osier_nostr::{Event, Purpose, UnverifiedEvent};

pub(crate) use self::{append::Appender, pass::Passer};
use self::{
    append::Waiting,
    room::Room,
    verify::{Check, check},
};
use crate::{limit, peer::Peer, workers::Workers};

/// Events on their way in.
#[derive(Debug)]
pub(crate) struct Ingest {
    room: Arc<Room>,
    verifiers: Workers<Check>,
    waiting: Arc<Waiting>,
    passing: Arc<Waiting>,
}

impl Ingest {
    /// Starts the verifiers; appender and passer are run by the caller.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(crate) fn start(threads: usize) -> io::Result<Self> {
        let room = Arc::new(Room::of(limit::INGEST_BYTES_WAITING_MAX));
        let secp = secp256k1::Secp256k1::verification_only();
        let run = move |checks: Vec<Check>| {
            for it in checks {
                check(&secp, it);
            }
        };
        Ok(Self {
            verifiers: Workers::start("osier-verify", threads, limit::VERIFY_EVENTS, run)?,
            waiting: Arc::default(),
            passing: Arc::default(),
            room,
        })
    }

    /// Whether events may be read from this client; if not, it is woken when they may.
    pub(crate) fn has_room(&self, peer: &Arc<Peer>) -> bool {
        self.room.has_room(peer)
    }

    /// Has an event checked.
    pub(crate) fn verify(&self, peer: &Arc<Peer>, purpose: Purpose, event: UnverifiedEvent) {
        let held = Room::hold(&self.room, event.size());
        self.verifiers.submit(Check {
            peer: Arc::clone(peer),
            purpose,
            event,
            _held: held,
        });
    }

    /// Has a verified event stored.
    pub(crate) fn append(&self, peer: &Arc<Peer>, event: Event) {
        let held = Room::hold(&self.room, event.json().len());
        self.waiting.push(peer, event, held);
    }

    /// Has a verified ephemeral event handed out.
    pub(crate) fn pass(&self, peer: &Arc<Peer>, event: Event) {
        let held = Room::hold(&self.room, event.json().len());
        self.passing.push(peer, event, held);
    }

    /// What the passer takes from.
    pub(crate) fn passing(&self) -> Arc<Waiting> {
        Arc::clone(&self.passing)
    }

    /// What the appender takes from.
    pub(crate) fn waiting(&self) -> Arc<Waiting> {
        Arc::clone(&self.waiting)
    }
}
