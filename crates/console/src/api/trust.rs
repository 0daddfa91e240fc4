//! `/v1/topics/{t}/trust`: whose word counts.

use axum::{
    Json,
    extract::{Path, State},
};
use osier::{NodeId, Rank, Role};

use super::{Body, resolve, topic::parse_role};
use crate::{
    error::{ApiError, ApiResult},
    server::Shared,
    shape::{Distrusted, Standing, Trust, Trusted, hex},
};

/// Whose word counts in a topic.
#[utoipa::path(get, path = "/v1/topics/{t}/trust", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    responses((status = 200, body = Trust)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<Trust>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let trust = topic.trust_list()?.iter().map(Trusted::new).collect();
    let topic = hex(topic.id());
    Ok(Json(Trust { topic, trust }))
}

/// Whether one node's word counts.
#[utoipa::path(get, path = "/v1/topics/{t}/trust/{node}", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        ("node" = String, Path, description = "A node id")),
    responses((status = 200, body = Trusted)))]
pub(crate) async fn show(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
) -> ApiResult<Json<Trusted>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    let found = topic.trust_list()?.into_iter().find(|it| it.node == node);
    let absent = || ApiError::not_found("this node is not on the trust list", "PUT it there");
    Ok(Json(Trusted::new(&found.ok_or_else(absent)?)))
}

/// Lets a node's word count.
#[utoipa::path(put, path = "/v1/topics/{t}/trust/{node}", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        ("node" = String, Path, description = "A node id")),
    request_body = Standing, responses((status = 200, body = Trusted)))]
pub(crate) async fn add(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
    Body(standing): Body<Standing>,
) -> ApiResult<Json<Trusted>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    let (rank, role) = read_standing(&standing)?;
    topic.trust(node, rank, role).await?;
    Ok(Json(Trusted::new(&osier::Trusted {
        node,
        rank: Some(rank),
        role: Some(role),
        source: "own",
    })))
}

/// Does not let a node's word count any more.
#[utoipa::path(delete, path = "/v1/topics/{t}/trust/{node}", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        ("node" = String, Path, description = "A node id")),
    responses((status = 200, body = Distrusted)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
) -> ApiResult<Json<Distrusted>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    topic.distrust(node).await?;
    let node = hex(node);
    Ok(Json(Distrusted {
        node,
        trusted: false,
    }))
}

/// What a request says of a node's standing, with what it leaves out.
pub(super) fn read_standing(standing: &Standing) -> ApiResult<(Rank, Role)> {
    let rank = standing.rank.map_or(Rank::DEFAULT, Rank::new);
    let role = standing.role.as_deref().map(parse_role).transpose()?;
    Ok((rank, role.unwrap_or(Role::Archive)))
}

pub(super) fn parse_node(node: &str) -> ApiResult<NodeId> {
    let hint = "a node id is 64 hex digits; `osier status` at that node prints it";
    node.parse()
        .map_err(|error: osier::IdTextInvalid| ApiError::bad(error.to_string(), hint))
}
