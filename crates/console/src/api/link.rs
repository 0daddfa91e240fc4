//! `/v1/links`: one-time links to the dashboard.

use axum::{Json, extract::State, http::StatusCode};

use super::Body;
use crate::{
    error::{ApiError, ApiResult},
    limit,
    server::Shared,
    shape::{Link, Token, UseLink},
};

/// Makes a link that opens the dashboard once.
#[utoipa::path(post, path = "/v1/links", tag = "dashboard",
    responses((status = 201, body = Link)))]
pub(crate) async fn make(State(shared): State<Shared>) -> ApiResult<(StatusCode, Json<Link>)> {
    let link = shared.doors.link()?;
    let expires_s = limit::LINK_LIFETIME_S;
    Ok((StatusCode::CREATED, Json(Link { link, expires_s })))
}

/// Gives the token to whoever holds the code of a link that was not used yet.
#[utoipa::path(post, path = "/v1/links/use", tag = "dashboard", security(()),
    request_body = UseLink, responses((status = 200, body = Token)))]
pub(crate) async fn redeem(
    State(shared): State<Shared>,
    Body(used): Body<UseLink>,
) -> ApiResult<Json<Token>> {
    if shared.doors.redeem(&used.code) {
        let token = shared.doors.token().to_owned();
        return Ok(Json(Token { token }));
    }
    let error = "this link was used, is too old, or is of an earlier run of the node";
    let hint = "print another with `osier dashboard`";
    Err(ApiError::new(StatusCode::UNAUTHORIZED, error, hint))
}
