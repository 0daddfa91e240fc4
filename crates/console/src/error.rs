//! What a request is answered that is not carried out: a status, what failed, and what to do.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use crate::shape::Refusal;

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    error: String,
    hint: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(
        status: StatusCode,
        error: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status,
            error: error.into(),
            hint: hint.into(),
        }
    }

    /// The request itself is wrong.
    pub(crate) fn bad(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, hint)
    }

    pub(crate) fn not_found(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error, hint)
    }
}

impl From<osier::Error> for ApiError {
    fn from(error: osier::Error) -> Self {
        let status = match error.fault() {
            osier::Fault::Caller => StatusCode::BAD_REQUEST,
            osier::Fault::Unknown => StatusCode::NOT_FOUND,
            osier::Fault::Busy => StatusCode::SERVICE_UNAVAILABLE,
            osier::Fault::Local => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string(), error.hint())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (error, hint) = (self.error, self.hint);
        (self.status, Json(Refusal { error, hint })).into_response()
    }
}
