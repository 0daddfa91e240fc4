//! The one queue of a world: what will happen, by time and then by the order in which it was put
//! in, so that a run is a function of its seed.

use std::collections::BTreeMap;

use osier_core::TopicId;
use osier_engine::{BatchId, DiskError, OpenSession, SessionKey, TopicReport};

use crate::{clock::Time, gossip::Rumour, workload::Action};

/// A node by its place in the world.
pub type NodeIndex = usize;

/// How often a node has been started: what was meant for an earlier life is not for this one.
pub(crate) type Life = u64;

/// One thing that will happen.
#[derive(Debug)]
pub(crate) enum Event {
    /// A node's engine wants to be called.
    Wake { node: NodeIndex, life: Life },
    /// A session's machine wants to be called.
    SessionWake {
        node: NodeIndex,
        life: Life,
        key: SessionKey,
    },
    /// Bytes of a stream are there for one of its ends.
    Arrive { stream: u64, end: usize },
    /// A dial has come to its end, one way or the other.
    Dialed {
        node: NodeIndex,
        life: Life,
        open: Box<OpenSession>,
        tries: u32,
    },
    /// A connection has heard nothing for long enough, if its link is still cut.
    IdleOut { connection: u64 },
    /// A group of commits is on disk.
    DiskDone { node: NodeIndex, life: Life },
    /// The engine learns what came of commits.
    Reported {
        node: NodeIndex,
        life: Life,
        results: Vec<(BatchId, Result<Vec<TopicReport>, DiskError>)>,
    },
    /// A gossip message reaches a member of a swarm.
    Hop {
        from: NodeIndex,
        to: NodeIndex,
        life: Life,
        rumour: Rumour,
    },
    /// A member tries to become another's neighbour.
    Meet {
        node: NodeIndex,
        life: Life,
        topic: TopicId,
        with: NodeIndex,
    },
    /// A member looks whether it is alone.
    Lonely {
        node: NodeIndex,
        life: Life,
        topic: TopicId,
        wait: Time,
    },
    /// Two neighbours have not heard of each other for long enough, if they still cannot.
    PartWays {
        topic: TopicId,
        one: NodeIndex,
        other: NodeIndex,
    },
    /// Something that the run has planned.
    Act(Action),
}

/// Events by (time, order of arrival).
#[derive(Debug, Default)]
pub(crate) struct Queue {
    events: BTreeMap<(Time, u64), Event>,
    next: u64,
}

impl Queue {
    /// Puts an event in.
    pub(crate) fn put(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.next), event);
        self.next += 1;
    }

    /// Takes the next event that is due by `until`.
    pub(crate) fn take(&mut self, until: Time) -> Option<(Time, Event)> {
        let (at, _) = *self.events.first_key_value()?.0;
        if at > until {
            return None;
        }
        let ((at, _), event) = self.events.pop_first().expect("there is a first");
        Some((at, event))
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }
}
