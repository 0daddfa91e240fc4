//! Bad input: a clear error that names who is at fault, nothing lost, the node goes on.

use std::fs;

use crate::support::{
    fails,
    node::{Folder, Node, arg},
    ok,
};

#[test]
fn a_damaged_ticket_says_so() {
    let node = Node::start();
    let ticket = node.new_topic("ticket");
    let (_, error) = fails(
        &node.data(),
        &["topic", "join", &ticket[..ticket.len() - 5]],
    );
    assert!(error.contains("damaged"), "{error}");
    let (_, error) = fails(&node.data(), &["topic", "join", "nonsense"]);
    assert!(error.contains("osier1"), "{error}");
}

#[test]
fn a_damaged_store_is_refused_and_left_as_it_was() {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "damaged"]);
    let store = folder.path().join("store.redb");
    let garbage = vec![0x5a; 64 * 1024];
    fs::write(&store, &garbage).expect("our own folder");
    let (code, error) = fails(&folder.path(), &["check"]);
    assert_eq!(code, 5, "{error}");
    assert!(error.contains("store.redb"), "{error}");
    assert_eq!(
        fs::read(&store).expect("still there"),
        garbage,
        "left byte for byte"
    );
}

#[test]
fn a_store_in_use_is_a_clear_error() {
    let node = Node::start();
    let data = node.data();
    let (code, error) = fails(&data, &["run", "--listen-p2p", "127.0.0.1:0"]);
    assert_eq!(code, 5, "{error}");
}

/// One line that is not JSON does not stop an import and is not lost either.
#[test]
fn an_import_takes_any_line_as_it_is() {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "lines"]);
    let file = folder.path().with_extension("txt");
    fs::write(&file, "{\"a\":1}\nnot json\n\n{\"b\":2}\n").expect("our own folder");
    ok(&folder.path(), &["import", "lines", &arg(&file)]);
    let out = ok(&folder.path(), &["export", "lines"]);
    assert!(out.contains("not json"), "{out}");
}
