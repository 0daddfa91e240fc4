//! What a ring writes itself.

use osier_core::testing::Chain;
use osier_engine::{CommandError, Commit};

use super::*;

impl Desk {
    fn commits(&mut self) -> Vec<Commit> {
        let outputs = self.outputs.drain(..);
        let commits = outputs.filter_map(|output| match output {
            Output::Commit(commit) => Some(commit),
            _ => None,
        });
        commits.collect()
    }
}

/// `STO-13`: a ring takes nothing that is older than what it keeps. When that hits its own entry,
/// whoever wrote it is told.
#[test]
fn what_the_store_does_not_take_is_not_acknowledged() {
    let mut desk = Desk::open(2, 1, Role::Replay);
    desk.publish(b"too old".to_vec());
    let commit = desk.commits().pop().expect("it is to be written");
    let report = TopicReport {
        topic: desk.topic,
        appended: Vec::new(),
        holes_opened: 0,
        forked: Vec::new(),
        summary: Summary::empty(),
        last: Lsn::START,
        holes: 0,
        withheld: Vec::new(),
        removed: Vec::new(),
        missed: false,
    };
    desk.give(Input::Durable {
        batch: commit.batch,
        result: Ok(vec![report]),
    });
    let answers: Vec<_> = desk
        .outputs
        .drain(..)
        .filter(|output| matches!(output, Output::Reply { .. } | Output::Broadcast { .. }))
        .collect();
    let refused = |output: &Output| {
        matches!(
            output,
            Output::Reply {
                result: Err(CommandError::Invalid(_)),
                ..
            }
        )
    };
    assert!(answers.len() == 1 && refused(&answers[0]), "{answers:?}");
}

/// `ENT-16`: entries on their way to disk may push out what is older, so a ring writes later than
/// they are.
#[test]
fn a_ring_writes_later_than_what_is_on_its_way() {
    let mut desk = Desk::open(2, 1, Role::Replay);
    let ahead = desk.wall_ms + 5_000;
    let entry = Chain::in_topic(9, desk.topic)
        .at(ahead)
        .next(b"of a clock that is ahead");
    desk.hear(9, Gossip::Live(entry.to_wire()));
    desk.publish(b"own".to_vec());
    let commits = desk.commits();
    let times: Vec<u64> = commits
        .iter()
        .flat_map(|commit| &commit.entries)
        .map(|entry| entry.header().time().as_millis())
        .collect();
    assert_eq!(times, [ahead, ahead + 1]);
}
