//! When to send a watermark: the Trickle algorithm (RFC 6206). Often after a change, rarely while
//! all agree, not at all when neighbours have already said the same (`GOS-6`).

use osier_core::{Duration, Instant};

/// Shortest interval: a change is told within a second.
const INTERVAL_MIN: Duration = Duration::from_millis(1_000);
/// Longest interval, 256 times the shortest: an idle topic costs a message in four minutes.
const INTERVAL_MAX: Duration = Duration::from_millis(256_000);
/// Consistent messages heard in an interval that make ours superfluous (RFC 6206, "k").
const REDUNDANCY: u32 = 2;

/// One topic's timer. All times are the caller's; `random` is any 64 random bits.
#[derive(Debug, Clone)]
pub(crate) struct Trickle {
    interval: Duration,
    /// When to speak, until it has been decided; then when the interval ends.
    next: Instant,
    ends: Instant,
    decided: bool,
    heard: u32,
}

impl Trickle {
    /// Starts with the shortest interval.
    pub(crate) fn new(now: Instant, random: u64) -> Self {
        let mut timer = Self {
            interval: INTERVAL_MIN,
            next: now,
            ends: now,
            decided: false,
            heard: 0,
        };
        timer.begin(now, INTERVAL_MIN, random);
        timer
    }

    /// RFC 6206, step 2: a point in the second half of the interval.
    fn begin(&mut self, now: Instant, interval: Duration, random: u64) {
        let half = interval.as_nanos() / 2;
        self.interval = interval;
        self.next = now.after(Duration::from_nanos(half + random % half.max(1)));
        self.ends = now.after(interval);
        self.decided = false;
        self.heard = 0;
        assert!(self.next <= self.ends, "the point lies in the interval");
    }

    /// When to call [`Trickle::on_time`].
    pub(crate) fn deadline(&self) -> Instant {
        if self.decided { self.ends } else { self.next }
    }

    /// A neighbour said what we would have said.
    pub(crate) fn hear_consistent(&mut self) {
        self.heard = self.heard.saturating_add(1);
    }

    /// Something differs: back to the shortest interval, unless already there (step 6).
    pub(crate) fn reset(&mut self, now: Instant, random: u64) {
        if self.interval > INTERVAL_MIN {
            self.begin(now, INTERVAL_MIN, random);
        }
    }

    /// Whether to speak now.
    pub(crate) fn on_time(&mut self, now: Instant, random: u64) -> bool {
        let mut speak = false;
        if !self.decided && now >= self.next {
            self.decided = true;
            speak = self.heard < REDUNDANCY;
        }
        if now >= self.ends {
            let doubled = self.interval.times(2).min(INTERVAL_MAX);
            self.begin(now, doubled, random);
        }
        speak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages sent in ten minutes of calm.
    fn sent_in_ten_minutes(heard_each: u32) -> u32 {
        let mut timer = Trickle::new(Instant::START, 3);
        let mut sent = 0;
        loop {
            let now = timer.deadline();
            if now.as_nanos() > Duration::from_secs(600).as_nanos() {
                return sent;
            }
            (0..heard_each).for_each(|_| timer.hear_consistent());
            sent += u32::from(timer.on_time(now, 77));
        }
    }

    #[test]
    fn calm_costs_a_message_a_doubling() {
        assert!(
            (8..=11).contains(&sent_in_ten_minutes(0)),
            "{}",
            sent_in_ten_minutes(0)
        );
    }

    #[test]
    fn what_two_neighbours_said_is_not_said_again() {
        assert_eq!(sent_in_ten_minutes(2), 0);
    }

    #[test]
    fn a_change_is_told_within_a_second() {
        let mut timer = Trickle::new(Instant::START, 0);
        let mut now = Instant::START;
        for _ in 0..20 {
            now = timer.deadline();
            timer.on_time(now, 1);
        }
        timer.reset(now, 5);
        assert!(timer.deadline().since(now) <= INTERVAL_MIN);
    }
}
