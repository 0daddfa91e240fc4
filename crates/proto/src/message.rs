//! The wire enum and nothing else. The order of variants and fields *is* the wire (`SES-1`):
//! append only, one golden vector a variant.

use osier_core::{
    Coverage, EntryHash, Head, OrderKey, RequestId, Role, SessionId, SetSum, Signed, StateHash,
    WireEntry,
};
use serde::{Deserialize, Serialize};

use crate::{
    marker::{HistorySyncComplete, HistorySyncFailed},
    token::Token,
};

/// Everything that a session's stream carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Client: asks for a session.
    Hello(Hello),
    /// Provider: grants it.
    HelloAck(HelloAck),
    /// Provider: does not. A refusal is never "nothing to send".
    Refuse(Refuse),
    /// Both: frontiers, in mode `Heads`.
    Heads(Heads),
    /// Both: negentropy frames, in mode `Ranges`; the provider is the initiator.
    Range(RangeFrame),
    /// Both: entries that the sender lacks and the receiver was found to hold; from the client
    /// only after a marker, once, to repair what is missing.
    Want(Want),
    /// Provider: how many entries it will send in all.
    Expect(Expect),
    /// Both: entries.
    Entries(Entries),
    /// Provider: its holes, before a marker that cannot carry them itself; after a marker, the end
    /// of its answer to a `Want`: those of the wanted that it lacks too.
    Holes(Vec<EntryHash>),
    /// Both: nothing to say but still at work.
    Alive(Alive),
    /// Provider: the end, complete.
    Complete(Signed<HistorySyncComplete>),
    /// Provider: the end, failed.
    Failed(Signed<HistorySyncFailed>),
    /// Client: what it made of the marker.
    Received(Received),
    /// Client: everything that was wanted of it, or found lacking by heads, has been sent.
    UploadEnd,
}

/// A client's request (`SES-2`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Wire versions that the client speaks, best first; at most 8.
    pub versions: Vec<u16>,
    /// Names the request; drawn at random, never reused.
    pub request: RequestId,
    /// Proof of holding the topic's secret; also says which topic, but only to one who holds it.
    pub proof: [u8; 32],
    /// The client's own role in the topic.
    pub role: Role,
    /// What the client holds.
    pub summary: Summary,
    /// The token of the last drained session with this provider, if any.
    pub token: Option<Token>,
}

/// What a node holds of a topic at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number and additive fingerprint of the entries held.
    pub set: SetSum,
    /// Hash over all tips.
    pub state: StateHash,
    /// Number of authors with tips.
    pub authors: u64,
    /// How far back it reaches.
    pub coverage: Coverage,
}

impl Message {
    /// The message's name, for faults and logs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::HelloAck(_) => "HelloAck",
            Self::Refuse(_) => "Refuse",
            Self::Heads(_) => "Heads",
            Self::Range(_) => "Range",
            Self::Want(_) => "Want",
            Self::Expect(_) => "Expect",
            Self::Entries(_) => "Entries",
            Self::Holes(_) => "Holes",
            Self::Alive(_) => "Alive",
            Self::Complete(_) => "Complete",
            Self::Failed(_) => "Failed",
            Self::Received(_) => "Received",
            Self::UploadEnd => "UploadEnd",
        }
    }
}

impl Summary {
    /// A topic without entries.
    pub fn empty() -> Self {
        Self {
            set: SetSum::EMPTY,
            state: StateHash::empty(),
            authors: 0,
            coverage: Coverage::Complete,
        }
    }
}

/// How a session finds what to move (`SES-5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Both hold the same: straight to the marker.
    Equal,
    /// The client holds nothing: stream everything.
    Empty,
    /// The token's point is still good and what follows makes the client equal: stream that.
    Resume,
    /// Exchange frontiers.
    Heads,
    /// Negentropy over the range order.
    Ranges,
}

/// A provider's grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloAck {
    /// The wire version chosen.
    pub version: u16,
    /// Names the session; drawn at random, never reused.
    pub session: SessionId,
    /// The provider's proof of holding the topic's secret, over the same request.
    pub proof: [u8; 32],
    /// In which capacity it serves.
    pub role: Role,
    /// The snapshot that it will serve: the denominator, before the first entry.
    pub summary: Summary,
    /// How the difference is found.
    pub mode: Mode,
    /// Set when the client sent a token that cannot be served: the mode is then another one.
    pub token_unserviceable: bool,
    /// The part of the order that is compared when either side is a ring; none for all of it.
    pub window: Option<Window>,
}

/// The part of a snapshot at or above a floor (`SES-9`): what a ring and its peer compare, so that
/// nothing below the floor of either is traded again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The higher of both floors.
    pub floor: OrderKey,
    /// What the provider's snapshot holds at or above it.
    pub set: SetSum,
}

/// Why a session is not granted, and when to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refuse {
    /// Which request is refused.
    pub request: RequestId,
    /// Why.
    pub reason: RefuseReason,
    /// When to ask again, in milliseconds; 0 when asking again will not help.
    pub retry_after_ms: u64,
}

/// Why a session is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefuseReason {
    /// No topic of this node fits the proof; also said to one without the secret.
    UnknownTopic,
    /// No wire version in common.
    Version,
    /// Too many sessions.
    Overloaded,
    /// This node does not serve the topic.
    NotProvider,
    /// The store is not open yet, or is closing.
    Restarting,
    /// The store cannot be read.
    StoreError,
    /// The other side's own session of the same pair and topic goes on instead.
    Superseded,
}

/// A frontier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads {
    /// All tips, sorted by (author, seq, hash), unique, at most 4,096. From a client with more:
    /// empty, and ranges follow.
    pub heads: Vec<Head>,
    /// From the client: the entries that it will upload, so that the provider can tell at once
    /// whether both will end equal. From the provider: empty.
    pub surplus: SetSum,
}

/// One negentropy v1 frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeFrame(pub bytes::Bytes);

/// Entries asked for, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// At most 8,192.
    pub hashes: Vec<EntryHash>,
    /// Whether this is the last `Want` of the session.
    pub last: bool,
}

/// The denominator of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Entries that the provider will send in this session in all.
    pub entries: u64,
}

/// A batch of entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entries {
    /// In the sender's log order, at most 4,096.
    pub entries: Vec<WireEntry>,
    /// In modes `Empty` and `Resume`: a token for the log up to here, to store with these entries.
    pub token: Option<Token>,
}

/// What a side is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waiting for the other's heads or range frames.
    Finding,
    /// Sending entries, or waiting for them.
    Sending,
    /// Waiting for what was received to be durable.
    Storing,
}

/// A sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alive {
    /// What the sender is at.
    pub phase: Phase,
    /// Entries sent so far.
    pub sent: u64,
}

/// A client's last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Which session.
    pub session: SessionId,
    /// What came of it.
    pub verdict: Verdict,
    /// The client's state after it.
    pub state: StateHash,
}

/// What a client made of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Everything that the marker vouches for is held.
    Drained,
    /// Something is missing.
    Cut,
    /// The marker does not bind to this session.
    Rejected,
}
