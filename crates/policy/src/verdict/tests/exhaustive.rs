//! Every combination of what providers may be, against the oracle.

use std::num::NonZeroU32;

use osier_core::{Coverage, OrderKey, Role};

use super::oracle::oracle;
use crate::{
    CutReason, Held, Me, Outcome, Phase, Rank, RefuseReason, Rule, Search, Verdict, Voucher,
    next_to_ask,
    testing::{
        Drain, TestFacts, TestOutcome, TestProvider, at_ms, drained, facts, from, node, place,
        provider, stranger, streaming_since,
    },
    verdict,
};

/// Between the floors that the tests use: the lower one joins, the higher one leaves a gap.
const HELD: Held = Held::UpTo(place(100));

fn rules() -> Vec<Rule> {
    let quorum = |n, role| Rule::Quorum {
        n: NonZeroU32::new(n).unwrap(),
        role,
    };
    vec![
        Rule::StorageFirst,
        Rule::FirstTrusted,
        Rule::StrictMajority,
        quorum(1, None),
        quorum(2, None),
        quorum(2, Some(Role::Archive)),
        quorum(1, Some(Role::Replay)),
    ]
}

/// What an open outcome can end as.
fn ends() -> Vec<TestOutcome> {
    vec![
        drained(Coverage::Complete, 1),
        drained(Coverage::Complete, 2),
        drained(from(50), 1),
        drained(from(150), 1),
        drained(from(150), 2),
        drained(
            Coverage::From {
                floor: OrderKey::MIN,
            },
            1,
        ),
        Outcome::Cut(CutReason::Missing { entries: 3 }),
        Outcome::Refused {
            reason: RefuseReason::Overloaded,
            retry_at: Some(at_ms(9)),
        },
        Outcome::Silent {
            phase: Phase::Sending,
        },
        Outcome::Lost,
    ]
}

/// Everything that one provider may be; the rank is set by its place.
fn all_states() -> Vec<TestProvider> {
    let open = [Outcome::Unasked, streaming_since(0, 0)];
    let outcomes: Vec<_> = open.into_iter().chain(ends()).collect();
    let of_role = |role| outcomes.iter().map(move |o| provider(0, role, o.clone()));
    let mut states: Vec<_> = of_role(Role::Archive)
        .chain(of_role(Role::Replay))
        .collect();
    states.push(provider(0, Role::Peer, drained(Coverage::Complete, 1)));
    states.push(provider(0, Role::Peer, Outcome::Unasked));
    states.push(stranger(drained(Coverage::Complete, 2)));
    let absent = [
        Outcome::Unasked,
        drained(Coverage::Complete, 2),
        Outcome::Lost,
    ];
    states.extend(absent.map(|outcome| TestProvider {
        connected: false,
        ..provider(0, Role::Archive, outcome)
    }));
    states
}

/// The states that differ most, for larger groups.
fn few_states() -> Vec<TestProvider> {
    let mut states = fewest_states();
    states.push(stranger(drained(Coverage::Complete, 2)));
    states.push(TestProvider {
        connected: false,
        ..provider(0, Role::Archive, Outcome::Unasked)
    });
    states.push(provider(0, Role::Replay, drained(from(150), 2)));
    states
}

fn fewest_states() -> Vec<TestProvider> {
    vec![
        provider(0, Role::Archive, Outcome::Unasked),
        provider(0, Role::Archive, drained(Coverage::Complete, 1)),
        provider(0, Role::Archive, drained(Coverage::Complete, 2)),
        provider(0, Role::Archive, Outcome::Cut(CutReason::Closed)),
        provider(
            0,
            Role::Archive,
            Outcome::Silent {
                phase: Phase::Hello,
            },
        ),
        provider(0, Role::Replay, streaming_since(0, 0)),
        provider(0, Role::Replay, drained(from(50), 1)),
    ]
}

/// Calls `check` with every way to give each of `count` providers one of `states`. Ranks are
/// against the node ids, or all equal, so that role and id decide.
fn each_group(states: &[TestProvider], count: u32, mut check: impl FnMut(&mut TestFacts)) {
    for ranked in [true, false] {
        for case in 0..states.len().pow(count) {
            let state = |i: u32| &states[case / states.len().pow(i) % states.len()];
            let provider = |i: u32| {
                let mut provider = state(i).clone();
                let rank = if ranked { count - i } else { 7 };
                if let Some(standing) = &mut provider.trust {
                    standing.rank = Rank::new(u16::try_from(rank).unwrap());
                }
                (node(i.into()), provider)
            };
            check(&mut facts((0..count).map(provider)));
        }
    }
}

