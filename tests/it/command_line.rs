//! The names and codes that scripts rely on.

use serde_json::Value;

use crate::support::{
    fails, json,
    node::{Folder, Node},
    ok,
};

#[test]
fn run_writes_where_it_listens() {
    let node = Node::start();
    let text = std::fs::read(node.data().join("run.json")).expect("a ready node has written it");
    let run: Value = serde_json::from_slice(&text).expect("it is JSON");
    let text = run.to_string();
    assert!(text.contains("127.0.0.1:"), "{text}");
}

#[test]
fn without_a_node_the_store_is_worked_on_directly() {
    let folder = Folder::new();
    let data = folder.path();
    ok(&data, &["topic", "new", "alone"]);
    ok(&data, &["topic", "ls"]);
    let topics = json(&data, &["topic", "ls"]);
    assert!(topics.to_string().contains("alone"), "{topics}");
    ok(&data, &["check"]);
}

#[test]
fn what_needs_a_node_says_how_to_start_one() {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "alone"]);
    let (code, error) = fails(&folder.path(), &["watch", "alone"]);
    assert_eq!(code, 4, "{error}");
    assert!(error.contains("osier run"), "{error}");
}

#[test]
fn an_unknown_topic_names_the_nearest() {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "garden"]);
    let (code, error) = fails(&folder.path(), &["topic", "show", "gardne"]);
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("garden"), "{error}");
}
