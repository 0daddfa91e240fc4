//! What an operator may set. All but the last three decide what is in the index: it is built again
//! when they change.

use std::collections::BTreeSet;

use osier_core::TopicId;
use osier_nostr::{
    Filter,
    nip::{nip17::Gate, nip42::RelayUrls, nip45::HllRule},
};

use crate::limit;

/// Bytes of event text that are kept in memory by default.
pub const CACHE_BYTES_DEFAULT: usize = 64 * 1024 * 1024;

/// Settings of an index.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Under which URLs the relay is known: requests to vanish name them. The same on every node
    /// of a topic.
    pub urls: RelayUrls,
    /// Which kinds only those involved may see: the gate of every viewer that is given to a view.
    pub gate: Gate,
    /// By which rule sketches are made.
    pub hll_rule: HllRule,
    /// The topics whose events are indexed; none is all.
    pub topics: Option<BTreeSet<TopicId>>,
    /// Filters, besides `{}`, that are often reconciled by NIP-77: each has an order index of its
    /// own, which costs a row an event that matches. Limits in them are not looked at.
    pub compared: Vec<Filter>,
    /// Bytes of event text to keep in memory.
    pub cache_bytes: usize,
    /// Events from which on a count is kept ([`limit::KEPT_EVENTS_MIN`]).
    pub kept_events_min: u64,
    /// Events that are read for one count or one set of records, where rows do not tell.
    pub read_events_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            urls: RelayUrls::default(),
            gate: Gate::default(),
            hll_rule: HllRule::default(),
            topics: None,
            compared: Vec::new(),
            cache_bytes: CACHE_BYTES_DEFAULT,
            kept_events_min: limit::KEPT_EVENTS_MIN,
            read_events_max: limit::READ_EVENTS_MAX,
        }
    }
}

impl From<&osier_nostr::Settings> for Settings {
    /// The part of a relay's settings that its index shares.
    fn from(relay: &osier_nostr::Settings) -> Self {
        Self {
            urls: relay.urls.clone(),
            gate: relay.gate.clone(),
            hll_rule: relay.hll_rule,
            ..Self::default()
        }
    }
}
