//! Binding the listener, serving it, ending it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{self, Next},
    response::Response,
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use osier::{Osier, Topic};
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{RwLock, Semaphore},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use tower_http::cors::CorsLayer;

use crate::{
    api,
    auth::{self, Guard, Origins},
    door::Doors,
    limit,
    metric::Metrics,
    openapi,
    shape::RelayNumbers,
};

/// How the API serves.
#[derive(Clone)]
pub struct Settings {
    /// Where to listen; loopback.
    pub listen: SocketAddr,
    /// What a request must carry.
    pub token: String,
    /// Bytes of one request; over it: refused with 413.
    pub request_bytes_max: usize,
    /// Event streams at once; over it: refused with 503.
    pub streams_max: usize,
    /// Origins of pages that may ask beside the node's own, such as `http://localhost:5173`.
    pub origins: Vec<String>,
    /// Tells what the relay beside this API is doing, where one runs.
    pub relay: Option<RelayFigures>,
    /// What there is of a bridge to Nostr; without one its paths are refused with 501.
    pub nostr: Option<Arc<dyn Nostr>>,
}

/// Reads the relay's figures; called for each look at them, so it must not block.
#[derive(Clone)]
pub struct RelayFigures(Arc<dyn Fn() -> RelayNumbers + Send + Sync>);

impl RelayFigures {
    /// Figures as `read` gives them.
    pub fn new(read: impl Fn() -> RelayNumbers + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> RelayNumbers {
        self.0()
    }
}

impl std::fmt::Debug for RelayFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RelayFigures(..)")
    }
}

/// A bridge to Nostr. What it answers is JSON; what fails is a sentence on why.
pub trait Nostr: Send + Sync {
    /// Verifies the events of lines, judges them by what is held, and writes those that are new
    /// into a topic. Durable when it is done.
    fn import(&self, topic: Topic, lines: Bytes) -> BoxFuture<'static, Result<Value, String>>;

    /// Pulls events from another relay into a topic, pushes them there, or both, as the order says.
    fn mirror(&self, topic: Topic, order: Value) -> BoxFuture<'static, Result<Value, String>>;
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// On `listen`, for whoever holds `token`, with the usual limits.
    pub fn new(listen: SocketAddr, token: String) -> Self {
        Self {
            listen,
            token,
            request_bytes_max: limit::REQUEST_BYTES_MAX,
            streams_max: limit::STREAMS_MAX,
            origins: Vec::new(),
            relay: None,
            nostr: None,
        }
    }
}

/// Why the API does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// Anybody on the network could read and write.
    #[error("the local API listens on loopback only, not on {0}; use 127.0.0.1 or [::1]")]
    NotLoopback(SocketAddr),
    /// Not what a browser calls an origin.
    #[error("{0:?} is not an origin; write one as http://localhost:5173, without a path")]
    OriginInvalid(String),
    /// More origins than are compared with.
    #[error("{0} origins are too many; {max} can be set", max = limit::ORIGINS_MAX)]
    TooManyOrigins(usize),
    /// The address cannot be had.
    #[error("cannot listen on {listen}: {cause}; stop what uses it, or choose another port")]
    Bind {
        /// The address.
        listen: SocketAddr,
        /// The system's word.
        cause: std::io::Error,
    },
}

/// What every handler can reach.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) osier: Osier,
    /// A permit for each event stream.
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) streams_max: usize,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) relay: Option<RelayFigures>,
    pub(crate) doors: Doors,
    /// What `/openapi.json` says.
    pub(crate) description: Arc<Value>,
    /// Held for reading by every write, and for writing by one that depends on what was there.
    pub(crate) writes: Arc<RwLock<()>>,
    /// The bridge to Nostr.
    pub(crate) nostr: Option<Arc<dyn Nostr>>,
    /// Cancelled when the server ends, so that streams end too.
    pub(crate) ending: CancellationToken,
}

/// A running local API.
#[derive(Debug)]
pub struct Console {
    address: SocketAddr,
    doors: Doors,
    ending: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Console {
    /// Listens and serves until [`Console::shutdown`].
    ///
    /// # Errors
    /// If the address is not loopback or cannot be bound, or an origin is none.
    pub async fn start(osier: Osier, settings: Settings) -> Result<Self, ConsoleError> {
        let listen = settings.listen;
        if !listen.ip().is_loopback() {
            return Err(ConsoleError::NotLoopback(listen));
        }
        let origins = Origins::parse(&settings.origins)?;
        let bind = |cause| ConsoleError::Bind { listen, cause };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let ending = CancellationToken::new();
        let doors = Doors::new(address, &settings.token);
        let guard = Guard::new(&settings.token, address.port(), origins);
        let shared = Shared {
            osier,
            streams: Arc::new(Semaphore::new(settings.streams_max)),
            streams_max: settings.streams_max,
            metrics: Arc::default(),
            relay: settings.relay.clone(),
            doors: doors.clone(),
            description: Arc::default(),
            writes: Arc::default(),
            nostr: settings.nostr.clone(),
            ending: ending.clone(),
        };
        let app = router(shared, guard, &settings);
        let stop = ending.clone().cancelled_owned();
        let serve = axum::serve(listener, app).with_graceful_shutdown(stop);
        let task = tokio::spawn(serve.into_future());
        Ok(Self {
            address,
            doors,
            ending,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A link that opens the dashboard once, within an hour.
    ///
    /// # Errors
    /// If the operating system gives no randomness.
    pub fn link(&self) -> osier::Result<String> {
        self.doors.link()
    }

    /// Takes no new request, ends the event streams, and lets the other requests finish.
    pub async fn shutdown(self) {
        self.ending.cancel();
        if let Ok(Err(error)) = self.task.await {
            tracing::warn!(%error, "the local API ended with an error");
        }
    }
}

fn router(mut shared: Shared, guard: Guard, settings: &Settings) -> Router {
    let (guarded, mut description) = api::guarded().split_for_parts();
    let (open, without_token) = api::open().split_for_parts();
    description.merge(without_token);
    shared.description = Arc::new(openapi::describe(description));
    let guarded = guarded
        .layer(DefaultBodyLimit::max(settings.request_bytes_max))
        .layer(middleware::from_fn_with_state(guard.clone(), auth::token));
    let open = open.layer(DefaultBodyLimit::max(limit::OPEN_REQUEST_BYTES_MAX));
    open.merge(guarded)
        .fallback(api::nothing_here)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(cors(guard.origins()))
        .layer(middleware::from_fn_with_state(guard, auth::place))
        .layer(middleware::from_fn_with_state(shared.clone(), count))
        .with_state(shared)
}

/// What a browser lets pages of the origins that were set ask; those of others got no further.
fn cors(origins: &Origins) -> CorsLayer {
    let origins: Vec<HeaderValue> = origins.headers().collect();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("last-event-id"),
        ])
}

async fn count(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    shared.metrics.answered(answer.status().as_u16());
    answer
}

#[cfg(test)]
mod tests;
