//! Binding the listener, serving it, ending it.

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use osier::Osier;
use tokio::{
    net::TcpListener,
    sync::{RwLock, Semaphore},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    api,
    auth::{self, Guard},
    limit,
};

/// How the API serves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen; loopback.
    pub listen: SocketAddr,
    /// What a request must carry.
    pub token: String,
    /// Bytes of one request; over it: refused with 413.
    pub request_bytes_max: usize,
    /// Event streams at once; over it: refused with 503.
    pub streams_max: usize,
}

impl Settings {
    /// On `listen`, for whoever holds `token`, with the usual limits.
    pub fn new(listen: SocketAddr, token: String) -> Self {
        Self {
            listen,
            token,
            request_bytes_max: limit::REQUEST_BYTES_MAX,
            streams_max: limit::STREAMS_MAX,
        }
    }
}

/// Why the API does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// Anybody on the network could read and write.
    #[error("the local API listens on loopback only, not on {0}; use 127.0.0.1 or [::1]")]
    NotLoopback(SocketAddr),
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
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) osier: Osier,
    /// A permit for each event stream.
    pub(crate) streams: Arc<Semaphore>,
    /// Held for reading by every write, and for writing by one that depends on what was there.
    pub(crate) writes: Arc<RwLock<()>>,
    /// Cancelled when the server ends, so that streams end too.
    pub(crate) ending: CancellationToken,
}

/// A running local API.
#[derive(Debug)]
pub struct Console {
    address: SocketAddr,
    ending: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Console {
    /// Listens and serves until [`Console::shutdown`].
    ///
    /// # Errors
    /// If the address is not loopback or cannot be bound.
    pub async fn start(osier: Osier, settings: Settings) -> Result<Self, ConsoleError> {
        let listen = settings.listen;
        if !listen.ip().is_loopback() {
            return Err(ConsoleError::NotLoopback(listen));
        }
        let bind = |cause| ConsoleError::Bind { listen, cause };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let ending = CancellationToken::new();
        let shared = Shared {
            osier,
            streams: Arc::new(Semaphore::new(settings.streams_max)),
            writes: Arc::default(),
            ending: ending.clone(),
        };
        let app = router(
            shared,
            Guard::new(&settings.token, address.port()),
            &settings,
        );
        let stop = ending.clone().cancelled_owned();
        let serve = axum::serve(listener, app).with_graceful_shutdown(stop);
        let task = tokio::spawn(serve.into_future());
        Ok(Self {
            address,
            ending,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no new request, ends the event streams, and lets the other requests finish.
    pub async fn shutdown(self) {
        self.ending.cancel();
        if let Ok(Err(error)) = self.task.await {
            tracing::warn!(%error, "the local API ended with an error");
        }
    }
}

fn router(shared: Shared, guard: Guard, settings: &Settings) -> Router {
    let guarded = api::guarded()
        .layer(DefaultBodyLimit::max(settings.request_bytes_max))
        .layer(middleware::from_fn_with_state(guard.clone(), auth::token));
    api::open()
        .merge(guarded)
        .fallback(api::nothing_here)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(middleware::from_fn_with_state(guard, auth::place))
        .with_state(shared)
}

#[cfg(test)]
mod tests;
