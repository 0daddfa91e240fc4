//! The gossip actor that runs now, and the watchdog that replaces one which stands still.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iroh::{Endpoint, EndpointId, endpoint::Connection};
use iroh_gossip::net::Gossip;
use tokio::{
    sync::{Notify, broadcast, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    limit::{GOODBYE_WITHIN, GOSSIP_HEADER_BYTES, GOSSIP_STALL, RETURNED_WAITING_MAX},
    metric::SharedCounters,
};

/// Bytes of one gossip message with its header: iroh-gossip's default, which all nodes share.
const MESSAGE_BYTES_MAX: usize = 4096;

const _: () = assert!(
    osier_engine::limit::GOSSIP_PAYLOAD_BYTES_MAX <= MESSAGE_BYTES_MAX - GOSSIP_HEADER_BYTES
);

/// Where gossip connections and subscriptions go; clones share one actor.
#[derive(Debug, Clone)]
pub(crate) struct GossipDoor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    counters: SharedCounters,
    /// None once closed.
    gossip: Mutex<Option<Gossip>>,
    /// Grows with every replacement.
    generation: watch::Sender<u64>,
    /// Who has opened a connection.
    connected: broadcast::Sender<EndpointId>,
    stalled: Notify,
    closed: CancellationToken,
}

impl GossipDoor {
    /// Starts an actor.
    pub(crate) fn open(endpoint: Endpoint, counters: SharedCounters) -> Self {
        let gossip = spawn(&endpoint);
        Self {
            inner: Arc::new(Inner {
                endpoint,
                counters,
                gossip: Mutex::new(Some(gossip)),
                generation: watch::Sender::new(0),
                connected: broadcast::Sender::new(RETURNED_WAITING_MAX),
                stalled: Notify::new(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// The largest message with its header, in bytes.
    #[expect(clippy::unused_self, reason = "a setting of the actor behind the door")]
    pub(crate) fn max_message_bytes(&self) -> usize {
        MESSAGE_BYTES_MAX
    }

    /// The actor; none once closed. Not to be kept: an actor that is replaced ends when nobody
    /// holds it.
    pub(super) fn gossip(&self) -> Option<Gossip> {
        self.lock().clone()
    }

    /// Changes when the actor is replaced.
    pub(super) fn generation(&self) -> watch::Receiver<u64> {
        self.inner.generation.subscribe()
    }

    /// Says who has opened a connection, once the actor has it.
    pub(super) fn connected(&self) -> broadcast::Receiver<EndpointId> {
        self.inner.connected.subscribe()
    }

    /// Done once the door is closed.
    pub(super) fn closed(&self) -> CancellationToken {
        self.inner.closed.clone()
    }

    /// Says that the actor has not taken an order in time.
    pub(super) fn report_stall(&self) {
        self.inner.stalled.notify_one();
    }

    /// Hands an accepted connection to the actor.
    pub(crate) async fn accept(&self, connection: Connection) {
        let Some(gossip) = self.gossip() else { return };
        let peer = connection.remote_id();
        let taken = timeout(GOSSIP_STALL, gossip.handle_connection(connection)).await;
        if taken.is_err() {
            self.report_stall();
        }
        // Nobody listens while no topic is open.
        let _ = self.inner.connected.send(peer);
    }

    /// Looks after the actor until the door is closed.
    pub(super) async fn watch(self) {
        loop {
            let stands_still = tokio::select! {
                biased;
                () = self.inner.closed.cancelled() => return,
                () = self.inner.stalled.notified() => true,
                () = sleep(GOSSIP_STALL) => self.stands_still().await,
            };
            if stands_still {
                self.replace();
            }
        }
    }

    /// Gives the actor something to do and sees whether it turns.
    async fn stands_still(&self) -> bool {
        let Some(gossip) = self.gossip() else {
            return false;
        };
        let ticks = || gossip.metrics().actor_tick_main.get();
        let before = ticks();
        if before == 0 {
            // Built without counting: nothing can be told.
            return false;
        }
        let probe = gossip.subscribe(iroh_gossip::proto::TopicId::from_bytes([0; 32]), Vec::new());
        let asked = timeout(GOSSIP_STALL, probe).await;
        if ticks() == before {
            sleep(GOSSIP_STALL).await;
        }
        drop(asked);
        ticks() == before
    }

    fn replace(&self) {
        let mut gossip = self.lock();
        if gossip.is_none() {
            return;
        }
        *gossip = Some(spawn(&self.inner.endpoint));
        drop(gossip);
        self.inner.counters.gossip_restarts.one();
        tracing::warn!("the gossip actor stood still and is replaced");
        self.inner
            .generation
            .send_modify(|generation| *generation += 1);
    }

    /// Says goodbye in every topic and stops the actor, within a time limit.
    pub(super) async fn close(&self) {
        let gossip = self.lock().take();
        self.inner.closed.cancel();
        if let Some(gossip) = gossip {
            let _ = timeout(GOODBYE_WITHIN, gossip.shutdown()).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Gossip>> {
        let gossip = &self.inner.gossip;
        gossip.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(endpoint: &Endpoint) -> Gossip {
    Gossip::builder()
        .max_message_size(MESSAGE_BYTES_MAX)
        .spawn(endpoint.clone())
}

#[cfg(test)]
pub(super) mod tests;
