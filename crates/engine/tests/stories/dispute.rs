//! Providers that disagree (`POL-27`), and strangers that come to count.

use osier_core::{Entry, SessionId, Verified, testing::Chain};
use osier_engine::{Rank, SessionKey};
use osier_proto::Mode;

use super::*;

impl Desk {
    /// Sessions that it wants to open, with whom.
    fn opened(&mut self) -> Vec<(NodeId, SessionKey)> {
        let outputs = self.outputs.drain(..);
        let opened = outputs.filter_map(|output| match output {
            Output::OpenSession(open) => Some((open.provider, open.key)),
            _ => None,
        });
        opened.collect()
    }

    /// A session drains a provider that holds these entries; this node has or gets them as well,
    /// or has others.
    fn drains_one_of(&mut self, key: SessionKey, theirs: &[Verified<Entry>]) {
        let sources = (MemorySource::with(1, theirs), MemorySource::with(2, theirs));
        let mut pair = Pair::new(PairConfig::new(&sources.0, &sources.1));
        pair.run();
        let end = pair.client_ends.pop().expect("it has an end");
        self.give(Input::Session {
            key,
            event: SessionEvent::ClientEnded(end),
        });
    }

    fn trusts(&mut self, other: u64) {
        self.give(Input::Trust {
            command: CommandId(7),
            topic: self.topic,
            node: node(other),
            entry: Some((Rank::DEFAULT, Role::Archive)),
        });
        self.store();
    }
}

/// Two archives under the rule of the majority: the owner holds an entry that the other does not,
/// and that has been looked into. This node holds none either.
fn disputed() -> Desk {
    let mut desk = Desk::open(2, 1, Role::Peer);
    desk.give(Input::SetRule {
        topic: desk.topic,
        rule: Rule::StrictMajority,
    });
    desk.trusts(3);
    let entry = Chain::in_topic(9, PairConfig::topic()).next(b"x");
    let theirs = |provider| {
        if provider == node(1) {
            vec![entry.clone()]
        } else {
            Vec::new()
        }
    };
    for _ in 0..4 {
        for (provider, key) in desk.opened() {
            desk.drains_one_of(key, &theirs(provider));
        }
        desk.pass(1_000);
    }
    desk.outputs.clear();
    assert_eq!(desk.phase(), TopicPhase::Diverged);
    desk.pass(12_000);
    assert_eq!(
        desk.opened(),
        [],
        "it has been looked into, and nothing has changed"
    );
    desk
}

/// What this node holds has changed by gossip: who differed may agree by now.
#[test]
fn a_dispute_is_looked_into_again_when_this_node_has_changed() {
    let mut desk = disputed();
    let entry = Chain::in_topic(9, desk.topic).next(b"gossiped");
    let message = GossipMessage {
        topic: desk.topic,
        sequence: 1,
        body: Gossip::Live(entry.to_wire()),
    };
    let bytes = encode_gossip(&secret(9), &message, GOSSIP_PAYLOAD_BYTES_MAX);
    let (topic, bytes) = (desk.topic, bytes.expect("it fits"));
    desk.give(Input::Gossip { topic, bytes });
    desk.store();
    desk.pass(12_000);
    let asked: Vec<NodeId> = desk.opened().into_iter().map(|(node, _)| node).collect();
    assert!(asked.contains(&node(1)), "{asked:?}");
}

/// The provider has changed: it says by gossip that it holds what this node holds. A watermark is
/// no proof, so it is asked.
#[test]
fn a_dispute_is_looked_into_again_when_the_provider_is_heard_to_agree() {
    let mut desk = disputed();
    let message = GossipMessage {
        topic: desk.topic,
        sequence: 1,
        body: Gossip::Watermark(Watermark {
            summary: Summary::empty(),
            last: Lsn::START,
        }),
    };
    let bytes = encode_gossip(&secret(1), &message, GOSSIP_PAYLOAD_BYTES_MAX);
    let (topic, bytes) = (desk.topic, bytes.expect("it fits"));
    desk.give(Input::Gossip { topic, bytes });
    desk.pass(12_000);
    let asked: Vec<NodeId> = desk.opened().into_iter().map(|(node, _)| node).collect();
    assert_eq!(asked, [node(1)]);
}

/// A stranger that was lost is not dialed; when it is back and comes to count, it is asked.
#[test]
fn a_stranger_that_was_lost_and_is_back_is_asked_when_it_counts() {
    let mut desk = Desk::open(2, 1, Role::Peer);
    let unreachable = |desk: &mut Desk| {
        for (provider, key) in desk.opened() {
            assert_eq!(provider, node(1));
            let cause = "the dial came to nothing".to_owned();
            let event = SessionEvent::Unreachable { cause };
            desk.give(Input::Session { key, event });
        }
    };
    unreachable(&mut desk);
    let (topic, peer) = (desk.topic, node(3));
    let neighbor = |up| Input::Neighbor { topic, peer, up };
    desk.give(neighbor(true));
    let (asked, key) = desk.opened().pop().expect("there is nobody else");
    assert_eq!(asked, peer);
    let event = SessionEvent::Started {
        session: SessionId::from_bytes([7; 16]),
        mode: Mode::Equal,
        summary: Summary::empty(),
        role: Role::Archive,
        token_unserviceable: false,
    };
    desk.give(Input::Session { key, event });
    desk.drains_one_of(key, &[]);
    desk.give(Input::PeerLost { peer });
    desk.give(neighbor(false));
    desk.pass(1_000);
    unreachable(&mut desk);
    desk.is_asked_by(3);
    desk.give(neighbor(true));
    desk.outputs.clear();
    desk.trusts(3);
    let asked: Vec<NodeId> = desk.opened().into_iter().map(|(node, _)| node).collect();
    assert!(asked.contains(&peer), "{asked:?}");
}
