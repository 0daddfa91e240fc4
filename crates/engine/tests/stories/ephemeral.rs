//! What is of the moment (`GOS-10`).

use super::*;

impl Desk {
    /// Passes an item of so many bytes on; how far it got, and how many broadcasts it made.
    fn pass_on(&mut self, bytes: usize) -> (PassedOn, usize) {
        self.outputs.clear();
        self.give(Input::PassOn {
            command: CommandId(9),
            topic: self.topic,
            kind: Kind::NOSTR,
            item: vec![b'x'; bytes].into(),
        });
        let (mut passed, mut broadcasts) = (None, 0);
        for output in self.outputs.drain(..) {
            match output {
                Output::Reply { result, .. } => {
                    assert!(passed.is_none(), "one answer");
                    match result {
                        Ok(Reply::PassedOn(it)) => passed = Some(it),
                        other => panic!("{other:?}"),
                    }
                }
                Output::Broadcast { bytes, .. } => {
                    assert!(bytes.len() <= GOSSIP_PAYLOAD_BYTES_MAX);
                    broadcasts += 1;
                }
                Output::Commit(commit) => panic!("stored: {commit:?}"),
                _ => {}
            }
        }
        (passed.expect("an answer"), broadcasts)
    }

    /// An ephemeral message of test node `by` for a topic comes by gossip; how many are heard.
    fn hear_ephemeral(&mut self, by: u64, topic: TopicId, sequence: u64) -> usize {
        self.outputs.clear();
        let message = GossipMessage {
            topic,
            sequence,
            body: Gossip::Ephemeral {
                kind: Kind::NOSTR,
                item: Bytes::from_static(b"hello"),
            },
        };
        let bytes = encode_gossip(&secret(by), &message, GOSSIP_PAYLOAD_BYTES_MAX);
        let bytes = bytes.expect("it fits");
        let topic = self.topic;
        self.give(Input::Gossip { topic, bytes });
        let outputs = self.outputs.drain(..);
        outputs
            .filter(|it| matches!(it, Output::Ephemeral { item, .. } if item == "hello"))
            .count()
    }
}

/// GOS-10: what is passed on has a size, a rate, and somebody to go to; each is said.
#[test]
fn an_ephemeral_item_is_passed_on_or_its_publisher_is_told() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    assert_eq!(desk.pass_on(10), (PassedOn::Alone, 0));
    let peer = secret(2).node_id();
    let topic = desk.topic;
    let up = true;
    desk.give(Input::Neighbor { topic, peer, up });
    assert_eq!(desk.pass_on(EPHEMERAL_BYTES_MAX), (PassedOn::Sent, 1));
    let over = EPHEMERAL_BYTES_MAX + 1;
    assert_eq!(desk.pass_on(over), (PassedOn::TooLarge, 0));
    let burst = limit::EPHEMERAL_SENT.burst as usize - 1;
    let sent = (0..burst * 2).filter(|_| desk.pass_on(10) == (PassedOn::Sent, 1));
    assert_eq!(sent.count(), burst);
    assert_eq!(desk.pass_on(10), (PassedOn::TooMany, 0));
    desk.pass(1_000);
    assert_eq!(desk.pass_on(10), (PassedOn::Sent, 1));
}

/// GOS-10: what a signer sends beyond its rate is not heard, and others still are. GOS-4: nothing
/// of another topic, nothing of one's own.
#[test]
fn ephemeral_items_are_heard_up_to_a_rate_of_each_signer() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    let (topic, burst) = (desk.topic, u64::from(limit::EPHEMERAL_TAKEN.burst));
    let heard: usize = (0..burst * 3)
        .map(|n| desk.hear_ephemeral(2, topic, n))
        .sum();
    assert_eq!(heard as u64, burst);
    assert_eq!(desk.hear_ephemeral(3, topic, 1), 1);
    assert_eq!(desk.hear_ephemeral(1, topic, 1), 0);
    assert_eq!(desk.hear_ephemeral(3, ticket(9).topic(), 2), 0);
    desk.pass(1_000);
    assert_eq!(desk.hear_ephemeral(2, topic, burst * 3), 1);
    let state = desk.engine.state(topic, desk.clock());
    assert_eq!(state.map(|it| it.entries), Some(0));
}
