//! NIP-09: by id and by address, before and after, of one's own and of others'.

use osier_nostr::{Event, testing};
use serde_json::json;

use super::{ago, author, find, is_there, refused, relay};
use crate::support::client::ids;

fn article(n: u8, minutes: u64, d: &str) -> Event {
    ago(n, minutes, 30_023, &[&["d", d]], "an article")
}

fn delete_id(n: u8, event: &Event) -> Event {
    ago(n, 0, 5, &[&["e", &event.id().to_string()]], "")
}

/// User `n` deletes an article of user 1.
fn delete_address(n: u8, minutes: u64, d: &str) -> Event {
    let address = format!("30023:{}:{d}", author(1));
    ago(n, minutes, 5, &[&["a", &address]], "")
}

#[test]
fn deletes_by_id() {
    let (_node, mut client) = relay();
    let note = ago(1, 1, 1, &[&["test"]], "the wrong thing");
    client.publish_all([&note, &delete_id(1, &note)]);
    assert!(!is_there(&mut client, &note));
    assert_eq!(client.count(&[json!({ "kinds": [1] })])["count"], 0);
}

#[test]
fn deletes_by_a_tag_address() {
    let (_node, mut client) = relay();
    let (event, delete) = (article(1, 1, "x"), delete_address(1, 0, "x"));
    client.publish_all([&event, &delete]);
    assert!(!is_there(&mut client, &event));
    assert_eq!(find(&mut client, json!({ "kinds": [5] })), ids([&delete]));
}

#[test]
fn delete_by_a_tag_deletes_older_but_not_newer() {
    let (_node, mut client) = relay();
    let (older, newer) = (article(1, 5, "x"), article(1, 1, "x"));
    client.publish_all([&older, &newer, &delete_address(1, 3, "x")]);
    let of_address = json!({ "authors": [author(1)], "kinds": [30_023], "#d": ["x"] });
    assert_eq!(find(&mut client, of_address), ids([&newer]));
}

#[test]
fn delete_by_a_tag_is_bound_by_a_tag() {
    let (_node, mut client) = relay();
    let gone = article(1, 1, "x");
    let others = [
        article(2, 1, "x"),
        article(1, 1, "y"),
        ago(1, 1, 30_024, &[&["d", "x"]], "a draft"),
    ];
    client.publish_all(others.iter().chain([&gone, &delete_address(1, 0, "x")]));
    assert!(!is_there(&mut client, &gone));
    assert!(others.iter().all(|event| is_there(&mut client, event)));
}

#[test]
fn cannot_delete_by_id_of_other_peoples_events() {
    let (_node, mut client) = relay();
    let note = ago(2, 1, 1, &[], "mine");
    client.publish_all([&note]);
    client.publish(&delete_id(1, &note));
    assert!(is_there(&mut client, &note));
}

#[test]
fn cannot_delete_by_a_tag_of_other_peoples_events() {
    let (_node, mut client) = relay();
    let event = article(1, 1, "x");
    client.publish_all([&event]);
    client.publish(&delete_address(2, 0, "x"));
    assert!(is_there(&mut client, &event));
}

#[test]
fn resubmission_of_deleted_by_id_event_is_rejected() {
    let (_node, mut client) = relay();
    let note = ago(1, 1, 1, &[&["test"]], "the wrong thing");
    client.publish_all([&note, &delete_id(1, &note)]);
    let reason = refused(&mut client, &note);
    assert!(reason.starts_with("blocked: "), "{reason}");
    assert!(!is_there(&mut client, &note));
}

#[test]
fn rejects_submission_of_event_before_address_is_deleted() {
    let (_node, mut client) = relay();
    let event = article(1, 5, "x");
    client.publish_all([&event, &delete_address(1, 2, "x")]);
    refused(&mut client, &event);
    // Nor one that was never here.
    refused(&mut client, &article(1, 3, "x"));
    assert!(find(&mut client, json!({ "kinds": [30_023] })).is_empty());
}

#[test]
fn accepts_submission_of_event_after_address_is_deleted() {
    let (_node, mut client) = relay();
    let event = article(1, 2, "x");
    client.publish_all([&delete_address(1, 5, "x"), &event]);
    assert!(is_there(&mut client, &event));
}

/// A reaction to what was deleted is its own author's.
#[test]
fn deleting_an_event_leaves_what_refers_to_it() {
    let (_node, mut client) = relay();
    let note = ago(1, 2, 1, &[], "liked");
    let like = testing::event(2, 1_000, 7, &[&["e", &note.id().to_string()]], "+");
    client.publish_all([&note, &like, &delete_id(1, &note)]);
    assert!(is_there(&mut client, &like));
}
