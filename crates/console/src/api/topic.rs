//! `/v1/topics`: list, make, join, look at, leave.

#![expect(
    unused_qualifications,
    reason = "in what utoipa makes of the parameters"
)]

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use osier::{Role, Ticket, Topic, Writing};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Body, Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    server::Shared,
    shape::{self, AddTopic, Left, SetRule, TicketOf, Topics, hex},
};

/// How a topic is left.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leave {
    /// Said where this node archives the topic: its history here is removed.
    #[serde(default)]
    #[param(required = false)]
    delete_history: bool,
}

/// All topics with their present state.
#[utoipa::path(get, path = "/v1/topics", tag = "topics",
    responses((status = 200, body = Topics)))]
pub(crate) async fn list(State(shared): State<Shared>) -> ApiResult<Json<Topics>> {
    let mut topics = Vec::new();
    for topic in shared.osier.topics()? {
        topics.push(describe(&topic).await?);
    }
    Ok(Json(Topics { topics }))
}

/// Makes a topic that this node owns, or joins one by its ticket.
#[utoipa::path(post, path = "/v1/topics", tag = "topics", request_body = AddTopic,
    responses((status = 201, body = shape::Topic)))]
pub(crate) async fn add(
    State(shared): State<Shared>,
    Body(add): Body<AddTopic>,
) -> ApiResult<(StatusCode, Json<shape::Topic>)> {
    let topic = match (add.name, add.ticket) {
        (Some(name), None) => {
            let writing = parse_writing(add.writing.as_deref())?;
            shared.osier.create_topic_for(writing, &name).await?
        }
        (None, Some(ticket)) => join(&shared, &ticket, add.role.as_deref()).await?,
        _ => {
            let hint = "send {\"name\": ...} for a new topic or {\"ticket\": ...} to join one";
            return Err(ApiError::bad("a topic is either made or joined", hint));
        }
    };
    let described = describe(&topic).await?.with_ticket(&topic.ticket()?);
    Ok((StatusCode::CREATED, Json(described)))
}

fn parse_writing(writing: Option<&str>) -> ApiResult<Writing> {
    let parsed = writing.map_or(Ok(Writing::Open), str::parse);
    parsed.map_err(|error| ApiError::bad(error, "leave it out for an open topic"))
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

/// One topic with its present state.
#[utoipa::path(get, path = "/v1/topics/{t}", tag = "topics",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    responses((status = 200, body = shape::Topic)))]
pub(crate) async fn show(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<shape::Topic>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    Ok(Json(describe(&topic).await?))
}

/// A topic's ticket, with this node's present addresses. Whoever has it can read the topic.
#[utoipa::path(get, path = "/v1/topics/{t}/ticket", tag = "topics",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    responses((status = 200, body = TicketOf)))]
pub(crate) async fn ticket(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<TicketOf>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    Ok(Json(TicketOf {
        topic: hex(topic.id()),
        name: topic.name().to_owned(),
        ticket: topic.ticket()?.to_string(),
    }))
}

/// Chooses when a topic's history counts as complete.
#[utoipa::path(post, path = "/v1/topics/{t}/rule", tag = "topics",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    request_body = SetRule, responses((status = 200, body = shape::Topic)))]
pub(crate) async fn rule(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Body(set): Body<SetRule>,
) -> ApiResult<Json<shape::Topic>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let rule = set.rule.parse().map_err(|error: osier::RuleTextInvalid| {
        ApiError::bad(error.to_string(), "the default is storage-first")
    })?;
    topic.set_rule(rule).await?;
    Ok(Json(describe(&topic).await?))
}

/// Leaves a topic and removes its history from this node.
#[utoipa::path(delete, path = "/v1/topics/{t}", tag = "topics",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        Leave),
    responses((status = 200, body = Left)))]
pub(crate) async fn leave(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(leave): Params<Leave>,
) -> ApiResult<Json<Left>> {
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
    let left = hex(id);
    Ok(Json(Left { left, name }))
}

/// A topic as the API shows it: what the store knows, and the present state while it runs.
async fn describe(topic: &Topic) -> ApiResult<shape::Topic> {
    Ok(shape::Topic::new(&topic.info().await?))
}
