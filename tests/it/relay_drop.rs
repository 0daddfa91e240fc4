//! What is deleted leaves the disk.

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

/// Why pieces of a topic's entries are gone, in order; null for those that are there.
fn gone(node: &Node) -> Vec<Value> {
    let page = node.get("/v1/topics/lobby/entries?limit=100");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let entries = page["entries"].as_array().expect("entries").iter();
    let items = entries.flat_map(|entry| entry["items"].as_array().expect("items"));
    items.map(|item| item["gone"]["why"].clone()).collect()
}

fn until_gone(node: &Node, reasons: &[Value]) {
    let limit = Instant::now() + PATIENCE;
    while gone(node) != reasons {
        assert!(Instant::now() < limit, "{:?}", gone(node));
        thread::sleep(Duration::from_millis(100));
    }
}

/// NOS-113, STO-16: texts go with the next purge, some ten seconds at most; a node that joins gets
/// hashes and reasons, shows the same, and takes nothing back.
#[test]
fn deleted_events_leave_every_disk() {
    let first = Node::start();
    let mut client = Client::connect(&first);
    let secret = testing::event(1, 1, 1, &[], "what nobody shall read again");
    let old = testing::event(1, 2, 10_002, &[], "an old list");
    let new = testing::event(1, 3, 10_002, &[], "a new list");
    for event in [&secret, &old, &new] {
        client.publish_all([event]);
    }
    let delete = testing::event(1, 4, 5, &[&["e", &secret.id().to_string()]], "");
    client.publish_all([&delete]);
    let reasons = [
        json!("deleted"),
        json!("replaced"),
        Value::Null,
        Value::Null,
    ];
    until_gone(&first, &reasons);

    let folder = Folder::new();
    ok(&folder.path(), &["topic", "join", &first.ticket("lobby")]);
    let second = Node::start_in(folder);
    second.until_status("lobby", |it| it["synced"]["coverage"] == "complete");
    assert_eq!(gone(&second), reasons, "it comes as it is");
    let hash = |node: &Node| node.status("lobby")["state_hash"].clone();
    assert_eq!(hash(&first), hash(&second));
    let mut there = Client::connect(&second);
    for client in [&mut client, &mut there] {
        let stored = client.req("all", &[json!({ "authors": [new.pubkey().to_string()] })]);
        assert_eq!(stored.ids, [delete.id().to_string(), new.id().to_string()]);
        for event in [&secret, &old] {
            let (taken, reason) = client.publish(event);
            assert!(!taken && reason.starts_with("blocked: "), "{reason}");
        }
    }
    for node in [first, second] {
        let folder = node.kill();
        let report = ok(&folder.path(), &["check"]);
        assert!(report.contains("every table agrees"), "{report}");
    }
}
