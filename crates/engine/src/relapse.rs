//! A topic that falls behind again and again: it catches up less often, not less surely (`CMP-40`).

use osier_core::{Duration, Instant};

use crate::limit;

/// How often a topic has fallen behind soon after it had caught up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Relapses {
    count: u32,
    caught_up: Option<Instant>,
}

impl Relapses {
    /// What was synced is in doubt.
    pub(crate) fn fell_behind(&mut self, now: Instant) {
        let soon = Duration::from_millis(limit::RELAPSE_WITHIN_MS);
        let again = self.caught_up.is_some_and(|at| now.since(at) < soon);
        self.count = if again { self.count + 1 } else { 0 };
        self.count = self.count.min(limit::RELAPSES_COUNTED_MAX);
    }

    /// It is synced again.
    pub(crate) fn caught_up(&mut self, now: Instant) {
        self.caught_up = Some(now);
    }

    /// Time between a reason to be behind and the session that catches up, before jitter.
    pub(crate) fn settle(self) -> Duration {
        Duration::from_millis(limit::BEHIND_SETTLE_MS << self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(0).after(Duration::from_millis(ms))
    }

    #[test]
    fn each_relapse_doubles_the_wait_up_to_a_bound_and_quiet_ends_it() {
        let mut relapses = Relapses::default();
        let mut waits = Vec::new();
        for round in 0..6 {
            relapses.fell_behind(at(1_000 * round));
            waits.push(relapses.settle().as_millis());
            relapses.caught_up(at(1_000 * round + 500));
        }
        assert_eq!(waits, [200, 400, 800, 1_600, 1_600, 1_600]);
        relapses.fell_behind(at(5_500 + limit::RELAPSE_WITHIN_MS));
        assert_eq!(relapses.settle().as_millis(), limit::BEHIND_SETTLE_MS);
    }
}
