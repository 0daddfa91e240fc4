//! What an operator may set; the same for all connections, and shown in NIP-11.

use osier_core::{Duration, Rate};

use crate::{
    limit,
    nip::{nip17::Gate, nip42::RelayUrls, nip45::HllRule},
};

/// Settings of a relay. Limits can be lowered here, never raised above those of
/// [`crate::limit`] that bound memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that do not depend on each other"
)]
pub struct Settings {
    /// Under which URLs clients know this relay.
    pub urls: RelayUrls,
    /// Which kinds only those involved may see.
    pub gate: Gate,
    /// Whether `COUNT` is answered.
    pub counts: bool,
    /// Which sketches go with a count.
    pub hll_rule: HllRule,
    /// Whether `NEG-OPEN` is answered.
    pub negentropy: bool,
    /// Whether `EOSE` has a third element (NIP-67). Some clients cannot read one.
    pub hints: bool,
    /// Whether `finish` waits until every topic is complete (NIP-67).
    pub finish_needs_sync: bool,
    /// Leading zero bits that an event's id must have; 0 is none.
    pub min_pow: u32,
    /// Characters that an event's content may have.
    pub content_chars_max: usize,
    /// How many seconds old a published event may be; none is any.
    pub oldest_s: Option<u64>,
    /// How many seconds ahead of our clock a published event may be.
    pub newest_s: u64,
    /// Open subscriptions of one connection.
    pub subscriptions_max: usize,
    /// Stored events in one answer to one filter.
    pub page_events_max: u64,
    /// Records that are gathered for one negentropy session.
    pub neg_items_max: u64,
    /// After what time without progress a negentropy session ends.
    pub neg_idle: Duration,
    /// How much of what comes in so much time.
    pub quotas: Quotas,
}

/// What one key, one address and one connection may do in a minute; none for no bound. A quota is a
/// bucket: all of it at once, and then as it fills (`NOS-35`). Those of keys and addresses, and the
/// connections, are the driver's to hold; they are here to be shown in NIP-11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quotas {
    /// Events of one signer, whatever connection they come by.
    pub events_per_key: Option<u32>,
    /// Events from one address, whoever signed them.
    pub events_per_address: Option<u32>,
    /// `REQ`, `COUNT` and `NEG-OPEN` of one connection.
    pub requests: Option<u32>,
    /// Connections open at once.
    pub connections: Option<u32>,
    /// Of them, from one address.
    pub connections_per_address: Option<u32>,
}

impl Settings {
    /// The same, within the bounds that memory sets: what is enforced, and shown in NIP-11
    /// (`NOS-90`).
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.page_events_max = self.page_events_max.clamp(1, limit::PAGE_EVENTS_HARD_MAX);
        self
    }
}

impl Quotas {
    /// The rate of so much a minute.
    pub fn rate(minute: u32) -> Rate {
        Rate::per_minute(minute, minute)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            urls: RelayUrls::default(),
            gate: Gate::default(),
            counts: true,
            hll_rule: HllRule::default(),
            negentropy: true,
            hints: true,
            finish_needs_sync: true,
            min_pow: 0,
            content_chars_max: limit::EVENT_JSON_BYTES_MAX,
            oldest_s: None,
            // Clocks of phones are minutes off; what is dated later would stay on top of every
            // answer until then.
            newest_s: 900,
            subscriptions_max: limit::SUBSCRIPTIONS_MAX,
            page_events_max: limit::PAGE_EVENTS_MAX,
            neg_items_max: limit::NEG_ITEMS_MAX,
            neg_idle: Duration::from_millis(limit::NEG_IDLE_MS),
            quotas: Quotas::default(),
        }
    }
}
