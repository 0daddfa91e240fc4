//! Two nodes come to hold one history, and know it.

use osier_core::{Coverage, Role};
use osier_engine::{Convergence, EntryPhase, SyncEvent, TopicPhase};

use crate::support::{
    LIMIT, entries, is, log, open, publish, start, store, ticket, ticket_through, topic, wait_for,
    wait_held, within,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_joiner_is_told_complete_with_evidence_and_then_gets_live_entries() {
    let archive = start(1, store(1)).await;
    open(&archive, &ticket(), Role::Archive).await;
    let written = publish(&archive, 1000, "entry").await;

    let joiner = start(2, store(2)).await;
    open(&joiner, &ticket_through(&[&archive]), Role::Peer).await;
    let mut events = joiner.events(topic()).await.unwrap();
    let first = within("the first event", events.next()).await.unwrap();
    assert!(matches!(first.1, SyncEvent::State(_)), "{first:?}");

    let synced = match first.1 {
        SyncEvent::State(state) if state.synced.is_some() => state.synced.unwrap(),
        _ => {
            wait_for(&mut events, "history synced", |event| match event {
                SyncEvent::HistorySynced(synced) => Some(synced.clone()),
                _ => None,
            })
            .await
        }
    };
    assert!(is(&archive, synced.provider));
    assert_eq!(synced.coverage, Coverage::Complete);
    assert_eq!(synced.convergence, Convergence::Converged { with: 1 });
    assert_eq!(synced.entries, 1000);
    let state = joiner.state(topic()).await.unwrap();
    assert_eq!(state.phase, TopicPhase::Synced);
    let mut held = log(&joiner.store().unwrap());
    // Gossip and a session may bring entries at once, so the order may be another.
    held.sort_unstable();
    let mut written = written;
    written.sort_unstable();
    assert_eq!(held, written);

    live(&archive, &mut events).await;
    for node in [&archive, &joiner] {
        node.shutdown().await;
    }
}

/// Publishes until an entry comes by gossip: one that is written before the nodes are neighbours
/// comes by a session.
async fn live(archive: &osier_node::Node, events: &mut osier_node::EventStream) {
    for n in 0..200 {
        publish(archive, 1, &format!("live {n}")).await;
        let phase = wait_for(events, "an entry after the sync", |event| match event {
            SyncEvent::Appended { phase, .. } => Some(*phase),
            _ => None,
        })
        .await;
        if phase == EntryPhase::Live {
            return;
        }
    }
    panic!("no entry came live");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_end_equal_when_each_has_what_the_other_lacks() {
    let (one, two) = (start(1, store(1)).await, start(2, store(2)).await);
    open(&one, &ticket(), Role::Archive).await;
    let ours = publish(&one, 300, "one").await;
    open(&two, &ticket(), Role::Archive).await;
    let theirs = publish(&two, 300, "two").await;
    two.close(topic()).await.unwrap();

    let mut at_one = one.events(topic()).await.unwrap();
    open(&two, &ticket_through(&[&one]), Role::Archive).await;
    let mut at_two = two.events(topic()).await.unwrap();
    wait_held(&two, &mut at_two, *ours.last().unwrap()).await;
    wait_held(&one, &mut at_one, *theirs.last().unwrap()).await;
    assert_eq!(entries(&one.store().unwrap()), 600);
    assert_eq!(entries(&two.store().unwrap()), 600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_is_not_open_is_refused_by_name() {
    let node = start(1, store(1)).await;
    let error = node.events(topic()).await.unwrap_err().to_string();
    assert!(error.contains("join it with a ticket"), "{error}");
    assert_eq!(node.state(topic()).await, None);
    assert_eq!(node.topics().await.unwrap(), []);
    tokio::time::timeout(LIMIT, node.shutdown()).await.unwrap();
    assert!(node.topics().await.is_err());
}
