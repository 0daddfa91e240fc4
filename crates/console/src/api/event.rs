//! `GET /v1/topics/{t}/events`: what an app sees, as server-sent events.
//!
//! `id:` is a position. A client that comes back with `Last-Event-ID` (or `?from=`) goes on exactly
//! there: no entry is left out or shown twice. The first message is always the present state.

#![expect(
    unused_qualifications,
    reason = "in what utoipa makes of the parameters"
)]

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
use utoipa::IntoParams;

use super::{Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    limit,
    server::Shared,
    shape::Message,
};

/// Where to begin.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    /// `start`, `now`, or the `position` of a message: what follows it is told. `start` when left
    /// out. `Last-Event-ID` goes before it.
    from: Option<String>,
    /// Instead of `from`: begin with the newest entries, at most so many.
    tail: Option<u64>,
}

/// What an app sees of a topic: the present state, entries, and events.
///
/// Server-sent events. Each `data:` is one message, each `id:` its position; a client that comes
/// back with `Last-Event-ID` goes on exactly there.
#[utoipa::path(get, path = "/v1/topics/{t}/events", tag = "entries",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        From,
        ("Last-Event-ID" = Option<String>, Header, description = "The last position seen")),
    responses((status = 200, body = Message, content_type = "text/event-stream")))]
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
    let from = position(&topic, last, &from).await?;
    let permit = stream_permit(&shared)?;
    let watch = topic.watch(from).await?;
    let ending = shared.ending.clone().cancelled_owned();
    let messages = messages(topic.id(), watch, permit).take_until(ending);
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(limit::KEEP_ALIVE_S));
    Ok(Sse::new(messages).keep_alive(keep_alive).into_response())
}

/// Leave to hold one more event stream open.
pub(super) fn stream_permit(shared: &Shared) -> ApiResult<OwnedSemaphorePermit> {
    shared.streams.clone().try_acquire_owned().map_err(|_| {
        let error = "too many event streams are open";
        let hint = "close one, or raise limits.streams_max in osier.toml";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error, hint)
    })
}

/// Where the stream begins; the start when nothing is said.
async fn position(topic: &Topic, last: Option<&str>, from: &From) -> ApiResult<Position> {
    if let (None, Some(entries)) = (last, from.tail) {
        if from.from.is_some() {
            let hint = "use one of them";
            return Err(ApiError::bad("`from` and `tail` are both given", hint));
        }
        return Ok(topic.before_last(entries).await?);
    }
    match last.or(from.from.as_deref()) {
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
        let message = sse::Event::default().id(at.to_string());
        let data = serde_json::to_string(&Message::new(topic, at, &event));
        let message = message.data(data.expect("a message has only text, numbers and lists"));
        Some((Ok(message), (watch, permit)))
    })
}
