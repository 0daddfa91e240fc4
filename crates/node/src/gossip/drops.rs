//! Orders that gossip had no room for, told of now and then: in a burst there are thousands.

use std::time::{Duration, Instant};

/// Shortest time between two lines of the log.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// What has been dropped and not told of.
#[derive(Debug, Default)]
pub(super) struct Drops {
    untold: u64,
    told: Option<Instant>,
}

impl Drops {
    /// Counts one; how many there are to tell of, if it is time.
    pub(super) fn one(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        let soon = |told: Instant| now.saturating_duration_since(told) < TOLD_EVERY;
        if self.told.is_some_and(soon) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_the_others_together() {
        let mut drops = Drops::default();
        let start = Instant::now();
        assert_eq!(drops.one(start), Some(1));
        for _ in 0..500 {
            assert_eq!(drops.one(start + TOLD_EVERY / 2), None);
        }
        assert_eq!(drops.one(start + TOLD_EVERY), Some(501));
        assert_eq!(drops.one(start + TOLD_EVERY), None);
    }
}
