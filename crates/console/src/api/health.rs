//! `/healthz`, `/readyz`, `/v1/node`, `/v1/check`, `/v1/backup`: the node itself.

use axum::{Json, extract::State};

use super::Body;
use crate::{
    error::ApiResult,
    server::Shared,
    shape::{Backup, BackupMade, CheckReport, Node, hex},
};

/// The process serves.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// The store is open, the listeners are bound and the topics' states are loaded.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn ready(State(shared): State<Shared>) -> ApiResult<&'static str> {
    for topic in shared.osier.topics()? {
        topic.info().await?;
    }
    Ok("ready\n")
}

/// The node behind this API.
#[utoipa::path(get, path = "/v1/node", tag = "node", responses((status = 200, body = Node)))]
pub(crate) async fn node(State(shared): State<Shared>) -> Json<Node> {
    Json(Node {
        node: hex(shared.osier.id()),
        addresses: shared.osier.addresses(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        data_dir: shared.osier.home().dir().display().to_string(),
    })
}

/// Verifies the whole store: every signature, every derived table.
#[utoipa::path(post, path = "/v1/check", tag = "node",
    responses((status = 200, body = CheckReport)))]
pub(crate) async fn check(State(shared): State<Shared>) -> ApiResult<Json<CheckReport>> {
    let report = shared.osier.check().await?;
    Ok(Json(CheckReport {
        entries: report.entries,
        topics: report.topics,
        faults: report.faults,
    }))
}

/// Copies the store to a new file, as of now.
#[utoipa::path(post, path = "/v1/backup", tag = "node", request_body = Backup,
    responses((status = 200, body = BackupMade)))]
pub(crate) async fn backup(
    State(shared): State<Shared>,
    Body(backup): Body<Backup>,
) -> ApiResult<Json<BackupMade>> {
    let bytes = shared.osier.backup(&backup.path).await?;
    let path = backup.path.display().to_string();
    Ok(Json(BackupMade { path, bytes }))
}
