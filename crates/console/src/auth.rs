//! Who may ask: the holder of the token, on this machine, not a page of another site.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use subtle::ConstantTimeEq;

use crate::{error::ApiError, limit, server::ConsoleError};

/// The secret of the local API, and the port that it is spoken to on.
#[derive(Clone)]
pub(crate) struct Guard {
    token: Arc<str>,
    port: u16,
    origins: Origins,
}

/// Origins of pages that may ask beside the node's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Arc<[HeaderValue]>);

impl Origins {
    /// Each as a browser would send it.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, ConsoleError> {
        if texts.len() > limit::ORIGINS_MAX {
            return Err(ConsoleError::TooManyOrigins(texts.len()));
        }
        let origin = |text: &String| {
            let invalid = || ConsoleError::OriginInvalid(text.clone());
            let uri: Uri = text.parse().map_err(|_| invalid())?;
            let (scheme, authority) = (uri.scheme_str(), uri.authority());
            let (Some("http" | "https"), Some(authority)) = (scheme, authority) else {
                return Err(invalid());
            };
            let same = format!("{}://{authority}", scheme.unwrap_or_default()) == *text;
            let header = HeaderValue::from_str(text).ok().filter(|_| same);
            header.ok_or_else(invalid)
        };
        Ok(Self(texts.iter().map(origin).collect::<Result<_, _>>()?))
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = HeaderValue> + '_ {
        self.0.iter().cloned()
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Guard(port {})", self.port)
    }
}

impl Guard {
    pub(crate) fn new(token: &str, port: u16, origins: Origins) -> Self {
        Self {
            token: token.into(),
            port,
            origins,
        }
    }

    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether a request with these headers may be served at all.
    fn check_place(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = text(headers, &header::HOST).unwrap_or_default();
        if !self.is_own_host(host) {
            let error = format!("this API does not answer for the host {host:?}");
            let hint = format!("ask for http://127.0.0.1:{}", self.port);
            return Err(ApiError::new(StatusCode::FORBIDDEN, error, hint));
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(());
        };
        let own = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|host| self.is_own_host(host));
        if own || self.origins.0.contains(origin) {
            return Ok(());
        }
        let error = "requests from pages of another site are refused";
        let hint = "call the API from a program, or name the page's origin in api_origins";
        Err(ApiError::new(StatusCode::FORBIDDEN, error, hint))
    }

    /// A name that resolves elsewhere could be pointed at loopback by its owner, so only these.
    fn is_own_host(&self, host: &str) -> bool {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
        ["127.0.0.1", "localhost", "[::1]"].contains(&name) && port == self.port.to_string()
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given = text(headers, &header::AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
        let hint = "send the header `Authorization: Bearer TOKEN` with the content of the file \
                    api.token in the node's data directory";
        let Some(given) = given else {
            let error = "the request carries no token";
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, error, hint));
        };
        let same: bool = given.as_bytes().ct_eq(self.token.as_bytes()).into();
        if same {
            return Ok(());
        }
        let error = "the token is not this node's; it changes at every start";
        Err(ApiError::new(StatusCode::UNAUTHORIZED, error, hint))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// For every path: host and origin.
pub(crate) async fn place(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check_place(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// For every path but the health checks: the token.
pub(crate) async fn token(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check_token(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: header::HeaderName = name.parse().unwrap();
            headers.insert(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn hosts_and_origins() {
        let guard = Guard::new("secret", 7780, Origins::default());
        let ok = |pairs: &[(&str, &str)]| guard.check_place(&headers(pairs)).is_ok();
        assert!(ok(&[("host", "127.0.0.1:7780")]));
        assert!(ok(&[
            ("host", "localhost:7780"),
            ("origin", "http://127.0.0.1:7780")
        ]));
        assert!(ok(&[("host", "[::1]:7780")]));
        assert!(!ok(&[]));
        assert!(!ok(&[("host", "127.0.0.1:7781")]));
        assert!(!ok(&[("host", "evil.example:7780")]));
        assert!(!ok(&[
            ("host", "localhost:7780"),
            ("origin", "https://evil.example")
        ]));
        assert!(!ok(&[("host", "localhost:7780"), ("origin", "null")]));
        assert!(!ok(&[
            ("host", "localhost:7780"),
            ("origin", "http://localhost:80")
        ]));
    }

    #[test]
    fn origins_that_were_named_may_ask() {
        let named = ["http://localhost:5173".to_owned()];
        let guard = Guard::new("secret", 7780, Origins::parse(&named).unwrap());
        let ok = |origin: &str| {
            let headers = headers(&[("host", "localhost:7780"), ("origin", origin)]);
            guard.check_place(&headers).is_ok()
        };
        assert!(ok("http://localhost:5173"));
        assert!(!ok("http://localhost:5174"));
        assert!(!ok("https://localhost:5173"));
        for wrong in [
            "localhost:5173",
            "http://a/",
            "http://a/b",
            "*",
            "null",
            "file:///a",
        ] {
            assert!(Origins::parse(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tokens() {
        let guard = Guard::new("secret", 1, Origins::default());
        let ok = |value: &str| {
            guard
                .check_token(&headers(&[("authorization", value)]))
                .is_ok()
        };
        assert!(ok("Bearer secret"));
        for wrong in [
            "Bearer secre",
            "Bearer secrets",
            "secret",
            "Basic secret",
            "Bearer ",
        ] {
            assert!(!ok(wrong), "{wrong}");
        }
        assert!(guard.check_token(&HeaderMap::new()).is_err());
        assert!(!format!("{guard:?}").contains("secret"));
    }
}
