//! Tests of the trust list.

use osier_core::{NodeId, Role};

use super::*;
use crate::testing::node;

const ARCHIVE: Standing = standing(10, Role::Archive);
const REPLAY: Standing = standing(20, Role::Replay);

const fn standing(rank: u16, role: Role) -> Standing {
    Standing {
        rank: Rank::new(rank),
        role,
    }
}

/// `POL-3`: a two-node topic works with no grant at all.
#[test]
fn owner_is_an_archive_without_a_grant() {
    let list = TrustList::new(node(1));
    assert_eq!(list.trusted(node(1)), Some(Standing::OWNER));
    assert_eq!(list.trusted(node(2)), None);
    let entry = list.entry(node(1)).unwrap();
    assert_eq!(entry.source, TrustSource::Owner);
}

/// `POL-3`: nobody owns a public topic, and the all-zero id is not trusted there.
#[test]
fn public_topic_trusts_nobody() {
    let list = TrustList::new(NodeId::NOBODY);
    assert_eq!(list.trusted(NodeId::NOBODY), None);
    assert_eq!(list.entries(), []);
}

/// `POL-2`: own list before grant before owner; taken away again, the next one speaks.
#[test]
fn strongest_source_speaks() {
    let mut list = TrustList::new(node(1));
    list.set_grants([(node(1), REPLAY), (node(2), REPLAY)]);
    assert_eq!(list.entry(node(1)).unwrap().source, TrustSource::Grant);
    assert_eq!(list.trusted(node(1)), Some(REPLAY));
    list.trust(node(2), ARCHIVE).unwrap();
    assert_eq!(list.entry(node(2)).unwrap().source, TrustSource::Own);
    assert_eq!(list.trusted(node(2)), Some(ARCHIVE));
    list.forget(node(2));
    assert_eq!(list.trusted(node(2)), Some(REPLAY));
    list.set_grants([]);
    assert_eq!(list.trusted(node(2)), None);
    assert_eq!(list.trusted(node(1)), Some(Standing::OWNER));
}

/// `POL-2`: removal in the own list denies, whatever the owner grants before or after.
#[test]
fn removal_denies() {
    let mut list = TrustList::new(node(1));
    list.set_grants([(node(2), ARCHIVE)]);
    for denied in [node(1), node(2), node(3)] {
        list.distrust(denied).unwrap();
    }
    list.set_grants([(node(2), ARCHIVE), (node(3), ARCHIVE)]);
    assert_eq!(list.entries(), []);
    list.forget(node(3));
    assert_eq!(list.trusted(node(3)), Some(ARCHIVE));
}

/// The list shown is the predicate, best first.
#[test]
fn entries_are_what_is_trusted() {
    let mut list = TrustList::new(node(1));
    list.set_grants([(node(2), REPLAY), (node(3), standing(20, Role::Archive))]);
    list.trust(node(4), standing(200, Role::Peer)).unwrap();
    list.distrust(node(5)).unwrap();
    let entries = list.entries();
    let order: Vec<_> = entries.iter().map(|entry| entry.node).collect();
    assert_eq!(order, [node(3), node(2), node(1), node(4)]);
    for entry in entries {
        assert_eq!(list.trusted(entry.node), Some(entry.standing));
    }
}

/// `POL-1`: of too many grants the same ones are kept in any order.
#[test]
fn grants_beyond_the_bound_are_the_worst() {
    let many = limit::TRUST_GRANTS_MAX + 3;
    let all: Vec<_> = (0..many)
        .map(|n| {
            let rank = u16::try_from(many - n).unwrap();
            (node(u64::try_from(n).unwrap()), standing(rank, Role::Peer))
        })
        .collect();
    let mut forwards = TrustList::new(NodeId::NOBODY);
    let mut backwards = forwards.clone();
    assert_eq!(forwards.set_grants(all.iter().copied()), 3);
    assert_eq!(backwards.set_grants(all.iter().rev().copied()), 3);
    assert_eq!(forwards, backwards);
    assert_eq!(forwards.trusted(node(0)), None);
    assert!(forwards.trusted(node(3)).is_some());
}

/// `POL-1`: of two standings for one node the better counts, in either order.
#[test]
fn better_of_two_grants_counts() {
    let mut list = TrustList::new(NodeId::NOBODY);
    for grants in [[ARCHIVE, REPLAY], [REPLAY, ARCHIVE]] {
        assert_eq!(list.set_grants(grants.map(|grant| (node(1), grant))), 0);
        assert_eq!(list.trusted(node(1)), Some(ARCHIVE));
    }
}

/// A full list refuses a new mark, and still takes changes of the marks it has.
#[test]
fn full_own_list_refuses_loudly() {
    let mut list = TrustList::new(NodeId::NOBODY);
    for n in 0..limit::TRUST_OWN_MAX {
        list.trust(node(u64::try_from(n).unwrap()), REPLAY).unwrap();
    }
    assert_eq!(list.trust(node(1_000_000), REPLAY), Err(TrustListFull));
    list.distrust(node(3)).unwrap();
    assert_eq!(list.trusted(node(3)), None);
}

#[test]
fn rank_has_a_text_form() {
    assert_eq!("7".parse(), Ok(Rank::new(7)));
    assert_eq!("65536".parse::<Rank>(), Err(RankTextInvalid));
    assert_eq!("-1".parse::<Rank>(), Err(RankTextInvalid));
    assert_eq!(Rank::DEFAULT.to_string().parse(), Ok(Rank::DEFAULT));
}
