//! What the API answers with: one type a shape, from which the answers and their description are
//! made, so that neither can say what the other does not.

#![expect(clippy::struct_field_names, reason = "names are those of the JSON")]

mod entry;
mod event;
mod link;
mod node;
mod provider;
mod relay;
mod space;
#[cfg(test)]
pub(crate) mod testing;
mod topic;
mod trust;

use std::fmt::Display;

use serde::Serialize;
use utoipa::ToSchema;

pub use self::relay::{Refused, RelayNumbers};
pub(crate) use self::{
    entry::{Draft, Entry, EntryPage, Publish, Written},
    event::Message,
    link::{Link, Token, UseLink},
    node::{Backup, BackupMade, CheckReport, Node},
    provider::{Provider, ProviderOf, Providers, Sessions},
    relay::Relay,
    space::{AddSpace, Listed, Space, SpaceMessage, Spaces},
    topic::{AddTopic, Left, SetRule, TicketOf, Topic, Topics},
    trust::{Distrusted, Standing, Trust, Trusted},
};

/// An id or a hash in lower-case hex: 32 bytes, of a session 16.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(pattern = "^([0-9a-f]{32}|[0-9a-f]{64})$")]
pub(crate) struct Hex(String);

/// The text form of an id.
pub(crate) fn hex(id: impl Display) -> Hex {
    Hex(id.to_string())
}

/// A request that was refused, or failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// What failed, and why.
    pub(crate) error: String,
    /// What to do next; may be empty.
    pub(crate) hint: String,
}
