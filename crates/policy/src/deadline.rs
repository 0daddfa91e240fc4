//! When a provider counts as silent or slow, and when a search has failed.
//!
//! Every function is pure: the caller hands in what happened and compares with its own clock.

use osier_core::{Duration, Instant, NodeId};

use crate::{facts::Facts, outcome::Outcome};

/// How long a provider may take to its first progress (`POL-17`). A dial through a relay, a
/// handshake and a snapshot on a busy disk fit; a user still waits for it.
pub const SILENT_AFTER_START: Duration = Duration::from_secs(5);

/// How long a provider may pause between two steps of progress once its first
/// [`SILENT_AFTER_START`] is over (`POL-17`). Longer than a lost packet takes to be sent again at
/// 150 ms round trip; a provider that writes an entry each 400 ms stays within it.
pub const SILENT_AFTER_PROGRESS: Duration = Duration::from_millis(500);

/// How long a provider may take to its first progress before another is asked as well (`POL-19`).
/// A provider that works says so after a second at the latest.
pub const HEDGE_AFTER_START: Duration = Duration::from_secs(1);

/// How long a topic looks for a trusted provider before it says that there is none (`POL-15`). As
/// long as the wait for one that is there, so that "nobody" is not said sooner than "silent".
pub const NO_PROVIDER_AFTER: Duration = Duration::from_secs(5);

/// How long a marker is kept whose signer is not trusted yet (`POL-22`): a grant that is on its
/// way arrives within it. Then it is dropped.
pub const UNTRUSTED_MARKER_KEPT: Duration = Duration::from_secs(60);

const _: () = assert!(SILENT_AFTER_PROGRESS.as_nanos() < SILENT_AFTER_START.as_nanos());
const _: () = assert!(HEDGE_AFTER_START.as_nanos() < SILENT_AFTER_START.as_nanos());
const _: () = assert!(NO_PROVIDER_AFTER.as_nanos() >= SILENT_AFTER_START.as_nanos());

/// From this instant on a provider is silent: `start + 5 s` or `last progress + 500 ms`, whichever
/// is later (`POL-17`). Only progress of the same session moves it.
pub fn silent_at(since: Instant, last_progress: Instant) -> Instant {
    since
        .after(SILENT_AFTER_START)
        .max(last_progress.after(SILENT_AFTER_PROGRESS))
}

/// From this instant on a provider is slow, and another is asked as well (`POL-19`).
pub fn hedge_at(since: Instant, last_progress: Instant) -> Instant {
    since
        .after(HEDGE_AFTER_START)
        .max(last_progress.after(SILENT_AFTER_PROGRESS))
}

/// From this instant on a search without any trusted provider is over (`POL-15`). It starts with
/// the topic, and afresh when the last trusted provider leaves.
pub const fn no_provider_at(search_start: Instant) -> Instant {
    search_start.after(NO_PROVIDER_AFTER)
}

/// The providers, trusted or not, whose session is past its deadline (`POL-17`), by node id.
pub fn expired<P>(facts: &Facts<P>, now: Instant) -> Vec<NodeId> {
    let is_expired = |outcome: &Outcome<P>| match outcome {
        Outcome::Streaming {
            since,
            last_progress,
            ..
        } => now >= silent_at(*since, *last_progress),
        _ => false,
    };
    let providers = facts.providers.iter();
    let expired = providers.filter(|(_, provider)| is_expired(&provider.outcome));
    expired.map(|(node, _)| *node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_ms, facts, node, streaming_since, trusted};

    /// `POL-17`: whichever is later.
    #[test]
    fn silent_is_the_later_of_both() {
        let table = [(0, 0, 5_000), (0, 4_400, 5_000), (0, 4_500, 5_000)];
        let later = [(0, 4_501, 5_001), (0, 60_000, 60_500), (700, 700, 5_700)];
        for (since, progress, silent) in table.into_iter().chain(later) {
            assert_eq!(silent_at(at_ms(since), at_ms(progress)), at_ms(silent));
        }
    }

    /// `POL-17`: a provider that streams steadily is never cut off.
    #[test]
    fn steady_stream_is_never_silent() {
        let since = at_ms(3);
        for entry in 0..10_000 {
            let progress = at_ms(3 + entry * 400);
            let next = at_ms(3 + (entry + 1) * 400);
            assert!(next < silent_at(since, progress));
        }
    }

    /// `POL-17`: answers, then stalls.
    #[test]
    fn stalled_stream_is_silent_half_a_second_later() {
        let mut facts = facts([(node(1), trusted(streaming_since(0, 9_000)))]);
        facts.providers.insert(node(2), trusted(Outcome::Unasked));
        assert_eq!(expired(&facts, at_ms(9_499)), []);
        assert_eq!(expired(&facts, at_ms(9_500)), [node(1)]);
    }

    #[test]
    fn deadlines_at_the_end_of_time_saturate() {
        let last = Instant::from_nanos(u64::MAX);
        assert_eq!(silent_at(last, last), last);
        assert_eq!(no_provider_at(last), last);
        assert_eq!(no_provider_at(Instant::START), at_ms(5_000));
    }
}
