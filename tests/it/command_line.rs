//! The names and codes that scripts rely on.

use serde_json::Value;

use crate::support::{
    fails, json,
    node::{Folder, Node, arg},
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

#[test]
fn a_backup_is_restored_and_the_store_that_was_there_is_kept() {
    let folder = Folder::new();
    let data = folder.path();
    let copy = arg(&data.join("copy"));
    let publish = |text: &str| {
        let line = data.join("line");
        std::fs::write(&line, text).expect("a file is written");
        ok(&data, &["publish", "diary", &arg(&line)]);
    };
    ok(&data, &["topic", "new", "diary"]);
    publish("before");
    ok(&data, &["backup", &copy]);
    publish("after");

    let (code, error) = fails(&data, &["restore", &copy]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("--replace"), "{error}");
    let restored = json(&data, &["restore", &copy, "--replace"]);
    let kept = restored["before"].as_str().expect("it is kept");
    assert!(
        std::fs::exists(kept).expect("it can be looked for"),
        "{kept}"
    );
    assert_eq!(ok(&data, &["export", "diary"]), "before\n");
    ok(&data, &["check"]);
    ok(&data, &["compact"]);

    let node = Node::start_in(folder);
    for command in [&["compact"][..], &["restore", &copy, "--replace"]] {
        let (code, error) = fails(&node.data(), command);
        assert_eq!(code, 5, "{error}");
        assert!(error.contains("another osier is using it"), "{error}");
    }
}
