//! `/v1/topics/{t}/grants/{node}`: what the topic's owner says of whose word counts, for everybody.

use axum::{
    Json,
    extract::{Path, State},
};

use super::{
    Body, resolve,
    trust::{parse_node, read_standing},
};
use crate::{
    error::ApiResult,
    server::Shared,
    shape::{Distrusted, Standing, Trusted, hex},
};

/// Lets a node's word count for everybody in a topic that this node owns.
#[utoipa::path(put, path = "/v1/topics/{t}/grants/{node}", tag = "trust",
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
    topic.grant(node, rank, role).await?;
    Ok(Json(Trusted::new(&osier::Trusted {
        node,
        rank: Some(rank),
        role: Some(role),
        source: "grant",
    })))
}

/// Takes a grant back, for everybody.
#[utoipa::path(delete, path = "/v1/topics/{t}/grants/{node}", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        ("node" = String, Path, description = "A node id")),
    responses((status = 200, body = Distrusted)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
) -> ApiResult<Json<Distrusted>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    topic.revoke(node).await?;
    Ok(Json(Distrusted {
        node: hex(node),
        trusted: false,
    }))
}
