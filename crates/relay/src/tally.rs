//! What clients have been told since the start, counted as it is sent.

use std::sync::atomic::{AtomicU64, Ordering};

use osier_nostr::{Frame, Prefix, Verdict};

/// Counters that only grow.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) taken: AtomicU64,
    pub(crate) known: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// Events refused, by prefix.
    pub(crate) events: [AtomicU64; Prefix::COUNT],
    /// Requests refused or ended, by prefix.
    pub(crate) requests: [AtomicU64; Prefix::COUNT],
}

impl Tally {
    /// A frame goes out to a client.
    pub(crate) fn note(&self, frame: &Frame) {
        let counter = match frame {
            Frame::Text(_) => return,
            Frame::Event { .. } => &self.sent,
            Frame::Answer { verdict, .. } => match verdict {
                Verdict::Taken => &self.taken,
                Verdict::Known => &self.known,
                Verdict::EventRefused(prefix) => &self.events[prefix.index()],
                Verdict::RequestRefused(prefix) => &self.requests[prefix.index()],
            },
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_counted_under_its_reason() {
        let tally = Tally::default();
        let answer = |verdict| Frame::Answer {
            text: String::new(),
            verdict,
        };
        tally.note(&answer(Verdict::Taken));
        tally.note(&answer(Verdict::EventRefused(Prefix::Closed)));
        tally.note(&answer(Verdict::RequestRefused(Prefix::RateLimited)));
        tally.note(&Frame::Text("[\"EOSE\"]".into()));
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((read(&tally.taken), read(&tally.sent)), (1, 0));
        assert_eq!(read(&tally.events[Prefix::Closed.index()]), 1);
        assert_eq!(read(&tally.requests[Prefix::RateLimited.index()]), 1);
        let requests = tally.requests.iter().map(read);
        assert_eq!(requests.sum::<u64>(), 1);
    }
}
