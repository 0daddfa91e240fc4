//! A space between two nodes on loopback.

use std::{path::Path, time::Duration};

use osier::{Osier, Rank, Role, SpaceEvent, SpaceWatch, WithdrawReason};

/// How long anything may take before the test has failed.
const PATIENCE: Duration = Duration::from_mins(1);

async fn node(folder: &Path) -> Osier {
    let builder = Osier::builder().data_dir(folder).mdns(false);
    builder.open().await.expect("a node opens")
}

/// The next event that is not merely a state.
async fn news(watch: &mut SpaceWatch) -> SpaceEvent {
    let next = async {
        loop {
            match watch.next().await.expect("the node runs") {
                SpaceEvent::State(_) => {}
                event => return event,
            }
        }
    };
    let told = tokio::time::timeout(PATIENCE, next).await;
    told.expect("the space is told of in time")
}

fn synced(event: SpaceEvent) -> (u64, usize) {
    match event {
        SpaceEvent::Synced {
            version,
            topics,
            degraded,
        } => {
            assert_eq!(degraded, [], "every topic is synced");
            (version, topics)
        }
        other => panic!("not synced: {other:?}"),
    }
}

/// `POL-23` and `POL-24`: one word for all topics, withdrawn when the list grows, and given again.
#[tokio::test(flavor = "multi_thread")]
async fn a_space_of_twenty_topics_joins_with_one_word() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let owner = node(here.path()).await;
    let space = owner.create_space("team").await.unwrap();
    for n in 0..20 {
        let topic = owner.create_topic(&format!("room-{n}")).await.unwrap();
        topic.publish(format!("hello from {n}")).await.unwrap();
        space.add(&topic).await.unwrap();
    }
    let joiner = node(there.path()).await;
    let joined = joiner.join_space(&space.ticket().unwrap()).await.unwrap();
    let mut watch = joined.watch().await.unwrap();
    assert_eq!(synced(news(&mut watch).await), (21, 20));
    for topic in joiner.topics().unwrap() {
        if topic.name().starts_with("room-") {
            assert_eq!(topic.info().await.unwrap().entries, 1, "{}", topic.name());
        }
    }

    let late = owner.create_topic("room-late").await.unwrap();
    late.publish("late").await.unwrap();
    assert_eq!(space.add(&late).await.unwrap(), 22);
    match news(&mut watch).await {
        SpaceEvent::Withdrawn(WithdrawReason::ManifestGrew { from, to, waiting }) => {
            assert_eq!((from, to, waiting), (21, 22, vec![late.id()]));
        }
        other => panic!("not withdrawn: {other:?}"),
    }
    assert_eq!(synced(news(&mut watch).await), (22, 21));
    assert_eq!(joiner.spaces().unwrap().len(), 1);
    joiner.shutdown().await;
    owner.shutdown().await;
}

/// Reads on until the watcher knows of this list.
async fn until_version(watch: &mut SpaceWatch, wanted: u64) {
    let known = async {
        while let Some(event) = watch.next().await {
            if matches!(event, SpaceEvent::State(state) if state.version == Some(wanted)) {
                return;
            }
        }
        panic!("the node runs");
    };
    let known = tokio::time::timeout(PATIENCE, known).await;
    known.unwrap_or_else(|_| panic!("list {wanted} is not known to the watcher"));
}

/// A watch that begins while a list comes reads it, or is told of it; at no moment neither.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_comes_while_a_watch_begins_is_not_missed() {
    let here = tempfile::tempdir().unwrap();
    let owner = node(here.path()).await;
    let space = owner.create_space("team").await.unwrap();
    for n in 0..100 {
        let topic = owner.create_topic(&format!("room-{n}")).await.unwrap();
        let begin = async {
            for _ in 0..n {
                tokio::task::yield_now().await;
            }
            space.watch().await
        };
        let (watch, version) = tokio::join!(begin, space.add(&topic));
        until_version(&mut watch.unwrap(), version.unwrap()).await;
        let listed = space.remove(topic.id()).await;
        listed.unwrap();
    }
    owner.shutdown().await;
}

/// `ENT-30`: nobody but the owner speaks for the owner.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_grants() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let owner = node(here.path()).await;
    let topic = owner.create_topic("lobby").await.unwrap();
    let other = node(there.path()).await;
    let joined = other.join(&topic.ticket().unwrap()).await.unwrap();
    let refused = joined.grant(other.id(), Rank::DEFAULT, Role::Archive).await;
    let words = refused.unwrap_err().to_string();
    assert!(words.contains("only its owner"), "{words}");

    topic
        .grant(other.id(), Rank::new(7), Role::Archive)
        .await
        .unwrap();
    let list = topic.trust_list().unwrap();
    let granted = list.iter().find(|it| it.node == other.id()).unwrap();
    assert_eq!(
        (granted.rank, granted.source),
        (Some(Rank::new(7)), "grant")
    );
    topic.revoke(other.id()).await.unwrap();
    let list = topic.trust_list().unwrap();
    assert!(list.iter().all(|it| it.node != other.id()));
    other.shutdown().await;
    owner.shutdown().await;
}
