//! When to try again after a failure.

use osier_core::{Duration, Instant};

use crate::limit;

/// How often one provider has failed in a row, and since when its link has been up (`POL-21`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backoff {
    failures: u32,
    up_since: Option<Instant>,
}

impl Backoff {
    /// Nothing has failed yet.
    pub const fn new() -> Self {
        Self {
            failures: 0,
            up_since: None,
        }
    }

    /// Failures since the last stable link.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The provider answered and its link is up. Said again while it is up, it changes nothing.
    pub fn up(&mut self, now: Instant) {
        self.up_since.get_or_insert(now);
    }

    /// The provider failed: refused, cut, silent or lost. Returns when to try again.
    ///
    /// The wait doubles with each failure, from 500 ms up to a minute, and lies between half of
    /// that and all of it by `random`, any number drawn afresh, so that those who failed together
    /// do not come back together. It is never shorter than `retry_after`, which the provider asked
    /// for and which is honoured up to ten minutes; the same jitter comes on top of it.
    #[must_use]
    pub fn failed(&mut self, now: Instant, retry_after: Option<Duration>, random: u64) -> Instant {
        let up_for = self.up_since.take().map(|since| now.since(since));
        if up_for.is_some_and(|span| span >= limit::BACKOFF_STABLE) {
            self.failures = 0;
        }
        let factor = 1_u64.checked_shl(self.failures).unwrap_or(u64::MAX);
        self.failures = self.failures.saturating_add(1);
        let whole = limit::BACKOFF_FIRST.times(factor).min(limit::BACKOFF_MAX);
        let half = Duration::from_nanos(whole.as_nanos() / 2);
        let own = now.after(half).after(up_to(half, random));
        let asked = retry_after.map_or(now, |span| {
            let span = span.min(limit::RETRY_AFTER_MAX);
            now.after(span).after(up_to(half, random))
        });
        own.max(asked)
    }
}

/// How long after a start to wait before the first session, by `random`: at most 250 ms.
pub fn start_jitter(random: u64) -> Duration {
    up_to(limit::START_JITTER_MAX, random)
}

/// A span from nothing to `most`, by `random`.
fn up_to(most: Duration, random: u64) -> Duration {
    Duration::from_nanos(random % most.as_nanos().saturating_add(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at_ms;

    const SHORTEST: u64 = 0;

    fn wait_ms(backoff: &mut Backoff, retry_after_ms: Option<u64>, random: u64) -> u64 {
        let now = at_ms(1_000_000);
        let retry_after = retry_after_ms.map(Duration::from_millis);
        let at = backoff.failed(now, retry_after, random);
        at.since(now).as_millis()
    }

    /// `POL-21`: doubles, and is capped.
    #[test]
    fn wait_doubles_up_to_a_minute() {
        let mut backoff = Backoff::new();
        let waits: Vec<_> = (0..9)
            .map(|_| wait_ms(&mut backoff, None, SHORTEST))
            .collect();
        let half = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
        assert_eq!(waits, half);
        for _ in 0..200 {
            assert_eq!(wait_ms(&mut backoff, None, SHORTEST), 30_000);
        }
    }

    /// `POL-21`: between half of the wait and all of it, and both ends are met.
    #[test]
    fn jitter_spreads_over_the_upper_half() {
        let whole_ns = limit::BACKOFF_FIRST.as_nanos();
        for random in [0, 1, 77, whole_ns / 2, whole_ns, u64::MAX] {
            let wait = wait_ms(&mut Backoff::new(), None, random);
            assert!((250..=500).contains(&wait));
        }
        assert_eq!(wait_ms(&mut Backoff::new(), None, whole_ns / 2), 500);
        assert!(start_jitter(u64::MAX) <= limit::START_JITTER_MAX);
        let most = limit::START_JITTER_MAX.as_nanos();
        assert_eq!(start_jitter(most), limit::START_JITTER_MAX);
    }

    /// `POL-21`: the provider's own pacing is a floor, with jitter on top, and is itself capped.
    #[test]
    fn retry_after_is_honoured() {
        let whole_ns = limit::BACKOFF_FIRST.as_nanos();
        assert_eq!(wait_ms(&mut Backoff::new(), Some(9_000), SHORTEST), 9_000);
        assert_eq!(
            wait_ms(&mut Backoff::new(), Some(9_000), whole_ns / 2),
            9_250
        );
        assert_eq!(wait_ms(&mut Backoff::new(), Some(1), SHORTEST), 250);
        assert_eq!(
            wait_ms(&mut Backoff::new(), Some(u64::MAX), SHORTEST),
            600_000
        );
    }

    /// `POL-21`: only a stable minute starts it afresh, however often the link was up before.
    #[test]
    fn only_a_stable_minute_resets() {
        let mut backoff = Backoff::new();
        let mut now = at_ms(0);
        for _ in 0..4 {
            backoff.up(now);
            now = now.after(Duration::from_millis(59_999));
            now = backoff.failed(now, None, SHORTEST);
        }
        assert_eq!(backoff.failures(), 4);
        backoff.up(now);
        backoff.up(now.after(Duration::from_secs(30)));
        now = now.after(Duration::from_secs(60));
        let next = backoff.failed(now, None, SHORTEST);
        assert_eq!(backoff.failures(), 1);
        assert_eq!(next.since(now).as_millis(), 250);
    }
}
