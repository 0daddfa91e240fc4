//! What every network task of a node needs.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use osier_core::NodeSecret;
use osier_engine::AskId;
use osier_proto::{Source, TokenSeal};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{arrival::Arrival, clock::Clock, limit::ASKS_WAITING_MAX, metric::SharedCounters};

/// Shared by the tasks of connections and sessions.
pub(crate) struct Shared {
    /// The node's key.
    pub(crate) me: NodeSecret,
    /// Snapshots for sessions.
    pub(crate) source: Arc<dyn Source>,
    /// Seals the node's resume tokens.
    pub(crate) seal: TokenSeal,
    /// The clock.
    pub(crate) clock: Clock,
    /// What is counted.
    pub(crate) counters: SharedCounters,
    /// To the driver.
    pub(crate) arrivals: mpsc::Sender<Arrival>,
    /// Bounds the streams that have not been granted.
    pub(crate) asks: Semaphore,
    /// Every task of a connection, so that a shutdown can wait for them.
    pub(crate) tasks: TaskTracker,
    /// Every task of a session or of a stream that asks for one.
    pub(crate) sessions: TaskTracker,
    /// The node is stopping: no stream is taken any more.
    pub(crate) closing: CancellationToken,
    next_ask: AtomicU64,
}

impl Shared {
    /// What the tasks of a node start from.
    pub(crate) fn new(
        me: NodeSecret,
        source: Arc<dyn Source>,
        clock: Clock,
        counters: SharedCounters,
        arrivals: mpsc::Sender<Arrival>,
    ) -> Self {
        Self {
            seal: TokenSeal::new(&me),
            me,
            source,
            clock,
            counters,
            arrivals,
            asks: Semaphore::new(ASKS_WAITING_MAX),
            tasks: TaskTracker::new(),
            sessions: TaskTracker::new(),
            closing: CancellationToken::new(),
            next_ask: AtomicU64::new(1),
        }
    }

    /// A number for the next ask.
    pub(crate) fn next_ask(&self) -> AskId {
        AskId(self.next_ask.fetch_add(1, Ordering::Relaxed))
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("me", &self.me.node_id())
            .finish_non_exhaustive()
    }
}