fn compare(facts: &mut TestFacts, rules: &[Rule]) {
    for rule in rules {
        for search in [Search::Looking, Search::Over] {
            facts.search = search;
            let verdict = verdict(*rule, facts);
            assert_eq!(verdict, oracle(*rule, facts), "{rule} {facts:#?}");
            assert_truthful(&verdict, facts);
            assert_not_stuck(*rule, &verdict, facts);
        }
    }
}

/// `POL-4`, `POL-5`, `POL-14`: what is said is on the word of one who may say it.
fn assert_truthful(verdict: &Verdict<Drain>, facts: &TestFacts) {
    let trusted = facts.providers.values().filter(|p| p.trust.is_some());
    let open = trusted
        .filter(|p| p.connected && p.outcome.is_open())
        .count();
    assert_eq!(verdict.still_pending(), u32::try_from(open).unwrap());
    let Verdict::Synced { by, coverage, .. } = verdict else {
        return;
    };
    let Voucher::Provider { node, proof } = by else {
        assert!(facts.me.trusted_archive);
        return;
    };
    let voucher = &facts.providers[node];
    assert!(voucher.connected);
    assert_eq!(voucher.outcome, Outcome::Drained(*proof));
    let is_archive = voucher.trust.unwrap().role == Role::Archive;
    let is_whole = proof.coverage == Coverage::Complete;
    assert_eq!(*coverage == Coverage::Complete, is_archive && is_whole);
    assert!(proof.coverage.reaches(coverage));
}

/// `POL-15`, `POL-16`: nobody waits for nothing, and every failure has its reasons. Who is waited
/// for is being asked, or is asked now, or comes after someone who is.
fn assert_not_stuck(rule: Rule, verdict: &Verdict<Drain>, facts: &TestFacts) {
    let streams = |p: &TestProvider| matches!(p.outcome, Outcome::Streaming { .. });
    let is_busy = facts.providers.values().any(|p| p.connected && streams(p));
    match verdict {
        Verdict::Pending { waiting, .. } if waiting.is_empty() => {
            assert_eq!(facts.search, Search::Looking);
        }
        Verdict::Pending { waiting, .. } if !is_busy => {
            let asked = next_to_ask(rule, facts, at_ms(0), 1);
            assert!(
                asked
                    .iter()
                    .all(|node| facts.providers[node].trust.is_some())
            );
            assert_eq!(
                asked.len(),
                1,
                "{rule} waits for {waiting:?} and asks nobody"
            );
        }
        Verdict::Failed { reasons, .. } => {
            let trusted = facts.providers.values().filter(|p| p.trust.is_some());
            assert_eq!(reasons.len(), trusted.count());
        }
        _ => {}
    }
}

#[test]
fn up_to_two_providers_in_every_state() {
    for count in 0..=2 {
        each_group(&all_states(), count, |facts| {
            for trusted_archive in [true, false] {
                for held in [HELD, Held::Nothing] {
                    facts.me = Me {
                        trusted_archive,
                        held,
                    };
                    compare(facts, &rules());
                }
            }
        });
    }
}

#[test]
fn three_providers_in_every_state() {
    each_group(&all_states(), 3, |facts| {
        facts.me.held = HELD;
        compare(facts, &rules());
    });
}

#[test]
fn four_providers_in_the_states_that_differ_most() {
    each_group(&few_states(), 4, |facts| {
        facts.me.held = HELD;
        compare(facts, &rules());
    });
}

#[test]
fn five_providers_in_the_states_that_differ_most() {
    each_group(&fewest_states(), 5, |facts| {
        facts.me.held = HELD;
        compare(facts, &rules());
    });
}

/// An open outcome that ends, in whatever way, never takes back what was said, and under the rules
/// that do not ask for agreement never makes it smaller.
#[test]
fn one_more_end_withdraws_nothing() {
    each_group(&few_states(), 3, |facts| {
        facts.me.held = HELD;
        for rule in rules() {
            let Verdict::Synced { coverage, .. } = verdict(rule, facts) else {
                continue;
            };
            let is_open =
                |provider: &TestProvider| provider.connected && provider.outcome.is_open();
            let all = facts.providers.iter();
            let open: Vec<_> = all.filter(|(_, p)| is_open(p)).map(|(n, _)| *n).collect();
            for (node, end) in open
                .iter()
                .flat_map(|n| ends().into_iter().map(move |e| (n, e)))
            {
                let mut later = facts.clone();
                later.providers.get_mut(node).unwrap().outcome = end;
                let Verdict::Synced { coverage: then, .. } = verdict(rule, &later) else {
                    panic!("{rule} withdrew: {facts:#?} to {later:#?}");
                };
                assert!(rule.asks_for_agreement() || then.reaches(&coverage));
            }
        }
    });
}
