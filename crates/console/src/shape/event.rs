//! The messages of a topic's stream.

use osier::{DegradedReason, EntryPhase, Event, NodeId, Position, SyncEvent, TopicId, TopicState};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Entry, Hex, Provider, hex,
    provider::ProviderOutcome,
    topic::{Behind, Camp, Cause, Coverage, Phase, Role, Synced, camps},
};

/// One message of a stream.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message {
    topic: Hex,
    /// Where to go on from, as `Last-Event-ID`.
    position: String,
    #[serde(flatten)]
    told: Told,
}

impl Message {
    pub(crate) fn new(topic: TopicId, at: Position, event: &Event) -> Self {
        Self {
            topic: hex(topic),
            position: at.to_string(),
            told: Told::new(event),
        }
    }
}

/// What is told.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Told {
    /// The present state; always first.
    State(Box<State>),
    /// An entry, each exactly once.
    Entry { entry: Box<Entry>, phase: When },
    /// Entries up to a place are in the log; they follow as `entry`.
    Appended { from: u64, upto: u64, phase: When },
    /// A session has begun.
    SyncStarted {
        provider: Hex,
        session: Hex,
        /// How the difference is found.
        mode: Mode,
        resumed: bool,
    },
    /// A session is moving; never decreases within one.
    Progress {
        provider: Hex,
        session: Hex,
        received: u64,
        expected: Option<u64>,
    },
    /// That session is over.
    SyncEnded {
        provider: Hex,
        session: Hex,
        outcome: ProviderOutcome,
    },
    /// History is complete to the extent stated.
    HistorySynced(Synced),
    /// One provider cannot be counted on now.
    HistorySyncDegraded {
        provider: Hex,
        session: Option<Hex>,
        reason: Reason,
        still_pending: u32,
    },
    /// No trusted provider is left that could complete history.
    HistorySyncFailed {
        /// Why, for each provider; empty when there is none.
        reasons: Vec<(Hex, Reason)>,
    },
    /// A provider's history does not reach the beginning.
    HistoryTruncated { provider: Hex, coverage: Coverage },
    /// Trusted providers disagree.
    Diverged {
        /// Each state with those who hold it, the followed one first.
        camps: Vec<(Hex, Vec<Hex>)>,
    },
    /// There is history that this node has not.
    Behind { cause: Cause, lag_entries: u64 },
    /// Synced again after being behind.
    CaughtUp { state_hash: Hex },
    /// An author has signed two entries at one place.
    AuthorForked { author: Hex, one: Hex, other: Hex },
    /// A revocation in a granted topic has taken so many entries out of the history that were shown
    /// before; read the topic anew to know which.
    Withdrawn { entries: u64 },
    /// A provider can be reached.
    ProviderUp { provider: Hex },
    /// A provider cannot be reached any more.
    ProviderDown { provider: Hex },
    /// This watcher was too slow for so many events; a state follows.
    Lagged { missed: u64 },
    /// The log could not be read; always last.
    Broken { error: String },
}

/// A topic at one moment.
#[derive(Debug, Serialize, ToSchema)]
struct State {
    phase: Phase,
    role: Role,
    rule: String,
    entries: u64,
    authors: u64,
    holes: u64,
    state_hash: Hex,
    coverage: Coverage,
    synced: Option<Synced>,
    providers: Vec<Provider>,
    waiting: Vec<Hex>,
    search_ms: Option<u64>,
    behind: Option<Behind>,
    camps: Vec<Camp>,
    /// The last place in the log, as a number.
    upto: u64,
}

/// When an entry came.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum When {
    /// Caught up on in a session.
    Backfill,
    /// As it was written.
    Live,
}

/// How a session finds what to move.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Equal,
    Empty,
    Resume,
    Heads,
    Ranges,
}

/// Why a provider does not count now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Reason {
    /// It said nothing for too long.
    Timeout,
    /// The connection is gone, or could not be made.
    ProviderLost { cause: String },
    /// It would not serve.
    Refused { reason: String },
    /// It vouched for more than it sent.
    Cut { reason: String },
    /// It broke a rule of the wire.
    Misbehaved { rule: String },
    /// The session was ended for a stated reason.
    Failed { reason: String },
    /// This node's own disk failed.
    LocalDisk { cause: String },
}

impl Told {
    fn new(event: &Event) -> Self {
        match event {
            Event::Entry { entry, phase, .. } => Self::Entry {
                entry: Box::new(Entry::new(entry, None)),
                phase: (*phase).into(),
            },
            Event::Sync(event) => Self::sync(event),
            Event::Broken(error) => Self::Broken {
                error: error.to_string(),
            },
        }
    }

