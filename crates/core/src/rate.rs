//! How often something may happen: a bucket of tokens that fills with time. Pure: time comes in.

use crate::time::{Duration, Instant};

/// So much in a span of time, and so much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How often within [`Rate::per`]; 0 is never.
    pub count: u32,
    /// The span of time.
    pub per: Duration,
    /// How often at once, after a pause. At least 1 where `count` is.
    pub burst: u32,
}

impl Rate {
    /// So often a second.
    pub const fn per_second(count: u32, burst: u32) -> Self {
        Self {
            count,
            per: Duration::from_secs(1),
            burst,
        }
    }

    /// So often a minute.
    pub const fn per_minute(count: u32, burst: u32) -> Self {
        Self {
            count,
            per: Duration::from_secs(60),
            burst,
        }
    }

    /// Time until one more may happen, at full use.
    fn interval(self) -> u64 {
        match u64::from(self.count) {
            0 => u64::MAX,
            count => self.per.as_nanos() / count,
        }
    }
}

/// How much of a [`Rate`] is used. One instant: the moment at which the bucket is full again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Takes a token; false when there is none, and then nothing has changed.
    pub fn take(&mut self, rate: Rate, now: Instant) -> bool {
        if rate.count == 0 {
            return false;
        }
        let interval = rate.interval();
        let full_at = self.full_at.max(now).after(Duration::from_nanos(interval));
        let room = Duration::from_nanos(interval).times(u64::from(rate.burst.max(1)));
        let fits = full_at.since(now) <= room;
        if fits {
            self.full_at = full_at;
        }
        fits
    }

    /// Whether all its tokens are there: it can be forgotten.
    pub fn is_full(self, now: Instant) -> bool {
        self.full_at <= now
    }

    /// When all its tokens are there again.
    pub fn full_at(self) -> Instant {
        self.full_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START.after(Duration::from_millis(ms))
    }

    #[test]
    fn a_burst_goes_through_and_then_the_rate() {
        let rate = Rate::per_second(10, 5);
        let mut bucket = Bucket::default();
        let taken = (0..20).filter(|_| bucket.take(rate, at(1_000))).count();
        assert_eq!(taken, 5);
        assert!(!bucket.take(rate, at(1_099)), "a tenth of a second each");
        assert!(bucket.take(rate, at(1_100)));
        assert!(!bucket.take(rate, at(1_100)));
        assert!(!bucket.is_full(at(1_599)) && bucket.is_full(at(1_600)));
        let taken = (0..20).filter(|_| bucket.take(rate, at(9_000))).count();
        assert_eq!(taken, 5, "a pause gives no more than a burst");
    }

    #[test]
    fn over_time_no_more_than_the_rate_goes_through() {
        let rate = Rate::per_minute(60, 1);
        let mut bucket = Bucket::default();
        let taken = (0..60_000).filter(|ms| bucket.take(rate, at(*ms))).count();
        assert_eq!(taken, 60);
        assert!(!Bucket::default().take(Rate::per_second(0, 9), at(0)));
    }
}
