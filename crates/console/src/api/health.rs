//! `/healthz`, `/readyz`, `/v1/node`, `/v1/check`, `/v1/backup`: the node itself.

use std::path::PathBuf;

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Body;
use crate::{error::ApiResult, server::Shared};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backup {
    path: PathBuf,
}

/// The process serves.
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// The store is open, the listeners are bound and the topics' states are loaded.
pub(crate) async fn ready(State(shared): State<Shared>) -> ApiResult<&'static str> {
    for topic in shared.osier.topics()? {
        topic.info().await?;
    }
    Ok("ready\n")
}

pub(crate) async fn node(State(shared): State<Shared>) -> Json<Value> {
    Json(json!({
        "node": shared.osier.id(),
        "addresses": shared.osier.addresses(),
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "data_dir": shared.osier.home().dir(),
    }))
}

pub(crate) async fn check(State(shared): State<Shared>) -> ApiResult<Json<Value>> {
    let report = shared.osier.check().await?;
    Ok(Json(json!({
        "entries": report.entries,
        "topics": report.topics,
        "faults": report.faults,
    })))
}

pub(crate) async fn backup(
    State(shared): State<Shared>,
    Body(backup): Body<Backup>,
) -> ApiResult<Json<Value>> {
    let bytes = shared.osier.backup(&backup.path).await?;
    Ok(Json(json!({ "path": backup.path, "bytes": bytes })))
}
