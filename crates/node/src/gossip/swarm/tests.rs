//! A neighbour that comes back before its death is noticed becomes one again.

use std::net::SocketAddr;

use iroh_gossip::api::Event;
use osier_core::{NodeId, testing::topic};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::{
    gossip::door::tests::{TOPIC, door, join, until as until_event},
    net::{Bound, addresses, endpoint_id},
};

const LIMIT: Duration = Duration::from_mins(1);

/// A node that joins through another and has become its neighbour.
struct Joined {
    sender: GossipSender,
    /// What would end when dropped.
    _open: (GossipDoor, Bound, GossipReceiver),
}

/// Joins with always the same key.
async fn joined(through: NodeId, address: SocketAddr) -> Joined {
    let (door, bound) = door(2).await;
    bound.book.note_seen(through, address);
    let peers = vec![endpoint_id(through).unwrap()];
    let gossip = door.gossip().unwrap();
    let (sender, mut receiver) = gossip.subscribe(TOPIC, peers).await.unwrap().split();
    let is_up = |event: &Event| matches!(event, Event::NeighborUp(_));
    until_event(&mut receiver, is_up).await;
    Joined {
        sender,
        _open: (door, bound, receiver),
    }
}

/// A runtime for a node that is to be killed without a goodbye.
fn life() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

/// Waits for a message at the swarm.
async fn hear(news: &mut mpsc::Receiver<Arrival>, wanted: &'static [u8]) {
    let search = async {
        loop {
            let arrival = news.recv().await.expect("the swarm runs");
            let Arrival::Swarm { news, .. } = arrival else {
                continue;
            };
            if matches!(news, SwarmNews::Message(bytes) if bytes == wanted) {
                return;
            }
        }
    };
    timeout(LIMIT, search).await.expect("heard");
}

/// case IR-03: a join of a neighbour that is not answered, since a request to its former life is
/// open, is followed by one the other way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_ir_03_a_neighbor_is_one_again_in_its_next_life() {
    let (door, bound) = door(1).await;
    let (me, address) = (node_id(bound.endpoint.id()), addresses(&bound.endpoint)[0]);
    let _subscribed = join(&door, &[]).await;
    let (news, mut heard) = mpsc::channel(64);
    let (_orders, taken) = mpsc::channel(1);
    let counters = SharedCounters::default();
    let swarm = Swarm::new(topic(), TOPIC, Vec::new(), door, news, counters);
    tokio::spawn(swarm.run(taken));

    let first = life();
    let old = first.spawn(joined(me, address)).await.unwrap();
    // Answered by a request that a neighbour does not answer in turn.
    let peers = vec![endpoint_id(me).unwrap()];
    old.sender.join_peers(peers).await.unwrap();
    old.sender.broadcast(b"one"[..].into()).await.unwrap();
    hear(&mut heard, b"one").await;
    first.shutdown_background();

    let second = life();
    let new = second.spawn(joined(me, address)).await.unwrap();
    new.sender.broadcast(b"two"[..].into()).await.unwrap();
    hear(&mut heard, b"two").await;
    second.shutdown_background();
}
