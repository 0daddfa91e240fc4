//! Who serves a topic, and how it went.

use osier::ProviderState;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Hex, hex, topic::Role};
use crate::word;

/// A provider of a topic, as this node sees it now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Provider {
    node: Hex,
    /// Whether its word counts.
    trusted: bool,
    /// Lower is asked first; null when it is not trusted.
    rank: Option<u16>,
    /// The role that it is trusted in, or says it has.
    role: Role,
    /// Whether it can be reached.
    connected: bool,
    outcome: ProviderOutcome,
    /// More about the outcome; may be empty.
    detail: String,
    /// The outcome in a sentence for people.
    why: String,
    /// The present or last session.
    session: Option<Hex>,
    /// Age of the session that is open, in milliseconds.
    session_age_ms: Option<u64>,
    /// Entries received in the session.
    received: u64,
    /// Entries expected in it, once known.
    expected: Option<u64>,
    /// Milliseconds until silence counts as a timeout; null when nothing is awaited.
    deadline_ms: Option<u64>,
    /// Milliseconds until it is asked again, when that is known.
    retry_ms: Option<u64>,
}

/// What came of asking a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderOutcome {
    Unasked,
    Streaming,
    /// It sent all it holds, and that is proven. The only one that can make a topic complete.
    Drained,
    Cut,
    Refused,
    Silent,
    Lost,
    /// Only of a session: it drained, and there was more by then.
    Overtaken,
    /// Only of a session: it gave way to another one.
    Superseded,
}

impl ProviderOutcome {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "streaming" => Self::Streaming,
            "drained" => Self::Drained,
            "cut" => Self::Cut,
            "refused" => Self::Refused,
            "silent" => Self::Silent,
            "lost" => Self::Lost,
            "overtaken" => Self::Overtaken,
            "superseded" => Self::Superseded,
            _ => Self::Unasked,
        }
    }
}

impl Provider {
    pub(crate) fn new(state: &ProviderState) -> Self {
        Self {
            node: hex(state.node),
            trusted: state.trusted,
            rank: state.rank,
            role: state.role.into(),
            connected: state.connected,
            outcome: ProviderOutcome::of(state.outcome),
            detail: state.detail.clone(),
            why: word::provider(state),
            session: state.session.map(hex),
            session_age_ms: state.session_age_ms,
            received: state.received,
            expected: state.expected,
            deadline_ms: state.deadline_ms,
            retry_ms: state.retry_ms,
        }
    }
}

/// A provider, and the topic that it serves.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProviderOf {
    topic: Hex,
    /// The topic's name.
    name: String,
    #[serde(flatten)]
    provider: Provider,
}

impl ProviderOf {
    pub(crate) fn new(topic: &osier::Topic, state: &ProviderState) -> Self {
        Self {
            topic: hex(topic.id()),
            name: topic.name().to_owned(),
            provider: Provider::new(state),
        }
    }
}

/// Every provider of every topic.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Providers {
    pub(crate) providers: Vec<ProviderOf>,
}

/// The providers with a session, present or past.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<ProviderOf>,
}
