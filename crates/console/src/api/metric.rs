//! `/metrics`: figures for Prometheus.

use axum::{extract::State, http::header, response::IntoResponse};

use crate::{
    error::ApiResult,
    metric::{self, Look},
    server::{RelayFigures, Shared},
};

/// Figures in the text form that Prometheus reads.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn page(State(shared): State<Shared>) -> ApiResult<impl IntoResponse> {
    let mut topics = Vec::new();
    for topic in shared.osier.topics()? {
        topics.push(topic.info().await?);
    }
    let look = Look {
        topics: &topics,
        streams: shared
            .streams_max
            .saturating_sub(shared.streams.available_permits()),
        relay: shared.relay.as_ref().map(RelayFigures::read),
    };
    let page = shared.metrics.render(&look);
    Ok(([(header::CONTENT_TYPE, metric::TEXT)], page))
}
