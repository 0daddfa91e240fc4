//! Figures in the text form that Prometheus reads.
//!
//! | name | unit | what |
//! | --- | --- | --- |
//! | `osier_build_info` | 1 | version of the node |
//! | `osier_topic_entries`, `_authors`, `_holes` | count | what is held of a topic |
//! | `osier_topic_synced`, `_complete` | 0 or 1 | synced to some extent; back to the beginning |
//! | `osier_topic_behind_entries` | count | entries known to be missing |
//! | `osier_topic_providers` | count | trusted and connected providers, by outcome |
//! | `osier_api_requests_total` | count | answers of this API, by status |
//! | `osier_api_streams` | count | event streams open |
//! | `osier_relay_*` | count | of the relay beside it, where one runs |
//! | `osier_relay_refused_total` | count | refusals, by what (`event`, `request`) and reason |

use std::sync::{Mutex, PoisonError, atomic::AtomicU64};

use osier::TopicInfo;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::Registry,
};

use crate::shape::RelayNumbers;

/// Media type of the text form.
pub(crate) const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Count = Gauge<u64, AtomicU64>;

/// The figures that last from one look to the next.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Family<ByStatus, Counter>,
    /// One look at a time: what is read anew is cleared first.
    looking: Mutex<()>,
}

/// What is read anew for each look.
pub(crate) struct Look<'a> {
    pub(crate) topics: &'a [TopicInfo],
    pub(crate) streams: usize,
    pub(crate) relay: Option<RelayNumbers>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByStatus {
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByTopic {
    topic: String,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    topic: String,
    name: String,
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    what: &'static str,
    reason: &'static str,
}

/// One figure of a topic: name, meaning, how it is read.
type Reading = (&'static str, &'static str, fn(&TopicInfo) -> u64);

const READINGS: &[Reading] = &[
    ("topic_entries", "Entries held", |it| it.entries),
    ("topic_authors", "Authors known", |it| it.authors),
    ("topic_holes", "Entries named and not held", |it| it.holes),
    ("topic_synced", "1 while synced to some extent", synced),
    (
        "topic_complete",
        "1 while synced to the beginning",
        complete,
    ),
    (
        "topic_behind_entries",
        "Entries known to be missing",
        behind,
    ),
];

fn synced(info: &TopicInfo) -> u64 {
    let state = info.state.as_ref();
    state.map_or(0, |state| u64::from(state.synced.is_some()))
}

fn complete(info: &TopicInfo) -> u64 {
    let state = info.state.as_ref();
    let synced = state.and_then(|state| state.synced.as_ref());
    synced.map_or(0, |synced| u64::from(synced.coverage.is_complete()))
}

fn behind(info: &TopicInfo) -> u64 {
    let state = info.state.as_ref();
    let behind = state.and_then(|state| state.behind);
    behind.map_or(0, |behind| behind.lag_entries)
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, status: u16) {
        self.requests.get_or_create(&ByStatus { status }).inc();
    }

    /// All figures now.
    pub(crate) fn render(&self, look: &Look<'_>) -> String {
        let _one = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut registry = Registry::with_prefix("osier");
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "The node", Info::new(version));
        let requests = self.requests.clone();
        registry.register("api_requests", "Answers of the local API", requests);
        register_topics(&mut registry, look.topics);
        let streams = u64::try_from(look.streams).unwrap_or(u64::MAX);
        register(&mut registry, "api_streams", "Event streams open", streams);
        if let Some(relay) = &look.relay {
            register_relay(&mut registry, relay);
        }
        let mut page = String::new();
        // Writing to a String cannot fail.
        let _ = text::encode(&mut page, &registry);
        page
    }
}

fn register_topics(registry: &mut Registry, topics: &[TopicInfo]) {
    for (name, help, read) in READINGS {
        let family = Family::<ByTopic, Count>::default();
        for info in topics {
            family.get_or_create(&by_topic(info)).set(read(info));
        }
        registry.register(*name, *help, family);
    }
    let family = Family::<ByOutcome, Count>::default();
    for info in topics {
        let providers = info.state.iter().flat_map(|state| &state.providers);
        for provider in providers.filter(|it| it.trusted && it.connected) {
            let ByTopic { topic, name } = by_topic(info);
            let outcome = provider.outcome.to_owned();
            let label = ByOutcome {
                topic,
                name,
                outcome,
            };
            family.get_or_create(&label).inc();
        }
    }
    let help = "Trusted and connected providers";
    registry.register("topic_providers", help, family);
}

fn by_topic(info: &TopicInfo) -> ByTopic {
    ByTopic {
        topic: info.id.to_string(),
        name: info.name.clone(),
    }
}

fn register(registry: &mut Registry, name: &str, help: &str, value: u64) {
    let gauge = Count::default();
    gauge.set(value);
    registry.register(name, help, gauge);
}

fn register_relay(registry: &mut Registry, relay: &RelayNumbers) {
    let now = [
        ("relay_connections", "Clients", Some(relay.connections)),
        ("relay_subscriptions", "Subscriptions", relay.subscriptions),
    ];
    for (name, help, value) in now {
        if let Some(value) = value {
            register(registry, name, help, value);
        }
    }
    let since_start = [
        ("relay_events_in", "Events taken", relay.events_in_total),
        (
            "relay_events_known",
            "Events that had come before",
            relay.events_known_total,
        ),
        ("relay_events_out", "Events sent", relay.events_out_total),
    ];
    for (name, help, value) in since_start {
        if let Some(value) = value {
            let counter = Counter::<u64>::default();
            counter.inc_by(value);
            registry.register(name, help, counter);
        }
    }
    if relay.refused_total.is_some() {
        let family = Family::<ByReason, Counter>::default();
        for it in &relay.refused {
            let (what, reason) = (it.what, it.reason);
            family
                .get_or_create(&ByReason { what, reason })
                .inc_by(it.total);
        }
        registry.register("relay_refused", "Refusals", family);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Refused;

    #[test]
    fn answers_are_counted_and_the_relay_is_told_of() {
        let metrics = Metrics::default();
        metrics.answered(200);
        metrics.answered(200);
        metrics.answered(404);
        let relay = RelayNumbers {
            connections: 3,
            events_in_total: Some(9),
            refused_total: Some(4),
            refused: vec![Refused {
                what: "event",
                reason: "rate-limited",
                total: 4,
            }],
            ..RelayNumbers::default()
        };
        let page = metrics.render(&Look {
            topics: &[],
            streams: 2,
            relay: Some(relay),
        });
        for line in [
            "osier_api_requests_total{status=\"200\"} 2",
            "osier_api_requests_total{status=\"404\"} 1",
            "osier_api_streams 2",
            "osier_relay_connections 3",
            "osier_relay_events_in_total 9",
            "osier_relay_refused_total{what=\"event\",reason=\"rate-limited\"} 4",
            "# EOF",
        ] {
            assert!(
                page.lines().any(|it| it == line),
                "{line} is not in:\n{page}"
            );
        }
        assert!(page.contains("osier_build_info{version="), "{page}");
        assert!(
            !page.contains("osier_relay_events_out"),
            "not counted, so not told: {page}"
        );
    }
}
