//! Of an address the newest is shown, whatever comes first.

use osier_nostr::Event;
use serde_json::{Value, json};

use super::{ago, author, find, is_there, refused, relay};
use crate::support::client::ids;

fn address(kind: u16) -> Value {
    json!({ "authors": [author(1)], "kinds": [kind] })
}

/// The older, the newer; with a `d` tag where the kind has one.
fn versions(kind: u16) -> (Event, Event) {
    let tags: &[&[&str]] = if kind >= 30_000 { &[&["d", "1"]] } else { &[] };
    (
        ago(1, 80, kind, tags, "older"),
        ago(1, 60, kind, tags, "newer"),
    )
}

/// The newer takes the place of the older, which is not taken again, and is on no path.
fn replaces(kind: u16) {
    let (_node, mut client) = relay();
    let (older, newer) = versions(kind);
    client.publish_all([&older]);
    assert!(is_there(&mut client, &older), "it is accepted");
    client.publish_all([&newer]);
    assert_eq!(find(&mut client, address(kind)), ids([&newer]));
    assert!(!is_there(&mut client, &older));
    assert_eq!(client.count(&[address(kind)])["count"], 1);
    refused(&mut client, &older);
    assert_eq!(find(&mut client, address(kind)), ids([&newer]));
}

/// The older comes second, and is refused.
fn rejects_older(kind: u16) {
    let (_node, mut client) = relay();
    let (older, newer) = versions(kind);
    client.publish_all([&newer]);
    let reason = refused(&mut client, &older);
    assert!(reason.starts_with("blocked: "), "{reason}");
    assert_eq!(find(&mut client, address(kind)), ids([&newer]));
}

#[test]
fn accepts_and_replaces_metadata() {
    replaces(0);
}

#[test]
fn accepts_and_replaces_contactlists() {
    replaces(3);
    rejects_older(3);
}

#[test]
fn replaceable_events_replace_older_ones() {
    replaces(10_003);
}

#[test]
fn replaceable_events_rejected_if_a_newer_one_exists() {
    rejects_older(10_003);
}

#[test]
fn addressable_events_replace_older_ones() {
    replaces(30_000);
}

#[test]
fn addressable_events_rejected_if_a_newer_one_exists() {
    rejects_older(30_000);
}

/// Both kinds are found by who wrote them and what they are.
#[test]
fn finds_replaceable_and_addressable_events() {
    let (_node, mut client) = relay();
    for kind in [10_003, 30_000] {
        let (_, newer) = versions(kind);
        client.publish_all([&newer]);
        assert_eq!(find(&mut client, address(kind)), ids([&newer]));
    }
    assert_eq!(find(&mut client, json!({ "#d": ["1"] })).len(), 1);
}
