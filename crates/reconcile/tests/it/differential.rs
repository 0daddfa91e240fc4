//! Our engine and the `negentropy` crate: one wire, one difference.
//!
//! Properties: (1) every pairing of the two engines finds exactly the plain set difference, each
//! id once; (2) all pairings say the same bytes; (3) equal sets end in one round; (4) no frame is
//! longer than its limit; (5) a window is reconciled as the set that it holds; (6) a larger first
//! split finds the same.

use osier_reconcile::{
    BUCKETS_MAX, Bound, FrameLimit, Initiator, Item, Opening, Responder, SubRange, VectorStorage,
};
use proptest::prelude::*;

use crate::support::{Engine, Sets, assert_difference, cases, limit, run, run_ours};

const PAIRINGS: [(Engine, Engine); 4] = [
    (Engine::Ours, Engine::Ours),
    (Engine::Ours, Engine::Crate),
    (Engine::Crate, Engine::Ours),
    (Engine::Crate, Engine::Crate),
];

fn limits() -> impl Strategy<Value = FrameLimit> {
    prop::sample::select(vec![0, 4096, 4767, 65_536]).prop_map(limit)
}

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..40, 0_u64..2_000]
}

/// From "all in one second" to "all apart", and up to the last time there is.
fn times() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![1, 3, 1_000, u64::MAX - 1])
}

prop_compose! {
    fn sets()(
        seed: u64,
        shared in counts(),
        left in counts(),
        right in counts(),
        times in times(),
    ) -> Sets {
        Sets::new(seed, shared, left, right, times)
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn every_pairing_says_the_same_and_finds_the_difference(
        sets in sets(),
        asking in limits(),
        answering in limits(),
    ) {
        let opening = Opening::new(asking);
        let outcomes = PAIRINGS.map(|(asker, answerer)| {
            run(&sets, (asker, &opening), (answerer, answering))
        });
        for outcome in &outcomes {
            assert_difference(&sets, outcome);
            prop_assert_eq!(&outcome.frames, &outcomes[3].frames);
        }
    }

    #[test]
    fn equal_sets_end_in_one_round(
        seed: u64,
        count in counts(),
        times in times(),
        limit in limits(),
    ) {
        let sets = Sets::new(seed, count, 0, 0, times);
        for (asker, answerer) in PAIRINGS {
            let outcome = run(&sets, (asker, &Opening::new(limit)), (answerer, limit));
            prop_assert_eq!(outcome.rounds, 1);
            assert_difference(&sets, &outcome);
        }
    }

    #[test]
    fn a_larger_first_split_finds_the_same(
        sets in sets(),
        limit in limits(),
        buckets in 0..=BUCKETS_MAX + 1,
    ) {
        let opening = Opening { buckets, ..Opening::new(limit) };
        for answerer in [Engine::Ours, Engine::Crate] {
            let outcome = run(&sets, (Engine::Ours, &opening), (answerer, limit));
            assert_difference(&sets, &outcome);
        }
    }

    #[test]
    fn a_window_is_reconciled_as_the_set_that_it_holds(
        sets in sets(),
        limit in limits(),
        from in 0_u64..1_000,
        until in 0_u64..1_000,
    ) {
        let (lower, upper) = (Bound::at_time(from), Bound::at_time(until));
        let inside = |item: &&Item| !item.is_below(&lower) && item.is_below(&upper);
        let part = |set: &VectorStorage| -> VectorStorage {
            set.as_slice().iter().filter(inside).copied().collect()
        };
        let parts = Sets { left: part(&sets.left), right: part(&sets.right) };
        let expected = run_ours(&parts, limit);

        let left = SubRange::new(&sets.left, &lower, &upper).unwrap();
        let right = SubRange::new(&sets.right, &lower, &upper).unwrap();
        let (mut initiator, mut frame) = Initiator::start(&left, limit).unwrap();
        let mut responder = Responder::new(limit);
        let mut frames = Vec::new();
        loop {
            let reply = responder.answer(&right, &frame).unwrap();
            let progress = initiator.reconcile(&left, &reply).unwrap();
            frames.extend([frame, reply]);
            match progress.next {
                Some(next) => frame = next,
                None => break,
            }
        }
        prop_assert_eq!(frames, expected.frames);
    }
}
