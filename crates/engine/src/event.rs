//! What an application is told (`CMP-30` and on).

use osier_core::{Coverage, EntryHash, NodeId, Role, SessionId, StateHash};
use osier_policy::Rule;
use osier_proto::{Lsn, Mode};
use serde::Serialize;

/// One thing that happened to a topic, in order. Entries themselves are read from the log by each
/// watcher, so a slow one costs no memory: see [`SyncEvent::Appended`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SyncEvent {
    /// The present state. Always first for a new watcher.
    State(Box<TopicState>),
    /// Entries up to `upto` are in the log. A watcher shows those after the last that it showed.
    Appended {
        /// First place of this stretch.
        from: Lsn,
        /// Last place of this stretch.
        upto: Lsn,
        /// Whether they were caught up on or came live.
        phase: EntryPhase,
    },
    /// A session with a provider has begun. It has exactly one end: `SyncEnded` (`CMP-32`).
    SyncStarted {
        /// With whom.
        provider: NodeId,
        /// The provider's name for it.
        session: SessionId,
        /// How the difference is found.
        mode: Mode,
        /// Whether it goes on from where an earlier one with this provider ended.
        resumed: bool,
    },
    /// A session is moving. Never decreases within a session.
    Progress {
        /// With whom.
        provider: NodeId,
        /// Which session.
        session: SessionId,
        /// Entries received.
        received: u64,
        /// Entries expected, once known.
        expected: Option<u64>,
    },
    /// That session is over. What it means for the topic is told by the events that follow.
    SyncEnded {
        /// With whom.
        provider: NodeId,
        /// Which session.
        session: SessionId,
        /// The provider's outcome in one word, as in [`ProviderState`]; or `overtaken`, if it
        /// drained and there was more by then, or `superseded`, if it gave way to another session.
        outcome: &'static str,
    },
    /// History is complete to the extent stated.
    HistorySynced(Synced),
    /// One provider cannot be counted on now.
    HistorySyncDegraded {
        /// Which.
        provider: NodeId,
        /// Its session, if one was granted.
        session: Option<SessionId>,
        /// Why.
        reason: DegradedReason,
        /// Trusted, connected providers whose outcome is still open.
        still_pending: u32,
    },
    /// No trusted provider is left that could complete history. Recovery later begins afresh
    /// (`CMP-34`).
    HistorySyncFailed {
        /// Why, for each provider; empty when there is none at all.
        reasons: Vec<(NodeId, DegradedReason)>,
    },
    /// A provider's history does not reach back to the beginning: ask someone deeper.
    HistoryTruncated {
        /// Which provider.
        provider: NodeId,
        /// What it covers.
        coverage: Coverage,
    },
    /// Trusted providers disagree.
    Diverged {
        /// Each state with those who hold it, the followed one first.
        camps: Vec<(StateHash, Vec<NodeId>)>,
    },
    /// There is history that this node has not: "synced" no longer holds.
    Behind {
        /// How it is known.
        cause: BehindCause,
        /// At least this many entries are missing; 0 when unknown.
        lag_entries: u64,
    },
    /// The topic is synced again after being behind.
    CaughtUp {
        /// The state reached.
        state_hash: StateHash,
    },
    /// An author has signed two entries at one position. Told once an author; again only when a
    /// revocation has taken one of the two out (`Withdrawn`) and a grant lets it in.
    AuthorForked {
        /// Who.
        author: NodeId,
        /// One of them.
        one: EntryHash,
        /// The other.
        other: EntryHash,
    },
    /// The owner of this granted topic has revoked a node, and entries of it that were shown before
    /// are part of the history no more (`ENT-42`): who keeps something of them looks at the log
    /// again. A later grant shows them again, at new places.
    Withdrawn {
        /// How many.
        entries: u64,
    },
    /// A provider can be reached.
    ProviderUp {
        /// Which.
        provider: NodeId,
    },
    /// A provider cannot be reached any more.
    ProviderDown {
        /// Which.
        provider: NodeId,
    },
    /// This watcher was too slow for the events between; the state that follows sums them up
    /// (`CMP-35`).
    Lagged {
        /// How many events were left out. Entries never are.
        missed: u64,
    },
}

/// When an entry came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryPhase {
    /// Caught up on in a session.
    Backfill,
    /// Written here, or gossiped as it was written.
    Live,
}

/// The evidence-backed word that history is complete to an extent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Synced {
    /// Who vouches; this node itself when it is the only archive.
    pub provider: NodeId,
    /// Their session; none when this node vouches for itself.
    pub session: Option<SessionId>,
    /// Trusted, connected providers whose outcome is still open.
    pub still_pending: u32,
    /// How far back it is complete.
    pub coverage: Coverage,
    /// Whether histories agree.
    pub convergence: Convergence,
    /// Entries held.
    pub entries: u64,
    /// State hash vouched for.
    pub state_hash: StateHash,
    /// Entries that are named and that nobody asked holds; they block nobody.
    pub dangling: u64,
}

