//! `/v1/topics/{t}/entries`: read pages, append.

#![expect(
    unused_qualifications,
    reason = "in what utoipa makes of the parameters"
)]

mod lines;

use axum::{
    Json, RequestExt,
    extract::{FromRequest, Path, Request, State},
    http::{StatusCode, header},
};
use bytes::Bytes;
use osier::{CausalMark, Order, Position, TimeMark, Topic};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Body, Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    limit,
    server::Shared,
    shape::{Draft, Entry, EntryPage, Publish, Written, hex},
};

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// The `next` of the page before; the first entry when left out.
    after: Option<String>,
    /// At most so many entries: 1 to 1000, 100 when left out.
    limit: Option<usize>,
    /// `arrival` as they came (when left out), `time` by the authors' clocks, or `causal`: each
    /// after all that it names.
    order: Option<String>,
}

/// What must be true for a write to happen.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlyIf {
    /// Write only if this node has written so many entries to the topic so far.
    own_seq: Option<u64>,
}

impl Draft {
    fn bytes(self) -> ApiResult<Bytes> {
        match self {
            Self::Plain(text) | Self::Text { text } => Ok(Bytes::from(text)),
            Self::Base64 { base64 } => {
                let bytes = data_encoding::BASE64.decode(base64.as_bytes());
                bytes.map(Bytes::from).map_err(|error| {
                    ApiError::bad(
                        format!("an entry is not base64: {error}"),
                        "use {\"text\": ...}",
                    )
                })
            }
        }
    }
}

/// A page of history.
#[utoipa::path(get, path = "/v1/topics/{t}/entries", tag = "entries",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        Page),
    responses((status = 200, body = EntryPage)))]
pub(crate) async fn page(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(page): Params<Page>,
) -> ApiResult<Json<EntryPage>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let order = order(page.order.as_deref(), page.after.as_deref())?;
    let limit = page.limit.unwrap_or(limit::PAGE_ENTRIES_DEFAULT);
    let limit = limit.clamp(1, limit::PAGE_ENTRIES_MAX);
    let found = topic.page(order, limit).await?;
    let entries = found.entries.iter();
    let next = match found.next {
        Order::Arrival { after } => after.to_string(),
        Order::Time { after } => after.to_string(),
        Order::Causal { after } => after.to_string(),
    };
    Ok(Json(EntryPage {
        entries: entries.map(|(at, entry)| Entry::new(entry, *at)).collect(),
        next,
        done: found.done,
    }))
}

fn order(order: Option<&str>, after: Option<&str>) -> ApiResult<Order> {
    match order.unwrap_or("arrival") {
        "arrival" => Ok(Order::Arrival {
            after: mark(after, Position::START)?,
        }),
        "time" => Ok(Order::Time {
            after: mark(after, TimeMark::START)?,
        }),
        "causal" => Ok(Order::Causal {
            after: mark(after, CausalMark::START)?,
        }),
        other => Err(ApiError::bad(
            format!("{other:?} is not an order"),
            "use order=arrival, order=time or order=causal",
        )),
    }
}

fn mark<T>(text: Option<&str>, start: T) -> ApiResult<T>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let hint = "use the `next` of the page before, or leave it out";
    let parsed = text.map_or(Ok(start), str::parse);
    parsed.map_err(|error| ApiError::bad(error.to_string(), hint))
}

/// Appends, and answers when all of it is durable.
///
/// With `own_seq` it appends only if this node has written so many entries so far: a client that
/// cannot know whether its last request arrived sends the same again, and nothing is written twice.
#[utoipa::path(post, path = "/v1/topics/{t}/entries", tag = "entries",
    params(("t" = String, Path, description = "A topic: its id, the start of one, or its name"),
        OnlyIf),
    request_body(content((Publish = "application/json"), (String = "application/x-ndjson"),
        (String = "text/plain"), (Vec<u8> = "application/octet-stream"))),
    responses((status = 201, body = Written)))]
pub(crate) async fn publish(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(only): Params<OnlyIf>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Written>)> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    // In a task of its own: a write goes on when its client goes away, and whoever writes next must
    // wait until it is durable.
    let writing = tokio::spawn(write(shared, topic, only.own_seq, request));
    writing.await.unwrap_or_else(|_| {
        let error = "the write came to no end";
        let hint = "read the topic's entries to see what was written";
        Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            error,
            hint,
        ))
    })
}

async fn write(
    shared: Shared,
    topic: Topic,
    own_seq: Option<u64>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Written>)> {
    let Some(expected) = own_seq else {
        let _writing = shared.writes.read().await;
        return append(&topic, request).await;
    };
    let _writing = shared.writes.write().await;
    let found = topic.info().await?.own_seq;
    if found == expected {
        return append(&topic, request).await;
    }
    let error = format!("this node has written {found} entries to the topic, not {expected}");
    let hint = "read what it wrote since, and send what is missing";
    Err(ApiError::new(StatusCode::CONFLICT, error, hint))
}

async fn append(topic: &Topic, request: Request) -> ApiResult<(StatusCode, Json<Written>)> {
    let kind = content_type(&request);
    match kind.as_str() {
        "application/x-ndjson" | "text/plain" => {
            let body = request.into_limited_body().into_data_stream();
            let written = lines::append(topic, body).await?;
            Ok((StatusCode::CREATED, Json(written)))
        }
        "application/octet-stream" => {
            let body = Bytes::from_request(request, &()).await;
            let body = body.map_err(|rejection| {
                let hint = "an entry holds at most 1 MiB";
                ApiError::new(rejection.status(), rejection.body_text(), hint)
            })?;
            let hashes = vec![hex(topic.publish(body).await?)];
            Ok((StatusCode::CREATED, Json(Written::Hashes { hashes })))
        }
        _ => {
            let Body(Publish { entries }) = Body::from_request(request, &()).await?;
            let entries: Vec<Bytes> = entries
                .into_iter()
                .map(Draft::bytes)
                .collect::<ApiResult<_>>()?;
            let hashes = topic.publish_many(entries).await?.iter().map(hex).collect();
            Ok((StatusCode::CREATED, Json(Written::Hashes { hashes })))
        }
    }
}

/// The media type without its parameters, in lower case.
fn content_type(request: &Request) -> String {
    let value = request.headers().get(header::CONTENT_TYPE);
    let text = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase()
}
