//! Nodes, topics, and waits with a time limit.

use std::{future::Future, time::Duration};

use bytes::Bytes;
use osier_core::{EntryHash, Kind, NodeId, NodeSecret, Role, Ticket, TopicId, TopicSecret};
use osier_engine::{Rule, SyncEvent};
use osier_node::{EventStream, Node, NodeConfig, topic_record};
use osier_proto::{Lsn, StoreId, View};
use osier_store::{Retention, Store};

/// Longer than anything here takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// Waits, and fails by name when it takes too long.
pub(crate) async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(LIMIT, wait).await;
    done.unwrap_or_else(|_| panic!("not within {LIMIT:?}: {what}"))
}

pub(crate) fn secret(n: u64) -> NodeSecret {
    osier_core::testing::secret(n)
}

/// A store in memory with its own name.
pub(crate) fn store(n: u8) -> Store {
    Store::in_memory(StoreId::from_bytes([n; 16])).unwrap()
}

/// A node on loopback over a store.
pub(crate) async fn start(n: u64, store: Store) -> Node {
    Node::start(NodeConfig::new(secret(n)), store)
        .await
        .unwrap()
}

/// The topic that test node 1 owns.
pub(crate) fn ticket() -> Ticket {
    let secret_of_topic = TopicSecret::from_bytes([5; 32]);
    Ticket::new(secret(1).node_id(), secret_of_topic, "lobby").unwrap()
}

pub(crate) fn topic() -> TopicId {
    ticket().topic()
}

/// The ticket with a node's addresses.
pub(crate) fn ticket_through(nodes: &[&Node]) -> Ticket {
    nodes.iter().fold(ticket(), |ticket, node| {
        let addresses = node.addresses();
        let through = |ticket: Ticket, address: &String| ticket.with_address(node.id(), address);
        addresses.iter().fold(ticket, through)
    })
}

/// Takes part in the topic.
pub(crate) async fn open(node: &Node, ticket: &Ticket, role: Role) {
    let record = topic_record(ticket, role, Retention::All, Rule::default());
    node.open(record).await.unwrap();
}

/// Writes so many entries of one small item each.
pub(crate) async fn publish(node: &Node, entries: usize, text: &str) -> Vec<EntryHash> {
    let mut hashes = Vec::new();
    for from in (0..entries).step_by(250) {
        let upto = entries.min(from + 250);
        let items = (from..upto).map(|n| vec![Bytes::from(format!("{text} {n}"))]);
        let written = node.publish(topic(), Kind::APPLICATION, items.collect());
        hashes.extend(within("a durable write", written).await.unwrap());
    }
    assert_eq!(hashes.len(), entries);
    hashes
}

/// Events until one of them is it.
pub(crate) async fn wait_for<T>(
    events: &mut EventStream,
    what: &str,
    mut found: impl FnMut(&SyncEvent) -> Option<T>,
) -> T {
    let mut seen = Vec::new();
    let search = async {
        loop {
            let (_, event) = events.next().await.expect("the stream goes on");
            let value = found(&event);
            seen.push(event);
            if let Some(value) = value {
                return value;
            }
        }
    };
    let found = tokio::time::timeout(LIMIT, search).await;
    found.unwrap_or_else(|_| panic!("not within {LIMIT:?}: {what}; saw {seen:#?}"))
}

/// Waits until a node holds an entry, however it came.
pub(crate) async fn wait_held(node: &Node, events: &mut EventStream, hash: EntryHash) {
    let what = format!("{hash:?} at {:?}", node.id());
    let store = node.store().unwrap();
    let holds = || store.snapshot(topic()).unwrap().holds(&hash).unwrap();
    if holds() {
        return;
    }
    wait_for(events, &what, |_| holds().then_some(())).await;
}

/// Entries of the topic in a store.
pub(crate) fn entries(store: &Store) -> u64 {
    store.snapshot(topic()).unwrap().summary().set.count()
}

pub(crate) fn log(store: &Store) -> Vec<EntryHash> {
    let view = store.snapshot(topic()).unwrap();
    let mut hashes = Vec::new();
    let mut after = Lsn::START;
    loop {
        let page = view.log(after, 1000, usize::MAX).unwrap();
        hashes.extend(page.entries.iter().map(|(_, entry)| entry.hash()));
        match page.entries.last() {
            Some((lsn, _)) if !page.done => after = *lsn,
            _ => return hashes,
        }
    }
}

/// Whether a provider is the node.
pub(crate) fn is(node: &Node, id: NodeId) -> bool {
    node.id() == id
}
