//! Kill -9 either node at any moment, start it again, and it goes on where it stood.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{
    node::{Folder, Node},
    ok,
};

/// Below the 10 s after which a silent connection is given up: a node that is refused until then
/// takes longer. A round takes a fraction of a second on a machine that has nothing else to do.
const SOON: Duration = Duration::from_secs(8);

/// A file with so many JSON lines.
fn file_of(folder: &Folder, count: u32) -> String {
    let path = folder.path().with_extension("jsonl");
    let mut lines: Vec<_> = (0..count).map(|n| format!("{{\"n\":{n}}}")).collect();
    lines.push(String::new());
    let text = lines.join("\n");
    std::fs::write(&path, text).expect("the folder takes a file");
    path.to_string_lossy().into_owned()
}

/// Whether an entry's first item contains this text.
fn says(event: &Value, text: &str) -> bool {
    event["entry"]["items"][0]["text"]
        .as_str()
        .is_some_and(|said| said.contains(text))
}

#[test]
fn a_killed_client_resumes_by_token_and_says_so() {
    let writer = Node::start();
    let ticket = writer.new_topic("kill");
    let folder = Folder::new();
    let file = file_of(&folder, 40_000);
    ok(&writer.data(), &["import", "kill", &file]);

    let client = Node::start();
    client.join(&ticket);
    let mut watch = client.watch("kill");
    watch.until("entry", |_| true);
    let folder = client.kill();

    let client = Node::start_in(folder);
    let mut watch = client.watch("kill");
    let synced = watch.until_synced();
    assert_eq!(synced["coverage"], "complete");
    assert_eq!(client.status("kill")["entries"], 40_000);
}

/// What was acknowledged is there after a kill, and the store opens and checks clean.
#[test]
fn case_ir_10_acknowledged_entries_survive_a_kill() {
    let mut folder = Folder::new();
    for round in 1..=3 {
        let node = Node::start_in(folder);
        if round == 1 {
            node.new_topic("durable");
        }
        let lines: Vec<_> = (0..500)
            .map(|n| format!("round {round} line {n}"))
            .collect();
        node.publish_lines("durable", &lines);
        folder = node.kill();
    }
    let node = Node::start_in(folder);
    assert_eq!(node.status("durable")["entries"], 1500);
    let folder = node.kill();
    let report = ok(&folder.path(), &["check"]);
    assert!(!report.is_empty(), "check says what it looked at");
}

/// case IR-03: a node that crashed and came back with the same key is accepted at once, each time.
#[test]
fn case_ir_03_the_same_key_comes_back_five_times() {
    let writer = Node::start();
    let ticket = writer.new_topic("again");
    let client = Node::start();
    client.join(&ticket);
    client.watch("again").until_synced();
    let mut folder = client.kill();
    for round in 0..5_u32 {
        let begun = Instant::now();
        let client = Node::start_in(folder);
        let mut watch = client.watch("again");
        watch.until_synced();
        writer.publish_lines("again", &[format!("to the client {round}")]);
        watch.until("entry", |entry| says(entry, &format!("client {round}")));
        client.publish_lines("again", &[format!("to the writer {round}")]);
        let mut at_writer = writer.watch("again");
        at_writer.until("entry", |entry| says(entry, &format!("writer {round}")));
        let took = begun.elapsed();
        assert!(took < SOON, "round {round} took {took:?}");
        folder = client.kill();
    }
}
