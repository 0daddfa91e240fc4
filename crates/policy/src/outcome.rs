//! What is known of one provider, and what proves that it has drained.

use std::fmt::Debug;

use osier_core::{Coverage, Instant, OrderKey, SessionId, StateHash};

use crate::deadline::hedge_at;

/// Evidence that a provider has sent all it holds, as of a named snapshot, and that all of it is
/// stored here. Made only by the session machine; there is no boolean to set instead (`POL-4`).
pub trait Proof: Clone + Debug + Eq {
    /// The session that it ended.
    fn session(&self) -> SessionId;

    /// How far back the snapshot reaches.
    fn coverage(&self) -> Coverage;

    /// The hash over all tips of the snapshot.
    fn state(&self) -> StateHash;

    /// Entries in the snapshot.
    fn entries(&self) -> u64;
}

/// What is known of one provider of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<P> {
    /// Not asked yet, or to be asked afresh.
    Unasked,
    /// A session is open. A marker that is parked until its entries are stored leaves it so.
    Streaming {
        /// When the session was asked for.
        since: Instant,
        /// The last progress of *this* session; equal to `since` before the first.
        last_progress: Instant,
        /// What the session is at.
        phase: Phase,
    },
    /// It has sent all it holds, and that is proven.
    Drained(P),
    /// It ended, and something is missing.
    Cut(CutReason),
    /// It would not serve.
    Refused {
        /// Why.
        reason: RefuseReason,
        /// The provider's own pacing: when to ask again; `None` if asking again will not help.
        retry_at: Option<Instant>,
    },
    /// Its deadline passed (`POL-17`). A late marker is still welcome: it makes this `Drained`.
    Silent {
        /// What the session was at.
        phase: Phase,
    },
    /// The connection went while a session was open.
    Lost,
}

impl<P> Outcome<P> {
    /// Whether the provider may still drain without being asked again (`POL-14`).
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Unasked | Self::Streaming { .. })
    }

    /// Whether it streams and brings nothing, or so little that another is to be asked as well
    /// (`POL-19`).
    pub fn is_slow(&self, now: Instant) -> bool {
        match self {
            Self::Streaming {
                since,
                last_progress,
                phase,
            } => *phase == Phase::Crawling || now >= hedge_at(*since, *last_progress),
            _ => false,
        }
    }

    /// Whether it streams and is not slow.
    pub fn is_streaming_well(&self, now: Instant) -> bool {
        matches!(self, Self::Streaming { .. }) && !self.is_slow(now)
    }
}

/// What a session is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Asked; no answer yet.
    Hello,
    /// Finding the difference.
    Finding,
    /// Entries are on their way.
    Sending,
    /// They are, and at this pace they will be for more than an hour.
    Crawling,
    /// The marker is here; entries that it counts are not.
    Parked,
}

impl Phase {
    /// The word used in messages and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Finding => "finding",
            Self::Sending => "sending",
            Self::Crawling => "crawling",
            Self::Parked => "parked",
        }
    }
}

/// Why a session that was granted did not drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CutReason {
    /// The provider no longer holds what is below a floor, and we need it.
    Truncated {
        /// Its floor, if it said.
        floor: Option<OrderKey>,
    },
    /// What the marker vouches for did not all come.
    Missing {
        /// Entries known to be missing; at least 1.
        entries: u64,
    },
    /// Count or last entry of the session differ from what came, or the marker binds to another
    /// session.
    Rejected,
    /// The stream ended before a marker.
    Closed,
    /// The provider gave the session up.
    Cancelled,
    /// The provider broke a rule of the wire, or says that we did.
    Fault,
}

/// Why a provider would not serve. "The other session of the same pair goes on instead" is not
/// among them: that leaves the outcome to the other session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefuseReason {
    /// It does not know the topic, or will not say.
    UnknownTopic,
    /// No wire version in common.
    Version,
    /// Too much to do.
    Overloaded,
    /// It does not serve the topic.
    NotProvider,
    /// Its store is not open yet, or is closing.
    Restarting,
    /// Its store cannot be read.
    StoreError,
    /// It cannot serve our resume token.
    TokenUnserviceable,
}
