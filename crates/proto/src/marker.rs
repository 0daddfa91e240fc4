//! The signed end of a session (`CMP-1`, `CMP-2`). The provider is the envelope's signer; there is
//! no provider field to rewrite.

use osier_core::{
    Coverage, Domain, EntryHash, Head, NodeId, Payload, RequestId, SessionId, SetSum, StateHash,
    TopicId,
};
use serde::{Deserialize, Serialize};

use crate::{message::Window, token::Token};

/// What the provider sent (`CMP-4`). "Nothing" is a statement, not a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Streamed {
    /// No entry was sent.
    Nothing,
    /// Entries were sent.
    Entries {
        /// How many.
        count: u64,
        /// The last one.
        last: EntryHash,
    },
}

/// The snapshot that a marker speaks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouched {
    /// Entries held.
    pub set: SetSum,
    /// Hash over all tips.
    pub state: StateHash,
    /// Number of authors.
    pub authors: u64,
    /// All tips when there are at most 64; empty otherwise.
    pub heads: Vec<Head>,
    /// How far back the snapshot reaches.
    pub coverage: Coverage,
    /// Number of holes.
    pub hole_count: u64,
    /// All holes in hash order when there are at most 64; empty otherwise.
    pub holes: Vec<EntryHash>,
    /// Digest over all holes in hash order; zeros when there are more than 65,536.
    pub holes_digest: [u8; 32],
    /// The part that was compared when either side is a ring; none for all of it.
    pub window: Option<Window>,
}

/// Digest over holes in hash order (`CMP-5`).
pub(crate) fn holes_digest(holes: &[EntryHash]) -> [u8; 32] {
    assert!(holes.is_sorted(), "holes are hashed in order");
    let bytes: Vec<u8> = holes.iter().flat_map(|hole| *hole.as_bytes()).collect();
    Domain::Holes.hash(&[&bytes])
}

/// "I have sent you all I hold, as of this snapshot."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistorySyncComplete {
    /// Which topic.
    pub topic: TopicId,
    /// Which session; the provider's random name for it.
    pub session: SessionId,
    /// Who asked. With `request` it binds the marker to one request: overheard or replayed
    /// elsewhere it proves nothing.
    pub requester: NodeId,
    /// The requester's random name for the request.
    pub request: RequestId,
    /// What was sent.
    pub streamed: Streamed,
    /// The snapshot that this speaks for.
    pub covers: Vouched,
    /// For the next session with the same provider.
    pub resume: Token,
}

/// "I could not."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistorySyncFailed {
    /// Which topic.
    pub topic: TopicId,
    /// Which session.
    pub session: SessionId,
    /// Who asked.
    pub requester: NodeId,
    /// Their request.
    pub request: RequestId,
    /// Why.
    pub reason: FailureReason,
}

/// Why a granted session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureReason {
    /// History below what was asked for is no longer held.
    Truncated,
    /// The token cannot be served.
    TokenUnserviceable,
    /// Too much to do; ask again after this many milliseconds.
    Overloaded {
        /// In milliseconds.
        retry_after_ms: u64,
    },
    /// This node no longer serves the topic.
    NotProvider,
    /// The node is shutting down.
    Restarting,
    /// The store cannot be read.
    StoreError,
    /// The client or a better session ended it.
    Cancelled,
    /// The client broke a rule of the wire.
    ClientFault,
}

impl Payload for HistorySyncComplete {
    const DOMAIN: Domain = Domain::Marker;
    const WHAT: &'static str = "completion marker";
}

impl Payload for HistorySyncFailed {
    const DOMAIN: Domain = Domain::MarkerFailed;
    const WHAT: &'static str = "failure marker";
}
