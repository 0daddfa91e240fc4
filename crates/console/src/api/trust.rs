//! `/v1/topics/{t}/trust`: whose word counts.

use axum::{
    Json,
    extract::{Path, State},
};
use osier::{NodeId, Rank, Role, Topic};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, resolve, topic::parse_role};
use crate::{
    error::{ApiError, ApiResult},
    server::Shared,
};

/// In which order and role a node is trusted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    rank: Option<u16>,
    role: Option<String>,
}

pub(crate) async fn list(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let rows = rows(&topic)?;
    Ok(Json(json!({ "topic": topic.id(), "trust": rows })))
}

pub(crate) async fn show(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = json!(parse_node(&node)?);
    let found = rows(&topic)?.into_iter().find(|row| row["node"] == node);
    let absent = || ApiError::not_found("this node is not on the trust list", "PUT it there");
    Ok(Json(found.ok_or_else(absent)?))
}

pub(crate) async fn add(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
    Body(standing): Body<Standing>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    let rank = standing.rank.map_or(Rank::DEFAULT, Rank::new);
    let role = match standing.role {
        Some(role) => parse_role(&role)?,
        None => Role::Archive,
    };
    topic.trust(node, rank, role).await?;
    Ok(Json(
        json!({ "node": node, "rank": rank.get(), "role": role, "trusted": true }),
    ))
}

pub(crate) async fn remove(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    topic.distrust(node).await?;
    Ok(Json(json!({ "node": node, "trusted": false })))
}

fn parse_node(node: &str) -> ApiResult<NodeId> {
    let hint = "a node id is 64 hex digits; `osier status` at that node prints it";
    node.parse()
        .map_err(|error: osier::IdTextInvalid| ApiError::bad(error.to_string(), hint))
}

fn rows(topic: &Topic) -> ApiResult<Vec<Value>> {
    let rows = topic.trust_list()?.into_iter().map(|trusted| {
        json!({
            "node": trusted.node,
            "trusted": trusted.rank.is_some(),
            "rank": trusted.rank.map(Rank::get),
            "role": trusted.role,
            "source": trusted.source,
        })
    });
    Ok(rows.collect())
}
