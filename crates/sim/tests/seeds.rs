//! Seeds that have found a fault, each with what it was. They are clean now and stay so; when the
//! draws of a seed change, another one must be looked for with the fault put back.
//!
//! Takes a second or two.

use osier_sim::{TraceMode, run_seed};

fn clean(seeds: &[u64]) {
    for seed in seeds {
        let violation = run_seed(*seed, TraceMode::Off).violation;
        assert_eq!(
            violation.map(|it| it.what),
            None,
            "replay: cargo xtask sim --seeds 1 --from {seed}"
        );
    }
}

/// `POL-26`: a provider that was being dialed when another brought history was never asked again.
#[test]
fn who_waited_for_the_one_that_brings_history_is_dialed_again() {
    clean(&[440]);
}

/// `CMP-33`: a parked marker counted although a reason to be behind had come after it.
#[test]
fn no_parked_marker_counts_over_a_doubt() {
    clean(&[88, 355, 560, 1014]);
}

/// `STO-13`: a ring acknowledged an own entry that its store had refused as too old.
#[test]
fn only_what_is_stored_is_acknowledged() {
    clean(&[7857]);
}

/// `ENT-10`: an entry was judged without its voucher, which a revocation had taken out in the
/// middle of the session, and an honest peer was blamed.
#[test]
fn what_was_compared_with_vouches() {
    clean(&[5107, 8056, 10493, 11134]);
}

/// `POL-27`: a dispute was not looked into again when either side had moved.
#[test]
fn disputes_are_looked_into_again() {
    clean(&[14953, 18143, 18717]);
}

/// A stranger that was lost and came back was not asked when it came to count.
#[test]
fn strangers_that_come_to_count_are_asked() {
    clean(&[5738]);
}

/// `SES-9`: a ring that had missed a word of the owner and had the next one never got it.
#[test]
fn missed_words_of_the_owner_come() {
    clean(&[7257]);
}

/// `STO-12`: a ring passed over a tip of an author who forked by the same batch.
#[test]
fn tips_of_a_fork_are_kept() {
    clean(&[17311]);
}

/// A node that lost its disk forks its own chain; where a ring cannot tell, that is no disagreement
/// of others. And what is told of an author who was revoked and granted again is told anew.
#[test]
fn excuses_are_narrow() {
    clean(&[6266, 11352, 15648, 19242, 19542]);
}

/// `GOS-8`: over a slow link every session of a ring was overtaken by a watermark of what that very
/// session brought, or of what another provider had been drained in.
#[test]
fn watermarks_of_what_is_brought_are_no_doubt() {
    clean(&[16402]);
}
