//! `IR-03`: a peer that crashed and came back with the same key is accepted at once.

use osier_core::Role;
use osier_node::Node;
use osier_store::Store;
use tokio::runtime::{Builder, Runtime};

use crate::support::{
    open, publish, start, store, ticket, ticket_through, topic, wait_for, wait_held, within,
};

/// A node that can be killed: it has a runtime of its own, which is let go without a goodbye.
struct Mortal {
    node: Node,
    runtime: Runtime,
}

impl Mortal {
    async fn start(n: u64, store: Store) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let started = runtime.spawn(start(n, store));
        let node = within("a start", started).await.unwrap();
        Self { node, runtime }
    }

    /// Nothing is flushed, nobody is told.
    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_was_killed_five_times_is_heard_and_hears() {
    let archive = start(1, store(1)).await;
    open(&archive, &ticket(), Role::Archive).await;
    publish(&archive, 20, "before").await;
    let through = ticket_through(&[&archive]);

    let mortal_store = store(2);
    let mut mortal = Mortal::start(2, mortal_store.clone()).await;
    open(&mortal.node, &through, Role::Peer).await;
    for _ in 0..5 {
        // Killed once it has a connection and a session behind it.
        let mut events = mortal.node.events(topic()).await.unwrap();
        wait_for(&mut events, "a sync", |event| match event {
            osier_engine::SyncEvent::HistorySynced(_) => Some(()),
            osier_engine::SyncEvent::State(state) => state.synced.as_ref().map(|_| ()),
            _ => None,
        })
        .await;
        mortal.kill();
        mortal = Mortal::start(2, mortal_store.clone()).await;
    }

    let mut at_archive = archive.events(topic()).await.unwrap();
    let mut at_mortal = mortal.node.events(topic()).await.unwrap();
    let began = std::time::Instant::now();
    let ours = publish(&archive, 1, "from the archive").await;
    let theirs = publish(&mortal.node, 1, "from the one that came back").await;
    wait_held(&mortal.node, &mut at_mortal, ours[0]).await;
    wait_held(&archive, &mut at_archive, theirs[0]).await;
    let took = began.elapsed();
    assert!(
        took.as_secs() < 8,
        "both ways within a few seconds, took {took:?}"
    );
    mortal.kill();
}
