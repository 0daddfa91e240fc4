//! The SDK of rust-nostr as a client of our relay.

use std::{collections::HashSet, time::Duration};

use nostr_lmdb::NostrLMDB;
use nostr_sdk::prelude::*;
use tokio::time::timeout;

use crate::support::{Osier, PATIENCE};

pub(crate) fn note(keys: &Keys, at: u64, content: &str) -> Event {
    let draft = EventBuilder::text_note(content).custom_created_at(Timestamp::from_secs(at));
    draft.sign_with_keys(keys).expect("our own key signs")
}

pub(crate) async fn connect(url: &str, client: Client) -> Client {
    client.add_relay(url).await.expect("a legal URL");
    let done = client.try_connect(PATIENCE).await;
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    client
}

pub(crate) async fn send(client: &Client, event: &Event) {
    let sent = client.send_event(event).await.expect("it is sent");
    assert!(sent.failed.is_empty(), "{:?}", sent.failed);
}

pub(crate) async fn ids(client: &Client, filter: Filter) -> Vec<EventId> {
    let events = client.fetch_events(filter, PATIENCE).await;
    let events = events.expect("an answer and its EOSE");
    assert!(events.iter().all(|event| event.verify().is_ok()));
    events.into_iter().map(|event| event.id).collect()
}

