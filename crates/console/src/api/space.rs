//! `/v1/spaces`: several topics as one.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{self, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt};
use osier::{Space, SpaceWatch, Ticket};
use tokio::sync::OwnedSemaphorePermit;

use super::{Body, event::stream_permit, resolve};
use crate::{
    error::{ApiError, ApiResult},
    limit,
    server::Shared,
    shape::{self, AddSpace, Listed, SpaceMessage, Spaces, hex},
};

/// All spaces with their present state.
#[utoipa::path(get, path = "/v1/spaces", tag = "spaces",
    responses((status = 200, body = Spaces)))]
pub(crate) async fn list(State(shared): State<Shared>) -> ApiResult<Json<Spaces>> {
    let mut spaces = Vec::new();
    for space in shared.osier.spaces()? {
        spaces.push(describe(&space).await?);
    }
    Ok(Json(Spaces { spaces }))
}

/// Makes a space that this node owns, or joins one by its ticket, with all its topics.
#[utoipa::path(post, path = "/v1/spaces", tag = "spaces", request_body = AddSpace,
    responses((status = 201, body = shape::Space)))]
pub(crate) async fn add(
    State(shared): State<Shared>,
    Body(add): Body<AddSpace>,
) -> ApiResult<(StatusCode, Json<shape::Space>)> {
    let space = match (add.name, add.ticket) {
        (Some(name), None) => shared.osier.create_space(&name).await?,
        (None, Some(ticket)) => {
            let ticket: Ticket = ticket
                .parse()
                .map_err(|error: osier::TicketInvalid| ApiError::bad(error.to_string(), ""))?;
            shared.osier.join_space(&ticket).await?
        }
        _ => {
            let hint = "send {\"name\": ...} for a new space or {\"ticket\": ...} to join one";
            return Err(ApiError::bad("a space is either made or joined", hint));
        }
    };
    // Offline, the node that runs next follows it.
    if shared.osier.is_running() {
        space.follow().await?;
    }
    let described = describe(&space).await?.with_ticket(&space.ticket()?);
    Ok((StatusCode::CREATED, Json(described)))
}

/// One space with its present state.
#[utoipa::path(get, path = "/v1/spaces/{s}", tag = "spaces",
    params(("s" = String, Path, description = "A space: the id of its control topic, the start of \
        one, or its name")),
    responses((status = 200, body = shape::Space)))]
pub(crate) async fn show(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Json<shape::Space>> {
    Ok(Json(describe(&space(&shared, &named).await?).await?))
}

/// Adds a topic of this node to a space that it owns.
#[utoipa::path(put, path = "/v1/spaces/{s}/topics/{t}", tag = "spaces",
    params(("s" = String, Path, description = "A space"),
        ("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    responses((status = 200, body = Listed)))]
pub(crate) async fn put(
    State(shared): State<Shared>,
    Path((named, topic)): Path<(String, String)>,
) -> ApiResult<Json<Listed>> {
    let space = space(&shared, &named).await?;
    let topic = resolve::topic(&shared.osier, &topic).await?;
    let version = space.add(&topic).await?;
    let space = hex(space.id());
    Ok(Json(Listed { space, version }))
}

/// Takes a topic off the list of a space that this node owns.
#[utoipa::path(delete, path = "/v1/spaces/{s}/topics/{t}", tag = "spaces",
    params(("s" = String, Path, description = "A space"),
        ("t" = String, Path, description = "A topic: its id, the start of one, or its name")),
    responses((status = 200, body = Listed)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    Path((named, topic)): Path<(String, String)>,
) -> ApiResult<Json<Listed>> {
    let space = space(&shared, &named).await?;
    let topic = resolve::topic(&shared.osier, &topic).await?;
    let version = space.remove(topic.id()).await?;
    let space = hex(space.id());
    Ok(Json(Listed { space, version }))
}

/// What becomes of a space: its present state, and one word when every topic is synced.
///
/// Server-sent events; each `data:` is one message.
#[utoipa::path(get, path = "/v1/spaces/{s}/events", tag = "spaces",
    params(("s" = String, Path, description = "A space")),
    responses((status = 200, body = SpaceMessage, content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path(named): Path<String>,
) -> ApiResult<Response> {
    let space = space(&shared, &named).await?;
    let permit = stream_permit(&shared)?;
    let watch = space.watch().await?;
    let ending = shared.ending.clone().cancelled_owned();
    let messages = messages(watch, permit).take_until(ending);
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(limit::KEEP_ALIVE_S));
    Ok(Sse::new(messages).keep_alive(keep_alive).into_response())
}

fn messages(
    watch: SpaceWatch,
    permit: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    futures_util::stream::unfold((watch, permit), |(mut watch, permit)| async move {
        let event = watch.next().await?;
        let data = serde_json::to_string(&SpaceMessage::new(&event));
        let data = data.expect("a message has only text, numbers and lists");
        Some((Ok(sse::Event::default().data(data)), (watch, permit)))
    })
}

async fn space(shared: &Shared, named: &str) -> ApiResult<Space> {
    let control = resolve::topic(&shared.osier, named).await?;
    Ok(shared.osier.space(control.id())?)
}

async fn describe(space: &Space) -> ApiResult<shape::Space> {
    Ok(shape::Space::new(space, &space.state().await?))
}
