//! Connections by peer: one is reused for every session, and a newer live one always wins.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use iroh::{Endpoint, endpoint::Connection};
use osier_core::NodeId;
use osier_proto::CloseCode;
use tokio::time::{sleep, timeout};

use super::{PeerBook, SYNC_ALPN, accept::Place, dial, endpoint_id, node_id};
use crate::{
    arrival::Arrival,
    limit::{CONNECTIONS_PER_PEER_MAX, DIAL_WITHIN, PROBE_WITHIN},
    shared::Shared,
};

/// How often a probe looks for a sign of life.
const PROBE_STEP: Duration = Duration::from_millis(50);

/// All session connections of a node.
#[derive(Debug)]
pub(crate) struct Connections {
    endpoint: Endpoint,
    book: PeerBook,
    net: Arc<Shared>,
    peers: Mutex<BTreeMap<NodeId, Peer>>,
}

#[derive(Debug, Default)]
struct Peer {
    /// Oldest first. More than one when both sides dialed at once, or the peer came back.
    links: Vec<Link>,
    /// Held while dialing, so that sessions opened together share one connection.
    dialing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Clone)]
struct Link {
    connection: Connection,
    /// Whether the peer opened it.
    incoming: bool,
}

impl Link {
    fn is_live(&self) -> bool {
        self.connection.close_reason().is_none()
    }

    fn close(&self, why: &'static str) {
        self.connection
            .close(CloseCode::Cancelled.get().into(), why.as_bytes());
    }
}

impl Connections {
    /// None yet.
    pub(crate) fn new(endpoint: Endpoint, book: PeerBook, net: Arc<Shared>) -> Self {
        Self {
            endpoint,
            book,
            net,
            peers: Mutex::default(),
        }
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn book(&self) -> &PeerBook {
        &self.book
    }

    pub(crate) fn net(&self) -> &Arc<Shared> {
        &self.net
    }

    /// The newest live connection to a peer, dialed if there is none. An error is for people.
    pub(crate) async fn to(self: &Arc<Self>, peer: NodeId) -> Result<Connection, String> {
        if let Some(connection) = self.newest(peer) {
            return Ok(connection);
        }
        let dialing = Arc::clone(&self.lock().entry(peer).or_default().dialing);
        let _alone = dialing.lock().await;
        if let Some(connection) = self.newest(peer) {
            return Ok(connection);
        }
        let dialed = self.dial(peer).await;
        match dialed {
            Ok(connection) => {
                self.net.counters.connections_dialed.one();
                self.adopt(connection.clone(), false, None);
                Ok(connection)
            }
            Err(cause) => {
                self.net.counters.dials_failed.one();
                self.forget_closed(peer);
                Err(cause)
            }
        }
    }

    async fn dial(&self, peer: NodeId) -> Result<Connection, String> {
        let id = endpoint_id(peer).ok_or("the provider's id is no public key")?;
        match timeout(DIAL_WITHIN, self.endpoint.connect(id, SYNC_ALPN)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(format!("cannot connect: {error:#}")),
            Err(_) => Err(format!("no answer to a dial for {DIAL_WITHIN:?}")),
        }
    }

    /// Serves a new connection and makes it the one to use. `IR-03`: an older one never stands in
    /// its way, and is closed as soon as it is known to be dead.
    pub(crate) fn adopt(
        self: &Arc<Self>,
        connection: Connection,
        incoming: bool,
        place: Option<Place>,
    ) {
        connection.set_max_concurrent_uni_streams(0_u32.into());
        let peer = node_id(connection.remote_id());
        let link = Link {
            connection: connection.clone(),
            incoming,
        };
        for older in self.enter(peer, link) {
            // A peer dials only when it holds no live connection: its older dial is gone.
            if incoming && older.incoming {
                self.replace(&older);
            } else {
                let this = Arc::clone(self);
                self.net.tasks.spawn(async move { this.probe(older).await });
            }
        }
        let this = Arc::clone(self);
        self.net.tasks.spawn(async move {
            this.serve(connection).await;
            this.left(peer).await;
            drop(place);
        });
    }

    /// Closes every connection.
    pub(crate) fn close_all(&self, code: CloseCode) {
        for link in self.lock().values().flat_map(|peer| &peer.links) {
            link.connection.close(code.get().into(), b"shutting down");
        }
    }

    /// Puts a link in and gives the older live ones.
    fn enter(&self, peer: NodeId, link: Link) -> Vec<Link> {
        let mut peers = self.lock();
        let links = &mut peers.entry(peer).or_default().links;
        links.retain(Link::is_live);
        let older = links.clone();
        links.push(link);
        if links.len() > CONNECTIONS_PER_PEER_MAX {
            links.remove(0).close("too many connections");
        }
        older
    }

    /// Closes a replaced connection unless its other end shows that it lives. One that lives is
    /// kept: its sessions go on, and the peer may hold it for the newer one.
    async fn probe(&self, older: Link) {
        let before = older.connection.stats().udp_rx.datagrams;
        if older.connection.send_datagram(Bytes::new()).is_err() {
            return;
        }
        for _ in 0..PROBE_WITHIN.as_millis() / PROBE_STEP.as_millis() {
            sleep(PROBE_STEP).await;
            if older.connection.stats().udp_rx.datagrams > before || !older.is_live() {
                return;
            }
        }
        self.replace(&older);
    }

    fn replace(&self, older: &Link) {
        self.net.counters.connections_replaced.one();
        older.close("replaced by a newer connection");
    }

    /// Takes the streams that the peer opens, until the connection closes.
    async fn serve(&self, connection: Connection) {
        let streams = async {
            while let Ok((send, recv)) = connection.accept_bi().await {
                let ask = dial::answer(Arc::clone(&self.net), connection.clone(), send, recv);
                self.net.sessions.spawn(ask);
            }
        };
        tokio::select! {
            () = streams => {}
            () = self.net.closing.cancelled() => {
                connection.closed().await;
            }
        }
    }

    /// Tells the driver when the last connection to a peer is gone.
    async fn left(&self, peer: NodeId) {
        if self.forget_closed(peer) {
            let _ = self.net.arrivals.send(Arrival::PeerLost { peer }).await;
        }
    }

    /// Whether no live connection to the peer is left.
    fn forget_closed(&self, peer: NodeId) -> bool {
        let mut peers = self.lock();
        let Some(entry) = peers.get_mut(&peer) else {
            return true;
        };
        entry.links.retain(Link::is_live);
        let gone = entry.links.is_empty();
        if gone && Arc::strong_count(&entry.dialing) == 1 {
            peers.remove(&peer);
        }
        gone
    }

    fn newest(&self, peer: NodeId) -> Option<Connection> {
        let peers = self.lock();
        let mut links = peers.get(&peer)?.links.iter().rev();
        links
            .find(|link| link.is_live())
            .map(|link| link.connection.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
