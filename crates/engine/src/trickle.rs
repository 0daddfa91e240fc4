//! When to send a watermark: the Trickle algorithm (RFC 6206). Often after a change, rarely while
//! all agree, not at all when neighbours have already said the same (`GOS-6`).
//!
//! Trickle is made for a radio, where who speaks is heard at once. In a swarm a word takes some
//! hops, and till it has come to all, others speak: in step with the number of nodes. So a node
//! that hears too many at once takes its time from then on (`GOS-12`).

use osier_core::{Duration, Instant};

/// Shortest interval: a change is told within a second.
const INTERVAL_MIN: Duration = Duration::from_millis(1_000);
/// Longest interval, 256 times the shortest: an idle topic costs a message in four minutes.
const INTERVAL_MAX: Duration = Duration::from_millis(256_000);
/// Consistent messages heard in an interval that make ours superfluous (RFC 6206, "k").
const REDUNDANCY: u32 = 2;
/// More than so many of those whom we could have spoken for, in one interval, are too many.
const CROWD_HEARD: u32 = 8;
/// How often the shortest interval is doubled at first, where the word of an archive is enough. A
/// swarm without one finds it too long and halves it.
const CROWD_START: u32 = 2;
/// How often the shortest interval is doubled at most: to 256 s. Wild guess.
const CROWD_MAX: u32 = 8;
/// How intervals grow.
const GROWTH: u64 = 2;
/// How they grow where the word of an archive is enough. An archive's intervals grow as time since
/// the change does, and it is silent for one and a half of them at most; half of three times that
/// time is as long.
const CROWD_GROWTH: u64 = 4;

/// One topic's timer. All times are the caller's; `random` is any 64 random bits.
///
/// Public for models of swarms that are too large for engines: they must use the same timer.
#[derive(Debug, Clone)]
pub struct Trickle {
    interval: Duration,
    /// When to speak, until it has been decided; then when the interval ends.
    next: Instant,
    ends: Instant,
    decided: bool,
    spoke: bool,
    /// Words that count against ours in this interval.
    heard: u32,
    /// Of these, words that ours would have made superfluous.
    crowd_heard: u32,
    /// How often the shortest interval is doubled.
    crowd: u32,
}

impl Trickle {
    /// Starts with the shortest interval: 1 s for an archive, 4 s for the others, so that an
    /// archive's word is there before they would speak.
    pub fn new(now: Instant, is_archive: bool, random: u64) -> Self {
        let mut timer = Self {
            interval: INTERVAL_MIN,
            next: now,
            ends: now,
            decided: false,
            spoke: false,
            heard: 0,
            crowd_heard: 0,
            crowd: if is_archive { 0 } else { CROWD_START },
        };
        timer.begin(now, timer.shortest(), random);
        timer
    }

    fn shortest(&self) -> Duration {
        INTERVAL_MIN.times(1 << self.crowd)
    }

    fn longest(&self) -> Duration {
        INTERVAL_MAX.times(1 << self.crowd)
    }

    /// RFC 6206, step 2: a point in the second half of the interval.
    fn begin(&mut self, now: Instant, interval: Duration, random: u64) {
        let half = interval.as_nanos() / 2;
        self.interval = interval;
        self.next = now.after(Duration::from_nanos(half + random % half.max(1)));
        self.ends = now.after(interval);
        self.decided = false;
        self.spoke = false;
        self.heard = 0;
        self.crowd_heard = 0;
        assert!(self.next <= self.ends, "the point lies in the interval");
    }

    /// When to call [`Trickle::on_time`].
    pub fn deadline(&self) -> Instant {
        if self.decided { self.ends } else { self.next }
    }

    /// A node said what we would have said, and one like us could be silent.
    pub fn hear_consistent(&mut self) {
        self.heard = self.heard.saturating_add(1);
        self.crowd_heard = self.crowd_heard.saturating_add(1);
    }

    /// One said it whose word is enough: we need not.
    pub fn hear_enough(&mut self) {
        self.heard = self.heard.max(REDUNDANCY);
    }

    /// Something differs: back to the shortest interval, unless already there (step 6).
    pub fn reset(&mut self, now: Instant, random: u64) {
        if self.interval > self.shortest() {
            self.learn();
            self.begin(now, self.shortest(), random);
        }
    }

