//! The rows of the matrix that are about one answer, each as one readable story.

use osier_core::{Coverage, NodeId, OrderKey, Role};

use super::{COMPLETE, failure, quorum, refused, said, storage_first, waiting};
use crate::{
    CutReason, Failure, Held, Outcome, Phase, Rank, Reason, Rule, Search, Standing, TrustList,
    Verdict, Voucher,
    testing::{drained, facts, from, node, place, provider, stranger, streaming_since},
    verdict,
};

/// Row "replay only", `POL-5`: its floor is said, also when it has not dropped anything.
#[test]
fn replay_only_is_never_complete() {
    let mut facts = facts([(node(1), provider(1, Role::Replay, drained(from(50), 1)))]);
    assert_eq!(said(&storage_first(&facts)), Some((node(1), from(50))));
    facts.providers.get_mut(&node(1)).unwrap().outcome = drained(COMPLETE, 1);
    let whole = Coverage::From {
        floor: OrderKey::MIN,
    };
    for rule in [Rule::StorageFirst, Rule::FirstTrusted, Rule::StrictMajority] {
        assert_eq!(said(&verdict(rule, &facts)), Some((node(1), whole)));
    }
}

/// `POL-8`: a ring that starts above what was held leaves a gap, and says so.
#[test]
fn ring_above_what_was_held_is_too_shallow() {
    let mut facts = facts([(node(1), provider(1, Role::Replay, drained(from(150), 1)))]);
    facts.me.held = Held::UpTo(place(149));
    let floor = place(150);
    let reasons = [(node(1), Reason::TooShallow { floor })];
    let expected = Some((Failure::Exhausted, &reasons[..]));
    assert_eq!(failure(&storage_first(&facts)), expected);
    facts.me.held = Held::UpTo(floor);
    assert_eq!(said(&storage_first(&facts)), Some((node(1), from(150))));
    facts.me.held = Held::UpTo(place(149));
    let deeper = provider(9, Role::Peer, drained(from(10), 1));
    facts.providers.insert(node(2), deeper);
    assert_eq!(said(&storage_first(&facts)), Some((node(2), from(10))));
}

/// Row "archive appears later", `POL-6`, `POL-7`: from a floor, pending, complete.
#[test]
fn archive_that_appears_later_completes() {
    let mut facts = facts([(node(1), provider(1, Role::Replay, drained(from(50), 1)))]);
    assert_eq!(said(&storage_first(&facts)), Some((node(1), from(50))));
    for open in [Outcome::Unasked, streaming_since(0, 0)] {
        facts
            .providers
            .insert(node(2), provider(2, Role::Archive, open));
        let verdict = storage_first(&facts);
        assert_eq!(waiting(&verdict), Some(&[node(2)][..]));
        assert_eq!(verdict.still_pending(), 1);
    }
    let archive = provider(2, Role::Archive, drained(COMPLETE, 1));
    facts.providers.insert(node(2), archive);
    assert_eq!(said(&storage_first(&facts)), Some((node(2), COMPLETE)));
}

/// Row "archive dies, replay remains", `POL-4`, `POL-7`: in whatever way it dies.
#[test]
fn replay_remains_when_the_archive_dies() {
    let ends = [
        Outcome::Lost,
        Outcome::Cut(CutReason::Missing { entries: 600 }),
        refused(Some(70_000)),
        Outcome::Silent {
            phase: Phase::Sending,
        },
    ];
    let mut facts = facts([
        (node(1), provider(1, Role::Archive, streaming_since(0, 0))),
        (node(2), provider(2, Role::Replay, drained(from(50), 1))),
    ]);
    for end in ends {
        facts
            .providers
            .insert(node(1), provider(1, Role::Archive, end));
        assert_eq!(said(&storage_first(&facts)), Some((node(2), from(50))));
    }
    let mut gone = provider(1, Role::Archive, drained(COMPLETE, 1));
    gone.connected = false;
    facts.providers.insert(node(1), gone);
    let verdict = storage_first(&facts);
    assert_eq!(said(&verdict), Some((node(2), from(50))));
    assert_eq!(verdict.still_pending(), 0);
}

/// Row "provider never answers", `POL-18`: its deadline frees the rule, and a late marker counts.
#[test]
fn silent_provider_steps_aside_until_its_marker_comes() {
    let silent = || Outcome::Silent {
        phase: Phase::Hello,
    };
    let mut facts = facts([(node(1), provider(1, Role::Archive, silent()))]);
    let reason = Reason::Silent {
        phase: Phase::Hello,
    };
    let reasons = [(node(1), reason)];
    let exhausted = Some((Failure::Exhausted, &reasons[..]));
    for rule in [Rule::StorageFirst, Rule::StrictMajority] {
        assert_eq!(failure(&verdict(rule, &facts)), exhausted);
    }
    facts
        .providers
        .insert(node(2), provider(2, Role::Archive, silent()));
    let replay = provider(3, Role::Replay, drained(from(50), 1));
    facts.providers.insert(node(3), replay);
    let majority = verdict(Rule::StrictMajority, &facts);
    assert_eq!(said(&majority), Some((node(3), from(50))));
    let late = provider(1, Role::Archive, drained(COMPLETE, 1));
    facts.providers.insert(node(1), late);
    assert_eq!(said(&storage_first(&facts)), Some((node(1), COMPLETE)));
}

