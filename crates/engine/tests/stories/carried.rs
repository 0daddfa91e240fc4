//! Who brings history, and who waits meanwhile (`POL-26`).

use osier_core::SessionId;
use osier_engine::{Rank, SessionKey};
use osier_proto::Mode;

use super::*;

impl Desk {
    /// The provider that is asked next, and the session's key.
    fn next_asked(&mut self) -> Option<(NodeId, SessionKey)> {
        let asked = self.outputs.drain(..).find_map(|output| match output {
            Output::OpenSession(open) => Some((open.provider, open.key)),
            _ => None,
        });
        self.outputs.clear();
        asked
    }

    fn hear_of(&mut self, key: SessionKey, event: SessionEvent) {
        self.give(Input::Session { key, event });
    }

    fn unreachable(&mut self, key: SessionKey) {
        let cause = "the dial came to nothing".to_owned();
        self.hear_of(key, SessionEvent::Unreachable { cause });
    }
}

/// A provider that could not be reached, and was being dialed again when another began to bring
/// entries, is dialed when that one is done. Once it never was: nobody had set a time for it.
#[test]
fn who_was_dialed_when_another_brought_history_is_dialed_again() {
    let mut desk = Desk::open(2, 1, Role::Peer);
    let (owner, first) = desk.next_asked().expect("the owner is asked");
    desk.unreachable(first);
    desk.give(Input::Trust {
        command: CommandId(1),
        topic: desk.topic,
        node: node(3),
        entry: Some((Rank::DEFAULT, Role::Archive)),
    });
    desk.store();
    let (other, carrier) = desk.next_asked().expect("the other is asked");
    assert_eq!((owner, other), (node(1), node(3)));
    desk.pass(2_500);
    let (again, _) = desk.next_asked().expect("the owner is dialed again");
    assert_eq!(again, node(1));

    desk.pass(1_500);
    let started = SessionEvent::Started {
        session: SessionId::from_bytes([7; 16]),
        mode: Mode::Empty,
        summary: Summary::empty(),
        role: Role::Archive,
        token_unserviceable: false,
    };
    desk.hear_of(carrier, started);
    let progress = |received| SessionEvent::Progress {
        received,
        expected: Some(9),
    };
    desk.hear_of(carrier, progress(1));
    let given_up = |output: &Output| matches!(output, Output::CancelSession { .. });
    assert!(desk.outputs.iter().any(given_up), "{:?}", desk.outputs);
    assert_eq!(desk.next_asked(), None);

    for received in 2..9 {
        desk.pass(400);
        desk.hear_of(carrier, progress(received));
        assert_eq!(desk.next_asked(), None, "another still brings history");
    }
    desk.unreachable(carrier);
    desk.pass(2 * limit::CARRIED_RETRY_MS);
    assert_eq!(desk.next_asked().map(|(node, _)| node), Some(node(1)));
}
