//! For tests, here and in other crates (feature `testing`): a store in memory, and a pair of
//! sessions driven against each other.

mod memory;
mod pair;

pub use memory::{MemorySource, MemoryView};
pub use pair::{Direction, Pair, PairConfig, Transit};
