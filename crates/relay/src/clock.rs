//! The relay's clock: everything that decides is handed the time from here.

use std::time::{SystemTime, UNIX_EPOCH};

use osier::Instant;
use osier_nostr::{Now, Seconds};

/// Reads the wall clock, and a monotonic one since the relay's start.
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
        let ns = self.start.elapsed().as_nanos();
        Now {
            wall: wall(SystemTime::now()),
            instant: Instant::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)),
        }
    }

    /// Milliseconds since the relay's start.
    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A wall clock before 1970 is at 0: a wrong clock never is a panic.
fn wall(now: SystemTime) -> Seconds {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    Seconds::new(since.as_secs()).unwrap_or(Seconds::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_is_at_zero() {
        let early = UNIX_EPOCH - std::time::Duration::from_secs(1);
        assert_eq!(wall(early), Seconds::ZERO);
        let late = UNIX_EPOCH + std::time::Duration::from_millis(2_900);
        assert_eq!(wall(late).get(), 2);
    }
}