    /// Whether to speak now.
    pub fn on_time(&mut self, now: Instant, random: u64) -> bool {
        let mut speak = false;
        if !self.decided && now >= self.next {
            self.decided = true;
            speak = self.heard < REDUNDANCY;
            self.spoke = speak;
        }
        if now >= self.ends {
            self.learn();
            let growth = if self.crowd > 0 { CROWD_GROWTH } else { GROWTH };
            let grown = self.interval.times(growth).max(self.shortest());
            self.begin(now, grown.min(self.longest()), random);
        }
        speak
    }

    /// What the interval that ends says of the crowd: too many spoke, or ours was needed.
    fn learn(&mut self) {
        if self.crowd_heard > CROWD_HEARD {
            let more = (self.crowd_heard / (CROWD_HEARD / 2)).ilog2();
            self.crowd = (self.crowd + more).min(CROWD_MAX);
        } else if self.spoke && self.heard < REDUNDANCY {
            self.crowd = self.crowd.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages sent in ten minutes of calm.
    fn sent_in_ten_minutes(heard_each: u32) -> u32 {
        let mut timer = Trickle::new(Instant::START, true, 3);
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
    fn an_archives_word_is_enough() {
        let mut timer = Trickle::new(Instant::START, true, 3);
        for _ in 0..20 {
            timer.hear_enough();
            assert!(!timer.on_time(timer.deadline(), 77));
        }
    }

    #[test]
    fn an_archive_speaks_first() {
        let archive = Trickle::new(Instant::START, true, u64::MAX / 3);
        let other = Trickle::new(Instant::START, false, 0);
        assert!(archive.deadline() <= Instant::START.after(INTERVAL_MIN));
        assert!(other.deadline() >= Instant::START.after(INTERVAL_MIN.times(2)));
    }

    /// However both draw: an archive that tells of a change is heard in the first half of each
    /// interval of the others, so they need not speak.
    #[test]
    fn one_archive_silences_all() {
        for draw in 0..200_u64 {
            let mut random = draw.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = || {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                random
            };
            let mut archive = Trickle::new(Instant::START, true, next());
            let mut other = Trickle::new(Instant::START, false, next());
            while archive.deadline().as_nanos() < Duration::from_secs(20_000).as_nanos() {
                let (first, now) = (archive.deadline(), archive.deadline().min(other.deadline()));
                if first == now && archive.on_time(now, next()) {
                    other.hear_enough();
                } else if first != now {
                    assert!(!other.on_time(now, next()), "{draw}: {other:?}");
                }
            }
        }
    }

    /// Ends an interval in which so many others spoke; how long the next shortest one is.
    fn shortest_after(timer: &mut Trickle, heard: u32) -> Duration {
        (0..heard).for_each(|_| timer.hear_consistent());
        timer.on_time(timer.deadline(), 5);
        timer.on_time(timer.deadline(), 5);
        timer.shortest()
    }

    /// `GOS-12`: many at once make a node slow, being needed makes it fast again.
    #[test]
    fn a_crowd_takes_its_time() {
        let mut timer = Trickle::new(Instant::START, true, 3);
        assert_eq!(shortest_after(&mut timer, 8), INTERVAL_MIN);
        assert_eq!(shortest_after(&mut timer, 64), INTERVAL_MIN.times(16));
        assert_eq!(shortest_after(&mut timer, 100_000), INTERVAL_MIN.times(256));
        assert_eq!(timer.longest(), INTERVAL_MAX.times(256));
        timer.reset(timer.deadline(), 0);
        assert_eq!(shortest_after(&mut timer, 3), INTERVAL_MIN.times(256));
        assert_eq!(shortest_after(&mut timer, 0), INTERVAL_MIN.times(128));
    }

    #[test]
    fn a_change_is_told_within_a_second() {
        let mut timer = Trickle::new(Instant::START, true, 0);
        let mut now = Instant::START;
        for _ in 0..20 {
            now = timer.deadline();
            timer.on_time(now, 1);
        }
        timer.reset(now, 5);
        assert!(timer.deadline().since(now) <= INTERVAL_MIN);
    }
}
