//! `GET /v1/topics/{t}/events`: what an app sees, as server-sent events.
//!
//! `id:` is a position. A client that comes back with `Last-Event-ID` (or `?from=`) goes on exactly
//! there: no entry is left out or shown twice. The first message is always the present state.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{self, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt};
use osier::{Position, Topic, TopicId, Watch};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use super::{Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    json, limit,
    server::Shared,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    from: Option<String>,
}

pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(from): Params<From>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let last = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    let from = position(&topic, last.or(from.from.as_deref())).await?;
    let permit = shared.streams.clone().try_acquire_owned().map_err(|_| {
        let error = "too many event streams are open";
        let hint = "close one, or raise limits.streams_max in osier.toml";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error, hint)
    })?;
    let watch = topic.watch(from).await?;
    let ending = shared.ending.clone().cancelled_owned();
    let messages = messages(topic.id(), watch, permit).take_until(ending);
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(limit::KEEP_ALIVE_S));
    Ok(Sse::new(messages).keep_alive(keep_alive).into_response())
}

/// `start`, `now`, or a position; the start when nothing is said.
async fn position(topic: &Topic, from: Option<&str>) -> ApiResult<Position> {
    match from {
        None => Ok(Position::START),
        Some("now") => Ok(topic.info().await?.end),
        Some(text) => text.parse().map_err(|error: osier::PositionTextInvalid| {
            ApiError::bad(
                error.to_string(),
                "leave it out to begin at the first entry",
            )
        }),
    }
}

fn messages(
    topic: TopicId,
    watch: Watch,
    permit: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    futures_util::stream::unfold((watch, permit), move |(mut watch, permit)| async move {
        let event = watch.next().await?;
        let at = watch.position();
        let data = json::event(topic, at, &event).to_string();
        let message = sse::Event::default().id(at.to_string()).data(data);
        Some((Ok(message), (watch, permit)))
    })
}
