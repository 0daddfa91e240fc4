//! Whose word counts.

use osier::Rank;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Hex, hex, topic::Role};

/// A topic's trust list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trust {
    pub(crate) topic: Hex,
    pub(crate) trust: Vec<Trusted>,
}

/// A node whose word counts, or was said not to.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trusted {
    pub(crate) node: Hex,
    pub(crate) trusted: bool,
    /// Lower is asked first; null when it is not trusted.
    pub(crate) rank: Option<u16>,
    pub(crate) role: Option<Role>,
    /// Who says so: `owner`, `grant` for the owner's word on another, or `own` for this node's own
    /// list.
    pub(crate) source: String,
}

impl Trusted {
    pub(crate) fn new(trusted: &osier::Trusted) -> Self {
        Self {
            node: hex(trusted.node),
            trusted: trusted.rank.is_some(),
            rank: trusted.rank.map(Rank::get),
            role: trusted.role.map(Role::from),
            source: trusted.source.to_owned(),
        }
    }
}

/// In which order and role a node is trusted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    /// 100 when left out.
    pub(crate) rank: Option<u16>,
    /// `archive`, `replay` or `peer`; `archive` when left out.
    pub(crate) role: Option<String>,
}

/// A node whose word does not count any more.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Distrusted {
    pub(crate) node: Hex,
    pub(crate) trusted: bool,
}
