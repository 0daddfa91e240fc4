//! `/v1/providers` and `/v1/sessions`: who serves, and how they did.

use axum::{Json, extract::State};
use osier::{ProviderState, Topic};
use serde_json::{Value, json};

use crate::{error::ApiResult, server::Shared};

pub(crate) async fn providers(State(shared): State<Shared>) -> ApiResult<Json<Value>> {
    let providers = rows(&shared, |_| true).await?;
    Ok(Json(json!({ "providers": providers })))
}

pub(crate) async fn sessions(State(shared): State<Shared>) -> ApiResult<Json<Value>> {
    let sessions = rows(&shared, |provider| provider.session.is_some()).await?;
    Ok(Json(json!({ "sessions": sessions })))
}

async fn rows(shared: &Shared, keep: fn(&ProviderState) -> bool) -> ApiResult<Vec<Value>> {
    let mut rows = Vec::new();
    for topic in shared.osier.topics()? {
        let Some(state) = topic.info().await?.state else {
            continue;
        };
        let kept = state.providers.iter().filter(|provider| keep(provider));
        rows.extend(kept.map(|provider| row(&topic, provider)));
    }
    Ok(rows)
}

fn row(topic: &Topic, provider: &ProviderState) -> Value {
    let mut value = serde_json::to_value(provider).unwrap_or_else(|_| json!({}));
    value["topic"] = json!(topic.id());
    value["name"] = json!(topic.name());
    value
}
