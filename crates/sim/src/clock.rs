//! Clocks: the world's virtual time, and what each node takes for the time.

use osier_core::{Instant, Timestamp};
use osier_engine::Now;

/// Nanoseconds of virtual time since the world began.
pub type Time = u64;

/// A millisecond of virtual time.
pub const MS: Time = 1_000_000;

/// A second of virtual time.
pub const SEC: Time = 1_000 * MS;

/// The wall clock at the world's beginning, in milliseconds of the Unix epoch.
const WALL_START_MS: i64 = 1_700_000_000_000;

/// One node's clocks. The monotonic one starts with the process and runs a little fast or slow;
/// the wall clock is off by seconds or hours and may jump either way.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    booted: Time,
    /// Parts per million that the monotonic clock runs fast.
    drift_ppm: i64,
    wall_off_ms: i64,
}

impl Clock {
    /// The clocks of a process that starts now.
    pub fn new(booted: Time, drift_ppm: i64, wall_off_ms: i64) -> Self {
        assert!(drift_ppm.abs() < 100_000, "a clock is at most a tenth off");
        Self {
            booted,
            drift_ppm,
            wall_off_ms,
        }
    }

    /// What the node reads now.
    pub fn read(&self, now: Time) -> Now {
        let run = i128::from(now - self.booted);
        let at = run + run * i128::from(self.drift_ppm) / 1_000_000;
        let world_ms = i64::try_from(now / MS).expect("short runs");
        let wall = (WALL_START_MS + world_ms).saturating_add(self.wall_off_ms);
        Now {
            at: Instant::from_nanos(u64::try_from(at).expect("drift is small")),
            wall: Timestamp::from_millis(u64::try_from(wall).unwrap_or(0)),
        }
    }

    /// When the node's monotonic clock reads `at`, or a moment after.
    pub fn when(&self, at: Instant) -> Time {
        let local = i128::from(at.as_nanos());
        let run = local * 1_000_000 / i128::from(1_000_000 + self.drift_ppm) + 1;
        self.booted
            .saturating_add(u64::try_from(run).unwrap_or(u64::MAX))
    }

    /// Moves the wall clock.
    pub fn jump_wall(&mut self, by_ms: i64) {
        self.wall_off_ms = self.wall_off_ms.saturating_add(by_ms);
    }

    /// The same machine after a restart: the monotonic clock starts afresh.
    #[must_use]
    pub fn rebooted(&self, now: Time) -> Self {
        Self {
            booted: now,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_when_the_world_wakes_the_node() {
        for drift in [-400, 0, 350] {
            let clock = Clock::new(7 * SEC, drift, -5);
            for at in [0, 1, 999, 5 * SEC, 86_400 * SEC] {
                let at = Instant::from_nanos(at);
                assert!(clock.read(clock.when(at)).at >= at);
            }
        }
    }
}
