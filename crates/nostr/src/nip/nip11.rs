//! NIP-11, the relay's description of itself:
//! <https://github.com/nostr-protocol/nips/blob/master/11.md>.
//!
//! What is written here is taken from the settings that are enforced, so that the document cannot
//! promise anything else (`NOS-90`).

use crate::{
    connection::Settings,
    escape::{push_list, push_number, push_string},
    key::PublicKey,
    limit,
};

/// The media type by which a client asks for the document.
pub const MEDIA_TYPE: &str = "application/nostr+json";

/// The headers that let a page of another origin read the document; on `GET` and on `OPTIONS`.
pub const CORS: [(&str, &str); 3] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-headers", "*"),
    ("access-control-allow-methods", "GET, OPTIONS"),
];

/// Whether an `Accept` header asks for the document.
pub fn is_asked_for(accept: &str) -> bool {
    let types = accept.split(',').filter_map(|part| part.split(';').next());
    types
        .map(str::trim)
        .any(|media| media.eq_ignore_ascii_case(MEDIA_TYPE))
}

/// What an operator says of the relay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// A short name.
    pub name: String,
    /// A few sentences.
    pub description: String,
    /// A link to a picture.
    pub icon: Option<String>,
    /// A link to a wide picture.
    pub banner: Option<String>,
    /// Whom to write to.
    pub pubkey: Option<PublicKey>,
    /// Where else to write to.
    pub contact: Option<String>,
    /// A link to the terms.
    pub terms_of_service: Option<String>,
    /// A link to the software's page.
    pub software: Option<String>,
}

/// How long, or how many of, some kinds are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// First and last kind of each range; none is all.
    pub kinds: Vec<(u16, u16)>,
    /// Seconds; 0 is not at all, none is for ever.
    pub time_s: Option<u64>,
    /// How many.
    pub count: Option<u64>,
}

/// A topic that this relay bridges, and whether its history is complete here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicState {
    /// The topic's name.
    pub name: String,
    /// One word: `complete`, `sole`, `from`, `pending`, `failed` or `diverged`.
    pub state: String,
}

/// The NIPs that are switched on, each of which passes its own test (`NOS-91`).
pub fn supported_nips(settings: &Settings) -> Vec<u16> {
    let mut nips = vec![1, 9, 11, 40, 42, 62, 70];
    let mut add = |on: bool, more: &[u16]| nips.extend(more.iter().copied().filter(|_| on));
    add(settings.min_pow > 0, &[13]);
    add(settings.gate.kinds().next().is_some(), &[4, 17, 59]);
    add(settings.hints, &[67]);
    add(settings.counts, &[45]);
    add(settings.negentropy, &[77]);
    nips.sort_unstable();
    nips
}

/// The document, as JSON (`NOS-90`).
pub fn document(
    identity: &Identity,
    settings: &Settings,
    retention: &[Retention],
    topics: &[TopicState],
) -> String {
    let mut object = Object::new();
    object.text("name", Some(&identity.name));
    object.text("description", Some(&identity.description));
    object.text("icon", identity.icon.as_deref());
    object.text("banner", identity.banner.as_deref());
    object.text(
        "pubkey",
        identity.pubkey.map(|key| key.to_string()).as_deref(),
    );
    object.text("contact", identity.contact.as_deref());
    object.text("terms_of_service", identity.terms_of_service.as_deref());
    object.text("software", identity.software.as_deref());
    object.text("version", Some(env!("CARGO_PKG_VERSION")));
    let mut nips = String::new();
    push_list(&mut nips, supported_nips(settings), |out, nip| {
        push_number(out, u64::from(nip));
    });
    object.json("supported_nips", &nips);
    object.json("limitation", &limitation(settings));
    let mut list = String::new();
    push_list(&mut list, retention, |out, it| {
        out.push_str(&retention_json(it));
    });
    object.json("retention", &list);
    let mut list = String::new();
    push_list(&mut list, topics, |out, topic| {
        let mut object = Object::new();
        object.text("name", Some(&topic.name));
        object.text("state", Some(&topic.state));
        out.push_str(&object.finish());
    });
    object.json("topics", &list);
    object.finish()
}

/// The limits that are enforced.
fn limitation(settings: &Settings) -> String {
    let size = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    let mut object = Object::new();
    object.number("max_message_length", size(limit::MESSAGE_BYTES_MAX));
    object.number("max_subscriptions", size(settings.subscriptions_max));
    object.number("max_filters", size(limit::FILTERS_MAX));
    object.number("max_limit", settings.page_events_max);
    object.number("default_limit", settings.page_events_max);
    object.number("max_page", limit::PAGE_EVENTS_HARD_MAX);
    object.number("max_subid_length", size(limit::SUBSCRIPTION_ID_CHARS_MAX));
    object.number("max_event_tags", size(limit::EVENT_TAGS_MAX));
    object.number("max_content_length", size(settings.content_chars_max));
    object.number("min_pow_difficulty", u64::from(settings.min_pow));
    if let Some(oldest_s) = settings.oldest_s {
        object.number("created_at_lower_limit", oldest_s);
    }
    object.number("created_at_upper_limit", settings.newest_s);
    let quotas = &settings.quotas;
    let each = [
        ("max_events_per_minute_per_key", quotas.events_per_key),
        ("max_events_per_minute_per_ip", quotas.events_per_address),
        ("max_requests_per_minute", quotas.requests),
        ("max_connections", quotas.connections),
        ("max_connections_per_ip", quotas.connections_per_address),
    ];
    for (name, bound) in each {
        if let Some(bound) = bound {
            object.number(name, u64::from(bound));
        }
    }
    object.json("auth_required", "false");
    object.json("payment_required", "false");
    object.json(
        "restricted_writes",
        if settings.min_pow > 0 {
            "true"
        } else {
            "false"
        },
    );
    object.finish()
}

fn retention_json(retention: &Retention) -> String {
    let mut object = Object::new();
    if !retention.kinds.is_empty() {
        let mut kinds = String::new();
        push_list(&mut kinds, &retention.kinds, |out, (first, last)| {
            let text = if first == last {
                first.to_string()
            } else {
                format!("[{first},{last}]")
            };
            out.push_str(&text);
        });
        object.json("kinds", &kinds);
    }
    match retention.time_s {
        Some(time) => object.number("time", time),
        None => object.json("time", "null"),
    }
    if let Some(count) = retention.count {
        object.number("count", count);
    }
    object.finish()
}

/// An object that is being written.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self(String::from("{"))
    }

    fn json(&mut self, key: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_string(&mut self.0, key);
        self.0.push(':');
        self.0.push_str(json);
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            let mut json = String::new();
            push_string(&mut json, text);
            self.json(key, &json);
        }
    }

    fn number(&mut self, key: &str, number: u64) {
        self.json(key, &number.to_string());
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
