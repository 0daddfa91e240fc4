//! Drives the engine over iroh, iroh-gossip and the disk.
//!
//! Nothing is decided here: the engine says what to do, and this crate does it and reports what
//! came of it. It holds the only clock and the only randomness of the operating system.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `handle` | [`Node`]: what callers hold |
//! | `config`, `start`, `topic` | how a node begins, and how a topic does |
//! | `driver`, `arrival` | one select, one engine, one closed enum of what can arrive |
//! | `disk`, `rows` | the thread that owns every write and merges what waits; the store's side |
//! | `net` | connections, streams, sessions |
//! | `gossip` | swarms, and the watchdog of the gossip actor |
//! | `watch` | those who follow a topic |
//! | `ephemeral` | those who listen for what is of the moment |
//! | `shutdown` | how a node ends |
//! | `clock`, `entropy` | time and randomness |
//! | `limit`, `metric`, `error` | bounds, counters, what can go wrong |

mod arrival;
mod clock;
mod config;
mod disk;
mod driver;
mod entropy;
mod ephemeral;
mod error;
mod gossip;
mod handle;
mod limit;
mod metric;
mod net;
mod rows;
mod shared;
mod shutdown;
mod start;
mod topic;
mod watch;

pub use config::{Discovery, NodeConfig};
pub use entropy::{new_secret, random_bytes};
pub use ephemeral::EphemeralStream;
pub use error::NodeError;
pub use handle::Node;
pub use limit::WATCHER_EVENTS_MAX;
pub use metric::NodeMetrics;
pub use topic::{is_space, mark_space, topic_record, topic_ticket};
pub use watch::EventStream;
