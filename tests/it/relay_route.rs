//! Events in several topics, served as one relay.

use std::fs;

use osier_nostr::testing;
use serde_json::{Value, json};

use crate::{
    relay_frame::http,
    support::{
        client::{Client, ids},
        fails, json as json_of,
        node::{Folder, Node},
        ok,
    },
};

/// What NIP-11 says of a topic.
fn state(node: &Node, topic: &str) -> Value {
    let get = "GET / HTTP/1.1\r\nHost: x\r\nAccept: application/nostr+json\r\n\r\n";
    let (_, _, body) = http(node, get);
    let document: Value = serde_json::from_str(&body).expect("a document");
    let topics = document["topics"].as_array().expect("a list");
    let known = topics.iter().find(|it| it["name"] == topic);
    known.expect("the topic is bridged")["state"].clone()
}

fn entries(node: &Node, topic: &str) -> Value {
    node.status(topic)["entries"].clone()
}

/// NOS-71, NOS-60: each event goes to its topic, clients see one relay, and `finish` waits for all
/// topics that are served.
#[test]
fn routes_spread_events_over_topics() {
    let other = Node::start();
    let ticket = other.new_topic("articles");
    let articles = testing::event(5, 1, 30_023, &[&["d", "there"]], "of the other node");
    let offline = other.kill();

    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "lobby"]);
    ok(&folder.path(), &["topic", "join", &ticket]);
    let route = r#"[{ topic = "articles", filter = '{"kinds":[30023]}' }]"#;
    let node = Node::start_with(folder, &[("OSIER_RELAY_ROUTE", route)]);
    let mut client = Client::connect(&node);
    let note = testing::note(1, 10, "a note");
    let article = testing::event(1, 20, 30_023, &[&["d", "x"]], "an article");
    client.publish_all([&note, &article]);
    assert_eq!(entries(&node, "lobby"), 1);
    assert_eq!(entries(&node, "articles"), 1);

    // One relay: newest first over both, one count, one set to compare; not finished.
    let all = [json!({ "kinds": [1, 30_023] })];
    let stored = client.req("all", &all);
    assert_eq!(stored.ids, ids([&article, &note]));
    assert_eq!(stored.hints, Value::Null, "a topic is not complete");
    assert_eq!(client.count(&all)["count"], 2);
    assert_eq!(state(&node, "lobby"), "sole");
    assert_ne!(state(&node, "articles"), "complete");

    let other = Node::start_in(offline);
    node.until_status("articles", |it| it["synced"]["coverage"] == "complete");
    assert_eq!(client.req("all", &all).hints, json!(["finish"]));
    assert_eq!(state(&node, "articles"), "complete");
    // The other node has the topic's events and no others; what it takes comes back live.
    other.until_status("articles", |it| it["entries"] == 1);
    let mut there = Client::connect(&other);
    assert_eq!(there.count(&all)["count"], 1);
    ok(&other.data(), &["topic", "ls"]);
    let file = other.data().join("article.jsonl");
    fs::write(&file, articles.json()).expect("the folder takes a file");
    let file = file.to_string_lossy().into_owned();
    ok(&other.data(), &["import", "articles", &file]);
    assert_eq!(
        client.expect("EVENT", "all")[2]["id"],
        articles.id().to_string()
    );
    let third = Node::start();
    let url = format!("ws://{}", node.relay());
    let pulled = json_of(&third.data(), &["nostr", "pull", &url]);
    assert_eq!(
        (&pulled["paged_because"], &pulled["stored"]),
        (&Value::Null, &json!(3))
    );
}

/// A route to a topic that is not there, or that is not served, is an error before anything runs.
#[test]
fn a_route_to_nowhere_is_refused() {
    let folder = Folder::new();
    let data = folder.path();
    ok(&data, &["topic", "new", "lobby"]);
    ok(&data, &["topic", "new", "articles"]);
    let file = data.with_extension("toml");
    let run = |text: &str| {
        fs::write(&file, text).expect("the folder takes a file");
        let file = file.to_string_lossy().into_owned();
        let listen = ["--listen-p2p", "127.0.0.1:0", "--listen-api", "127.0.0.1:0"];
        let mut args = vec!["--config", &file, "run", "--listen-relay", "127.0.0.1:0"];
        args.extend(listen);
        fails(&data, &args)
    };
    let route = "[[relay.route]]\ntopic = \"essays\"\nfilter = '{\"kinds\":[30023]}'\n";
    let (code, said) = run(route);
    assert!(code == 3 && said.contains("essays"), "{code}: {said}");
    let id = json_of(&data, &["topic", "show", "lobby"])["id"].clone();
    let id = id.as_str().expect("an id");
    let served = format!("[relay]\ntopics = [\"{id}\"]\n");
    let (code, said) = run(&format!("{served}{}", route.replace("essays", "articles")));
    assert!(code == 2 && said.contains("not served"), "{code}: {said}");
}
