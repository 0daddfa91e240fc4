//! What the driver hears of one session: everything in order, and exactly one end, also when the
//! session's task panics.

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::FutureExt;
use osier_engine::{SessionEvent, SessionKey};
use osier_proto::{ClientEnd, FailureReason, Fault, ProviderEnd};

use crate::{arrival::Arrival, shared::Shared};

/// Which end a session has when its machine gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Opened from here.
    Client,
    /// Granted from here.
    Provider,
}

/// Tells the driver what comes of one session, and that it has ended, once.
#[derive(Debug, Clone)]
pub(crate) struct Teller {
    key: SessionKey,
    side: Side,
    net: Arc<Shared>,
    ended: Arc<AtomicBool>,
}

impl Teller {
    /// The teller of a session that has not ended.
    pub(crate) fn new(key: SessionKey, side: Side, net: Arc<Shared>) -> Self {
        Self {
            key,
            side,
            net,
            ended: Arc::default(),
        }
    }

    /// Tells; an end only once.
    async fn tell(&self, event: SessionEvent) {
        if is_end(&event) && self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let arrival = Arrival::Session {
            key: self.key,
            event,
        };
        // A driver that is gone has no more need of it.
        let _ = self.net.arrivals.send(arrival).await;
    }

    /// Tells the oldest; cancel-safe: it leaves the queue only when there is room for it.
    pub(super) async fn tell_next(&self, told: &mut VecDeque<SessionEvent>) {
        let Ok(permit) = self.net.arrivals.reserve().await else {
            told.clear();
            return;
        };
        let Some(event) = told.pop_front() else {
            return;
        };
        if is_end(&event) && self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        permit.send(Arrival::Session {
            key: self.key,
            event,
        });
    }

    /// Whether the driver has been told of the end.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// What the session's task shares with all others.
    pub(super) fn net(&self) -> &Arc<Shared> {
        &self.net
    }

    /// Ends the session without a machine's word, unless it has ended.
    pub(crate) async fn fail(&self, cause: &str) {
        let end = match self.side {
            Side::Client => SessionEvent::Unreachable {
                cause: cause.to_owned(),
            },
            Side::Provider => SessionEvent::ProviderEnded(ProviderEnd::Lost),
        };
        self.tell(end).await;
    }

    /// Ends the session as failed for a reason of this side, unless it has ended.
    pub(crate) async fn failed(&self, reason: FailureReason) {
        let end = match self.side {
            Side::Client => SessionEvent::ClientEnded(ClientEnd::Failed(reason)),
            Side::Provider => SessionEvent::ProviderEnded(ProviderEnd::Failed(reason)),
        };
        self.tell(end).await;
    }

    /// Ends the session at fault, unless it has ended.
    pub(crate) async fn faulty(&self, fault: Fault) {
        let end = match self.side {
            Side::Client => SessionEvent::ClientEnded(ClientEnd::Fault(fault)),
            Side::Provider => SessionEvent::ProviderEnded(ProviderEnd::Fault(fault)),
        };
        self.tell(end).await;
    }

    /// Runs a session's task; whatever becomes of it, the session has an end.
    pub(crate) async fn supervise(self, task: impl Future<Output = ()>) {
        if AssertUnwindSafe(task).catch_unwind().await.is_err() {
            self.net.counters.sessions_crashed.one();
            tracing::error!(key = self.key.0, "a session's task failed: this is a bug");
        }
        self.fail("the session ended without a word").await;
    }
}

fn is_end(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::ClientEnded(_)
            | SessionEvent::ProviderEnded(_)
            | SessionEvent::Unreachable { .. }
    )
}
