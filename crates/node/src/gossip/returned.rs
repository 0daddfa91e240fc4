//! Neighbours that have connected anew, and may have come back in another life (`GOS-13`).
//!
//! iroh-gossip 0.101 does not answer a join of a node that it counts as a neighbour while a request
//! of its own to that node is open, and a request to a node that was killed stays open for as long
//! as any newer connection lives. Whoever comes back sooner than its death is noticed would be
//! heard by nobody. A join the other way is always answered, and the answer closes the request.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use iroh::EndpointId;

use crate::limit::{RETURNED_JOINS_MAX, RETURNED_WAIT_MIN};

/// The neighbours of one topic that are to be joined, and when.
#[derive(Debug, Default)]
pub(super) struct Returned {
    peers: BTreeMap<EndpointId, Doubt>,
}

/// What is known of one of them.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    joins: u32,
    next: Instant,
}

impl Returned {
    /// A neighbour has connected anew: it is to be joined at once.
    pub(super) fn note(&mut self, peer: EndpointId, now: Instant) {
        let fresh = Doubt {
            joins: 0,
            next: now,
        };
        self.peers.insert(peer, fresh);
    }

    /// A message came straight from this neighbour, so it counts this node as one, too. Before the
    /// second join the message may be left over from its former life.
    pub(super) fn heard(&mut self, peer: EndpointId) {
        if self.peers.get(&peer).is_some_and(|doubt| doubt.joins > 1) {
            self.peers.remove(&peer);
        }
    }

    /// It has become a neighbour by itself, or is none any more.
    pub(super) fn settle(&mut self, peer: EndpointId) {
        self.peers.remove(&peer);
    }

    /// Nobody is a neighbour any more.
    pub(super) fn clear(&mut self) {
        self.peers.clear();
    }

    /// When somebody is to be joined next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.peers.values().map(|doubt| doubt.next).min()
    }

    /// Whom to join now. Each is joined again after twice the time, at most
    /// [`RETURNED_JOINS_MAX`] times: one may have nothing to say.
    pub(super) fn due(&mut self, now: Instant) -> Vec<EndpointId> {
        let mut due = Vec::new();
        self.peers.retain(|peer, doubt| {
            if doubt.next > now {
                return true;
            }
            due.push(*peer);
            doubt.next = now + wait_after(doubt.joins);
            doubt.joins += 1;
            doubt.joins < RETURNED_JOINS_MAX
        });
        due
    }
}

/// The time between a join and the next.
fn wait_after(joins_before: u32) -> Duration {
    RETURNED_WAIT_MIN * 2_u32.pow(joins_before.min(RETURNED_JOINS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer() -> EndpointId {
        iroh::SecretKey::from_bytes(&[7; 32]).public()
    }

    #[test]
    fn one_that_stays_silent_is_joined_so_often_and_ever_later() {
        let (mut returned, start) = (Returned::default(), Instant::now());
        returned.note(peer(), start);
        let mut at = Vec::new();
        while let Some(next) = returned.next() {
            assert_eq!(returned.due(next), [peer()]);
            at.push(next.duration_since(start).as_secs());
        }
        assert_eq!(at, [0, 1, 3, 7]);
    }

    #[test]
    fn one_that_is_heard_after_a_second_join_is_left_alone() {
        let (mut returned, start) = (Returned::default(), Instant::now());
        returned.note(peer(), start);
        assert_eq!(returned.due(start), [peer()]);
        returned.heard(peer());
        let second = returned.next().expect("that word may be an old one");
        assert!(returned.due(start).is_empty(), "not yet");
        assert_eq!(returned.due(second), [peer()]);
        returned.heard(peer());
        assert_eq!(returned.next(), None);
    }

    #[test]
    fn one_that_comes_back_again_is_joined_again() {
        let (mut returned, start) = (Returned::default(), Instant::now());
        returned.note(peer(), start);
        assert_eq!(returned.due(start), [peer()]);
        returned.note(peer(), start);
        assert_eq!(returned.due(start), [peer()]);
        returned.settle(peer());
        assert_eq!(returned.next(), None);
    }
}
