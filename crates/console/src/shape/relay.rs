//! Figures of the relay that runs beside this API.

use serde::Serialize;
use utoipa::ToSchema;

/// What a relay is doing. The relay tells; the API passes on. What it does not count is none, and
/// is shown nowhere: a figure of 0 says that nothing happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct RelayNumbers {
    /// Where clients connect, such as `ws://127.0.0.1:7777`.
    pub url: String,
    /// Clients connected now.
    pub connections: u64,
    /// Subscriptions open now.
    pub subscriptions: Option<u64>,
    /// Events of clients that were taken since the start.
    pub events_in_total: Option<u64>,
    /// Events sent to clients since the start.
    pub events_out_total: Option<u64>,
    /// Events that had come before, since the start.
    pub events_known_total: Option<u64>,
    /// Events and requests refused since the start.
    pub refused_total: Option<u64>,
    /// The same by what was refused and why.
    pub refused: Vec<Refused>,
}

/// What was refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refused {
    /// `event` or `request`.
    pub what: &'static str,
    /// The machine-readable prefix of the refusal, such as `rate-limited`.
    pub reason: &'static str,
    /// How often since the start.
    pub total: u64,
}

/// The relay, if one runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Relay {
    pub(crate) relay: Option<RelayNumbers>,
}
