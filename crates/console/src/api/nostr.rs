//! `/v1/topics/{t}/nostr`: Nostr events from elsewhere, a line each.

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use bytes::Bytes;
use serde_json::Value;

use super::resolve;
use crate::{
    error::{ApiError, ApiResult},
    server::Shared,
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
    let Some(nostr) = shared.nostr else {
        let error = "this node keeps no index of Nostr events";
        let hint = "send them as entries, or to a node of the `osier` command";
        return Err(ApiError::new(StatusCode::NOT_IMPLEMENTED, error, hint));
    };
    let _writing = shared.writes.read().await;
    match nostr.import(topic, lines).await {
        Ok(done) => Ok(Json(done)),
        Err(error) => {
            let hint = "send the lines again: what is held is passed over";
            Err(ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                error,
                hint,
            ))
        }
    }
}
