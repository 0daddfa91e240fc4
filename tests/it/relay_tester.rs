//! What mikedilger's relay-tester asks of a relay, one test a behaviour, in its names: all that it
//! requires, and of the rest what we do on purpose otherwise.

mod auth;
mod delete;
mod find;
mod replaceable;
mod stream;
mod text;

use osier_nostr::{Event, testing};
use serde_json::{Value, json};

use crate::support::{
    client::{Client, now},
    node::Node,
};

/// A relay, and a client of it.
fn relay() -> (Node, Client) {
    let node = Node::start();
    let client = Client::connect(&node);
    (node, client)
}

/// An event by user `n`, made so many minutes ago.
fn ago(n: u8, minutes: u64, kind: u16, tags: &[&[&str]], content: &str) -> Event {
    testing::event(n, now() - 60 * minutes, kind, tags, content)
}

fn author(n: u8) -> String {
    testing::pubkey(n).to_string()
}

/// The ids that a filter finds, in order.
fn find(client: &mut Client, filter: Value) -> Vec<String> {
    client.req("find", &[filter]).ids
}

/// Whether an event is found by its id.
fn is_there(client: &mut Client, event: &Event) -> bool {
    !find(client, json!({ "ids": [event.id().to_string()] })).is_empty()
}

/// The reason for which an event is refused.
fn refused(client: &mut Client, event: &Event) -> String {
    let (taken, reason) = client.publish(event);
    assert!(!taken, "it is taken: {reason}");
    reason
}