const ARCHIVE: Standing = Standing {
    rank: Rank::new(5),
    role: Role::Archive,
};

/// Who counts, of an owner that is not here and node 2, which has drained, under this trust list.
fn counts(trust: &TrustList) -> Option<NodeId> {
    let mut facts = facts([
        (node(1), provider(100, Role::Archive, Outcome::Unasked)),
        (node(2), stranger(drained(COMPLETE, 1))),
    ]);
    facts.providers.get_mut(&node(1)).unwrap().connected = false;
    for (node, provider) in &mut facts.providers {
        provider.trust = trust.trusted(*node);
    }
    said(&storage_first(&facts)).map(|(node, _)| node)
}

/// A drained provider counts from the moment it is trusted (`POL-2`).
#[test]
fn grant_during_session() {
    let mut trust = TrustList::new(node(1));
    assert_eq!(counts(&trust), None);
    trust.set_grants([(node(2), ARCHIVE)]);
    assert_eq!(counts(&trust), Some(node(2)));
}

/// And no longer than that.
#[test]
fn revoke_during_session() {
    let mut trust = TrustList::new(node(1));
    trust.set_grants([(node(2), ARCHIVE)]);
    assert_eq!(counts(&trust), Some(node(2)));
    trust.set_grants([]);
    assert_eq!(counts(&trust), None);
}

/// The node's own word goes before the owner's.
#[test]
fn trust_list_edited_during_session() {
    let mut trust = TrustList::new(node(1));
    trust.trust(node(2), ARCHIVE).unwrap();
    assert_eq!(counts(&trust), Some(node(2)), "trusted here");
    trust.set_grants([(node(2), ARCHIVE)]);
    trust.distrust(node(2)).unwrap();
    assert_eq!(counts(&trust), None, "denied here");
}

/// Row "no network, then network", `POL-15`, `POL-16`: looked for, not found, found after all.
#[test]
fn no_network_then_network() {
    let mut owner = provider(100, Role::Archive, Outcome::Unasked);
    owner.connected = false;
    let mut facts = facts([(node(1), owner)]);
    facts.search = Search::Looking;
    assert_eq!(waiting(&storage_first(&facts)), Some(&[][..]));
    facts.search = Search::Over;
    let reasons = [(node(1), Reason::NotConnected)];
    let nobody = Some((Failure::NoProvider, &reasons[..]));
    assert_eq!(failure(&storage_first(&facts)), nobody);
    facts.providers.get_mut(&node(1)).unwrap().connected = true;
    assert_eq!(waiting(&storage_first(&facts)), Some(&[node(1)][..]));
    facts.providers.get_mut(&node(1)).unwrap().outcome = drained(COMPLETE, 0);
    assert_eq!(said(&storage_first(&facts)), Some((node(1), COMPLETE)));
}

/// `POL-15`: the first to be refused is not the end while another may still connect.
#[test]
fn nothing_fails_while_another_may_connect() {
    let mut late = provider(2, Role::Archive, Outcome::Unasked);
    late.connected = false;
    let mut facts = facts([
        (node(1), provider(1, Role::Archive, refused(None))),
        (node(2), late),
    ]);
    facts.search = Search::Looking;
    assert_eq!(waiting(&storage_first(&facts)), Some(&[][..]));
    facts.search = Search::Over;
    let verdict = storage_first(&facts);
    let (failure, _) = failure(&verdict).unwrap();
    assert_eq!(failure, Failure::Exhausted);
}

/// `POL-12`: alone and at once; another one who is known, even silent, ends that.
#[test]
fn trusted_archive_alone_is_complete() {
    let mut facts = facts([(node(1), stranger(streaming_since(0, 0)))]);
    facts.search = Search::Looking;
    facts.me.trusted_archive = true;
    for rule in [Rule::StorageFirst, Rule::StrictMajority, quorum(2, None)] {
        let Verdict::Synced { by, coverage, .. } = verdict(rule, &facts) else {
            panic!("{rule} needs nobody else");
        };
        assert_eq!((by, coverage), (Voucher::Sole, COMPLETE));
    }
    let silent = Outcome::Silent {
        phase: Phase::Hello,
    };
    facts
        .providers
        .insert(node(2), provider(1, Role::Replay, silent));
    assert!(failure(&storage_first(&facts)).is_some());
    facts.providers.remove(&node(2));
    facts.me.trusted_archive = false;
    facts.search = Search::Over;
    let nobody = storage_first(&facts);
    assert_eq!(failure(&nobody), Some((Failure::NoProvider, &[][..])));
}
