//! `/metrics`: Prometheus text.

use std::fmt::Write;

use axum::{extract::State, http::header, response::IntoResponse};
use osier::TopicInfo;

use crate::{error::ApiResult, server::Shared};

/// Content type of the Prometheus text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// One figure of a topic.
type Gauge = (&'static str, &'static str, fn(&TopicInfo) -> u64);

const GAUGES: &[Gauge] = &[
    ("osier_topic_entries", "Entries held.", |it| it.entries),
    ("osier_topic_authors", "Authors known.", |it| it.authors),
    ("osier_topic_holes", "Entries named and not held.", |it| {
        it.holes
    }),
    (
        "osier_topic_synced",
        "1 while history is synced to some extent.",
        |it| {
            it.state
                .as_ref()
                .map_or(0, |state| u64::from(state.synced.is_some()))
        },
    ),
    (
        "osier_topic_complete",
        "1 while history is synced back to the beginning.",
        |it| {
            let synced = it.state.as_ref().and_then(|state| state.synced.as_ref());
            synced.map_or(0, |synced| u64::from(synced.coverage.is_complete()))
        },
    ),
    (
        "osier_topic_providers_connected",
        "Providers that can be reached.",
        |it| {
            it.state.as_ref().map_or(0, |state| {
                state
                    .providers
                    .iter()
                    .filter(|provider| provider.connected)
                    .count() as u64
            })
        },
    ),
];

pub(crate) async fn page(State(shared): State<Shared>) -> ApiResult<impl IntoResponse> {
    let mut infos = Vec::new();
    for topic in shared.osier.topics()? {
        infos.push(topic.info().await?);
    }
    Ok(([(header::CONTENT_TYPE, TEXT)], render(&infos)))
}

fn render(infos: &[TopicInfo]) -> String {
    let mut page = String::new();
    let version = env!("CARGO_PKG_VERSION");
    page.push_str("# HELP osier_build_info Version of the node.\n# TYPE osier_build_info gauge\n");
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(page, "osier_build_info{{version=\"{version}\"}} 1");
    for (name, help, read) in GAUGES {
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} gauge");
        for info in infos {
            let topic_name = escape(&info.name);
            let (topic, value) = (info.id, read(info));
            let _ = writeln!(
                page,
                "{name}{{topic=\"{topic}\",name=\"{topic_name}\"}} {value}"
            );
        }
    }
    page
}

/// A label's value may not hold these as they are.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_the_page() {
        assert_eq!(escape("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
        assert!(render(&[]).contains("osier_build_info{version="));
    }
}
