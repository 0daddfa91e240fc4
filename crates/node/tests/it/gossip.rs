//! `IR-01`: what does not fit gossip goes by another path, and gossip goes on.

use bytes::Bytes;
use osier_core::{Kind, Role};

use crate::support::{
    open, publish, start, store, ticket, ticket_through, topic, wait_held, within,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_around_and_far_over_the_gossip_room_arrive() {
    let writer = start(1, store(1)).await;
    open(&writer, &ticket(), Role::Archive).await;
    let reader = start(2, store(2)).await;
    open(&reader, &ticket_through(&[&writer]), Role::Peer).await;
    let mut events = reader.events(topic()).await.unwrap();
    let first = publish(&writer, 1, "first").await;
    wait_held(&reader, &mut events, first[0]).await;

    for bytes in [3_700, 4_000, 4_057, 4_058, 5_000, 70 * 1024] {
        let items = vec![vec![Bytes::from(vec![7; bytes])]];
        let written = writer.publish(topic(), Kind::APPLICATION, items);
        let hash = within("a durable write", written).await.unwrap()[0];
        wait_held(&reader, &mut events, hash).await;
    }
    // The actor that one oversize broadcast would have stopped takes more than its queues hold.
    let many = publish(&writer, 200, "small").await;
    wait_held(&reader, &mut events, many[199]).await;
    assert_eq!(writer.metrics().gossip_oversize, 0);
    assert_eq!(writer.metrics().gossip_restarts, 0);
}
