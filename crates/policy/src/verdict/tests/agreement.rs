//! The rows of the matrix where providers must agree, or do not.

use osier_core::Role;

use super::{COMPLETE, failure, quorum, refused, said, storage_first, waiting};
use crate::{
    Camp, Convergence, Failure, Outcome, Reason, Rule, Verdict, Voucher,
    testing::{TestFacts, drained, facts, from, node, provider, state, stranger, streaming_since},
    verdict,
};

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
