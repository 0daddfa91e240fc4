//! A bug put in on purpose must be found: it shows that the checkers look.

use osier_sim::{Knobs, TraceMode, run_knobs};

/// Seeds within which it must be found.
const SEEDS: u64 = 400;

/// Sessions are told that entries are on disk before they are, so they vouch for what a crash can
/// still take away.
#[test]
fn acknowledging_before_durable_is_found() {
    std::panic::set_hook(Box::new(|_| {}));
    let found = (1..=SEEDS).find(|seed| {
        let mut knobs = Knobs::draw(*seed);
        knobs.canary = 1;
        let outcome = run_knobs(*seed, &knobs, TraceMode::Off);
        outcome
            .violation
            .is_some_and(|violation| violation.what.contains("is not held"))
    });
    assert!(found.is_some(), "not found in {SEEDS} seeds");
}
