//! Topics with their present state.

use osier::{BehindCause, StateHash, TopicInfo, TopicPhase};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Hex, Provider, hex};
use crate::word;

/// A topic, as this node sees it now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Topic {
    id: Hex,
    /// For people; not unique.
    name: String,
    owner: Hex,
    /// Whether this node owns it.
    owned: bool,
    writing: Writing,
    /// Whether this node may write in it, as far as it knows what the owner has said.
    may_write: bool,
    role: Role,
    /// When its history counts as complete, as `POST /v1/topics/{t}/rule` takes it.
    rule: String,
    phase: Phase,
    /// Why it is not complete, in a sentence for people; null when it is.
    why: Option<String>,
    entries: u64,
    authors: u64,
    /// Entries that are named and not held.
    holes: u64,
    state_hash: Hex,
    /// How far back this node itself holds history.
    coverage: Coverage,
    /// The last word on completeness, while it stands.
    synced: Option<Synced>,
    providers: Vec<Provider>,
    /// Whom the rule waits for, best first.
    waiting: Vec<Hex>,
    /// Milliseconds for which a provider may still turn up; null when the topic does not wait for
    /// that.
    search_ms: Option<u64>,
    /// Why what was synced is in doubt, while it is.
    behind: Option<Behind>,
    /// While trusted providers disagree: who holds which state.
    camps: Vec<Camp>,
    /// The end of this node's log of it.
    position: String,
    /// How many entries this node itself has written.
    own_seq: u64,
    /// Whoever has it can read the topic; only in the answer to its making or joining.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ticket: Option<String>,
}

impl Topic {
    pub(crate) fn new(info: &TopicInfo) -> Self {
        let state = info.state.as_ref();
        let providers = state.map_or(&[][..], |state| &state.providers);
        Self {
            id: hex(info.id),
            name: info.name.clone(),
            owner: hex(info.owner),
            owned: info.owned,
            writing: info.writing.into(),
            may_write: info.may_write,
            role: info.role.into(),
            rule: info.rule.to_string(),
            phase: state.map_or(Phase::Offline, |state| state.phase.into()),
            why: word::topic(info),
            entries: info.entries,
            authors: info.authors,
            holes: info.holes,
            state_hash: hex(info.state_hash),
            coverage: info.coverage.into(),
            synced: state
                .and_then(|state| state.synced.as_ref())
                .map(Synced::new),
            providers: providers.iter().map(Provider::new).collect(),
            waiting: state.map_or_else(Vec::new, |state| state.waiting.iter().map(hex).collect()),
            search_ms: state.and_then(|state| state.search_ms),
            behind: state.and_then(|state| state.behind).map(Behind::new),
            camps: state.map_or_else(Vec::new, |state| camps(&state.camps)),
            position: info.end.to_string(),
            own_seq: info.own_seq,
            ticket: None,
        }
    }

    pub(crate) fn with_ticket(mut self, ticket: &osier::Ticket) -> Self {
        self.ticket = Some(ticket.to_string());
        self
    }
}

/// All topics.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Topics {
    pub(crate) topics: Vec<Topic>,
}

/// Who may write in a topic, besides its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Writing {
    /// Everybody who has the ticket.
    Open,
    /// Nodes that the owner has granted.
    Granted,
}

impl From<osier::Writing> for Writing {
    fn from(writing: osier::Writing) -> Self {
        match writing {
            osier::Writing::Open => Self::Open,
            osier::Writing::Granted => Self::Granted,
        }
    }
}

/// In which capacity a node serves a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Keeps everything.
    Archive,
    /// Keeps the newest.
    Replay,
    /// Keeps what it sees; nobody relies on it unless it is trusted.
    Peer,
}

impl From<osier::Role> for Role {
    fn from(role: osier::Role) -> Self {
        match role {
            osier::Role::Archive => Self::Archive,
            osier::Role::Replay => Self::Replay,
            osier::Role::Peer => Self::Peer,
        }
    }
}

/// Where a topic stands, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Waiting for providers, within their deadlines.
    Syncing,
    /// Complete to the extent that `synced` states.
    Synced,
    /// Was synced; there is more now.
    Behind,
    /// Trusted providers disagree.
    Diverged,
    /// No provider can complete it.
    Failed,
    /// The node takes part in nothing.
    Offline,
}

impl From<TopicPhase> for Phase {
    fn from(phase: TopicPhase) -> Self {
        match phase {
            TopicPhase::Syncing => Self::Syncing,
            TopicPhase::Synced => Self::Synced,
            TopicPhase::Behind => Self::Behind,
            TopicPhase::Diverged => Self::Diverged,
            TopicPhase::Failed => Self::Failed,
        }
    }
}

