//! Spaces: several topics as one.

use osier::{SpaceEvent, SpaceMember, SpaceStanding, SpaceState, SpaceVerdict, WithdrawReason};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Hex, hex};

/// All spaces of this node.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Spaces {
    pub(crate) spaces: Vec<Space>,
}

/// A space, as this node sees it now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Space {
    /// Its control topic.
    id: Hex,
    /// For people; not unique.
    name: String,
    #[serde(flatten)]
    state: SpaceNow,
    /// Whoever has it can read the space and all its topics; only in the answer to its making or
    /// joining.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ticket: Option<String>,
}

/// Where a space stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SpaceNow {
    /// `control_pending`, `control_degraded`, `no_manifest`, `pending` or `synced`.
    verdict: &'static str,
    /// The version of the list that this node knows; null until it has come.
    version: Option<u64>,
    /// Where the control topic stands: `pending`, `synced` or `degraded`.
    control: &'static str,
    /// The listed topics, by id.
    topics: Vec<SpaceTopic>,
}

/// One topic of a space.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SpaceTopic {
    id: Hex,
    name: String,
    /// `pending`, `synced` or `degraded`.
    state: &'static str,
}

/// The space to make, or to join: one of both.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddSpace {
    /// The name of a new space.
    pub(crate) name: Option<String>,
    /// The ticket of one to join.
    pub(crate) ticket: Option<String>,
}

/// The list of a space after a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed {
    pub(crate) space: Hex,
    /// Grows with each change.
    pub(crate) version: u64,
}

/// One message of a space's stream.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum SpaceMessage {
    /// Where it stands: first, and whenever that moves.
    State(SpaceNow),
    /// Every topic of the list is synced, or has settled without.
    SpaceSynced {
        version: u64,
        topics: u64,
        /// Those that settled without being synced.
        degraded: Vec<Hex>,
    },
    /// It was synced and no longer is.
    SpaceWithdrawn {
        /// `manifest_grew`, `topics_behind` or `control_behind`.
        reason: &'static str,
        /// The topics waited for.
        waiting: Vec<Hex>,
    },
    /// The stream cannot go on. Always last.
    Broken { error: String },
}

impl Space {
    pub(crate) fn new(space: &osier::Space, state: &SpaceState) -> Self {
        Self {
            id: hex(space.id()),
            name: space.name().to_owned(),
            state: SpaceNow::new(state),
            ticket: None,
        }
    }

    pub(crate) fn with_ticket(self, ticket: &osier::Ticket) -> Self {
        let ticket = Some(ticket.to_string());
        Self { ticket, ..self }
    }
}

impl SpaceNow {
    fn new(state: &SpaceState) -> Self {
        Self {
            verdict: match state.verdict {
                SpaceVerdict::ControlPending => "control_pending",
                SpaceVerdict::ControlDegraded => "control_degraded",
                SpaceVerdict::NoManifest => "no_manifest",
                SpaceVerdict::Pending { .. } => "pending",
                SpaceVerdict::Synced { .. } => "synced",
            },
            version: state.version,
            control: standing(state.control),
            topics: state.topics.iter().map(SpaceTopic::new).collect(),
        }
    }
}

impl SpaceTopic {
    fn new(member: &SpaceMember) -> Self {
        Self {
            id: hex(member.id),
            name: member.name.clone(),
            state: standing(member.state),
        }
    }
}

impl SpaceMessage {
    pub(crate) fn new(event: &SpaceEvent) -> Self {
        match event {
            SpaceEvent::State(state) => Self::State(SpaceNow::new(state)),
            SpaceEvent::Synced {
                version,
                topics,
                degraded,
            } => Self::SpaceSynced {
                version: *version,
                topics: *topics as u64,
                degraded: degraded.iter().map(hex).collect(),
            },
            SpaceEvent::Withdrawn(reason) => {
                let (reason, waiting) = match reason {
                    WithdrawReason::ManifestGrew { waiting, .. } => ("manifest_grew", &waiting[..]),
                    WithdrawReason::TopicsBehind { waiting } => ("topics_behind", &waiting[..]),
                    WithdrawReason::ControlBehind => ("control_behind", &[][..]),
                };
                Self::SpaceWithdrawn {
                    reason,
                    waiting: waiting.iter().map(hex).collect(),
                }
            }
            SpaceEvent::Broken(error) => Self::Broken {
                error: error.to_string(),
            },
        }
    }
}

fn standing(standing: SpaceStanding) -> &'static str {
    match standing {
        SpaceStanding::Pending => "pending",
        SpaceStanding::Synced => "synced",
        SpaceStanding::Degraded => "degraded",
    }
}
