//! Why a mirroring came to no good end: which relay, what it did, what to do.

use osier_eventdb::EventDbError;

use crate::error::RelayError;

/// A mirroring that failed. What was transferred before is kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// Not the URL of a relay.
    #[error("{0:?} is not the URL of a relay; write it as wss://relay.example")]
    Url(String),
    /// It cannot be reached.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// Which relay.
        url: String,
        /// What the system, or the library, says.
        cause: String,
    },
    /// The connection went away.
    #[error("{url} closed the connection {doing}: {cause}")]
    Lost {
        /// Which relay.
        url: String,
        /// What was under way.
        doing: &'static str,
        /// What it said, or the system.
        cause: String,
    },
    /// It would not.
    #[error("{url} refused {doing}: {reason}")]
    Refused {
        /// Which relay.
        url: String,
        /// What was asked.
        doing: &'static str,
        /// Its word.
        reason: String,
    },
    /// It said nothing for too long.
    #[error("{url} said nothing for {seconds} s {doing}{notice}")]
    Silent {
        /// Which relay.
        url: String,
        /// What was asked.
        doing: &'static str,
        /// For how long.
        seconds: u64,
        /// The last notice that came meanwhile, in words.
        notice: String,
    },
    /// It said that it has events, and did not serve them when asked.
    #[error(
        "{url} offers {count} events that it does not serve, {example} among them; they may have \
         been deleted meanwhile: run this again"
    )]
    Withheld {
        /// Which relay.
        url: String,
        /// How many.
        count: usize,
        /// One of them.
        example: String,
    },
    /// This node's own index.
    #[error(transparent)]
    Index(#[from] EventDbError),
    /// This node did not take what came.
    #[error(transparent)]
    Node(#[from] RelayError),
}
