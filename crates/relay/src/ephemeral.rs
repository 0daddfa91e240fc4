//! Ephemeral events: to those who listen now, here and at other nodes of the topic (`NOS-34`).
//!
//! What another node passes on is judged here like what a client sends: its signature, its signer's
//! rate, and what hides it. Nothing is stored.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use osier::Kind;
use osier_eventdb::{Admission, EventIndex};
use osier_nostr::{Event, EventId, Prefix, PublicKey, Published, Reason, read_ephemeral_item};
use secp256k1::{Secp256k1, VerifyOnly};

use crate::{clock::Clock, hub::Hub, limit, rates::Rates, scan::trouble};

/// What judges ephemeral events and hands them out.
#[derive(Debug)]
pub(crate) struct Ephemeral {
    index: EventIndex,
    hub: Arc<Hub>,
    clock: Clock,
    secp: Secp256k1<VerifyOnly>,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    seen: Seen,
    signers: Rates<PublicKey>,
}

impl Ephemeral {
    /// Has seen nothing.
    pub(crate) fn new(index: EventIndex, hub: Arc<Hub>, clock: Clock) -> Self {
        let signers = Rates::new(limit::EPHEMERAL_PER_SIGNER, limit::EPHEMERAL_SIGNERS_MAX);
        Self {
            index,
            hub,
            clock,
            secp: Secp256k1::verification_only(),
            memory: Mutex::new(Memory {
                seen: Seen::default(),
                signers,
            }),
        }
    }

    /// An item that another node has passed on. What is wrong with it is no fault that could be
    /// told to anybody: it goes to nobody. Reads the index, so not on a thread that must not wait.
    pub(crate) fn hear(&self, kind: Kind, item: &[u8]) {
        if kind != Kind::NOSTR || self.hub.is_idle() {
            return;
        }
        let Ok(event) = read_ephemeral_item(item) else {
            return;
        };
        if self.lock().seen.has(&event.claimed_id()) {
            return;
        }
        let Ok(event) = event.verify(&self.secp) else {
            return;
        };
        if self.admit(&event).is_none() {
            self.deliver(event);
        }
    }

    /// Why a verified event of a client goes to nobody; none if it may.
    pub(crate) fn admit(&self, event: &Event) -> Option<Published> {
        let now = self.clock.now();
        {
            let mut memory = self.lock();
            if memory.seen.has(&event.id()) {
                return Some(Published::Duplicate);
            }
            if !memory.signers.take(event.pubkey(), now.instant) {
                let sentence = "too many ephemeral events of this key; slow down";
                let reason = Reason::new(Prefix::RateLimited, sentence);
                return Some(Published::Refused(reason));
            }
        }
        let admission = self
            .index
            .view()
            .and_then(|view| view.admit(event, now.wall));
        match admission {
            Ok(Admission::Hidden(hidden)) => Some(Published::Refused(hidden.reason())),
            Ok(Admission::New | Admission::Held) => None,
            Err(error) => Some(Published::Refused(trouble(&error))),
        }
    }

    /// Gives an event to every subscription of this node that it matches; how many those are. None
    /// if it has come some other way meanwhile: it is handed out once.
    pub(crate) fn deliver(&self, event: Event) -> Option<usize> {
        let is_new = self.lock().seen.note(event.id());
        is_new.then(|| self.hub.publish(event, None))
    }

    /// An event that went to nobody may be tried again.
    pub(crate) fn forget(&self, id: &EventId) {
        self.lock().seen.forget(id);
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ids that have come of late, in two generations: when the young one is full it is the old one.
#[derive(Debug, Default)]
struct Seen {
    young: BTreeSet<EventId>,
    old: BTreeSet<EventId>,
}

impl Seen {
    fn has(&self, id: &EventId) -> bool {
        self.young.contains(id) || self.old.contains(id)
    }

    /// True if the id was not known.
    fn note(&mut self, id: EventId) -> bool {
        if self.has(&id) {
            return false;
        }
        if self.young.len() >= limit::EPHEMERAL_SEEN_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(id)
    }

    fn forget(&mut self, id: &EventId) {
        self.young.remove(id);
        self.old.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_late_is_known_and_the_rest_forgotten() {
        let mut seen = Seen::default();
        let id = |n: u32| {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&n.to_be_bytes());
            EventId::from_bytes(bytes)
        };
        let most = u32::try_from(limit::EPHEMERAL_SEEN_MAX).unwrap();
        for n in 0..most * 2 {
            assert!(seen.note(id(n)) && !seen.note(id(n)));
            assert!(seen.has(&id(n)) && seen.has(&id(n.saturating_sub(most / 2))));
            assert!(seen.young.len() + seen.old.len() <= limit::EPHEMERAL_SEEN_MAX);
        }
        assert!(!seen.has(&id(0)));
        seen.forget(&id(most));
        assert!(!seen.has(&id(most)));
    }
}
