//! `/v1/providers` and `/v1/sessions`: who serves, and how they did.

use axum::{Json, extract::State};
use osier::ProviderState;

use crate::{
    error::ApiResult,
    server::Shared,
    shape::{ProviderOf, Providers, Sessions},
};

/// Every provider of every topic: role, rank, outcome, deadline.
#[utoipa::path(get, path = "/v1/providers", tag = "providers",
    responses((status = 200, body = Providers)))]
pub(crate) async fn providers(State(shared): State<Shared>) -> ApiResult<Json<Providers>> {
    let providers = rows(&shared, |_| true).await?;
    Ok(Json(Providers { providers }))
}

/// The providers with a session, present or past.
#[utoipa::path(get, path = "/v1/sessions", tag = "providers",
    responses((status = 200, body = Sessions)))]
pub(crate) async fn sessions(State(shared): State<Shared>) -> ApiResult<Json<Sessions>> {
    let sessions = rows(&shared, |provider| provider.session.is_some()).await?;
    Ok(Json(Sessions { sessions }))
}

async fn rows(shared: &Shared, keep: fn(&ProviderState) -> bool) -> ApiResult<Vec<ProviderOf>> {
    let mut rows = Vec::new();
    for topic in shared.osier.topics()? {
        let Some(state) = topic.info().await?.state else {
            continue;
        };
        let kept = state.providers.iter().filter(|provider| keep(provider));
        rows.extend(kept.map(|provider| ProviderOf::new(&topic, provider)));
    }
    Ok(rows)
}
