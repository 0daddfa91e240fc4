//! The only clock: everything that decides is handed the time from here.

use std::time::{SystemTime, UNIX_EPOCH};

use osier_core::{Instant, Timestamp};
use osier_engine::Now;

/// Reads the monotonic clock since the node's start, and the wall clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock whose instants count from this call.
    pub(crate) fn start() -> Self {
        Self {
            start: std::time::Instant::now(),
        }
    }

    /// Both readings.
    pub(crate) fn now(&self) -> Now {
        Now {
            at: self.at(),
            wall: wall(SystemTime::now()),
        }
    }

    /// Time since the node's start; stands still at the end of 64-bit nanoseconds, 584 years on.
    pub(crate) fn at(&self) -> Instant {
        let ns = self.start.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// When to wake so that [`Clock::at`] has reached `at`. One without end is a year away.
    pub(crate) fn wake_at(&self, at: Instant) -> tokio::time::Instant {
        const YEAR: std::time::Duration = std::time::Duration::from_hours(365 * 24);
        let offset = std::time::Duration::from_nanos(at.as_nanos());
        let latest = self.start.elapsed() + YEAR;
        tokio::time::Instant::from_std(self.start + offset.min(latest))
    }
}

/// A wall clock before 1970 is stamped 0: a wrong clock is a wrong hint, never a panic.
fn wall(now: SystemTime) -> Timestamp {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_is_stamped_zero() {
        let early = UNIX_EPOCH - std::time::Duration::from_secs(1);
        assert_eq!(wall(early), Timestamp::from_millis(0));
        let late = UNIX_EPOCH + std::time::Duration::from_secs(2);
        assert_eq!(wall(late), Timestamp::from_millis(2000));
    }

    #[test]
    fn an_endless_deadline_is_a_wake_far_away() {
        let clock = Clock::start();
        let wake = clock.wake_at(Instant::from_nanos(u64::MAX));
        assert!(wake > tokio::time::Instant::now() + std::time::Duration::from_hours(1));
    }
}
