//! `/v1/topics/{t}/grants/{node}`: what the topic's owner says of whose word counts, for everybody.

#![expect(
    unused_qualifications,
    reason = "in what utoipa makes of the parameters"
)]

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    Body, Params, resolve,
    trust::{parse_node, read_standing},
};
use crate::{
    error::{ApiError, ApiResult},
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

/// What a revocation leaves.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Revocation {
    /// In a granted topic: the hash of the last entry of the node that counts, or `none`. Left out:
    /// the last that this node holds.
    #[param(required = false)]
    after: Option<String>,
}

/// Takes a grant back, for everybody. In a granted topic the node may write no more, and what it
/// wrote after the entry named leaves the history.
#[utoipa::path(delete, path = "/v1/topics/{t}/grants/{node}", tag = "trust",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        ("node" = String, Path, description = "A node id"), Revocation),
    responses((status = 200, body = Distrusted)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    Path((named, node)): Path<(String, String)>,
    Params(revocation): Params<Revocation>,
) -> ApiResult<Json<Distrusted>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let node = parse_node(&node)?;
    match revocation.after.as_deref() {
        None => topic.revoke(node).await?,
        Some("none") => topic.revoke_after(node, None).await?,
        Some(hash) => {
            let hash = hash.parse().map_err(|error: osier::IdTextInvalid| {
                ApiError::bad(error.to_string(), "`osier log` shows hashes")
            })?;
            topic.revoke_after(node, Some(hash)).await?
        }
    };
    Ok(Json(Distrusted {
        node: hex(node),
        trusted: false,
    }))
}
