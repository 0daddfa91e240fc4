//! Replay: a seed run twice gives the same trace, byte for byte.

use crate::{
    run::{Outcome, run_knobs},
    swarm::Knobs,
    trace::TraceMode,
};

/// Runs twice and compares the traces. The outcome of the first run, with a violation if the two
/// differ.
pub fn run_twice(seed: u64, knobs: &Knobs) -> Outcome {
    let mut first = run_knobs(seed, knobs, TraceMode::Hash);
    let second = run_knobs(seed, knobs, TraceMode::Hash);
    if first.digest != second.digest {
        first.violation = Some(crate::check::Violation {
            at: 0,
            what: format!(
                "two runs of one seed differ: {} lines and {} lines",
                first.digest.0, second.digest.0
            ),
        });
    }
    first
}
