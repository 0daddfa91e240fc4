//! One topic's swarm: joined, listened to, spoken to, joined again.

use std::{
    collections::{BTreeSet, VecDeque},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::StreamExt;
use iroh::EndpointId;
use iroh_gossip::api::{Event as GossipEvent, GossipReceiver, GossipSender};
use osier_core::TopicId;
use tokio::{
    sync::mpsc,
    time::{sleep, sleep_until, timeout},
};

use super::{door::GossipDoor, returned::Returned};
use crate::{
    arrival::{Arrival, SwarmNews},
    limit::{GOSSIP_STALL, REJOIN_WAIT_MAX, REJOIN_WAIT_MIN, SWARM_PEERS_MAX},
    metric::SharedCounters,
    net::node_id,
};

/// What the driver asks of a swarm. Without orders to come, it is left.
#[derive(Debug)]
pub(super) enum SwarmOrder {
    /// Join through these nodes, too.
    Join(Vec<EndpointId>),
    /// Send to all.
    Broadcast(Bytes),
}

/// One topic's swarm.
#[derive(Debug)]
pub(super) struct Swarm {
    topic: TopicId,
    id: iroh_gossip::proto::TopicId,
    /// Nodes to join through, oldest news first.
    peers: VecDeque<EndpointId>,
    neighbors: BTreeSet<EndpointId>,
    returned: Returned,
    door: GossipDoor,
    news: mpsc::Sender<Arrival>,
    counters: SharedCounters,
}

/// Why a subscription is over.
enum Over {
    /// Nobody wants it any more.
    Left,
    /// The actor has been replaced, or has closed it.
    Broken,
}

impl Swarm {
    pub(super) fn new(
        topic: TopicId,
        id: iroh_gossip::proto::TopicId,
        peers: Vec<EndpointId>,
        door: GossipDoor,
        news: mpsc::Sender<Arrival>,
        counters: SharedCounters,
    ) -> Self {
        let mut swarm = Self {
            topic,
            id,
            peers: VecDeque::new(),
            neighbors: BTreeSet::new(),
            returned: Returned::default(),
            door,
            news,
            counters,
        };
        swarm.remember(peers);
        swarm
    }

    /// Takes part until the orders end or the door closes.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<SwarmOrder>) {
        let closed = self.door.closed();
        let taking_part = async {
            while let Over::Broken = self.take_part(&mut orders).await {
                self.break_off().await;
            }
        };
        tokio::select! {
            biased;
            () = closed.cancelled() => {}
            () = taking_part => {}
        }
    }

    /// One subscription, from its start to its end.
    async fn take_part(&mut self, orders: &mut mpsc::Receiver<SwarmOrder>) -> Over {
        let mut generation = self.door.generation();
        generation.mark_unchanged();
        let mut connected = self.door.connected();
        let Some((sender, mut receiver)) = self.subscribe().await else {
            sleep(REJOIN_WAIT_MIN).await;
            return Over::Broken;
        };
        let mut wait = REJOIN_WAIT_MIN;
        loop {
            let alone = self.neighbors.is_empty() && !self.peers.is_empty();
            tokio::select! {
                biased;
                _ = generation.changed() => return Over::Broken,
                order = orders.recv() => {
                    let Some(order) = order else { return Over::Left };
                    self.obey(order, &sender).await;
                }
                event = receiver.next() => {
                    let Some(Ok(event)) = event else {
                        sleep(REJOIN_WAIT_MIN).await;
                        return Over::Broken;
                    };
                    self.forward(event).await;
                    wait = REJOIN_WAIT_MIN;
                }
                peer = connected.recv() => self.connected_anew(peer.ok()),
                () = until(self.returned.next()) => {
                    let peers = self.returned.due(Instant::now());
                    self.within(sender.join_peers(peers)).await;
                }
                () = sleep(wait), if alone => {
                    wait = (wait * 2).min(REJOIN_WAIT_MAX);
                    let peers = self.peers.iter().copied().collect();
                    self.within(sender.join_peers(peers)).await;
                }
            }
        }
    }

    async fn subscribe(&self) -> Option<(GossipSender, GossipReceiver)> {
        let gossip = self.door.gossip()?;
        let peers = self.peers.iter().copied().collect();
        let topic = self.within(gossip.subscribe(self.id, peers)).await?;
        Some(topic.split())
    }

    async fn obey(&mut self, order: SwarmOrder, sender: &GossipSender) {
        match order {
            SwarmOrder::Join(peers) => {
                self.remember(peers.clone());
                self.within(sender.join_peers(peers)).await;
            }
            SwarmOrder::Broadcast(bytes) => {
                if self.within(sender.broadcast(bytes)).await.is_some() {
                    self.counters.gossip_sent.one();
                }
            }
        }
    }

    /// Waits for the actor to take something, and reports it when it does not in time.
    async fn within<T, E>(&self, taken: impl Future<Output = Result<T, E>>) -> Option<T> {
        if let Ok(result) = timeout(GOSSIP_STALL, taken).await {
            return result.ok();
        }
        self.counters.gossip_dropped.one();
        self.door.report_stall();
        None
    }

    /// A peer has opened a connection. It dials only when it holds no live one, so a neighbour that
    /// does may not know that it is one.
    /// Without a name it may have been any.
    fn connected_anew(&mut self, peer: Option<EndpointId>) {
        let now = Instant::now();
        for neighbor in &self.neighbors {
            if peer.is_none_or(|peer| peer == *neighbor) {
                self.returned.note(*neighbor, now);
            }
        }
    }

    async fn forward(&mut self, event: GossipEvent) {
        let news = match event {
            GossipEvent::NeighborUp(peer) => {
                self.remember(vec![peer]);
                self.neighbors.insert(peer);
                self.returned.settle(peer);
                neighbor(peer, true)
            }
            GossipEvent::NeighborDown(peer) => {
                self.neighbors.remove(&peer);
                self.returned.settle(peer);
                neighbor(peer, false)
            }
            GossipEvent::Received(message) => {
                self.counters.gossip_received.one();
                self.returned.heard(message.delivered_from);
                SwarmNews::Message(message.content)
            }
            GossipEvent::Lagged => {
                self.counters.gossip_lagged.one();
                SwarmNews::Lagged
            }
        };
        self.tell(news).await;
    }

    /// A subscription is over and another begins: nobody is a neighbour now, and what was sent in
    /// between is lost.
    async fn break_off(&mut self) {
        self.returned.clear();
        for peer in std::mem::take(&mut self.neighbors) {
            self.tell(neighbor(peer, false)).await;
        }
        self.tell(SwarmNews::Lagged).await;
    }

    async fn tell(&self, news: SwarmNews) {
        let topic = self.topic;
        let _ = self.news.send(Arrival::Swarm { topic, news }).await;
    }

    fn remember(&mut self, peers: Vec<EndpointId>) {
        for peer in peers {
            self.peers.retain(|other| *other != peer);
            self.peers.push_back(peer);
            if self.peers.len() > SWARM_PEERS_MAX {
                self.peers.pop_front();
            }
        }
    }
}

/// Waits for a point in time, or for ever when there is none.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn neighbor(peer: EndpointId, up: bool) -> SwarmNews {
    SwarmNews::Neighbor {
        peer: node_id(peer),
        up,
    }
}

const _: () = assert!(
    REJOIN_WAIT_MIN.as_millis() > Duration::ZERO.as_millis()
        && REJOIN_WAIT_MIN.as_millis() < REJOIN_WAIT_MAX.as_millis()
);

#[cfg(test)]
mod tests;
