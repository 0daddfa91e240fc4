//! Providers that disagree (`POL-27`), and strangers that come to count.

use osier_core::testing::Chain;

use super::*;

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
    desk.hear(9, Gossip::Live(entry.to_wire()));
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
    let (summary, last) = (Summary::empty(), Lsn::START);
    desk.hear(1, Gossip::Watermark(Watermark { summary, last }));
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
            desk.unreachable(key);
        }
    };
    unreachable(&mut desk);
    let (topic, peer) = (desk.topic, node(3));
    let neighbor = |up| Input::Neighbor { topic, peer, up };
    desk.give(neighbor(true));
    let (asked, key) = desk.opened().pop().expect("there is nobody else");
    assert_eq!(asked, peer);
    desk.starts(key, Mode::Equal);
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
