//! A ring must never be taken for the whole.

use crate::support::node::{Folder, Node};

/// What the replay node keeps.
const RING: u32 = 100;
/// What was written.
const ALL: u32 = 400;

/// A joiner with only a replay node gets a floor, and `Complete` as soon as an archive appears.
#[test]
fn a_replay_only_join_is_from_a_floor_until_an_archive_appears() {
    let archive = Node::start();
    let ticket = archive.new_topic("ring");
    let lines: Vec<_> = (0..ALL).map(|n| format!("line {n}")).collect();
    archive.publish_lines("ring", &lines);

    let replay = Node::start_with(Folder::new(), &[("OSIER_LIMITS_REPLAY_ENTRIES", "100")]);
    replay.join_as(&ticket, "replay");
    replay.watch("ring").until_synced();
    replay.until_status("ring", |status| {
        status["entries"]
            .as_u64()
            .is_some_and(|held| held <= u64::from(RING) + 1)
    });
    let through_replay = replay.ticket("ring");
    let archive_folder = archive.kill();

    let joiner = Node::start();
    joiner.join(&through_replay);
    // The replay node is trusted by the joiner itself; nobody granted it anything.
    let id = replay.id();
    joiner.trust("ring", &id, "replay");
    let mut watch = joiner.watch("ring");
    let synced = watch.until_synced();
    assert!(
        synced["coverage"]["from"].is_object(),
        "a ring is not the whole: {synced}"
    );

    let archive = Node::start_in(archive_folder);
    let complete = watch.until("history_synced", |event| event["coverage"] == "complete");
    assert_eq!(complete["entries"], ALL);
    assert_eq!(joiner.status("ring")["entries"], ALL);
    drop(archive);
}
