//! A relay that others wrote as a peer: `osier nostr pull`, `push`, `sync` and `count`.

use nostr_sdk::prelude::*;
use serde_json::{Value, json};

use crate::{
    client::{connect, ids, note, send},
    support::{Osier, Peer},
};

const NOTES: &str = r#"{"kinds":[1]}"#;

fn notes() -> Filter {
    Filter::new().kind(Kind::TextNote).limit(1_000)
}

async fn filled(url: &str, events: &[Event]) -> Client {
    let client = connect(url, Client::default()).await;
    for event in events {
        send(&client, event).await;
    }
    client
}

fn said(report: &Value, names: [&str; 2]) -> [u64; 2] {
    names.map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{report}")))
}

/// By negentropy, and by nothing else; what both hold is not moved, and a second run moves nothing.
#[tokio::test]
async fn a_peer_is_pulled_from_pushed_to_and_synced_with() {
    let (osier, peer) = (Osier::start(), Peer::start());
    let keys = Keys::generate();
    let all: Vec<Event> = (0..120)
        .map(|n| note(&keys, 1_000 + n / 2, &n.to_string()))
        .collect();
    let ours = filled(&osier.url(), &all[..100]).await;
    let theirs = filled(&peer.url, &all[20..]).await;
    let run = |verb: &str| osier.command(&["nostr", verb, &peer.url, "--filter", NOTES]);

    let pulled = run("pull");
    assert_eq!(pulled["paged_because"], Value::Null, "{pulled}");
    assert_eq!(said(&pulled, ["received", "stored"]), [20, 20]);
    assert_eq!(ids(&ours, notes()).await.len(), 120);
    assert_eq!(ids(&theirs, notes()).await.len(), 100);
    let pushed = run("push");
    assert_eq!(said(&pushed, ["sent", "taken"]), [20, 20]);
    assert_eq!(ids(&theirs, notes()).await.len(), 120);

    send(&ours, &note(&keys, 3_000, "here")).await;
    send(&theirs, &note(&keys, 3_001, "there")).await;
    let synced = run("sync");
    assert_eq!(said(&synced, ["received", "sent"]), [1, 1]);
    let again = run("sync");
    assert_eq!(said(&again, ["received", "sent"]), [0, 0]);
    assert_eq!(ids(&ours, notes()).await, ids(&theirs, notes()).await);
}

/// What was deleted here goes there, too, and does not come back.
#[tokio::test]
async fn a_deletion_reaches_the_peer() {
    let (osier, peer) = (Osier::start(), Peer::start());
    let keys = Keys::generate();
    let all: Vec<Event> = (0..5)
        .map(|n| note(&keys, 1_000 + n, &n.to_string()))
        .collect();
    let ours = filled(&osier.url(), &all).await;
    let theirs = filled(&peer.url, &all).await;
    let request = EventDeletionRequest::new().id(all[2].id);
    let deletion = EventBuilder::delete(request)
        .sign_with_keys(&keys)
        .expect("signed");
    send(&ours, &deletion).await;
    let run = || osier.command(&["nostr", "sync", &peer.url, "--filter", NOTES]);
    run();
    assert_eq!(ids(&theirs, notes()).await.len(), 4);
    assert_eq!(said(&run(), ["received", "sent"]), [0, 0]);
    assert_eq!(ids(&ours, notes()).await.len(), 4);
}

/// Counts of two relays that hold the same are not added.
#[tokio::test]
async fn counts_of_a_peer_are_read() {
    let (osier, peer) = (Osier::start(), Peer::start());
    let keys = Keys::generate();
    let all: Vec<Event> = (0..40).map(|n| note(&keys, 1_000 + n, "x")).collect();
    filled(&osier.url(), &all).await;
    filled(&peer.url, &all).await;
    let counted = osier.command(&["nostr", "count", &osier.url(), &peer.url, "--filter", NOTES]);
    assert_eq!(counted["count"], 40, "{counted}");
    assert_eq!(counted["partial"], json!(false), "{counted}");
}
