//! The local HTTP API, as commands speak to it.

use std::{
    io::{BufReader, Read},
    time::Duration,
};

use serde_json::Value;
use ureq::{Agent, Body, RequestBuilder, http::Response, typestate::WithoutBody};

use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    sse::Messages,
};

/// Time to connect to a server on this machine.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// Bytes of an answer that is read whole: a page of the largest entries, in JSON.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// A node's API with its token.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    agent: Agent,
    base: String,
    bearer: String,
}

/// The events of a topic as they come.
pub(crate) type Events = Messages<BufReader<ureq::BodyReader<'static>>>;

impl Api {
    /// At `address`, for whoever holds `token`.
    pub(crate) fn new(address: std::net::SocketAddr, token: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_WITHIN))
            .proxy(None)
            .build();
        Self {
            agent: config.into(),
            base: format!("http://{address}"),
            bearer: format!("Bearer {token}"),
        }
    }

    /// Reads.
    pub(crate) fn get(&self, path: &str) -> Outcome<Value> {
        let request = self
            .agent
            .get(self.url(path))
            .header("Authorization", &self.bearer);
        answer(request.call())
    }

    /// Sends JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Outcome<Value> {
        let request = self
            .agent
            .post(self.url(path))
            .header("Authorization", &self.bearer);
        answer(request.send_json(body))
    }

    /// Sends bytes of a media type.
    pub(crate) fn post_bytes(&self, path: &str, media: &str, body: &[u8]) -> Outcome<Value> {
        let request = self
            .agent
            .post(self.url(path))
            .header("Authorization", &self.bearer);
        answer(request.header("Content-Type", media).send(body))
    }

    /// Sends bytes that are to be written only if a condition holds; none if it does not.
    pub(crate) fn post_bytes_if(
        &self,
        path: &str,
        media: &str,
        body: &[u8],
    ) -> Outcome<Option<Value>> {
        let request = self
            .agent
            .post(self.url(path))
            .header("Authorization", &self.bearer);
        let response = request.header("Content-Type", media).send(body);
        let unmet = |response: &Response<Body>| response.status().as_u16() == 409;
        if response.as_ref().is_ok_and(unmet) {
            return Ok(None);
        }
        answer(response).map(Some)
    }

    /// Puts JSON.
    pub(crate) fn put(&self, path: &str, body: &Value) -> Outcome<Value> {
        let request = self
            .agent
            .put(self.url(path))
            .header("Authorization", &self.bearer);
        answer(request.send_json(body))
    }

    /// Removes.
    pub(crate) fn delete(&self, path: &str) -> Outcome<Value> {
        let request = self
            .agent
            .delete(self.url(path))
            .header("Authorization", &self.bearer);
        answer(request.call())
    }

    /// Follows a topic from a position.
    pub(crate) fn events(&self, topic: &str, from: &str) -> Outcome<Events> {
        let path = format!("{}/events", topic_path(topic));
        self.follow(self.agent.get(self.url(&path)).query("from", from))
    }

    /// Follows a stream from its present state.
    pub(crate) fn stream(&self, path: &str) -> Outcome<Events> {
        self.follow(self.agent.get(self.url(path)))
    }

    fn follow(&self, request: RequestBuilder<WithoutBody>) -> Outcome<Events> {
        let response = request.header("Authorization", &self.bearer).call();
        let response = response.map_err(|error| unreachable_node(&error))?;
        if response.status().is_success() {
            let reader = response.into_body().into_reader();
            return Ok(Messages::new(BufReader::new(reader)));
        }
        Err(refusal(response))
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// The path of a topic as a person named it.
pub(crate) fn topic_path(topic: &str) -> String {
    format!("/v1/topics/{}", segment(topic))
}

/// One segment of a path.
pub(crate) fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let escape = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(escape).collect()
}

fn answer(result: Result<Response<Body>, ureq::Error>) -> Outcome<Value> {
    let response = result.map_err(|error| unreachable_node(&error))?;
    if !response.status().is_success() {
        return Err(refusal(response));
    }
    let mut text = String::new();
    let mut reader = response.into_body().into_reader().take(ANSWER_BYTES_MAX);
    let read = reader
        .read_to_string(&mut text)
        .map_err(|error| broken_off(&error.to_string()))?;
    assert_eq!(read, text.len(), "the text began empty");
    serde_json::from_str(&text).map_err(|error| broken_off(&error.to_string()))
}

fn broken_off(cause: &str) -> Failure {
    let failure = Failure::other("the node's answer broke off").because(cause);
    failure.next("Try again; `osier doctor` looks for what is wrong")
}

fn unreachable_node(error: &ureq::Error) -> Failure {
    Failure::new(Exit::NoNode, "the node does not answer")
        .because(error)
        .next("Start it with `osier run`, or try again in a moment")
}

/// The node's own words on why not.
fn refusal(response: Response<Body>) -> Failure {
    let status = response.status().as_u16();
    let text = response.into_body().read_to_string().unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    refusal_in_words(status, value["error"].as_str(), value["hint"].as_str())
}

fn refusal_in_words(status: u16, error: Option<&str>, hint: Option<&str>) -> Failure {
    let exit = match status {
        401 | 403 => Exit::Denied,
        404 => Exit::NotFound,
        400 | 405 | 413 | 422 => Exit::Usage,
        _ => Exit::Failure,
    };
    let Some(error) = error else {
        let what = format!("the node answered with status {status}");
        return Failure::new(exit, what).next("Is another program on its port? Try `osier doctor`");
    };
    let failure = Failure::new(exit, error);
    match hint {
        Some(hint) if !hint.is_empty() => failure.next(capital(hint)),
        _ => failure,
    }
}

/// A hint begins a sentence here, unless it begins with something to type.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_one_segment() {
        assert_eq!(topic_path("a b/\u{e9}"), "/v1/topics/a%20b%2F%C3%A9");
    }

    #[test]
    fn refusals_read_as_one_paragraph() {
        let failure = refusal_in_words(
            404,
            Some("this node has no topic \"x\""),
            Some("did you mean \"y\"?"),
        );
        assert_eq!(failure.exit, Exit::NotFound);
        assert_eq!(
            failure.to_string(),
            "this node has no topic \"x\". Did you mean \"y\"?"
        );
        assert_eq!(refusal_in_words(401, Some("no"), None).exit, Exit::Denied);
        assert_eq!(refusal_in_words(502, None, None).exit, Exit::Failure);
    }
}
