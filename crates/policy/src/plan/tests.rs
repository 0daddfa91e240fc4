//! Tests of the plan.

use osier_core::{Coverage, Role};

use super::*;
use crate::{
    CutReason, Phase, RefuseReason,
    testing::{
        TestFacts, TestOutcome, at_ms, drained, facts, node, provider, stranger, streaming_since,
    },
};

const DRAINED: TestOutcome = drained(Coverage::Complete, 1);
const UNASKED: TestOutcome = Outcome::Unasked;

fn next(facts: &TestFacts, now_ms: u64) -> Vec<NodeId> {
    next_to_ask(Rule::StorageFirst, facts, at_ms(now_ms), 8)
}

fn set(facts: &mut TestFacts, n: u64, outcome: TestOutcome) {
    facts.providers.get_mut(&node(n)).unwrap().outcome = outcome;
}

/// `POL-19`: the best alone; rank, then role, then node id.
#[test]
fn best_is_asked_alone() {
    let mut facts = facts([
        (node(1), provider(2, Role::Replay, UNASKED)),
        (node(2), provider(2, Role::Archive, UNASKED)),
        (node(3), provider(2, Role::Archive, UNASKED)),
        (node(4), provider(3, Role::Archive, UNASKED)),
    ]);
    for expected in [2, 3, 1, 4] {
        assert_eq!(next(&facts, 0), [node(expected)]);
        facts.providers.remove(&node(expected));
    }
    assert_eq!(next(&facts, 0), []);
}

/// `POL-19`: while the first streams well nobody else is asked; when it is done, all the others
/// verify, those first whom the rule cannot do without.
#[test]
fn others_verify_once_the_first_is_done() {
    let mut facts = facts([
        (node(1), provider(1, Role::Replay, streaming_since(0, 900))),
        (node(2), provider(2, Role::Replay, UNASKED)),
        (node(3), provider(4, Role::Archive, UNASKED)),
        (node(4), provider(3, Role::Archive, UNASKED)),
    ]);
    assert_eq!(next(&facts, 1_000), []);
    set(&mut facts, 1, DRAINED);
    assert_eq!(next(&facts, 1_000), [node(4), node(3), node(2)]);
    let by_rank = next_to_ask(Rule::FirstTrusted, &facts, at_ms(1_000), 2);
    assert_eq!(by_rank, [node(2), node(4)]);
    set(&mut facts, 2, streaming_since(0, 0));
    assert_eq!(
        next_to_ask(Rule::FirstTrusted, &facts, at_ms(0), 2),
        [node(4)]
    );
    assert_eq!(next_to_ask(Rule::FirstTrusted, &facts, at_ms(0), 1), []);
    assert_eq!(next_to_ask(Rule::FirstTrusted, &facts, at_ms(0), 0), []);
}

/// `POL-19`: slow in the first second, or a pause later on, brings in the next; one at a time.
#[test]
fn slow_first_is_hedged() {
    let mut facts = facts([
        (node(1), provider(1, Role::Archive, streaming_since(0, 0))),
        (node(2), provider(2, Role::Archive, UNASKED)),
        (node(3), provider(3, Role::Archive, UNASKED)),
    ]);
    assert_eq!(next(&facts, 999), []);
    assert_eq!(next(&facts, 1_000), [node(2)]);
    assert_eq!(wake_at(&facts, at_ms(1)), Some(at_ms(1_000)));
    assert_eq!(wake_at(&facts, at_ms(1_000)), Some(at_ms(5_000)));
    set(&mut facts, 2, streaming_since(1_000, 1_000));
    assert_eq!(next(&facts, 1_999), []);
    assert_eq!(next(&facts, 2_000), [node(3)]);
    set(&mut facts, 1, streaming_since(0, 2_000));
    assert_eq!(next(&facts, 2_499), []);
    assert_eq!(next(&facts, 2_500), [node(3)]);
}

/// `POL-19`: the next in rank before one that failed, however good its rank.
#[test]
fn next_in_rank_follows_a_failure() {
    let ends = [
        Outcome::Silent {
            phase: Phase::Hello,
        },
        Outcome::Cut(CutReason::Closed),
        Outcome::Lost,
    ];
    for end in ends {
        let mut facts = facts([
            (node(1), provider(1, Role::Archive, end)),
            (node(2), provider(2, Role::Archive, UNASKED)),
        ]);
        let first = facts.providers.get_mut(&node(1)).unwrap();
        first.ask_after = Some(at_ms(0));
        assert_eq!(next(&facts, 1), [node(2)]);
        facts.providers.remove(&node(2));
        assert_eq!(next(&facts, 1), [node(1)]);
        let first = facts.providers.get_mut(&node(1)).unwrap();
        first.ask_after = None;
        assert_eq!(next(&facts, 1), []);
    }
}

