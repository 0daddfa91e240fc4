//! Randomness: every draw of a run comes from one seed, in separate streams, so that a change of
//! one parameter leaves the draws for all else as they were.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// What a stream of draws is for. Each has its own stream of the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Parameters.
    Swarm = 1,
    /// Engines' seeds and store ids.
    Node = 2,
    /// Delays and losses.
    Network = 3,
    /// When which fault happens.
    Fault = 4,
    /// Who writes what and when.
    Workload = 5,
    /// What liars do.
    Liar = 6,
    /// Disk delays and failures.
    Disk = 7,
    /// What users of relays publish.
    Events = 8,
    /// What owners of granted topics say.
    Granting = 9,
}

/// A stream of draws.
#[derive(Debug, Clone)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The draws of a seed for one purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(purpose as u64);
        Self(rng)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number under `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.bits() % end }
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "a range has its ends in order");
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        assert!(!of.is_empty(), "one of none");
        let at = usize::try_from(self.below(of.len() as u64)).expect("under a length");
        &of[at]
    }

    /// An index under a length.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("under a length")
    }

    /// Random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}
