//! `osier status`: topics, providers, and how complete history is.

use serde_json::{Value, json};

use super::{Context, topic};
use crate::{
    api::topic_path,
    failure::Outcome,
    reach::{Missing, Reach},
    table::Table,
    text,
};

pub(crate) fn run(context: &Context, named: Option<&str>) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    if let Some(named) = named {
        let shown = reach.api.get(&topic_path(named))?;
        return context.out.either(&shown, &describe(context, &shown));
    }
    let node = reach.api.get("/v1/node")?;
    let answer = reach.api.get("/v1/topics")?;
    let topics = answer["topics"].as_array().cloned().unwrap_or_default();
    let value = json!({
        "node": node["node"],
        "running": reach.is_running(),
        "addresses": node["addresses"],
        "version": node["version"],
        "data_dir": node["data_dir"],
        "topics": topics,
    });
    context.out.either(&value, &whole(context, &value, &topics))
}

fn whole(context: &Context, node: &Value, topics: &[Value]) -> String {
    let id = node["node"].as_str().unwrap_or_default();
    let place = match node["running"].as_bool() {
        Some(true) => format!("running at {}", list(&node["addresses"])),
        _ => "not running".to_owned(),
    };
    let mut parts = vec![format!("node {id}, {place}"), topic::table(context, topics)];
    for topic in topics {
        let providers = providers(topic);
        if !providers.is_empty() {
            let name = topic["name"].as_str().unwrap_or_default();
            parts.push(format!("providers of {name}\n{}", providers.render()));
        }
    }
    parts.join("\n\n")
}

fn list(values: &Value) -> String {
    let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    if texts.is_empty() {
        "-".to_owned()
    } else {
        texts.join(", ")
    }
}

/// One topic, a fact a line.
pub(super) fn describe(context: &Context, topic: &Value) -> String {
    let mut lines = vec![
        (
            "topic",
            topic["name"].as_str().unwrap_or_default().to_owned(),
        ),
        ("id", topic["id"].as_str().unwrap_or_default().to_owned()),
        ("owner", owner(topic)),
        ("writing", writing(topic)),
        (
            "role",
            topic["role"].as_str().unwrap_or_default().to_owned(),
        ),
        (
            "rule",
            topic["rule"].as_str().unwrap_or_default().to_owned(),
        ),
        ("phase", text::phase(context.out, &topic["phase"])),
        ("entries", topic["entries"].to_string()),
        ("authors", topic["authors"].to_string()),
        ("holes", topic["holes"].to_string()),
        ("held", text::coverage(&topic["coverage"])),
        (
            "state",
            topic["state_hash"].as_str().unwrap_or_default().to_owned(),
        ),
    ];
    if topic["synced"].is_object() {
        lines.push(("synced", text::synced(&topic["synced"])));
    }
    if let Some(why) = topic["why"].as_str() {
        lines.push(("why", why.to_owned()));
    }
    let lines: Vec<String> = lines
        .into_iter()
        .map(|(name, value)| format!("{name:<8} {value}"))
        .collect();
    let providers = providers(topic);
    if providers.is_empty() {
        return lines.join("\n");
    }
    format!("{}\n\n{}", lines.join("\n"), providers.render())
}

fn writing(topic: &Value) -> String {
    let writing = topic["writing"].as_str().unwrap_or_default();
    let may = match topic["may_write"].as_bool() {
        Some(false) => " (not by this node)",
        _ => "",
    };
    format!("{writing}{may}")
}

fn owner(topic: &Value) -> String {
    let owner = topic["owner"].as_str().unwrap_or_default();
    let own = if topic["owned"].as_bool() == Some(true) {
        " (this node)"
    } else {
        ""
    };
    format!("{owner}{own}")
}

fn providers(topic: &Value) -> Table {
    let headings = [
        "provider", "rank", "role", "link", "outcome", "received", "deadline",
    ];
    let mut table = Table::new(&headings);
    for provider in topic["providers"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        table.row(provider_row(provider));
    }
    table
}

fn provider_row(provider: &Value) -> Vec<String> {
    let rank = match provider["rank"].as_u64() {
        Some(rank) => rank.to_string(),
        None => "not trusted".to_owned(),
    };
    let link = if provider["connected"].as_bool() == Some(true) {
        "up"
    } else {
        "down"
    };
    let outcome = provider["outcome"].as_str().unwrap_or("-");
    let outcome = match provider["detail"].as_str() {
        Some(detail) if !detail.is_empty() => format!("{outcome}: {detail}"),
        _ => outcome.to_owned(),
    };
    let received = match provider["expected"].as_u64() {
        Some(expected) => format!("{}/{expected}", provider["received"]),
        None => provider["received"].to_string(),
    };
    let deadline = provider["deadline_ms"].as_u64();
    vec![
        text::short(&provider["node"]),
        rank,
        provider["role"].as_str().unwrap_or("-").to_owned(),
        link.to_owned(),
        outcome,
        received,
        deadline.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms")),
    ]
}
