//! `IR-10`: what was acknowledged is there, and a node that was shut down can start at once.

use osier_core::Role;
use osier_node::{Node, NodeConfig};
use osier_proto::StoreId;
use osier_store::Store;

use crate::support::{
    entries, log, open, publish, secret, start, store, ticket, ticket_through, topic, wait_held,
    within,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_store_and_port_open_at_once_after_a_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let open_store = || Store::open(&path, StoreId::from_bytes([1; 16])).unwrap();
    let node = Node::start(NodeConfig::new(secret(1)), open_store())
        .await
        .unwrap();
    let listen = node.addresses()[0].parse().unwrap();
    open(&node, &ticket(), Role::Archive).await;
    let mut written = publish(&node, 500, "before").await;

    // A reader with a connection, so that there is somebody to say goodbye to.
    let reader = start(2, store(2)).await;
    open(&reader, &ticket_through(&[&node]), Role::Peer).await;
    let mut events = reader.events(topic()).await.unwrap();
    wait_held(&reader, &mut events, written[499]).await;

    let config = NodeConfig::new(secret(1)).listen(listen);
    let mut node = node;
    for round in 0..3 {
        written.extend(publish(&node, 50, "more").await);
        within("a shutdown", node.shutdown()).await;
        let reopened = open_store();
        assert_eq!(log(&reopened), written, "round {round}");
        drop(reopened);
        node = Node::start(config.clone(), open_store()).await.unwrap();
        assert_eq!(node.topics().await.unwrap(), [topic()]);
    }
    within("a second shutdown", node.shutdown()).await;
    within("a third does nothing", node.shutdown()).await;
    assert_eq!(entries(&open_store()), written.len() as u64);
}
