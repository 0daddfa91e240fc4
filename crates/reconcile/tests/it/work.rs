//! How much of the set an exchange reads, and how many rounds it takes.

use std::{cell::Cell, convert::Infallible, ops::Range};

use osier_reconcile::{
    BUCKETS, Bound, FrameLimit, FrameWriter, Initiator, Item, Opening, Responder, Split, Storage,
    Summary, VectorStorage,
};

use crate::support::{Engine, Sets, assert_difference, limit, run};

/// Counts what is asked of a vector. Summaries count as one however long the range is: an index
/// has them at hand.
struct Counted<'s> {
    inner: &'s VectorStorage,
    walked: Cell<u64>,
    summaries: Cell<u64>,
}

impl<'s> Counted<'s> {
    fn new(inner: &'s VectorStorage) -> Self {
        let (walked, summaries) = (Cell::new(0), Cell::new(0));
        Self {
            inner,
            walked,
            summaries,
        }
    }
}

impl Storage for Counted<'_> {
    type Error = Infallible;

    fn len(&self) -> Result<u64, Infallible> {
        Storage::len(self.inner)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, Infallible> {
        self.summaries.set(self.summaries.get() + 1);
        self.inner.summary(ranks)
    }

    fn at(&self, rank: u64) -> Result<Item, Infallible> {
        self.walked.set(self.walked.get() + 1);
        self.inner.at(rank)
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), Infallible> {
        self.walked.set(self.walked.get() + ranks.end - ranks.start);
        self.inner.items(ranks, each)
    }

    fn rank(&self, bound: &Bound) -> Result<u64, Infallible> {
        self.inner.rank(bound)
    }
}

#[test]
fn a_responder_walks_only_what_it_sends() {
    let set = Sets::new(1, 50_000, 0, 0, 1 << 30).left;
    let counted = Counted::new(&set);
    let mut writer = FrameWriter::new();
    writer.ids(&Bound::INFINITY, &[]);
    let frame = writer.finish();

    let mut responder = Responder::new(limit(4096));
    responder.answer(&counted, &frame).unwrap();
    assert!(
        counted.walked.get() <= 4096 / 32,
        "{}",
        counted.walked.get()
    );
    assert_eq!(counted.summaries.get(), 1, "the rest, and nothing else");
}

#[test]
fn agreeing_costs_sixteen_summaries_and_no_walk() {
    let set = Sets::new(1, 50_000, 0, 0, 1 << 30).left;
    let (mut initiator, frame) = Initiator::start(&set, FrameLimit::NONE).unwrap();
    let counted = Counted::new(&set);
    let storage: &dyn Storage<Error = Infallible> = &counted;
    let reply = Responder::new(FrameLimit::NONE)
        .answer(storage, &frame)
        .unwrap();
    assert_eq!(counted.walked.get(), 0);
    assert_eq!(counted.summaries.get(), u64::from(BUCKETS));
    assert_eq!(initiator.reconcile(&set, &reply).unwrap().next, None);
}

#[test]
fn a_larger_first_split_saves_a_round() {
    let sets = Sets::new(5, 200_000, 5, 5, 1 << 40);
    let answering = (Engine::Ours, FrameLimit::NONE);
    let usual = run(&sets, (Engine::Ours, &Opening::default()), answering);
    let wide = Opening {
        buckets: 256,
        ..Opening::default()
    };
    let wide = run(&sets, (Engine::Ours, &wide), answering);
    assert_difference(&sets, &usual);
    assert_difference(&sets, &wide);
    assert_eq!((usual.rounds, wide.rounds), (3, 2));
}

/// Ten items missing on each side, at two sizes: what a session's ranges cost (`SES-8`). A million
/// items take about a second to make and sort.
#[test]
fn twenty_places_that_differ_cost_under_twenty_kilobytes() {
    for (count, rounds_max) in [(100_000, 2), (1_000_000, 3)] {
        let sets = Sets::new(7, count, 10, 10, 1 << 40);
        let opening = Opening {
            buckets: 144,
            split: Split::FRUGAL_INITIATOR,
            ..Opening::default()
        };
        let (mut initiator, mut frame) = Initiator::start_with(&sets.left, &opening).unwrap();
        let mut responder = Responder::new(FrameLimit::NONE).with_split(Split::FRUGAL_RESPONDER);
        let (mut bytes, mut have, mut need) = (0, Vec::new(), Vec::new());
        loop {
            let reply = responder.answer(&sets.right, &frame).unwrap();
            bytes += frame.len() + reply.len();
            let progress = initiator.reconcile(&sets.left, &reply).unwrap();
            have.extend(progress.have);
            need.extend(progress.need);
            match progress.next {
                Some(next) => frame = next,
                None => break,
            }
        }
        assert_eq!((have.len(), need.len()), (10, 10));
        assert!(bytes <= 18_500, "{bytes} bytes at {count}");
        assert!(
            initiator.rounds() <= rounds_max,
            "{} rounds",
            initiator.rounds()
        );
    }
}
