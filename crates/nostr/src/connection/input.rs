//! What a connection is told.

use osier_core::Instant;

use crate::{
    event::{Event, EventForged},
    key::EventId,
    message::CountAnswer,
    nip::nip77::NegEnd,
    reason::Reason,
    subscription::Generation,
    time::Seconds,
};

/// The present, by both clocks: the wall for what events say of time, the monotonic one for how
/// long something has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Seconds of the Unix epoch.
    pub wall: Seconds,
    /// Since the node started.
    pub instant: Instant,
}

/// Counts the durable batches of a store: what a snapshot holds and what came after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Commit(pub u64);

/// One thing that happened.
#[derive(Debug)]
pub enum Input<'a> {
    /// A text frame, its fragments joined; at most [`crate::limit::MESSAGE_BYTES_MAX`].
    Text(&'a str),
    /// A binary frame: refused.
    Binary,
    /// An event that was given out to be verified.
    Verified {
        /// What for.
        purpose: Purpose,
        /// The id that it claims.
        id: EventId,
        /// What came of it.
        outcome: Result<Event, EventForged>,
    },
    /// What became of an event that was given out to be appended or broadcast. For one that is
    /// stored: once its batch is durable, and not before.
    Published {
        /// Which event.
        id: EventId,
        /// What came of it.
        outcome: Published,
    },
    /// A scan found an event that matches and may be seen. Each comes once in a scan.
    Stored {
        /// For which request.
        generation: Generation,
        /// The event.
        event: &'a Event,
    },
    /// A scan has ended.
    ScanEnded {
        /// For which request.
        generation: Generation,
        /// How.
        end: ScanEnd,
    },
    /// An event has come in that matches a subscription.
    Live {
        /// Which subscription.
        generation: Generation,
        /// The event; hidden from all it must not be.
        event: &'a Event,
        /// The batch that made it durable; none if it is ephemeral.
        commit: Option<Commit>,
    },
    /// Live events were lost on the way to a subscription.
    Lagged {
        /// Which subscription.
        generation: Generation,
    },
    /// A count has been made.
    Counted {
        /// For which request.
        generation: Generation,
        /// The answer, or why there is none.
        outcome: Result<CountAnswer, Reason>,
    },
    /// A negentropy session has answered.
    NegAnswered {
        /// For which request.
        generation: Generation,
        /// The frame, or why the session is over.
        outcome: Result<Vec<u8>, NegEnd>,
    },
    /// Time has passed; at least once in ten seconds while a scan or a session is open.
    Tick,
    /// The client has gone.
    Gone,
}

/// Why an event is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be published.
    Publish,
    /// To authenticate its signer.
    Authenticate,
}

/// What became of an event that a client published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// It is durable, and readable from any connection.
    Stored,
    /// It has come already.
    Duplicate,
    /// It is ephemeral and went to who listens.
    Broadcast {
        /// How many subscriptions of this node it went to.
        listeners: usize,
        /// How far it went beyond.
        reach: Reach,
    },
    /// It was not taken.
    Refused(Reason),
}

/// How far an ephemeral event went beyond the node that took it (`NOS-34`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To the nodes of its topic; nobody knows who listens there.
    Topic,
    /// There are no other nodes now.
    Alone,
    /// No further: it is too large to be passed on.
    TooLarge,
    /// No further: too many were passed on before it.
    TooMany,
}

/// How a scan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanEnd {
    /// Every page has been read.
    Done {
        /// Whether every filter was read to its end.
        drained: bool,
        /// Whether the look-ahead found more than was sent.
        more: bool,
        /// Whether every topic that could hold matches was complete when the snapshot was taken.
        synced: bool,
        /// The last batch that the snapshot holds: what is live came later.
        commit: Commit,
    },
    /// The store failed, or would not go on.
    Failed(Reason),
}