/// Whether this node's history and the providers' agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Convergence {
    /// Same state hash as so many drained providers.
    Converged {
        /// How many.
        with: u32,
    },
    /// Nothing to compare with, or this node has entries that the provider had not.
    Unverified,
    /// Trusted providers disagree.
    Diverged,
}

/// Why a provider does not count now.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DegradedReason {
    /// It said nothing for too long.
    Timeout,
    /// The connection is gone, or could not be made.
    ProviderLost {
        /// What failed, for people.
        cause: String,
    },
    /// It refused.
    Refused {
        /// Its word.
        reason: String,
    },
    /// It vouched for more than it sent.
    Cut {
        /// What is missing.
        reason: String,
    },
    /// It broke a rule of the wire.
    Misbehaved {
        /// Which.
        rule: String,
    },
    /// It, or this node, ended the session for a stated reason.
    Failed {
        /// Which.
        reason: String,
    },
    /// This node's own disk failed.
    LocalDisk {
        /// What failed.
        cause: String,
    },
}

/// How a node knows that it is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BehindCause {
    /// Gossip dropped messages.
    GossipLagged,
    /// The last gossip neighbour, or the provider that vouched, is gone.
    LinkLost,
    /// This node was the only archive that it knew of; now there is another, to be asked.
    NewProvider,
    /// An entry came whose predecessor is not held.
    Gap,
    /// A signed summary shows entries that are not held.
    Watermark,
}

/// Where a topic stands, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicPhase {
    /// Waiting for providers, within their deadlines.
    Syncing,
    /// Complete to the extent stated.
    Synced,
    /// Was synced; there is more now.
    Behind,
    /// Providers disagree.
    Diverged,
    /// No provider can complete it.
    Failed,
}

/// A topic at one moment: enough for a late watcher to know everything that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicState {
    /// In one word.
    pub phase: TopicPhase,
    /// This node's role.
    pub role: Role,
    /// The completion rule.
    #[serde(serialize_with = "as_text")]
    pub rule: Rule,
    /// Entries held.
    pub entries: u64,
    /// Authors known.
    pub authors: u64,
    /// Holes: named and not held.
    pub holes: u64,
    /// State hash of what is held.
    pub state_hash: StateHash,
    /// How far back this node itself holds history.
    pub coverage: Coverage,
    /// The last word on completeness, while it stands.
    pub synced: Option<Synced>,
    /// Every provider known of.
    pub providers: Vec<ProviderState>,
    /// Whom the rule waits for, best first; empty when it waits for nobody, or for somebody to turn
    /// up.
    pub waiting: Vec<NodeId>,
    /// Time in milliseconds for which providers may still turn up (`POL-15`); none when the topic
    /// does not wait for that.
    pub search_ms: Option<u64>,
    /// Why what was synced is in doubt, while it is.
    pub behind: Option<BehindState>,
    /// While trusted providers disagree: each state with those who hold it, best first.
    pub camps: Vec<(StateHash, Vec<NodeId>)>,
    /// The last place in the log.
    pub upto: Lsn,
}

/// Why a topic is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BehindState {
    /// How it is known.
    pub cause: BehindCause,
    /// At least this many entries are missing; 0 when unknown.
    pub lag_entries: u64,
    /// For how long it has been so, in milliseconds.
    pub age_ms: u64,
}

/// One provider at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderState {
    /// Who.
    pub node: NodeId,
    /// Whether its word counts.
    pub trusted: bool,
    /// Lower is better; none when it is not trusted.
    pub rank: Option<u16>,
    /// The role that it is trusted in, or says it has.
    pub role: Role,
    /// Whether it can be reached.
    pub connected: bool,
    /// Outcome in one word: unasked, streaming, drained, cut, refused, silent, lost.
    pub outcome: &'static str,
    /// More about the outcome, for people.
    pub detail: String,
    /// The present or last session.
    pub session: Option<SessionId>,
    /// Entries received in it.
    pub received: u64,
    /// Entries expected in it.
    pub expected: Option<u64>,
    /// Age of the session that is open, in milliseconds.
    pub session_age_ms: Option<u64>,
    /// Time in milliseconds until silence counts as a timeout; none when nothing is awaited.
    pub deadline_ms: Option<u64>,
    /// Time in milliseconds until it is asked again, when that is known.
    pub retry_ms: Option<u64>,
}

fn as_text<T: std::fmt::Display, S: serde::Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
