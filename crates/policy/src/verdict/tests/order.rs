//! The order in which facts arrive cannot matter (`POL-1`).

use osier_core::{Coverage, NodeId, Role};

use super::oracle::oracle;
use crate::{
    CutReason, Outcome, Phase, ProviderFacts, Rule, Standing,
    testing::{
        TestFacts, TestOutcome, TestProvider, drained, facts, from, node, provider, stranger,
    },
    verdict,
};

/// One thing that an engine learns.
#[derive(Debug, Clone)]
enum Fact {
    Trusted(NodeId, Option<Standing>),
    Connected(NodeId, bool),
    Ended(NodeId, TestOutcome),
}

impl Fact {
    /// The three facts that make a provider what it is.
    fn all_of(node: NodeId, provider: &TestProvider) -> [Self; 3] {
        [
            Self::Trusted(node, provider.trust),
            Self::Connected(node, provider.connected),
            Self::Ended(node, provider.outcome.clone()),
        ]
    }

    fn apply(&self, facts: &mut TestFacts) {
        let (Self::Trusted(node, _) | Self::Connected(node, _) | Self::Ended(node, _)) = self;
        let blank = ProviderFacts {
            connected: false,
            ..stranger(Outcome::Unasked)
        };
        let provider = facts.providers.entry(*node).or_insert(blank);
        match self {
            Self::Trusted(_, trust) => provider.trust = *trust,
            Self::Connected(_, connected) => provider.connected = *connected,
            Self::Ended(_, outcome) => provider.outcome = outcome.clone(),
        }
    }
}

/// Calls `check` with every order of `items` (Heap's algorithm).
fn each_order<T>(items: &mut [T], free: usize, check: &mut impl FnMut(&[T])) {
    if free <= 1 {
        return check(items);
    }
    for i in 0..free {
        each_order(items, free - 1, check);
        let other = if free.is_multiple_of(2) { i } else { 0 };
        items.swap(other, free - 1);
    }
}

fn states() -> Vec<TestProvider> {
    vec![
        stranger(drained(Coverage::Complete, 1)),
        provider(1, Role::Archive, drained(Coverage::Complete, 1)),
        provider(2, Role::Archive, drained(Coverage::Complete, 2)),
        provider(
            3,
            Role::Archive,
            Outcome::Silent {
                phase: Phase::Hello,
            },
        ),
        provider(2, Role::Replay, drained(from(50), 1)),
        provider(2, Role::Replay, Outcome::Cut(CutReason::Closed)),
        provider(1, Role::Archive, Outcome::Unasked),
    ]
}

const RULES: [Rule; 3] = [Rule::StorageFirst, Rule::FirstTrusted, Rule::StrictMajority];

/// Grant, link and outcome of two providers in all 720 orders: the verdict on the way is what the
/// facts on the way say, and the last one is the same.
#[test]
fn each_fact_of_two_providers_in_every_order() {
    for (first, second) in states()
        .iter()
        .flat_map(|a| states().into_iter().map(move |b| (a, b)))
    {
        let mut arriving: Vec<_> = Fact::all_of(node(1), first).to_vec();
        arriving.extend(Fact::all_of(node(2), &second));
        let expected = facts([(node(1), first.clone()), (node(2), second)]);
        each_order(&mut arriving, 6, &mut |order: &[Fact]| {
            let mut facts = facts([]);
            for fact in order {
                fact.apply(&mut facts);
                let _ = verdict(Rule::StorageFirst, &facts);
            }
            assert_eq!(facts, expected);
            for rule in RULES {
                assert_eq!(verdict(rule, &facts), oracle(rule, &expected));
            }
        });
    }
}

/// Five providers, whatever each has come to, in all 120 orders of arrival.
#[test]
fn five_providers_in_every_order() {
    let few = &states()[1..5];
    for case in 0..few.len().pow(5) {
        let state = |i: u32| few[case / few.len().pow(i) % few.len()].clone();
        let mut arriving: Vec<_> = (0..5).map(|i| (node(i.into()), state(i))).collect();
        let rule = RULES[case % RULES.len()];
        let expected = verdict(rule, &facts(arriving.iter().cloned()));
        each_order(&mut arriving, 5, &mut |order| {
            let mut facts = facts([]);
            for (node, provider) in order {
                facts.providers.insert(*node, provider.clone());
            }
            assert_eq!(verdict(rule, &facts), expected);
        });
    }
}
