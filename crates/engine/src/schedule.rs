//! Every timer of the engine, in one place: what is due, and when to wake.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{Instant, NodeId, TopicId};

use crate::input::SessionKey;

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The topic's watermark may be due.
    Watermark(TopicId),
    /// The topic has had no trusted provider for long enough to say so.
    NoProvider(TopicId),
    /// A provider may have become slow enough to ask another, or may be asked at last.
    Reconsider(TopicId),
    /// The topic has had time to catch up by gossip; a session must now.
    CatchUp(TopicId),
    /// A provider that has not been heard to agree may be due to be asked.
    Audit(TopicId),
    /// A member that was behind has had time to come along.
    Laggards(TopicId),
    /// Providers that were drained in other states may be asked once more.
    Dispute(TopicId),
    /// A provider may be asked again.
    Retry(TopicId, NodeId),
    /// A session's provider may have been silent for too long.
    Silence(SessionKey),
}

/// Timers by name and by time. Setting one moves it.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    by_time: BTreeSet<(Instant, Timer)>,
    by_name: BTreeMap<Timer, Instant>,
}

impl Schedule {
    /// Sets a timer, or moves it.
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        self.cancel(timer);
        self.by_time.insert((at, timer));
        self.by_name.insert(timer, at);
    }

    /// Sets a timer unless it is set already.
    pub(crate) fn set_if_absent(&mut self, timer: Timer, at: Instant) {
        if !self.by_name.contains_key(&timer) {
            self.set(timer, at);
        }
    }

    /// Takes a timer off. One that is not set stays so.
    pub(crate) fn cancel(&mut self, timer: Timer) {
        if let Some(at) = self.by_name.remove(&timer) {
            self.by_time.remove(&(at, timer));
        }
        assert_eq!(
            self.by_time.len(),
            self.by_name.len(),
            "both maps hold the same timers"
        );
    }

    /// Takes every timer of a topic off.
    pub(crate) fn cancel_topic(&mut self, topic: TopicId) {
        let of_topic = |timer: &Timer| match timer {
            Timer::Watermark(t)
            | Timer::NoProvider(t)
            | Timer::Reconsider(t)
            | Timer::CatchUp(t)
            | Timer::Audit(t)
            | Timer::Laggards(t)
            | Timer::Dispute(t)
            | Timer::Retry(t, _) => *t == topic,
            Timer::Silence(_) => false,
        };
        let gone: Vec<Timer> = self.by_name.keys().copied().filter(of_topic).collect();
        for timer in gone {
            self.cancel(timer);
        }
    }

    /// The next timer that is due, taken off.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Timer> {
        let (at, timer) = *self.by_time.first()?;
        if at > now {
            return None;
        }
        self.cancel(timer);
        Some(timer)
    }

    /// When the next timer is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use osier_core::{Duration, testing::topic};

    use super::*;

    #[test]
    fn timers_fire_in_order_and_once() {
        let mut schedule = Schedule::default();
        let at = |ms| Instant::START.after(Duration::from_millis(ms));
        schedule.set(Timer::CatchUp(topic()), at(5));
        schedule.set(Timer::Silence(SessionKey(1)), at(3));
        schedule.set(Timer::CatchUp(topic()), at(1));
        assert_eq!(schedule.deadline(), Some(at(1)));
        assert_eq!(schedule.pop_due(at(0)), None);
        assert_eq!(schedule.pop_due(at(4)), Some(Timer::CatchUp(topic())));
        assert_eq!(schedule.pop_due(at(4)), Some(Timer::Silence(SessionKey(1))));
        assert_eq!(schedule.pop_due(at(9)), None);
    }
}
