//! What a relay is doing now, and has done since its start, for whoever looks after it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use osier_nostr::Prefix;

use crate::{hub::Hub, relay::Relay, tally::Tally};

/// Reads figures of a running relay. Each reading of what is open waits for a lock a core, as a new
/// event does; the others wait for nothing.
#[derive(Debug, Clone)]
pub struct Figures {
    hub: Arc<Hub>,
    tally: Arc<Tally>,
}

/// What was refused, and how often, by its first word.
pub type Refusals = Vec<(&'static str, u64)>;

impl Figures {
    pub(crate) fn of(relay: &Relay) -> Self {
        Self {
            hub: Arc::clone(&relay.hub),
            tally: Arc::clone(&relay.tally),
        }
    }

    /// Clients connected.
    pub fn connections(&self) -> usize {
        self.hub.connections()
    }

    /// Subscriptions that new events are matched with.
    pub fn subscriptions(&self) -> usize {
        self.hub.subscriptions()
    }

    /// Events of clients that were taken since the start: stored, or told to who listens.
    pub fn events_taken(&self) -> u64 {
        self.tally.taken.load(Ordering::Relaxed)
    }

    /// Events of clients that had come before.
    pub fn events_known(&self) -> u64 {
        self.tally.known.load(Ordering::Relaxed)
    }

    /// Events that were put on their way to clients, stored and live ones.
    pub fn events_sent(&self) -> u64 {
        self.tally.sent.load(Ordering::Relaxed)
    }

    /// Events of clients that were refused since the start. What has not happened is left out.
    pub fn events_refused(&self) -> Refusals {
        refusals(&self.tally.events)
    }

    /// Requests, counts and comparisons that were refused or ended by the relay since the start.
    pub fn requests_refused(&self) -> Refusals {
        refusals(&self.tally.requests)
    }
}

fn refusals(counters: &[AtomicU64; Prefix::COUNT]) -> Refusals {
    let all = Prefix::ALL.iter().zip(counters);
    let read = all.map(|(prefix, counter)| (prefix.as_str(), counter.load(Ordering::Relaxed)));
    read.filter(|(_, count)| *count > 0).collect()
}