/// The first message that is wanted; others are passed over.
async fn until<T>(
    notifications: &mut tokio::sync::broadcast::Receiver<RelayPoolNotification>,
    wanted: impl Fn(RelayMessage<'static>) -> Option<T>,
) -> T {
    let search = async {
        loop {
            let told = notifications.recv().await.expect("the client runs");
            if let RelayPoolNotification::Message { message, .. } = told
                && let Some(found) = wanted(message)
            {
                return found;
            }
        }
    };
    timeout(PATIENCE, search).await.expect("it comes")
}

#[tokio::test]
async fn events_are_published_fetched_and_counted() {
    let osier = Osier::start();
    let (keys, client) = (Keys::generate(), Client::default());
    let client = connect(&osier.url(), client).await;
    let notes: Vec<Event> = (0..30).map(|n| note(&keys, 1_000 + n, "note")).collect();
    for note in &notes {
        send(&client, note).await;
    }
    let mine = Filter::new().author(keys.public_key()).kind(Kind::TextNote);
    let newest: Vec<EventId> = notes.iter().rev().map(|it| it.id).collect();
    assert_eq!(ids(&client, mine.clone()).await, newest);
    assert_eq!(ids(&client, mine.clone().limit(3)).await, newest[..3]);

    let mut notifications = client.notifications();
    let ask = ClientMessage::count(SubscriptionId::new("c"), mine);
    client.send_msg_to([osier.url()], ask).await.expect("sent");
    let count = until(&mut notifications, |message| match message {
        RelayMessage::Count { count, .. } => Some(count),
        _ => None,
    });
    assert_eq!(count.await, 30);

    let mut forged = notes[0].clone();
    forged.content = "other".to_owned();
    let refused = client.send_event(&forged).await.expect("it is sent");
    let reason = refused.failed.values().next().expect("it is refused");
    assert!(reason.contains("invalid"), "{reason}");
    client.shutdown().await;
}

#[tokio::test]
async fn a_subscription_gets_its_end_and_then_live_events() {
    let osier = Osier::start();
    let keys = Keys::generate();
    let writer = connect(&osier.url(), Client::default()).await;
    let reader = connect(&osier.url(), Client::default()).await;
    let stored = note(&keys, 1_000, "stored");
    send(&writer, &stored).await;
    let mut notifications = reader.notifications();
    let mine = Filter::new().author(keys.public_key());
    let subscribed = reader.subscribe(mine, None).await.expect("it is asked");
    let ended = until(&mut notifications, |message| match message {
        RelayMessage::EndOfStoredEvents(id) => Some(id.into_owned()),
        _ => None,
    });
    assert_eq!(ended.await, subscribed.val);
    let live = note(&keys, 2_000, "live");
    send(&writer, &live).await;
    let got = until(&mut notifications, |message| match message {
        RelayMessage::Event { event, .. } => Some(event.id),
        _ => None,
    });
    assert_eq!(got.await, live.id);
    writer.shutdown().await;
    reader.shutdown().await;
}

/// It is challenged, proves who it is by itself, and asks again.
#[tokio::test]
async fn a_signer_authenticates_by_itself() {
    let osier = Osier::start();
    let keys = Keys::generate();
    let writer = connect(&osier.url(), Client::default()).await;
    let wrap = EventBuilder::new(Kind::GiftWrap, "sealed").tag(Tag::public_key(keys.public_key()));
    let wrap = wrap.sign_with_keys(&Keys::generate()).expect("signed");
    send(&writer, &wrap).await;
    let gated = Filter::new().kind(Kind::GiftWrap).pubkey(keys.public_key());
    let reader = connect(&osier.url(), Client::new(keys)).await;
    assert_eq!(ids(&reader, gated).await, [wrap.id]);
    writer.shutdown().await;
    reader.shutdown().await;
}

#[tokio::test]
async fn sets_are_brought_together_both_ways() {
    let osier = Osier::start();
    let keys = Keys::generate();
    let all: Vec<Event> = (0..200)
        .map(|n| note(&keys, 5_000 + n / 3, &n.to_string()))
        .collect();
    let (mine, theirs) = (&all[..180], &all[20..]);
    let writer = connect(&osier.url(), Client::default()).await;
    for event in theirs {
        send(&writer, event).await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let database = NostrLMDB::open(folder.path()).expect("a new database");
    let client = Client::builder().database(database).build();
    let client = connect(&osier.url(), client).await;
    for event in mine {
        client.database().save_event(event).await.expect("kept");
    }
    let filter = Filter::new().author(keys.public_key()).kind(Kind::TextNote);
    let options = SyncOptions::default().direction(SyncDirection::Both);
    let done = client.sync(filter.clone(), &options).await.expect("a sync");
    let set = |events: &[Event]| events.iter().map(|it| it.id).collect::<HashSet<_>>();
    assert_eq!(done.val.received, set(&all[180..]));
    assert_eq!(done.val.sent, set(&all[..20]));
    assert_eq!(ids(&writer, filter.clone()).await.len(), 200);
    let again = client.sync(filter, &options).await.expect("a sync");
    assert!(again.val.local.is_empty() && again.val.remote.is_empty());
    writer.shutdown().await;
    client.shutdown().await;
}

/// The node goes without a word and comes back: the client is there again by itself, and its
/// subscription lives on.
#[tokio::test]
async fn a_client_comes_back_with_its_subscription() {
    let osier = Osier::start();
    let keys = Keys::generate();
    let client = Client::default();
    let options = RelayOptions::default()
        .retry_interval(Duration::from_secs(5))
        .adjust_retry_interval(false);
    client
        .pool()
        .add_relay(osier.url(), options)
        .await
        .expect("a legal URL");
    let client = connect(&osier.url(), client).await;
    let mine = Filter::new().author(keys.public_key());
    let subscribed = client.subscribe(mine, None).await.expect("it is asked");
    let mut notifications = client.notifications();
    let osier = osier.restart();
    let ended = until(&mut notifications, |message| match message {
        RelayMessage::EndOfStoredEvents(id) if *id == subscribed.val => Some(()),
        _ => None,
    });
    ended.await;
    let writer = connect(&osier.url(), Client::default()).await;
    let event = note(&keys, 1_000, "after");
    send(&writer, &event).await;
    let got = until(&mut notifications, |message| match message {
        RelayMessage::Event { event, .. } => Some(event.id),
        _ => None,
    });
    assert_eq!(got.await, event.id);
    writer.shutdown().await;
    client.shutdown().await;
}
