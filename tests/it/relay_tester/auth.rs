//! NIP-42: the challenge comes with the connection, and what answers it is looked at.

use osier_nostr::{Event, testing};

use super::relay;
use crate::support::client::{Client, now};

/// Offers an event as the proof of who a client is; whether it is accepted, and why not.
fn prove(client: &mut Client, event: &Event) -> (bool, String) {
    client.text(&format!("[\"AUTH\",{}]", event.json()));
    let ok = client.expect("OK", &event.id().to_string());
    (ok[2] == true, ok[3].as_str().expect("a reason").to_owned())
}

/// What a client should sign, but for these.
fn proof(client: &Client, kind: u16, age: u64, url: Option<&str>) -> Event {
    let own = client.url().to_owned();
    let tags: &[&[&str]] = &[
        &["relay", url.unwrap_or(&own)],
        &["challenge", &client.challenge],
    ];
    testing::event(1, now() - age, kind, tags, "")
}

fn is_refused(event: impl Fn(&Client) -> Event) {
    let (_node, mut client) = relay();
    let event = event(&client);
    let (accepted, reason) = prove(&mut client, &event);
    assert!(!accepted && !reason.is_empty(), "{reason}");
    // And nothing else is wrong.
    let right = proof(&client, 22_242, 0, None);
    assert_eq!(prove(&mut client, &right), (true, String::new()));
}

#[test]
fn prompts_for_auth_when_client_connects() {
    let (_node, client) = relay();
    assert!(client.challenge.len() >= 16);
}

#[test]
fn auth_event_kind_is_verified() {
    is_refused(|client| proof(client, 1, 0, None));
}

#[test]
fn auth_event_relay_is_verified() {
    is_refused(|client| proof(client, 22_242, 0, Some("intentionally wrong relay")));
}

#[test]
fn auth_event_challenge_is_verified() {
    is_refused(|client| {
        let tags: &[&[&str]] = &[&["relay", client.url()], &["challenge", "a wrong one"]];
        testing::event(1, now(), 22_242, tags, "")
    });
}

#[test]
fn auth_event_time_is_verified() {
    is_refused(|client| proof(client, 22_242, 30 * 60, None));
}

#[test]
fn can_auth_as_unknown() {
    let (_node, mut client) = relay();
    client.publish_all([&testing::note(77, 1_000, "by a stranger")]);
    assert_eq!(client.authenticate(77), (true, String::new()));
}
