//! Gossip: hints between the nodes of a topic, over one iroh-gossip actor.
//!
//! One task a topic joins its swarm, carries messages both ways, and joins again when the last
//! neighbour is gone. A watchdog replaces the actor when it stands still: in iroh-gossip 0.101 one
//! slow neighbour can stop every topic for good.

mod door;
mod drops;
mod returned;
mod swarm;

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use bytes::Bytes;
use iroh::{Endpoint, EndpointId};
use osier_core::{NodeId, TopicId};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

pub(crate) use self::door::GossipDoor;
use self::{
    drops::Drops,
    swarm::{Swarm, SwarmOrder},
};
use crate::{
    arrival::Arrival,
    limit::{GOSSIP_HEADER_BYTES, SWARM_ORDERS_MAX},
    metric::SharedCounters,
    net::{PeerBook, endpoint_id},
};

/// The driver's side of all swarms.
#[derive(Debug)]
pub(crate) struct Swarms {
    me: EndpointId,
    door: GossipDoor,
    book: PeerBook,
    news: mpsc::Sender<Arrival>,
    counters: SharedCounters,
    topics: BTreeMap<TopicId, mpsc::Sender<SwarmOrder>>,
    drops: Drops,
    tasks: TaskTracker,
}

impl Swarms {
    /// No topics yet; the watchdog runs until the door is closed.
    pub(crate) fn start(
        endpoint: &Endpoint,
        book: PeerBook,
        news: mpsc::Sender<Arrival>,
        counters: SharedCounters,
    ) -> Self {
        let door = GossipDoor::open(endpoint.clone(), Arc::clone(&counters));
        let tasks = TaskTracker::new();
        tasks.spawn(door.clone().watch());
        Self {
            me: endpoint.id(),
            door,
            book,
            news,
            counters,
            topics: BTreeMap::new(),
            drops: Drops::default(),
            tasks,
        }
    }

    /// Where accepted gossip connections go.
    pub(crate) fn door(&self) -> GossipDoor {
        self.door.clone()
    }

    /// Joins a topic's swarm, or joins it through more nodes.
    pub(crate) fn join(
        &mut self,
        topic: TopicId,
        swarm: [u8; 32],
        bootstrap: Vec<(NodeId, Option<String>)>,
    ) {
        for (node, address) in &bootstrap {
            if let Some(address) = address
                && self.book.note_text(*node, address).is_err()
            {
                tracing::warn!(%address, "a bootstrap address cannot be read");
            }
        }
        let peers = self.endpoints(bootstrap.into_iter().map(|(node, _)| node));
        if self.topics.contains_key(&topic) {
            return self.order(topic, SwarmOrder::Join(peers));
        }
        let (orders, taken) = mpsc::channel(SWARM_ORDERS_MAX);
        self.topics.insert(topic, orders);
        let swarm = Swarm::new(
            topic,
            iroh_gossip::proto::TopicId::from_bytes(swarm),
            peers,
            self.door.clone(),
            self.news.clone(),
            Arc::clone(&self.counters),
        );
        self.tasks.spawn(swarm.run(taken));
    }

    /// Joins a topic's swarm through more nodes.
    pub(crate) fn join_peers(&mut self, topic: TopicId, peers: Vec<NodeId>) {
        let peers = self.endpoints(peers);
        if !peers.is_empty() {
            self.order(topic, SwarmOrder::Join(peers));
        }
    }

    /// Leaves a topic's swarm: its task ends when its orders do.
    pub(crate) fn leave(&mut self, topic: TopicId) {
        self.topics.remove(&topic);
    }

    /// Sends to a topic's swarm. What is over the payload room is never handed to the actor, which
    /// would accept it and then stop (`IR-01`).
    pub(crate) fn broadcast(&mut self, topic: TopicId, bytes: Bytes) {
        if bytes.len() > self.door.max_message_bytes() - GOSSIP_HEADER_BYTES {
            self.counters.gossip_oversize.one();
            tracing::error!(bytes = bytes.len(), "oversize broadcast: this is a bug");
            return;
        }
        self.order(topic, SwarmOrder::Broadcast(bytes));
    }

    fn order(&mut self, topic: TopicId, order: SwarmOrder) {
        let Some(orders) = self.topics.get(&topic) else {
            return;
        };
        let Err(error) = orders.try_send(order) else {
            return;
        };
        self.counters.gossip_dropped.one();
        if let Some(dropped) = self.drops.one(Instant::now()) {
            let why = "gossip cannot follow; other nodes will ask for what they miss";
            tracing::warn!(?topic, %error, dropped, "{why}");
        }
    }

    fn endpoints(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<EndpointId> {
        let ids = nodes.into_iter().filter_map(endpoint_id);
        ids.filter(|id| *id != self.me).collect()
    }

    /// Leaves every swarm and stops the actor, within a time limit.
    pub(crate) async fn close(&mut self) {
        self.topics.clear();
        self.door.close().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}
