//! What an owner says for everybody: spaces and grants.

use crate::support::{fails, node::Node, ok};

/// One word for all topics; a topic that the owner adds later is joined without being asked for.
#[test]
fn a_space_is_joined_whole_and_follows_its_list() {
    let owner = Node::start();
    let ticket = ok(&owner.data(), &["space", "new", "team"]);
    for name in ["general", "files"] {
        owner.new_topic(name);
        owner.publish_lines(name, &["first".to_owned()]);
        ok(&owner.data(), &["space", "add", "team", name]);
    }

    let joiner = Node::start();
    ok(&joiner.data(), &["space", "join", ticket.trim()]);
    let watch = ["space", "watch", "team", "--until-synced", "--json"];
    let told = ok(&joiner.data(), &watch);
    let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "space_synced", "{told}");
    assert_eq!((&last["topics"], &last["version"]), (&2.into(), &3.into()));
    for name in ["general", "files"] {
        assert_eq!(joiner.status(name)["entries"], 1, "{name}");
    }

    owner.new_topic("late");
    ok(&owner.data(), &["space", "add", "team", "late"]);
    owner.publish_lines("late", &["a line".to_owned()]);
    joiner.until_status("team", |control| control["entries"] == 4);
    let told = ok(&joiner.data(), &watch);
    assert!(told.contains("\"topics\":3"), "{told}");
}

/// An archive that the owner has granted completes others while the owner is away.
#[test]
fn a_granted_archive_answers_for_its_owner() {
    let owner = Node::start();
    let ticket = owner.new_topic("notes");
    owner.publish_lines("notes", &["one".to_owned(), "two".to_owned()]);
    let archive = Node::start();
    archive.join_as(&ticket, "archive");
    ok(
        &owner.data(),
        &["grant", "notes", &archive.id(), "--rank", "7"],
    );
    archive.until_status("notes", |status| {
        status["entries"] == 3 && status["phase"] == "synced"
    });
    let (code, words) = fails(&archive.data(), &["grant", "notes", &archive.id()]);
    assert_eq!(code, 2, "{words}");
    assert!(words.contains("only its owner"), "{words}");

    let through_archive = archive.ticket("notes");
    owner.kill();
    let joiner = Node::start();
    joiner.join(&through_archive);
    let synced = joiner.watch("notes").until_synced();
    assert_eq!(synced["coverage"], "complete", "{synced}");
    assert_eq!(synced["provider"], archive.id());
}