/// `POL-19`: of those who verify, one that the rule needs comes first even if it failed before.
#[test]
fn needed_one_is_asked_again_before_others_verify() {
    let mut facts = facts([
        (node(1), provider(1, Role::Replay, DRAINED)),
        (node(2), provider(2, Role::Replay, UNASKED)),
        (node(3), provider(3, Role::Archive, Outcome::Lost)),
        (node(4), provider(4, Role::Archive, UNASKED)),
    ]);
    facts.providers.get_mut(&node(3)).unwrap().ask_after = Some(at_ms(1));
    assert_eq!(next(&facts, 1), [node(4), node(3), node(2)]);
}

/// `POL-20`: neither before the provider's own time nor before ours.
#[test]
fn retry_times_are_kept() {
    let refused = |retry_at| Outcome::Refused {
        reason: RefuseReason::Overloaded,
        retry_at,
    };
    let later = refused(Some(at_ms(3_000)));
    let mut facts = facts([(node(1), provider(1, Role::Archive, later))]);
    assert_eq!(next(&facts, 2_999), []);
    assert_eq!(wake_at(&facts, at_ms(0)), Some(at_ms(3_000)));
    assert_eq!(next(&facts, 3_000), [node(1)]);
    let first = facts.providers.get_mut(&node(1)).unwrap();
    first.ask_after = Some(at_ms(4_000));
    assert_eq!(next(&facts, 3_999), []);
    assert_eq!(wake_at(&facts, at_ms(3_000)), Some(at_ms(4_000)));
    assert_eq!(next(&facts, 4_000), [node(1)]);
    set(&mut facts, 1, refused(None));
    assert_eq!(next(&facts, 5_000), [], "asking again will not help");
    set(&mut facts, 1, UNASKED);
    assert_eq!(next(&facts, 3_999), [], "jittered after a start");
    assert_eq!(next(&facts, 4_000), [node(1)]);
    assert_eq!(wake_at(&facts, at_ms(4_000)), None);
}

/// `POL-22`: strangers only when there is nobody else, one at a time, and they hold up nobody.
#[test]
fn strangers_come_last() {
    let mut facts = facts([
        (node(1), stranger(UNASKED)),
        (node(2), stranger(UNASKED)),
        (node(3), provider(1, Role::Archive, UNASKED)),
    ]);
    assert_eq!(next(&facts, 0), [node(3)]);
    set(&mut facts, 3, streaming_since(0, 0));
    assert_eq!(next(&facts, 0), []);
    assert_eq!(next(&facts, 1_000), [node(1)], "the trusted one is slow");
    set(&mut facts, 3, DRAINED);
    assert_eq!(next(&facts, 0), []);
    facts.providers.get_mut(&node(3)).unwrap().connected = false;
    assert_eq!(next(&facts, 0), [node(1)]);
    set(&mut facts, 1, streaming_since(0, 0));
    assert_eq!(next(&facts, 0), []);
    let trusted = provider(1, Role::Archive, UNASKED);
    facts.providers.insert(node(3), trusted);
    let one = next_to_ask(Rule::StorageFirst, &facts, at_ms(0), 1);
    assert_eq!(one, [node(3)]);
}

/// Nobody is asked twice, nobody who is not connected is asked, and one asked at a time when
/// wake-up comes is never forgotten: with enough time everybody who can be asked is.
#[test]
fn everybody_is_asked_in_the_end() {
    let mut facts = facts((0..6).map(|n| {
        let role = if n % 2 == 0 {
            Role::Replay
        } else {
            Role::Archive
        };
        (
            node(n),
            provider(u16::try_from(n / 3).unwrap(), role, UNASKED),
        )
    }));
    let mut now = at_ms(0);
    let mut asked = Vec::new();
    while asked.len() < 6 {
        for node in next_to_ask(Rule::StorageFirst, &facts, now, 8) {
            assert!(!asked.contains(&node));
            asked.push(node);
            facts.providers.get_mut(&node).unwrap().outcome = Outcome::Streaming {
                since: now,
                last_progress: now,
                phase: Phase::Hello,
            };
        }
        now = wake_at(&facts, now).expect("someone is streaming");
        for node in crate::expired(&facts, now) {
            facts.providers.get_mut(&node).unwrap().outcome = Outcome::Lost;
        }
    }
    assert!(now <= at_ms(7_000));
}
