//! An actor that was made to stand still is replaced, and gossip goes on.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use iroh_gossip::{
    api::{Event, GossipReceiver, GossipSender},
    proto::TopicId,
};
use osier_core::testing::secret;

use super::*;
use crate::{
    config::NodeConfig,
    net::{Bound, addresses, bind, node_id},
};

/// The topic that all join.
pub(in crate::gossip) const TOPIC: TopicId = TopicId::from_bytes([1; 32]);

const LIMIT: Duration = Duration::from_mins(1);

/// A door that lets in whoever comes.
pub(in crate::gossip) async fn door(n: u64) -> (GossipDoor, Bound) {
    let bound = bind(&NodeConfig::new(secret(n))).await.unwrap();
    let door = GossipDoor::open(bound.endpoint.clone(), SharedCounters::default());
    let (accepting, endpoint) = (door.clone(), bound.endpoint.clone());
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            if let Ok(connection) = incoming.await {
                accepting.accept(connection).await;
            }
        }
    });
    (door, bound)
}

/// Joins the tests' topic.
pub(in crate::gossip) async fn join(
    door: &GossipDoor,
    through: &[&Bound],
) -> (GossipSender, GossipReceiver) {
    let gossip = door.gossip().unwrap();
    let peers = through.iter().map(|bound| bound.endpoint.id()).collect();
    gossip.subscribe(TOPIC, peers).await.unwrap().split()
}

/// Reads on until an event that is wanted.
pub(in crate::gossip) async fn until(receiver: &mut GossipReceiver, what: impl Fn(&Event) -> bool) {
    let search = async { while !what(&receiver.next().await.unwrap().unwrap()) {} };
    timeout(LIMIT, search).await.expect("within the limit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_actor_that_stands_still_is_replaced() {
    let ((one, at_one), (two, at_two)) = (door(1).await, door(2).await);
    for address in addresses(&at_two.endpoint) {
        at_one
            .book
            .note_seen(node_id(at_two.endpoint.id()), address);
    }
    let (_keep, mut at_two_hears) = join(&two, &[]).await;
    let (sender, mut receiver) = join(&one, &[&at_two]).await;
    until(&mut receiver, |event| matches!(event, Event::NeighborUp(_))).await;
    tokio::spawn(one.clone().watch());
    let mut generation = one.generation();
    generation.mark_unchanged();

    // What `Swarms::broadcast` keeps from happening: one message over the room, and the actor
    // stops once the neighbour's queue is full.
    sender.broadcast(Bytes::from(vec![0; 5000])).await.unwrap();
    for n in 0..400_u32 {
        let message = Bytes::copy_from_slice(&n.to_be_bytes());
        let _ = timeout(Duration::from_millis(20), sender.broadcast(message)).await;
    }
    timeout(LIMIT, generation.changed()).await.unwrap().unwrap();
    assert_eq!(one.inner.counters.read().gossip_restarts, 1);
    drop((sender, receiver));

    let (sender, mut receiver) = join(&one, &[&at_two]).await;
    until(&mut receiver, |event| matches!(event, Event::NeighborUp(_))).await;
    sender
        .broadcast(Bytes::from_static(b"again"))
        .await
        .unwrap();
    until(
        &mut at_two_hears,
        |event| matches!(event, Event::Received(message) if message.content == b"again"[..]),
    )
    .await;
    tokio::join!(one.close(), two.close());
}
