//! `EOSE`, what comes after it, and what is not stored.

use osier_nostr::testing;
use serde_json::json;

use super::{author, find, relay};
use crate::support::client::{Client, ids, now};

#[test]
fn supports_eose() {
    let (_node, mut client) = relay();
    let nothing = json!({ "authors": [author(99)], "kinds": [1], "limit": 10 });
    assert!(client.req("s", &[nothing]).ids.is_empty());
}

/// No relay closes those that can get nothing more and still says `EOSE`; neither do we.
#[test]
fn keeps_open_subscriptions_after_eose() {
    let (_node, mut client) = relay();
    let past = json!({ "authors": [author(99)], "until": 1_700_000_000, "limit": 10 });
    client.req("past", &[past]);
    client.req("one", &[json!({ "ids": ["de".repeat(32)] })]);
    let late = testing::note(99, 1_000, "of the past, now");
    client.publish_all([&late]);
    assert_eq!(
        client.expect("EVENT", "past")[2]["id"],
        late.id().to_string()
    );
    let left = client.drain();
    assert!(left.is_empty(), "nothing is closed: {left:?}");
}

#[test]
fn serves_post_eose_events() {
    let (node, mut client) = relay();
    client.req("s", &[json!({ "kinds": [1] })]);
    let live = testing::note(1, 1_000, "live");
    Client::connect(&node).publish_all([&live]);
    assert_eq!(client.expect("EVENT", "s")[2]["id"], live.id().to_string());
}

#[test]
fn ephemeral_subscriptions_work() {
    let (node, mut client) = relay();
    client.req("s", &[json!({ "kinds": [25_000], "authors": [author(1)] })]);
    let event = testing::event(1, now(), 25_000, &[&["test"]], "");
    Client::connect(&node).publish_all([&event]);
    assert_eq!(client.expect("EVENT", "s")[2]["id"], event.id().to_string());
}

/// It asks whether a relay does; we do not. Nobody listens, and that is said.
#[test]
fn ephemeral_events_are_not_persisted() {
    let (_node, mut client) = relay();
    let event = testing::event(1, now(), 25_001, &[&["test"]], "");
    let (taken, reason) = client.publish(&event);
    assert!(!taken && reason.starts_with("mute: "), "{reason}");
    assert!(find(&mut client, json!({ "kinds": [25_001] })).is_empty());
}

#[test]
fn since_and_until_filters_are_inclusive() {
    let (_node, mut client) = relay();
    let event = testing::event(1, now(), 5_000, &[&["test"]], "");
    client.publish_all([&event]);
    let at = event.created_at().get();
    for (filter, found) in [
        (json!({ "kinds": [5_000], "since": at }), true),
        (json!({ "kinds": [5_000], "until": at }), true),
        (json!({ "kinds": [5_000], "since": at, "until": at }), true),
        (json!({ "kinds": [5_000], "since": at + 1 }), false),
        (json!({ "kinds": [5_000], "until": at - 1 }), false),
    ] {
        let right = if found { ids([&event]) } else { Vec::new() };
        assert_eq!(find(&mut client, filter.clone()), right, "{filter}");
    }
}

#[test]
fn limit_zero_works() {
    let (_node, mut client) = relay();
    client.publish_all([&testing::note(1, 1_000, "stored")]);
    let stored = client.req("s", &[json!({ "authors": [author(1)], "limit": 0 })]);
    assert!(stored.ids.is_empty());
    let live = testing::note(1, 900, "live, and older");
    client.publish_all([&live]);
    assert_eq!(client.expect("EVENT", "s")[2]["id"], live.id().to_string());
}

/// Whoever writes, the relay takes it; lists of relays too.
#[test]
fn public_can_write() {
    let (_node, mut client) = relay();
    let written = [1, 10_002, 10_050].map(|kind| testing::event(77, now(), kind, &[&["test"]], ""));
    client.publish_all(&written);
    let mut found = find(&mut client, json!({ "authors": [author(77)] }));
    let mut right = ids(&written);
    found.sort();
    right.sort();
    assert_eq!(found, right);
}
