//! `/v1/topics/{t}/entries`: read pages, append.

mod lines;

use axum::{
    Json, RequestExt,
    extract::{FromRequest, Path, Request, State},
    http::{StatusCode, header},
};
use bytes::Bytes;
use osier::{Order, Position, TimeMark, Topic};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, Params, resolve};
use crate::{
    error::{ApiError, ApiResult},
    json, limit,
    server::Shared,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    after: Option<String>,
    limit: Option<usize>,
    order: Option<String>,
}

/// What must be true for a write to happen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlyIf {
    own_seq: Option<u64>,
}

/// Entries to append, in order.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publish {
    entries: Vec<Draft>,
}

/// An entry of one item: text, or bytes in base64.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Draft {
    Plain(String),
    Text { text: String },
    Base64 { base64: String },
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

pub(crate) async fn page(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(page): Params<Page>,
) -> ApiResult<Json<Value>> {
    let topic = resolve::topic(&shared.osier, &named).await?;
    let order = order(page.order.as_deref(), page.after.as_deref())?;
    let limit = page.limit.unwrap_or(limit::PAGE_ENTRIES_DEFAULT);
    let limit = limit.clamp(1, limit::PAGE_ENTRIES_MAX);
    let found = topic.page(order, limit).await?;
    let entries: Vec<Value> = found
        .entries
        .iter()
        .map(|(at, entry)| match at {
            Some(at) => json::placed(*at, entry),
            None => json::entry(entry),
        })
        .collect();
    let next = match found.next {
        Order::Arrival { after } => after.to_string(),
        Order::Time { after } => after.to_string(),
    };
    Ok(Json(
        json!({ "entries": entries, "next": next, "done": found.done }),
    ))
}

fn order(order: Option<&str>, after: Option<&str>) -> ApiResult<Order> {
    let hint = "use the `next` of the page before, or leave it out";
    match order.unwrap_or("arrival") {
        "arrival" => {
            let after = after.map_or(Ok(Position::START), str::parse);
            let after = after.map_err(|error| ApiError::bad(error.to_string(), hint))?;
            Ok(Order::Arrival { after })
        }
        "time" => {
            let after = after.map_or(Ok(TimeMark::START), str::parse);
            let after = after.map_err(|error| ApiError::bad(error.to_string(), hint))?;
            Ok(Order::Time { after })
        }
        other => Err(ApiError::bad(
            format!("{other:?} is not an order"),
            "use order=arrival or order=time",
        )),
    }
}

/// Appends, and answers when all of it is durable. With `own_seq` it appends only if this node has
/// written so many entries so far: a client that cannot know whether its last request arrived sends
/// the same again, and nothing is written twice.
pub(crate) async fn publish(
    State(shared): State<Shared>,
    Path(named): Path<String>,
    Params(only): Params<OnlyIf>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Value>)> {
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
) -> ApiResult<(StatusCode, Json<Value>)> {
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

async fn append(topic: &Topic, request: Request) -> ApiResult<(StatusCode, Json<Value>)> {
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
            let hash = topic.publish(body).await?;
            Ok((StatusCode::CREATED, Json(json!({ "hashes": [hash] }))))
        }
        _ => {
            let Body(Publish { entries }) = Body::from_request(request, &()).await?;
            let entries: Vec<Bytes> = entries
                .into_iter()
                .map(Draft::bytes)
                .collect::<ApiResult<_>>()?;
            let hashes = topic.publish_many(entries).await?;
            Ok((StatusCode::CREATED, Json(json!({ "hashes": hashes }))))
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
