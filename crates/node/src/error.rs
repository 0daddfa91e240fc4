//! What can go wrong in driving a node: what failed, why, and what to do.

use std::net::SocketAddr;

use osier_core::TopicId;
use osier_engine::CommandError;

/// A call on a node that did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The socket could not be bound.
    #[error(
        "cannot listen on {listen}: {cause}; if another node uses the port, stop it or listen on \
         another one (port 0 takes a free one)"
    )]
    Bind {
        /// Where.
        listen: SocketAddr,
        /// The system's words.
        cause: String,
    },
    /// A configured address cannot be read.
    #[error("{text:?} is not an address: write ip:port, as 192.0.2.7:4400, or a relay's https URL")]
    Address {
        /// As configured.
        text: String,
    },
    /// A configured relay cannot be read.
    #[error("{text:?} is not the URL of a relay ({cause}); write it as https://relay.example/")]
    Relay {
        /// As configured.
        text: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Multicast DNS could not be started.
    #[error(
        "cannot ask the local network for peers: {0}; switch mDNS off, or check that a network \
         interface with multicast is up"
    )]
    Mdns(String),
    /// The store could not be read or written.
    #[error("the store failed while {doing}: {cause}")]
    Store {
        /// What was being done.
        doing: &'static str,
        /// The store's own words.
        cause: String,
    },
    /// The thread that writes to disk could not be started.
    #[error("cannot start the disk thread: {0}; check the limit of processes (ulimit -u)")]
    Thread(String),
    /// The operating system has no randomness.
    #[error("the operating system gives no random bytes: {0}; try again once it has started up")]
    Randomness(String),
    /// The command was understood and refused.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The topic has too many watchers.
    #[error("topic {0} has too many watchers; close some and try again")]
    TooManyWatchers(TopicId),
    /// The node has been shut down, or stopped.
    #[error("the node has stopped; start it again")]
    Stopped,
}
