//! Every setting: its name in `osier.toml`, in the environment, and its default.

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// Dotted name in the file.
    pub(crate) name: &'static str,
    /// Its variable.
    pub(crate) env: &'static str,
    /// Default, in TOML. None: worked out at start, see `Layers`.
    pub(crate) default: Option<&'static str>,
}

const fn key(name: &'static str, env: &'static str, default: &'static str) -> Key {
    Key {
        name,
        env,
        default: Some(default),
    }
}

/// All settings, in the order in which they are printed.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "data_dir",
        env: "OSIER_DATA_DIR",
        default: None,
    },
    key("listen_p2p", "OSIER_LISTEN_P2P", "\"0.0.0.0:0\""),
    key("listen_api", "OSIER_LISTEN_API", "\"127.0.0.1:7780\""),
    key("api_origins", "OSIER_API_ORIGINS", "[]"),
    key("listen_relay", "OSIER_LISTEN_RELAY", "\"127.0.0.1:7777\""),
    key("role", "OSIER_ROLE", "\"peer\""),
    key("log", "OSIER_LOG", "\"warn,iroh_gossip=error\""),
    key("discovery.mdns", "OSIER_DISCOVERY_MDNS", "\"auto\""),
    key("discovery.relays", "OSIER_DISCOVERY_RELAYS", "[]"),
    key("discovery.dns", "OSIER_DISCOVERY_DNS", "false"),
    key(
        "discovery.port_mapping",
        "OSIER_DISCOVERY_PORT_MAPPING",
        "false",
    ),
    key(
        "limits.replay_entries",
        "OSIER_LIMITS_REPLAY_ENTRIES",
        "100000",
    ),
    key(
        "limits.request_bytes_max",
        "OSIER_LIMITS_REQUEST_BYTES_MAX",
        "16777216",
    ),
    key("limits.streams_max", "OSIER_LIMITS_STREAMS_MAX", "64"),
    key("relay.topic", "OSIER_RELAY_TOPIC", "\"lobby\""),
    key("relay.topics", "OSIER_RELAY_TOPICS", "[]"),
    key("relay.route", "OSIER_RELAY_ROUTE", "[]"),
    key("relay.urls", "OSIER_RELAY_URLS", "[]"),
    key("relay.mirrors", "OSIER_RELAY_MIRRORS", "[]"),
    key("relay.name", "OSIER_RELAY_NAME", "\"Osier\""),
    key("relay.description", "OSIER_RELAY_DESCRIPTION", "\"\""),
    key("relay.pubkey", "OSIER_RELAY_PUBKEY", "\"\""),
    key("relay.contact", "OSIER_RELAY_CONTACT", "\"\""),
    key("relay.icon", "OSIER_RELAY_ICON", "\"\""),
    key("relay.eose_hints", "OSIER_RELAY_EOSE_HINTS", "true"),
    key(
        "relay.finish_needs_sync",
        "OSIER_RELAY_FINISH_NEEDS_SYNC",
        "true",
    ),
    key("relay.gate_messages", "OSIER_RELAY_GATE_MESSAGES", "true"),
    key("relay.drop_hidden", "OSIER_RELAY_DROP_HIDDEN", "true"),
    key("relay.count", "OSIER_RELAY_COUNT", "true"),
    key("relay.hll_rule", "OSIER_RELAY_HLL_RULE", "\"merged\""),
    key("relay.negentropy", "OSIER_RELAY_NEGENTROPY", "true"),
    key("relay.min_pow", "OSIER_RELAY_MIN_POW", "0"),
    key("relay.newest_s", "OSIER_RELAY_NEWEST_S", "900"),
    key(
        "relay.page_events_max",
        "OSIER_RELAY_PAGE_EVENTS_MAX",
        "500",
    ),
    key(
        "relay.connections_max",
        "OSIER_RELAY_CONNECTIONS_MAX",
        "20000",
    ),
    key(
        "relay.events_per_minute_per_key",
        "OSIER_RELAY_EVENTS_PER_MINUTE_PER_KEY",
        "0",
    ),
    key(
        "relay.events_per_minute_per_ip",
        "OSIER_RELAY_EVENTS_PER_MINUTE_PER_IP",
        "12000",
    ),
    key(
        "relay.requests_per_minute",
        "OSIER_RELAY_REQUESTS_PER_MINUTE",
        "0",
    ),
    key(
        "relay.connections_per_ip_max",
        "OSIER_RELAY_CONNECTIONS_PER_IP_MAX",
        "256",
    ),
];

/// The setting of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