/// How far back history reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Coverage {
    /// To the beginning.
    Complete,
    /// To a floor: what is older was dropped.
    From { floor: Floor },
}

/// The lowest place from which nothing was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Floor {
    /// Milliseconds since 1970, by the author's clock.
    time: u64,
    /// The entry there.
    hash: Hex,
}

impl From<osier::Coverage> for Coverage {
    fn from(coverage: osier::Coverage) -> Self {
        match coverage {
            osier::Coverage::Complete => Self::Complete,
            osier::Coverage::From { floor } => Self::From {
                floor: Floor {
                    time: floor.time.as_millis(),
                    hash: hex(floor.hash),
                },
            },
        }
    }
}

/// The word that history is complete to an extent, and what it rests on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Synced {
    /// Who vouches; this node itself when it is the only archive.
    provider: Hex,
    /// Their session; null when this node vouches for itself.
    session: Option<Hex>,
    /// Trusted, connected providers whose outcome is still open.
    still_pending: u32,
    /// How far back it is complete.
    coverage: Coverage,
    convergence: Convergence,
    /// Entries held.
    entries: u64,
    /// The state vouched for.
    state_hash: Hex,
    /// Entries that are named and that nobody asked holds; they block nobody.
    dangling: u64,
}

impl Synced {
    pub(crate) fn new(synced: &osier::Synced) -> Self {
        Self {
            provider: hex(synced.provider),
            session: synced.session.map(hex),
            still_pending: synced.still_pending,
            coverage: synced.coverage.into(),
            convergence: synced.convergence.into(),
            entries: synced.entries,
            state_hash: hex(synced.state_hash),
            dangling: synced.dangling,
        }
    }
}

/// Whether this node's history and the providers' agree.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Convergence {
    /// Same state as so many drained providers.
    Converged { with: u32 },
    /// Nothing to compare with, or this node has entries that the provider had not.
    Unverified,
    /// Trusted providers disagree.
    Diverged,
}

impl From<osier::Convergence> for Convergence {
    fn from(convergence: osier::Convergence) -> Self {
        match convergence {
            osier::Convergence::Converged { with } => Self::Converged { with },
            osier::Convergence::Unverified => Self::Unverified,
            osier::Convergence::Diverged => Self::Diverged,
        }
    }
}

/// Why a topic is behind.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Behind {
    cause: Cause,
    /// At least this many entries are missing; 0 when unknown.
    lag_entries: u64,
    /// For how long, in milliseconds.
    age_ms: u64,
}

impl Behind {
    pub(crate) fn new(behind: osier::BehindState) -> Self {
        Self {
            cause: behind.cause.into(),
            lag_entries: behind.lag_entries,
            age_ms: behind.age_ms,
        }
    }
}

/// How a node knows that it is behind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cause {
    GossipLagged,
    LinkLost,
    NewProvider,
    Gap,
    Watermark,
}

impl From<BehindCause> for Cause {
    fn from(cause: BehindCause) -> Self {
        match cause {
            BehindCause::GossipLagged => Self::GossipLagged,
            BehindCause::LinkLost => Self::LinkLost,
            BehindCause::NewProvider => Self::NewProvider,
            BehindCause::Gap => Self::Gap,
            BehindCause::Watermark => Self::Watermark,
        }
    }
}

/// Providers that hold one state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Camp {
    state_hash: Hex,
    /// Best first.
    members: Vec<Hex>,
}

pub(crate) fn camps(camps: &[(StateHash, Vec<osier::NodeId>)]) -> Vec<Camp> {
    let camp = |(state, members): &(StateHash, Vec<osier::NodeId>)| Camp {
        state_hash: hex(state),
        members: members.iter().map(hex).collect(),
    };
    camps.iter().map(camp).collect()
}

/// What makes a topic: a name for a new one, or a ticket for one to join.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddTopic {
    pub(crate) name: Option<String>,
    /// With a name: who may write, `open` or `granted`; `open` when left out. It cannot be changed.
    pub(crate) writing: Option<String>,
    pub(crate) ticket: Option<String>,
    /// With a ticket: `archive`, `replay` or `peer`; `peer` when left out.
    pub(crate) role: Option<String>,
}

/// A rule, in text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetRule {
    /// `storage-first`, `first-trusted`, `strict-majority`, `quorum:N` or `quorum:N:ROLE`.
    pub(crate) rule: String,
}

/// A topic's ticket, with this node's present addresses.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TicketOf {
    pub(crate) topic: Hex,
    pub(crate) name: String,
    pub(crate) ticket: String,
}

/// A topic that was left.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Left {
    pub(crate) left: Hex,
    pub(crate) name: String,
}
