//! One-time links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A link that opens the dashboard once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Link {
    pub(crate) link: String,
    /// For how long it can be used, in seconds.
    pub(crate) expires_s: u64,
}

/// What the page of a link holds.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UseLink {
    /// What follows `#` in the link.
    pub(crate) code: String,
}

impl std::fmt::Debug for UseLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UseLink(..)")
    }
}

/// The token of this API.
#[derive(Serialize, ToSchema)]
pub(crate) struct Token {
    pub(crate) token: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}
