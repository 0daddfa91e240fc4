//! Ephemeral events: live at every node of a topic, and stored at none.

use std::{
    thread,
    time::{Duration, Instant},
};

use osier_nostr::testing;
use serde_json::{Value, json};

use crate::support::{
    PATIENCE,
    client::Client,
    node::{Folder, Node},
    ok,
};

fn joined(ticket: &str) -> Node {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "join", ticket]);
    Node::start_in(folder)
}

/// Waits until what is published at a node is told to another: until then there is nobody to take
/// an event of a kind that has no subscriber.
fn until_neighbours(client: &mut Client) {
    let limit = Instant::now() + PATIENCE;
    for n in 0.. {
        if client
            .publish(&testing::event(9, n, 20_009, &[], "is anybody there?"))
            .0
        {
            return;
        }
        assert!(Instant::now() < limit, "the nodes do not find each other");
        thread::sleep(Duration::from_millis(20));
    }
}

/// NOS-34, GOS-10: an ephemeral event accepted at one node reaches a live subscriber at another,
/// once, and is in nobody's history; who may not see a gated one does not.
#[test]
fn an_ephemeral_event_reaches_subscribers_of_the_other_node() {
    let first = Node::start();
    let mut at_first = Client::connect(&first);
    let kinds = [json!({ "kinds": [20_001] })];
    let alone = testing::event(1, 1, 20_001, &[], "nobody is there");
    let (taken, reason) = at_first.publish(&alone);
    assert!(!taken && reason.starts_with("mute: "), "{reason}");

    let second = joined(&first.ticket("lobby"));
    let stored = testing::note(1, 1, "stored");
    at_first.publish_all([&stored]);
    second.until_status("lobby", |status| {
        status["synced"]["coverage"] == "complete" && status["entries"] == 1
    });
    let mut at_second = Client::connect(&second);
    until_neighbours(&mut at_first);
    until_neighbours(&mut at_second);
    at_second.req("live", &kinds);
    at_first.req("live", &kinds);

    let typing = testing::event(1, 2, 20_001, &[], "typing");
    assert_eq!(at_first.publish(&typing), (true, String::new()));
    let id = typing.id().to_string();
    assert_eq!(at_second.expect("EVENT", "live")[2]["id"], json!(id));
    assert_eq!(at_first.expect("EVENT", "live")[2]["id"], json!(id));
    // Back from the other node it is the same event, handed out once.
    let (again, reason) = at_second.publish(&typing);
    assert!(again && reason.starts_with("duplicate: "), "{reason}");
    // What was tried when nobody was there goes through now.
    assert_eq!(at_second.publish(&alone), (true, String::new()));
    let id = alone.id().to_string();
    assert_eq!(at_first.expect("EVENT", "live")[2]["id"], json!(id));
    assert_eq!(at_second.expect("EVENT", "live")[2]["id"], json!(id));

    // Too large for gossip: clients here get it, and its publisher is told.
    let large = testing::event(1, 3, 20_001, &[], &"x".repeat(5_000));
    let (taken, remark) = at_first.publish(&large);
    assert!(taken && remark.contains("too large"), "{remark}");
    let id = large.id().to_string();
    assert_eq!(at_first.expect("EVENT", "live")[2]["id"], json!(id));

    // Gated: only whom it concerns, at the other node too.
    let to = testing::pubkey(7).to_string();
    let wrap = testing::event(1, 4, 21_059, &[&["p", &to]], "sealed");
    let mut involved = Client::connect(&second);
    assert!(involved.authenticate(7).0);
    involved.req("wraps", &[json!({ "kinds": [21_059] })]);
    at_second.req("wraps", &[json!({ "#p": [to] })]);
    assert_eq!(at_first.publish(&wrap), (true, String::new()));
    let id = wrap.id().to_string();
    assert_eq!(involved.expect("EVENT", "wraps")[2]["id"], json!(id));

    assert_eq!(at_second.drain(), Vec::<Value>::new());
    assert_eq!(at_first.drain(), Vec::<Value>::new());
    for client in [&mut at_first, &mut at_second] {
        let held = client.req("held", &[json!({ "kinds": [20_001] })]);
        assert_eq!(held.ids, Vec::<String>::new());
    }
}

/// A key that publishes too many is told so, and what hides stored events hides these.
#[test]
fn an_ephemeral_event_is_held_to_rate_and_visibility() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    client.req("live", &[json!({ "kinds": [20_001] })]);
    let outcomes: Vec<(bool, String)> = (0..300)
        .map(|n| client.publish(&testing::event(1, n, 20_001, &[], "flood")))
        .collect();
    let refused = |it: &&(bool, String)| !it.0 && it.1.starts_with("rate-limited: ");
    assert!(outcomes[..100].iter().all(|it| it.0), "a burst is fine");
    assert!(outcomes.iter().find(refused).is_some(), "{outcomes:?}");
    let other = testing::event(2, 1, 20_001, &[], "another key");
    assert_eq!(client.publish(&other), (true, String::new()));

    let gone = testing::event(3, 5, 20_001, &[], "to be deleted");
    let delete = testing::event(3, 9, 5, &[&["e", &gone.id().to_string()]], "");
    client.publish_all([&delete]);
    let (taken, reason) = client.publish(&gone);
    assert!(!taken && reason.starts_with("blocked: "), "{reason}");
}
