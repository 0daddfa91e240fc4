//! Settings of the Nostr relay.

use osier::TopicId;
use osier_relay::{Filter, HllRule, PublicKey, Quotas, RelayUrl};

use super::{Layers, size};
use crate::failure::Outcome;

/// What an operator chooses of the relay, but where it listens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that do not depend on each other"
)]
pub(crate) struct RelayConfig {
    /// Where published events go: name, id, or the start of an id.
    pub(crate) topic: String,
    /// Topics whose events are served; none is all.
    pub(crate) topics: Vec<TopicId>,
    /// Which published events go elsewhere; the first whose filter matches counts.
    pub(crate) routes: Vec<Route>,
    /// URLs at which clients reach it from elsewhere.
    pub(crate) urls: Vec<RelayUrl>,
    /// Relays whose events are taken in while the node runs.
    pub(crate) mirrors: Vec<RelayUrl>,
    /// What it is called.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// The operator's key.
    pub(crate) pubkey: Option<PublicKey>,
    /// Where else to write to.
    pub(crate) contact: String,
    /// A link to a picture.
    pub(crate) icon: String,
    /// Whether `EOSE` has a third element.
    pub(crate) eose_hints: bool,
    /// Whether `finish` waits until every topic is complete.
    pub(crate) finish_needs_sync: bool,
    /// Whether direct messages are shown to those involved only.
    pub(crate) gate_messages: bool,
    /// Whether the texts of events that are hidden for good leave the log.
    pub(crate) drop_hidden: bool,
    /// Whether `COUNT` is answered.
    pub(crate) count: bool,
    /// By which rule sketches are made.
    pub(crate) hll_rule: HllRule,
    /// Whether `NEG-OPEN` is answered.
    pub(crate) negentropy: bool,
    /// Leading zero bits that an id must have.
    pub(crate) min_pow: u32,
    /// Seconds that an event may be ahead of this node's clock.
    pub(crate) newest_s: u64,
    /// Events in one answer to one filter.
    pub(crate) page_events_max: u64,
    /// What keys, addresses and connections may do in a minute.
    pub(crate) quotas: Quotas,
    /// Connections in all.
    pub(crate) connections_max: usize,
    /// Connections from one address.
    pub(crate) connections_per_ip_max: usize,
}

/// Published events that match go to another topic than the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// Which.
    pub(crate) filter: Filter,
    /// Name, id, or the start of an id.
    pub(crate) topic: String,
}

impl RelayConfig {
    pub(super) fn from_layers(layers: &Layers) -> Outcome<Self> {
        let pubkey = layers.text("relay.pubkey")?;
        let hex = || layers.invalid("relay.pubkey", "expected 64 hex digits in lower case");
        Ok(Self {
            topic: layers.text("relay.topic")?,
            topics: topics(layers)?,
            routes: routes(layers)?,
            urls: urls(layers, "relay.urls")?,
            mirrors: urls(layers, "relay.mirrors")?,
            name: layers.text("relay.name")?,
            description: layers.text("relay.description")?,
            pubkey: match pubkey.as_str() {
                "" => None,
                text => Some(PublicKey::from_hex(text).ok_or_else(hex)?),
            },
            contact: layers.text("relay.contact")?,
            icon: layers.text("relay.icon")?,
            eose_hints: layers.flag("relay.eose_hints")?,
            finish_needs_sync: layers.flag("relay.finish_needs_sync")?,
            gate_messages: layers.flag("relay.gate_messages")?,
            drop_hidden: layers.flag("relay.drop_hidden")?,
            count: layers.flag("relay.count")?,
            hll_rule: match layers
                .one_of("relay.hll_rule", &["merged", "draft"])?
                .as_str()
            {
                "draft" => HllRule::Draft,
                _ => HllRule::Merged,
            },
            negentropy: layers.flag("relay.negentropy")?,
            min_pow: u32::try_from(layers.number("relay.min_pow", 0)?)
                .ok()
                .filter(|bits| *bits <= 256)
                .ok_or_else(|| layers.invalid("relay.min_pow", "an id has 256 bits"))?,
            newest_s: layers.number("relay.newest_s", 0)?,
            page_events_max: layers.number("relay.page_events_max", 1)?,
            quotas: Quotas {
                events_per_key: quota(layers, "relay.events_per_minute_per_key")?,
                events_per_address: quota(layers, "relay.events_per_minute_per_ip")?,
                requests: quota(layers, "relay.requests_per_minute")?,
                ..Quotas::default()
            },
            connections_max: size(layers, "relay.connections_max", 1)?,
            connections_per_ip_max: size(layers, "relay.connections_per_ip_max", 1)?,
        })
    }
}

/// So much in a minute; 0 is no bound.
fn quota(layers: &Layers, key: &'static str) -> Outcome<Option<u32>> {
    let number = u32::try_from(layers.number(key, 0)?);
    let number = number.map_err(|_| layers.invalid(key, "too large; 0 is no bound"))?;
    Ok(Some(number).filter(|number| *number > 0))
}

fn topics(layers: &Layers) -> Outcome<Vec<TopicId>> {
    let why = "expected whole topic ids, as `osier topic ls` shows them";
    let ids = layers.list("relay.topics")?.into_iter();
    ids.map(|id| id.parse().map_err(|_| layers.invalid("relay.topics", why)))
        .collect()
}

fn routes(layers: &Layers) -> Outcome<Vec<Route>> {
    let key = "relay.route";
    let tables = layers.tables(key, ["filter", "topic"])?.into_iter();
    let route = |[filter, topic]: [String; 2]| {
        let parsed = Filter::parse(&filter);
        let filter = parsed.map_err(|error| {
            let why = format!("the filter for {topic:?} is none of NIP-01: {error}");
            layers.invalid(key, &why)
        })?;
        Ok(Route { filter, topic })
    };
    tables.map(route).collect()
}

fn urls(layers: &Layers, key: &'static str) -> Outcome<Vec<RelayUrl>> {
    let why = "expected URLs such as wss://relay.example";
    let urls = layers.list(key)?.into_iter();
    urls.map(|url| RelayUrl::parse(&url).ok_or_else(|| layers.invalid(key, why)))
        .collect()
}
