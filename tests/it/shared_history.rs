//! Two nodes share real history, and say so truthfully.

use serde_json::Value;

use crate::support::{node::Node, watcher::kind};

fn lines(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("{{\"n\":{n}}}")).collect()
}

/// The issue's own story: join by ticket, progress, entries, `HistorySynced`, then live entries.
#[test]
fn a_joiner_sees_every_entry_before_synced_and_then_live_ones() {
    let writer = Node::start();
    let ticket = writer.new_topic("story");
    writer.publish_lines("story", &lines(0..3000));
    let joiner = Node::start();
    joiner.join(&ticket);

    let mut watch = joiner.watch("story");
    let first = watch.next();
    assert_eq!(
        kind(&first),
        "state",
        "the present state always comes first"
    );
    let synced = watch.until_synced();
    assert_eq!(
        watch.count("entry"),
        3000,
        "entries come before the word that vouches for them"
    );
    assert_eq!(synced["coverage"], "complete");
    assert_eq!(synced["convergence"]["kind"], "converged");
    assert_eq!(synced["entries"], 3000);
    assert_eq!(synced["state_hash"].as_str().map(str::len), Some(64));

    writer.publish_lines("story", &lines(3000..3001));
    let live = watch.until("entry", |_| true);
    assert_eq!(live["phase"], "live");
}

/// case PL-07: the writer is gone, and whoever synced from it serves its entries.
#[test]
fn case_pl_07_history_outlives_its_writer() {
    let writer = Node::start();
    let ticket = writer.new_topic("relay");
    writer.publish_lines("relay", &lines(0..200));
    let second = Node::start();
    second.join(&ticket);
    second.watch("relay").until_synced();
    let through_second = second.ticket("relay");
    drop(writer.kill());

    let third = Node::start();
    third.join(&through_second);
    let mut watch = third.watch("relay");
    let mut entries = 0;
    while entries < 200 {
        entries += usize::from(kind(&watch.next()) == "entry");
    }
    assert_eq!(third.status("relay")["entries"], 200);
}

/// A watcher that comes late never waits for an event that has passed.
#[test]
fn a_late_watcher_starts_from_the_present_state() {
    let writer = Node::start();
    writer.new_topic("late");
    writer.publish_lines("late", &lines(0..10));
    let mut watch = writer.watch("late");
    let state = watch.next();
    assert_eq!(kind(&state), "state");
    assert_eq!(state["entries"], 10);
    assert_ne!(
        state["synced"],
        Value::Null,
        "the only archive is complete by itself"
    );
}
