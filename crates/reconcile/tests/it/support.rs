//! Sets by seed, and the two ends of an exchange in one process.

use std::{collections::BTreeSet, convert::Infallible, error::Error};

use osier_reconcile::{
    FrameLimit, Id, Initiator, Item, MemoryInitiator, MemoryResponder, Opening, Progress,
    ReconcileError, Responder, Storage, VectorStorage, rounds_enough,
};
use proptest::test_runner::Config as ProptestConfig;

/// The number sequence of Steele, Lea and Flood (splitmix64): enough to spread ids.
pub(crate) struct Sequence(pub(crate) u64);

impl Sequence {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An id; one in four shares a long prefix with others.
    pub(crate) fn id(&mut self) -> Id {
        let mut id = [0; 32];
        for word in id.as_chunks_mut::<8>().0 {
            *word = self.next().to_be_bytes();
        }
        if self.below(4) == 0 {
            id[..28].fill(0x80);
        }
        id
    }

    pub(crate) fn item(&mut self, times: u64) -> Item {
        Item::new(self.below(times), self.id())
    }
}

/// Two sets: `shared` items in both, and some in one only.
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    pub(crate) left: VectorStorage,
    pub(crate) right: VectorStorage,
}

impl Sets {
    pub(crate) fn new(seed: u64, shared: u64, left: u64, right: u64, times: u64) -> Self {
        let mut sequence = Sequence(seed);
        let mut some = |count| -> Vec<Item> { (0..count).map(|_| sequence.item(times)).collect() };
        let (shared, left, right) = (some(shared), some(left), some(right));
        Self {
            left: shared.iter().copied().chain(left).collect(),
            right: shared.into_iter().chain(right).collect(),
        }
    }

    pub(crate) fn swapped(self) -> Self {
        Self {
            left: self.right,
            right: self.left,
        }
    }
}

/// How often a property is tried: `usual`, or as often as `PROPTEST_CASES` asks for.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        ProptestConfig::default()
    } else {
        ProptestConfig::with_cases(usual)
    }
}

/// Whose code runs an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Ours,
    Crate,
}

pub(crate) enum Asker<'s> {
    Ours(Initiator, &'s VectorStorage),
    Crate(MemoryInitiator),
}

impl<'s> Asker<'s> {
    pub(crate) fn start(
        engine: Engine,
        set: &'s VectorStorage,
        opening: &Opening,
    ) -> (Self, Vec<u8>) {
        match engine {
            Engine::Ours => {
                let (ours, frame) = Initiator::start_with(set, opening).expect("a vector is read");
                (Self::Ours(ours, set), frame)
            }
            Engine::Crate => {
                let (theirs, frame) = MemoryInitiator::start(set.as_slice(), opening.limit)
                    .expect("the crate starts");
                (Self::Crate(theirs), frame)
            }
        }
    }

    pub(crate) fn reconcile(&mut self, reply: &[u8]) -> Result<Progress, Box<dyn Error>> {
        Ok(match self {
            Self::Ours(ours, set) => ours.reconcile(*set, reply)?,
            Self::Crate(theirs) => theirs.reconcile(reply)?,
        })
    }
}

pub(crate) enum Answerer<'s> {
    Ours(Responder, &'s VectorStorage),
    Crate(MemoryResponder),
}

impl<'s> Answerer<'s> {
    pub(crate) fn new(engine: Engine, set: &'s VectorStorage, limit: FrameLimit) -> Self {
        match engine {
            Engine::Ours => Self::Ours(Responder::new(limit), set),
            Engine::Crate => {
                let theirs = MemoryResponder::new(set.as_slice(), limit);
                Self::Crate(theirs.expect("the crate starts"))
            }
        }
    }

    pub(crate) fn answer(&mut self, frame: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        Ok(match self {
            Self::Ours(ours, set) => ours.answer(*set, frame)?,
            Self::Crate(theirs) => theirs.answer(frame)?,
        })
    }
}

/// What an exchange said, and what it found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Frames of both ends in turn, the initiator's first.
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) rounds: u32,
    pub(crate) have: Vec<Id>,
    pub(crate) need: Vec<Id>,
}

/// Runs an exchange to its end, each end with its own engine and frame limit.
pub(crate) fn run(
    sets: &Sets,
    (asking, opening): (Engine, &Opening),
    (answering, limit): (Engine, FrameLimit),
) -> Outcome {
    let (mut asker, first) = Asker::start(asking, &sets.left, opening);
    let mut answerer = Answerer::new(answering, &sets.right, limit);
    let mut outcome = Outcome::default();
    let mut next = Some(first);
    let enough = rounds_enough(
        length(&sets.left),
        length(&sets.right),
        smaller(opening.limit, limit),
    );
    while let Some(frame) = next {
        assert!(outcome.rounds < enough, "no end after {enough} rounds");
        assert_within(&frame, opening.limit);
        let reply = answerer
            .answer(&frame)
            .expect("an honest frame is answered");
        assert_within(&reply, limit);
        let progress = asker.reconcile(&reply).expect("an honest reply is read");
        outcome.frames.extend([frame, reply]);
        outcome.rounds += 1;
        outcome.have.extend(progress.have);
        outcome.need.extend(progress.need);
        next = progress.next;
    }
    outcome
}

/// Both ends ours, with the same limit.
pub(crate) fn run_ours(sets: &Sets, limit: FrameLimit) -> Outcome {
    run(
        sets,
        (Engine::Ours, &Opening::new(limit)),
        (Engine::Ours, limit),
    )
}

/// The outcome names exactly the plain set difference, each id once.
pub(crate) fn assert_difference(sets: &Sets, outcome: &Outcome) {
    assert_eq!(
        once(&outcome.have),
        ids(&sets.left)
            .difference(&ids(&sets.right))
            .copied()
            .collect(),
        "have"
    );
    assert_eq!(
        once(&outcome.need),
        ids(&sets.right)
            .difference(&ids(&sets.left))
            .copied()
            .collect(),
        "need"
    );
}

pub(crate) fn limit(bytes: usize) -> FrameLimit {
    FrameLimit::new(bytes).expect("a legal limit")
}

pub(crate) fn length(set: &VectorStorage) -> u64 {
    Storage::len(set).expect("a vector is read")
}

/// The reason that a result was malformed, if it was.
pub(crate) fn reason<T>(result: &Result<T, ReconcileError<Infallible>>) -> Option<&'static str> {
    match result {
        Err(ReconcileError::Malformed(fault)) => Some(fault.reason()),
        _ => None,
    }
}

fn ids(set: &VectorStorage) -> BTreeSet<Id> {
    set.as_slice().iter().map(|item| item.id).collect()
}

fn once(reported: &[Id]) -> BTreeSet<Id> {
    let set: BTreeSet<Id> = reported.iter().copied().collect();
    assert_eq!(set.len(), reported.len(), "an id was reported twice");
    set
}

fn assert_within(frame: &[u8], limit: FrameLimit) {
    let most = limit.bytes().unwrap_or(usize::MAX);
    assert!(frame.len() <= most, "{} bytes, limit {most}", frame.len());
}

fn smaller(one: FrameLimit, other: FrameLimit) -> FrameLimit {
    match (one.bytes(), other.bytes()) {
        (Some(left), Some(right)) => limit(left.min(right)),
        (Some(_), None) => one,
        (None, _) => other,
    }
}
