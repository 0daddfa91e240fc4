//! Connections that peers open: admitted by address, told apart by protocol.
//!
//! The loop is ours rather than iroh's `Router`, which stops for good when a handler panics.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use iroh::endpoint::{Incoming, IncomingAddr};
use osier_core::NodeId;
use osier_engine::{AskId, GrantSession};
use osier_proto::{Hello, Refuse};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{Connections, SYNC_ALPN, node_id, session::Order};
use crate::{
    gossip::GossipDoor,
    limit::{CONNECTIONS_ACCEPTED_MAX, CONNECTIONS_PER_ADDRESS_MAX, HELLO_WITHIN},
};

/// A peer's request, waiting for the engine's word.
#[derive(Debug)]
pub(crate) struct Ask {
    /// Its number on this node.
    pub(crate) id: AskId,
    /// Who asks, as the connection has proven.
    pub(crate) peer: NodeId,
    /// Exported from the connection's key exchange.
    pub(crate) binding: [u8; 32],
    /// The request.
    pub(crate) hello: Box<Hello>,
    /// Takes the word.
    pub(crate) decide: oneshot::Sender<Decision>,
}

/// The engine's word on a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Serve it.
    Grant {
        /// How.
        grant: Box<GrantSession>,
        /// The driver's orders to the session.
        orders: mpsc::Receiver<Order>,
    },
    /// Do not.
    Refuse(Refuse),
}

/// Accepts connections until the endpoint closes.
#[derive(Debug)]
pub(crate) struct Acceptor {
    connections: Arc<Connections>,
    gossip: GossipDoor,
    admission: Admission,
}

impl Acceptor {
    /// An acceptor that hands connections on by their protocol.
    pub(crate) fn new(connections: Arc<Connections>, gossip: GossipDoor) -> Self {
        Self {
            connections,
            gossip,
            admission: Admission::default(),
        }
    }

    /// Runs until the endpoint closes.
    pub(crate) async fn run(self) {
        let this = Arc::new(self);
        while let Some(incoming) = this.connections.endpoint().accept().await {
            let from = address_of(&incoming);
            let Some(place) = this.admission.admit(from) else {
                this.connections.net().counters.connections_refused.one();
                incoming.refuse();
                continue;
            };
            let connections = Arc::clone(&this);
            let task = async move { connections.shake_hands(incoming, place).await };
            this.connections.net().tasks.spawn(task);
        }
    }

    async fn shake_hands(&self, incoming: Incoming, place: Place) {
        let seen = match incoming.remote_addr() {
            IncomingAddr::Ip(address) => Some(address),
            _ => None,
        };
        let Ok(accepting) = incoming.accept() else {
            return;
        };
        let connection = match timeout(HELLO_WITHIN, accepting).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return tracing::debug!(%error, "handshake failed"),
            Err(_) => return tracing::debug!("handshake took too long"),
        };
        let net = self.connections.net();
        net.counters.connections_accepted.one();
        let peer = node_id(connection.remote_id());
        if let Some(address) = seen {
            self.connections.book().note_seen(peer, address);
        }
        if connection.alpn() == SYNC_ALPN {
            self.connections.adopt(connection, true, Some(place));
        } else {
            let closed = connection.weak_handle().closed();
            self.gossip.accept(connection).await;
            closed.await;
            drop(place);
        }
    }
}

fn address_of(incoming: &Incoming) -> Option<IpAddr> {
    match incoming.remote_addr() {
        IncomingAddr::Ip(address) => Some(address.ip()),
        _ => None,
    }
}

/// Counts accepted connections, so that one address cannot use up what others need.
#[derive(Debug, Clone, Default)]
struct Admission {
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

/// A connection's place; given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    admission: Admission,
    from: Option<IpAddr>,
}

impl Admission {
    /// A place for a connection from this address, or through a relay; none when there is none.
    fn admit(&self, from: Option<IpAddr>) -> Option<Place> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= CONNECTIONS_ACCEPTED_MAX {
            return None;
        }
        if let Some(address) = from {
            let count = counts.by_address.entry(address).or_default();
            if *count >= CONNECTIONS_PER_ADDRESS_MAX {
                return None;
            }
            *count += 1;
        }
        counts.all += 1;
        Some(Place {
            admission: self.clone(),
            from,
        })
    }

    fn give_back(&self, from: Option<IpAddr>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(counts.all > 0, "every place was counted");
        counts.all -= 1;
        let Some(address) = from else { return };
        if let Some(count) = counts.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.by_address.remove(&address);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.give_back(self.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_take_all_places() {
        let admission = Admission::default();
        let greedy = Some(IpAddr::from([192, 0, 2, 1]));
        let other = Some(IpAddr::from([192, 0, 2, 2]));
        let mut places: Vec<_> = (0..CONNECTIONS_PER_ADDRESS_MAX)
            .map(|_| admission.admit(greedy).unwrap())
            .collect();
        assert!(admission.admit(greedy).is_none());
        assert!(admission.admit(other).is_some());
        places.pop();
        assert!(admission.admit(greedy).is_some());
        places.clear();
        assert!(admission.counts.lock().unwrap().by_address.is_empty());
    }
}
