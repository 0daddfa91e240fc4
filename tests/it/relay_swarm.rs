//! Two nodes are one relay: what one takes the other serves, and says when it has all of it.

use std::{
    thread,
    time::{Duration, Instant},
};

use osier_nostr::{Event, testing};
use serde_json::{Value, json};

use crate::support::{
    PATIENCE,
    client::{Client, ids},
    json as json_of,
    node::{Folder, Node},
    ok,
};

/// A node that has joined a topic and publishes into it, named as in its own folder.
fn joined(ticket: &str) -> Node {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "join", ticket]);
    Node::start_in(folder)
}

/// The state that a relay's document gives of its only topic, once it is as wanted.
fn until_state(node: &Node, wanted: &str) {
    node.until_status("lobby", |status| {
        wanted != "complete" || status["synced"]["coverage"] == "complete"
    });
}

fn notes(author: u8, times: std::ops::Range<u64>) -> Vec<Event> {
    times
        .map(|at| testing::note(author, at, &format!("note {at}")))
        .collect()
}

/// An event that one node takes reaches a live subscriber of the other; stored ones are served by
/// both, and `finish` is said by the second once it has synced.
#[test]
fn two_nodes_are_one_relay() {
    let first = Node::start();
    let mut at_first = Client::connect(&first);
    let early = notes(1, 0..300);
    at_first.publish_all(&early);

    let second = joined(&first.ticket("lobby"));
    let mut at_second = Client::connect(&second);
    until_state(&second, "complete");
    let kinds = [json!({ "kinds": [1] })];
    let stored = at_second.req("s", &kinds);
    assert_eq!(stored.ids, ids(early.iter().rev()));
    assert_eq!(stored.hints, json!(["finish"]));

    // Live, both ways.
    at_first.req("s", &kinds);
    let there = testing::note(1, 1_000, "accepted by the first");
    at_first.publish_all([&there]);
    assert_eq!(
        at_second.expect("EVENT", "s")[2]["id"],
        there.id().to_string()
    );
    let back = testing::note(2, 1_001, "accepted by the second");
    at_second.publish_all([&back]);
    assert_eq!(
        at_first.expect("EVENT", "s")[2]["id"],
        there.id().to_string()
    );
    assert_eq!(
        at_first.expect("EVENT", "s")[2]["id"],
        back.id().to_string()
    );

    // What both know is one event, whoever publishes it again.
    let (again, reason) = at_first.publish(&back);
    assert!(again && reason.starts_with("duplicate: "), "{reason}");
    assert_eq!(at_first.count(&kinds)["count"], 302);
    assert_eq!(at_second.count(&kinds)["count"], 302);

    // A deletion at one hides at the other.
    let delete = testing::event(1, 2_000, 5, &[&["e", &there.id().to_string()]], "");
    at_second.publish_all([&delete]);
    let limit = Instant::now() + PATIENCE;
    while at_first.count(&kinds)["count"] != 301 {
        assert!(Instant::now() < limit, "the deletion does not arrive");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(at_first.publish(&there).1.starts_with("blocked: "));
}

/// A node that cannot know whether it has everything does not say `finish`.
#[test]
fn finish_waits_for_sync() {
    let first = Node::start();
    let mut at_first = Client::connect(&first);
    let early = notes(1, 0..50);
    at_first.publish_all(&early);
    let ticket = first.ticket("lobby");
    let folder = first.kill();

    let second = joined(&ticket);
    let mut at_second = Client::connect(&second);
    let kinds = [json!({ "kinds": [1] })];
    let alone = at_second.req("s", &kinds);
    assert_eq!(
        (alone.ids.len(), alone.hints),
        (0, Value::Null),
        "it has read all that it has"
    );
    // Its own events are taken and served all the same.
    let own = testing::note(3, 9_000, "meanwhile");
    at_second.publish_all([&own]);
    assert_eq!(at_second.req("s", &kinds).hints, Value::Null);

    let _first = Node::start_in(folder);
    until_state(&second, "complete");
    let synced = at_second.req("synced", &kinds);
    assert_eq!(synced.ids.len(), 51);
    assert_eq!(synced.hints, json!(["finish"]));
}

/// What got `OK true` is there after a kill, at any moment; the index agrees with the log.
#[test]
fn no_event_with_ok_is_lost_by_a_kill() {
    let mut folder = Folder::new();
    let mut kept = 0;
    for round in 0..3_u64 {
        let node = Node::start_in(folder);
        let mut client = Client::connect(&node);
        let kinds = [json!({ "kinds": [1] })];
        assert!(client.count(&kinds)["count"].as_u64() >= Some(kept));
        let events = notes(u8::try_from(round + 1).unwrap(), 0..400);
        for event in &events {
            client.text(&format!("[\"EVENT\",{}]", event.json()));
        }
        // Killed while the rest is on its way.
        let mut taken = Vec::new();
        while taken.len() < 150 {
            let message = client.next();
            assert_eq!(
                (&message[0], &message[2]),
                (&json!("OK"), &json!(true)),
                "{message}"
            );
            taken.push(message[1].as_str().unwrap().to_owned());
        }
        folder = node.kill();
        let node = Node::start_in(folder);
        let mut client = Client::connect(&node);
        let stored = client.req("s", &[json!({ "ids": taken })]);
        assert_eq!(stored.ids.len(), taken.len());
        kept = client.count(&kinds)["count"].as_u64().unwrap();
        folder = node.kill();
    }
    let report = ok(&folder.path(), &["check"]);
    assert!(report.contains("every table agrees"), "{report}");
}

/// A file of events is taken in verified, served, not taken twice, and written back as it was.
#[test]
fn events_are_imported_exported_and_checked() {
    let node = Node::start();
    let data = node.data();
    let events = notes(1, 0..300);
    let mut lines: Vec<String> = events.iter().map(|it| it.json().to_owned()).collect();
    lines.push(String::new());
    lines.push(events[0].json().replace("note 0", "note X"));
    lines.push("{\"not\": \"an event\"}".to_owned());
    lines.push(events[1].json().to_owned());
    lines.push(
        testing::event(1, 5, 20_001, &[], "ephemeral")
            .json()
            .to_owned(),
    );
    let file = data.with_extension("jsonl");
    std::fs::write(&file, lines.join("\n")).expect("the folder takes a file");
    let file = file.to_string_lossy().into_owned();
    let mut live = Client::connect(&node);
    live.req("live", &[json!({ "kinds": [1] })]);
    let done = json_of(&data, &["import", "lobby", &file]);
    assert_eq!(done, json!({ "stored": 300, "held": 1, "refused": 3 }));
    let again = json_of(&data, &["import", "lobby", &file]);
    assert_eq!(again, json!({ "stored": 0, "held": 301, "refused": 3 }));
    let mut seen: Vec<String> = (0..300)
        .map(|_| {
            live.expect("EVENT", "live")[2]["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    seen.sort_unstable();
    let mut all = ids(&events);
    all.sort_unstable();
    assert_eq!(seen, all, "an import is live too");

    let exported = ok(&data, &["export", "lobby"]);
    let exported: Vec<&str> = exported.lines().collect();
    assert_eq!(exported, lines[..300]);
    drop(live);
    let folder = node.kill();
    // Without a running node too.
    let other = Folder::new();
    ok(&other.path(), &["topic", "new", "copy"]);
    let done = json_of(&other.path(), &["import", "copy", &file]);
    assert_eq!(done["stored"], 300);
    for data in [folder.path(), other.path()] {
        let report = ok(&data, &["check"]);
        assert!(report.contains("every table agrees"), "{report}");
    }
    let node = Node::start_in(other);
    let mut client = Client::connect(&node);
    assert_eq!(client.count(&[json!({ "kinds": [1] })])["count"], 300);
}
