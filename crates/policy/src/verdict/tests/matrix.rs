//! The rows of the matrix that are about policy, each as one readable story.

use std::num::NonZeroU32;

use osier_core::{Coverage, NodeId, OrderKey, Role};

use crate::{
    Camp, Convergence, CutReason, Failure, Held, Outcome, Phase, Rank, Reason, RefuseReason, Rule,
    Search, Standing, TrustList, Verdict, Voucher,
    testing::{
        Drain, TestFacts, at_ms, drained, facts, from, node, place, provider, state, stranger,
        streaming_since,
    },
    verdict,
};

const COMPLETE: Coverage = Coverage::Complete;

fn storage_first(facts: &TestFacts) -> Verdict<Drain> {
    verdict(Rule::StorageFirst, facts)
}

/// Whom a verdict rests on, and how far back it says to reach.
fn said(verdict: &Verdict<Drain>) -> Option<(NodeId, Coverage)> {
    match verdict {
        Verdict::Synced {
            by: Voucher::Provider { node, .. },
            coverage,
            ..
        } => Some((*node, *coverage)),
        _ => None,
    }
}

fn waiting(verdict: &Verdict<Drain>) -> Option<&[NodeId]> {
    match verdict {
        Verdict::Pending { waiting, .. } => Some(waiting),
        _ => None,
    }
}

fn failure(verdict: &Verdict<Drain>) -> Option<(Failure, &[(NodeId, Reason)])> {
    match verdict {
        Verdict::Failed {
            failure, reasons, ..
        } => Some((*failure, reasons)),
        _ => None,
    }
}

fn quorum(n: u32, role: Option<Role>) -> Rule {
    let n = NonZeroU32::new(n).unwrap();
    Rule::Quorum { n, role }
}

fn refused(retry_at_ms: Option<u64>) -> Outcome<Drain> {
    Outcome::Refused {
        reason: RefuseReason::Overloaded,
        retry_at: retry_at_ms.map(at_ms),
    }
}

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

/// Row "two providers disagree", `POL-13`: it is said, both camps are named, and the rule decides
/// whether there is an answer all the same.
#[test]
fn two_providers_disagree() {
    let facts = facts([
        (node(1), provider(2, Role::Archive, drained(COMPLETE, 1))),
        (node(2), provider(1, Role::Archive, drained(COMPLETE, 2))),
    ]);
    let camp = |n: u64, s: u8| Camp {
        state: state(s),
        members: vec![node(n)],
    };
    let both = vec![camp(2, 2), camp(1, 1)];
    let Verdict::Synced {
        by, convergence, ..
    } = storage_first(&facts)
    else {
        panic!("an archive has drained");
    };
    assert!(matches!(by, Voucher::Provider { node: n, .. } if n == node(2)));
    let diverged = Convergence::Diverged {
        camps: both.clone(),
    };
    assert_eq!(convergence, diverged);
    for rule in [Rule::StrictMajority, quorum(2, None)] {
        let expected = Verdict::Diverged {
            camps: both.clone(),
            still_pending: 0,
        };
        assert_eq!(verdict(rule, &facts), expected);
    }
}

/// Row "majority disagrees with the best rank", `POL-10`: the majority is followed, and the best
/// of it speaks.
#[test]
fn majority_disagrees_with_the_best_rank() {
    let mut facts = facts([
        (node(1), provider(1, Role::Archive, drained(COMPLETE, 1))),
        (node(2), provider(3, Role::Archive, drained(COMPLETE, 2))),
        (node(3), provider(2, Role::Archive, drained(COMPLETE, 2))),
    ]);
    let followed = verdict(Rule::StrictMajority, &facts);
    assert_eq!(said(&followed), Some((node(3), COMPLETE)));
    let Verdict::Synced { convergence, .. } = followed else {
        panic!("two of three agree");
    };
    let Convergence::Diverged { camps } = convergence else {
        panic!("one does not");
    };
    let members: Vec<_> = camps.into_iter().map(|camp| camp.members).collect();
    assert_eq!(members, [vec![node(1)], vec![node(3), node(2)]]);
    let fourth = provider(4, Role::Archive, refused(None));
    facts.providers.insert(node(4), fourth);
    let even = verdict(Rule::StrictMajority, &facts);
    assert!(
        matches!(even, Verdict::Diverged { .. }),
        "half is no majority"
    );
}

