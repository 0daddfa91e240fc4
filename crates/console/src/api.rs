//! Which path leads where.

mod entry;
mod event;
mod health;
mod metric;
mod provider;
mod resolve;
mod topic;
mod trust;

use axum::{
    Router,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, Uri, request::Parts},
    routing::{get, post, put},
};
use serde::de::DeserializeOwned;

use crate::{error::ApiError, server::Shared};

/// Paths that need no token.
pub(crate) fn open() -> Router<Shared> {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
}

/// Paths that need the token.
pub(crate) fn guarded() -> Router<Shared> {
    Router::new()
        .route("/metrics", get(metric::page))
        .route("/v1/node", get(health::node))
        .route("/v1/check", post(health::check))
        .route("/v1/backup", post(health::backup))
        .route("/v1/topics", get(topic::list).post(topic::add))
        .route("/v1/topics/{t}", get(topic::show).delete(topic::leave))
        .route("/v1/topics/{t}/ticket", get(topic::ticket))
        .route("/v1/topics/{t}/rule", post(topic::rule))
        .route(
            "/v1/topics/{t}/entries",
            get(entry::page).post(entry::publish),
        )
        .route("/v1/topics/{t}/events", get(event::stream))
        .route("/v1/topics/{t}/trust", get(trust::list))
        .route(
            "/v1/topics/{t}/trust/{node}",
            put(trust::add).get(trust::show).delete(trust::remove),
        )
        .route("/v1/providers", get(provider::providers))
        .route("/v1/sessions", get(provider::sessions))
}

/// Any other path.
pub(crate) async fn nothing_here(uri: Uri) -> ApiError {
    let path = uri.path();
    if path == "/" {
        let error = "there is no page here yet";
        return ApiError::not_found(error, "the API begins at /v1/topics; health is at /healthz");
    }
    ApiError::not_found(
        format!("there is no {path}"),
        "docs/reference/http-api.md lists the paths",
    )
}

/// A path of ours, asked in a way that it does not serve.
pub(crate) async fn wrong_method(uri: Uri) -> ApiError {
    let error = format!("{} does not serve this method", uri.path());
    let hint = "docs/reference/http-api.md lists the methods of each path";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, error, hint)
}

/// Query parameters, with our own words when they are wrong.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let hint = "docs/reference/http-api.md lists the parameters";
                Err(ApiError::bad(rejection.body_text(), hint))
            }
        }
    }
}

/// A JSON body, with our own words when it is wrong.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match axum::Json::from_request(request, state).await {
            Ok(axum::Json(value)) => Ok(Self(value)),
            Err(rejection) => {
                let hint = "send JSON with the header `Content-Type: application/json`";
                Err(ApiError::new(
                    rejection.status(),
                    rejection.body_text(),
                    hint,
                ))
            }
        }
    }
}
