//! A bug put in on purpose must be found: it shows that the checkers look.

use osier_sim::{Knobs, TraceMode, run_knobs};

/// Seeds within which it must be found.
const SEEDS: u64 = 400;

/// Sessions are told that entries are on disk before they are: they judge and vouch for what a
/// crash can still take away. Found means that the same seed without the bug has no violation.
#[test]
fn acknowledging_before_durable_is_found() {
    std::panic::set_hook(Box::new(|_| {}));
    let fails = |seed, canary| {
        let mut knobs = Knobs::draw(seed);
        knobs.canary = canary;
        run_knobs(seed, &knobs, TraceMode::Off).violation.is_some()
    };
    let found = (1..=SEEDS).find(|seed| fails(*seed, 1) && !fails(*seed, 0));
    assert!(found.is_some(), "not found in {SEEDS} seeds");
}