/// `POL-11`: only the role counts, all who drained are heard, and the best of two camps wins.
#[test]
fn quorum_counts_a_role() {
    let mut facts = facts([
        (node(1), provider(1, Role::Replay, drained(from(50), 1))),
        (node(2), provider(2, Role::Archive, drained(COMPLETE, 1))),
        (node(3), provider(3, Role::Archive, streaming_since(0, 0))),
    ]);
    let two_archives = quorum(2, Some(Role::Archive));
    let pending = verdict(two_archives, &facts);
    assert_eq!(waiting(&pending), Some(&[node(3)][..]));
    let best = said(&verdict(quorum(2, None), &facts));
    assert_eq!(
        best,
        Some((node(2), COMPLETE)),
        "the deepest of the camp speaks"
    );
    facts
        .providers
        .insert(node(3), provider(3, Role::Archive, Outcome::Lost));
    let reasons = [
        (node(1), Reason::RoleNotCounted),
        (node(2), Reason::NotEnough),
        (node(3), Reason::Lost),
    ];
    let ended = verdict(two_archives, &facts);
    assert_eq!(failure(&ended), Some((Failure::Exhausted, &reasons[..])));
}

/// Rows "grant during session", "revoke during session", "trust list edited during session": a
/// drained provider counts from the moment it is trusted, and no longer than that (`POL-2`).
#[test]
fn trust_changes_during_a_session() {
    let mut trust = TrustList::new(node(1));
    let mut facts = facts([
        (node(1), provider(100, Role::Archive, Outcome::Unasked)),
        (node(2), stranger(drained(COMPLETE, 1))),
    ]);
    facts.providers.get_mut(&node(1)).unwrap().connected = false;
    let judge = |trust: &TrustList, facts: &mut TestFacts| {
        for (node, provider) in &mut facts.providers {
            provider.trust = trust.trusted(*node);
        }
        said(&storage_first(facts)).map(|(node, _)| node)
    };
    let archive = Standing {
        rank: Rank::new(5),
        role: Role::Archive,
    };
    assert_eq!(judge(&trust, &mut facts), None);
    trust.set_grants([(node(2), archive)]);
    assert_eq!(judge(&trust, &mut facts), Some(node(2)), "granted");
    trust.set_grants([]);
    assert_eq!(judge(&trust, &mut facts), None, "revoked");
    trust.trust(node(2), archive).unwrap();
    assert_eq!(judge(&trust, &mut facts), Some(node(2)), "trusted here");
    trust.set_grants([(node(2), archive)]);
    trust.distrust(node(2)).unwrap();
    assert_eq!(judge(&trust, &mut facts), None, "denied here");
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

/// `POL-13`: how many say the same.
#[test]
fn convergence_counts_those_who_drained_alike() {
    let archive = |outcome| provider(1, Role::Archive, outcome);
    let mut facts = facts([(node(1), archive(drained(COMPLETE, 1)))]);
    let convergence_of = |facts: &TestFacts| match storage_first(facts) {
        Verdict::Synced { convergence, .. } => convergence,
        other => panic!("{other:?}"),
    };
    assert_eq!(convergence_of(&facts), Convergence::Unverified);
    facts
        .providers
        .insert(node(2), archive(streaming_since(0, 0)));
    facts
        .providers
        .insert(node(3), stranger(drained(COMPLETE, 9)));
    assert_eq!(convergence_of(&facts), Convergence::Unverified);
    let replay = provider(7, Role::Replay, drained(from(50), 1));
    facts.providers.insert(node(4), replay);
    let with = 2;
    assert_eq!(convergence_of(&facts), Convergence::Converged { with });
}
