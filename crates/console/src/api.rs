//! Which path leads where.
//!
//! Every route is made from a handler that describes itself, so that none can be missing in
//! `/openapi.json`.

mod entry;
mod event;
mod grant;
mod health;
mod link;
mod metric;
mod nostr;
mod page;
mod provider;
mod relay;
mod resolve;
mod space;
mod topic;
mod trust;

use axum::{
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, Uri, request::Parts},
};
use serde::de::DeserializeOwned;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{error::ApiError, openapi, server::Shared};

/// Paths that need no token.
pub(crate) fn open() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(page::dashboard))
        .routes(routes!(page::file))
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(openapi::document))
        .routes(routes!(link::redeem))
}

/// Paths that need the token.
pub(crate) fn guarded() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(metric::page))
        .routes(routes!(link::make))
        .routes(routes!(health::node))
        .routes(routes!(health::check))
        .routes(routes!(health::backup))
        .routes(routes!(relay::figures))
        .routes(routes!(topic::list, topic::add))
        .routes(routes!(topic::show, topic::leave))
        .routes(routes!(topic::ticket))
        .routes(routes!(topic::rule))
        .routes(routes!(entry::page, entry::publish))
        .routes(routes!(event::stream))
        .routes(routes!(nostr::import))
        .routes(routes!(nostr::mirror))
        .routes(routes!(trust::list))
        .routes(routes!(trust::add, trust::show, trust::remove))
        .routes(routes!(grant::add, grant::remove))
        .routes(routes!(space::list, space::add))
        .routes(routes!(space::show))
        .routes(routes!(space::put, space::remove))
        .routes(routes!(space::stream))
        .routes(routes!(provider::providers))
        .routes(routes!(provider::sessions))
}

/// Any other path.
pub(crate) async fn nothing_here(uri: Uri) -> ApiError {
    let path = uri.path();
    ApiError::not_found(
        format!("there is no {path}"),
        "the API is described at /openapi.json",
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
