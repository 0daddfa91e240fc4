//! Who brings history, and who waits meanwhile (`POL-26`).

use super::*;

impl Desk {
    /// The provider that is asked next, and the session's key.
    fn next_asked(&mut self) -> Option<(NodeId, SessionKey)> {
        self.opened().into_iter().next()
    }
}

/// A provider that could not be reached, and was being dialed again when another began to bring
/// entries, is dialed when that one is done. Once it never was: nobody had set a time for it.
#[test]
fn who_was_dialed_when_another_brought_history_is_dialed_again() {
    let mut desk = Desk::open(2, 1, Role::Peer);
    let (owner, first) = desk.next_asked().expect("the owner is asked");
    desk.unreachable(first);
    desk.trusts(3);
    let (other, carrier) = desk.next_asked().expect("the other is asked");
    assert_eq!((owner, other), (node(1), node(3)));
    desk.pass(2_500);
    let (again, _) = desk.next_asked().expect("the owner is dialed again");
    assert_eq!(again, node(1));

    desk.pass(1_500);
    desk.starts(carrier, Mode::Empty);
    let progress = |received| Input::Session {
        key: carrier,
        event: SessionEvent::Progress {
            received,
            expected: Some(9),
        },
    };
    desk.give(progress(1));
    let given_up = |output: &Output| matches!(output, Output::CancelSession { .. });
    assert!(desk.outputs.iter().any(given_up), "{:?}", desk.outputs);
    assert_eq!(desk.next_asked(), None);

    for received in 2..9 {
        desk.pass(400);
        desk.give(progress(received));
        assert_eq!(desk.next_asked(), None, "another still brings history");
    }
    desk.unreachable(carrier);
    desk.pass(2 * limit::CARRIED_RETRY_MS);
    assert_eq!(desk.next_asked().map(|(node, _)| node), Some(node(1)));
}
