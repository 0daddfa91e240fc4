//! What can go wrong when a relay starts: what failed, why, and what to do.

use std::{io, net::SocketAddr};

/// A relay that could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The address cannot be listened on.
    #[error("cannot listen on {listen} for Nostr clients: {cause}")]
    Bind {
        /// Where.
        listen: SocketAddr,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// The system gives no more threads.
    #[error("cannot start the relay's threads: {0}; check the limit of processes (ulimit -u)")]
    Thread(#[source] io::Error),
    /// The event index cannot be brought up to date.
    #[error(transparent)]
    Index(osier_eventdb::EventDbError),
    /// The node.
    #[error(transparent)]
    Node(#[from] osier::Error),
}