    fn sync(event: &SyncEvent) -> Self {
        match event {
            SyncEvent::State(state) => Self::State(Box::new(State::new(state))),
            SyncEvent::Appended { from, upto, phase } => Self::Appended {
                from: from.get(),
                upto: upto.get(),
                phase: (*phase).into(),
            },
            SyncEvent::SyncStarted {
                provider,
                session,
                mode,
                resumed,
            } => Self::SyncStarted {
                provider: hex(provider),
                session: hex(session),
                mode: (*mode).into(),
                resumed: *resumed,
            },
            SyncEvent::Progress {
                provider,
                session,
                received,
                expected,
            } => Self::Progress {
                provider: hex(provider),
                session: hex(session),
                received: *received,
                expected: *expected,
            },
            SyncEvent::SyncEnded {
                provider,
                session,
                outcome,
            } => Self::SyncEnded {
                provider: hex(provider),
                session: hex(session),
                outcome: ProviderOutcome::of(outcome),
            },
            SyncEvent::HistorySynced(synced) => Self::HistorySynced(Synced::new(synced)),
            SyncEvent::HistorySyncDegraded {
                provider,
                session,
                reason,
                still_pending,
            } => Self::HistorySyncDegraded {
                provider: hex(provider),
                session: session.map(hex),
                reason: reason.into(),
                still_pending: *still_pending,
            },
            SyncEvent::HistorySyncFailed { reasons } => Self::failed(reasons),
            SyncEvent::HistoryTruncated { provider, coverage } => Self::HistoryTruncated {
                provider: hex(provider),
                coverage: (*coverage).into(),
            },
            SyncEvent::Diverged { camps } => Self::Diverged {
                camps: camps.iter().map(camp).collect(),
            },
            SyncEvent::Behind { cause, lag_entries } => Self::Behind {
                cause: (*cause).into(),
                lag_entries: *lag_entries,
            },
            SyncEvent::CaughtUp { state_hash } => Self::CaughtUp {
                state_hash: hex(state_hash),
            },
            SyncEvent::AuthorForked { author, one, other } => Self::AuthorForked {
                author: hex(author),
                one: hex(one),
                other: hex(other),
            },
            SyncEvent::Withdrawn { entries } => Self::Withdrawn { entries: *entries },
            SyncEvent::ProviderUp { provider } => Self::ProviderUp {
                provider: hex(provider),
            },
            SyncEvent::ProviderDown { provider } => Self::ProviderDown {
                provider: hex(provider),
            },
            SyncEvent::Lagged { missed } => Self::Lagged { missed: *missed },
        }
    }

    fn failed(reasons: &[(NodeId, DegradedReason)]) -> Self {
        let each = reasons
            .iter()
            .map(|(node, why)| (hex(node), Reason::from(why)));
        Self::HistorySyncFailed {
            reasons: each.collect(),
        }
    }
}

fn camp((state, members): &(osier::StateHash, Vec<NodeId>)) -> (Hex, Vec<Hex>) {
    (hex(state), members.iter().map(hex).collect())
}

impl State {
    fn new(state: &TopicState) -> Self {
        Self {
            phase: state.phase.into(),
            role: state.role.into(),
            rule: state.rule.to_string(),
            entries: state.entries,
            authors: state.authors,
            holes: state.holes,
            state_hash: hex(state.state_hash),
            coverage: state.coverage.into(),
            synced: state.synced.as_ref().map(Synced::new),
            providers: state.providers.iter().map(Provider::new).collect(),
            waiting: state.waiting.iter().map(hex).collect(),
            search_ms: state.search_ms,
            behind: state.behind.map(Behind::new),
            camps: camps(&state.camps),
            upto: state.upto.get(),
        }
    }
}

impl From<EntryPhase> for When {
    fn from(phase: EntryPhase) -> Self {
        match phase {
            EntryPhase::Backfill => Self::Backfill,
            EntryPhase::Live => Self::Live,
        }
    }
}

impl From<osier::Mode> for Mode {
    fn from(mode: osier::Mode) -> Self {
        match mode {
            osier::Mode::Equal => Self::Equal,
            osier::Mode::Empty => Self::Empty,
            osier::Mode::Resume => Self::Resume,
            osier::Mode::Heads => Self::Heads,
            osier::Mode::Ranges => Self::Ranges,
        }
    }
}

impl From<&DegradedReason> for Reason {
    fn from(reason: &DegradedReason) -> Self {
        match reason.clone() {
            DegradedReason::Timeout => Self::Timeout,
            DegradedReason::ProviderLost { cause } => Self::ProviderLost { cause },
            DegradedReason::Refused { reason } => Self::Refused { reason },
            DegradedReason::Cut { reason } => Self::Cut { reason },
            DegradedReason::Misbehaved { rule } => Self::Misbehaved { rule },
            DegradedReason::Failed { reason } => Self::Failed { reason },
            DegradedReason::LocalDisk { cause } => Self::LocalDisk { cause },
        }
    }
}
