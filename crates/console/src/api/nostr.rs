//! `/v1/topics/{t}/nostr`: Nostr events from elsewhere, a line each; and from other relays.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use bytes::Bytes;
use serde_json::Value;

use super::{Body, resolve};
use crate::{
    error::{ApiError, ApiResult},
    server::{Nostr, Shared},
};

/// Takes Nostr events in, one a line.
///
/// Verifies each line, and appends the events that are new, as entries that the event index reads.
#[utoipa::path(post, path = "/v1/topics/{t}/nostr", tag = "entries",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, body = Value)))]
pub(crate) async fn import(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    lines: Bytes,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let bridge = bridge(&shared)?;
    let _writing = shared.writes.read().await;
    let imported = bridge.import(topic, lines).await;
    imported.map(Json).map_err(|error| {
        let hint = "send the lines again: what is held is passed over";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error, hint)
    })
}

/// Pulls events from another relay, pushes them there, or both.
///
/// Mirrors another relay: `{"url", "direction", "filter"?, "key"?, "patience_s"?, "again"?,
/// "follow"?}`. Ends when that is done, or the client goes away. Answers `{"paged_because",
/// "complete", "resumed", "received", "stored", "held", "refused", "sent", "taken", "rejected",
/// "reasons"}`.
#[utoipa::path(post, path = "/v1/topics/{t}/nostr/mirror", tag = "entries",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    request_body = Value, responses((status = 200, body = Value)))]
pub(crate) async fn mirror(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Body(order): Body<Value>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let mirrored = bridge(&shared)?.mirror(topic, order);
    let ended = tokio::select! {
        ended = mirrored => ended,
        () = shared.ending.cancelled() => Err("the node stops".to_owned()),
    };
    ended.map(Json).map_err(|error| {
        let hint = "what was transferred before is kept; run it again to go on";
        ApiError::new(StatusCode::BAD_GATEWAY, error, hint)
    })
}

fn bridge(shared: &Shared) -> ApiResult<&Arc<dyn Nostr>> {
    shared.nostr.as_ref().ok_or_else(|| {
        let error = "this node keeps no index of Nostr events";
        let hint = "ask a node of the `osier` command";
        ApiError::new(StatusCode::NOT_IMPLEMENTED, error, hint)
    })
}
