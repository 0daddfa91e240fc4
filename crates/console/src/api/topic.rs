//! `/v1/topics`: list, make, join, look at, leave.

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use osier::{Role, Ticket, Topic};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    server::Shared,
};

/// What makes a topic: a name for a new one, or a ticket for one to join.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Add {
    name: Option<String>,
    ticket: Option<String>,
    role: Option<String>,
}

/// How a topic is left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leave {
    #[serde(default)]
    delete_history: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetRule {
    rule: String,
}

pub(crate) async fn list(State(shared): State<Shared>) -> ApiResult<Json<Value>> {
    let mut topics = Vec::new();
    for topic in shared.osier.topics()? {
        topics.push(describe(&topic).await?);
    }
    Ok(Json(json!({ "topics": topics })))
}

pub(crate) async fn add(
    State(shared): State<Shared>,
    Body(add): Body<Add>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let topic = match (add.name, add.ticket) {
        (Some(name), None) => shared.osier.create_topic(&name).await?,
        (None, Some(ticket)) => join(&shared, &ticket, add.role.as_deref()).await?,
        _ => {
            let hint = "send {\"name\": ...} for a new topic or {\"ticket\": ...} to join one";
            return Err(ApiError::bad("a topic is either made or joined", hint));
        }
    };
    let mut described = describe(&topic).await?;
    described["ticket"] = json!(topic.ticket()?.to_string());
    Ok((StatusCode::CREATED, Json(described)))
}

async fn join(shared: &Shared, ticket: &str, role: Option<&str>) -> ApiResult<Topic> {
    let ticket: Ticket = ticket
        .parse()
        .map_err(|error: osier::TicketInvalid| ApiError::bad(error.to_string(), ""))?;
    let role = match role {
        Some(role) => parse_role(role)?,
        None => Role::Peer,
    };
    Ok(shared.osier.join_as(&ticket, role).await?)
}

pub(crate) fn parse_role(role: &str) -> ApiResult<Role> {
    role.parse()
        .map_err(|error: String| ApiError::bad(error, "a role says what a node keeps"))
}

pub(crate) async fn show(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<Value>> {
    Ok(Json(
        describe(&resolve::topic(&shared.osier, &named).await?).await?,
    ))
}

pub(crate) async fn ticket(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let ticket = topic.ticket()?.to_string();
    Ok(Json(
        json!({ "topic": topic.id(), "name": topic.name(), "ticket": ticket }),
    ))
}

pub(crate) async fn rule(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Body(set): Body<SetRule>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let rule = set.rule.parse().map_err(|error: osier::RuleTextInvalid| {
        ApiError::bad(error.to_string(), "the default is storage-first")
    })?;
    topic.set_rule(rule).await?;
    Ok(Json(describe(&topic).await?))
}

pub(crate) async fn leave(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(leave): Params<Leave>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let (id, name) = (topic.id(), topic.name().to_owned());
    let info = topic.info().await?;
    let kept_for_others = info.owned || info.role == Role::Archive;
    if kept_for_others && info.entries > 0 && !leave.delete_history {
        let error = format!("leaving {name:?} would delete the history that this node archives");
        let hint = "say so with --delete-history (delete_history=true), after `osier backup`";
        return Err(ApiError::bad(error, hint));
    }
    shared.osier.leave(id).await?;
    Ok(Json(json!({ "left": id, "name": name })))
}

/// A topic as the API shows it: what the store knows, and the present state while it runs.
pub(crate) async fn describe(topic: &Topic) -> ApiResult<Value> {
    let info = topic.info().await?;
    let mut value = match &info.state {
        Some(state) => serde_json::to_value(state).unwrap_or_else(|_| json!({})),
        None => json!({ "phase": "offline", "synced": null, "providers": [] }),
    };
    value["id"] = json!(info.id);
    value["name"] = json!(info.name);
    value["owner"] = json!(info.owner);
    value["owned"] = json!(info.owned);
    value["role"] = json!(info.role);
    value["rule"] = json!(info.rule.to_string());
    value["entries"] = json!(info.entries);
    value["authors"] = json!(info.authors);
    value["holes"] = json!(info.holes);
    value["state_hash"] = json!(info.state_hash);
    value["coverage"] = json!(info.coverage);
    value["position"] = json!(info.end);
    value["own_seq"] = json!(info.own_seq);
    Ok(value)
}
