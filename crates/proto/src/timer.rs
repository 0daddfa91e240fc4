//! Signs of life (`SES-13`): when to give one, and when to give up waiting for one.

use osier_core::{Duration, Instant};

use crate::limit::{
    ALIVE_EVERY_MS, PEER_SILENT_MS, PEER_STALLED_MS, PROGRESS_BYTES_MIN, PROGRESS_EVERY_MS,
    WORKING_EVERY_MS, WORKING_MAX_MS,
};

/// Bytes of a session's stream that have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// Some came: after the whole messages among them are taken, so many are left of one that has
    /// not come whole.
    Read {
        /// Bytes of the incomplete message so far.
        partial: usize,
    },
    /// The peer took so many.
    Wrote {
        /// How many.
        bytes: usize,
        /// How many wait to be taken after them.
        waiting: usize,
    },
}

/// When each side last said something, and when anything last got on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    spoke: Instant,
    heard: Instant,
    moved: Instant,
    /// Bytes of the message that comes now that have been counted as progress.
    read: usize,
    /// Bytes of what waits that were taken and have not been counted as progress.
    wrote: usize,
    /// When progress that is not entries was last told.
    told: Instant,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            spoke: now,
            heard: now,
            moved: now,
            read: 0,
            wrote: 0,
            told: now,
        }
    }

    /// This side has said something.
    pub(crate) fn spoke(&mut self, now: Instant) {
        self.spoke = self.spoke.max(now);
    }

    /// The peer has, or could not have been heard until now.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = self.heard.max(now);
    }

    /// The session got on: a message other than a sign of life, bulk taken, a batch stored.
    pub(crate) fn moved(&mut self, now: Instant) {
        self.moved = self.moved.max(now);
    }

    /// A whole message has come.
    pub(crate) fn heard_message(&mut self, is_sign_of_life: bool, now: Instant) {
        self.heard(now);
        self.read = 0;
        if !is_sign_of_life {
            self.moved(now);
        }
    }

    /// Bytes of the stream have moved; whether that is progress (`SES-16`). Signs of life are short
    /// and come whole, so they never are, however many there are.
    pub(crate) fn moved_bytes(&mut self, bytes: Moved, now: Instant) -> bool {
        self.heard(now);
        let is_progress = match bytes {
            Moved::Read { partial } => {
                // A shorter piece is of another message than the one that was counted.
                let counted = if partial < self.read { 0 } else { self.read };
                let is_progress = partial - counted >= PROGRESS_BYTES_MIN;
                self.read = if is_progress { partial } else { counted };
                is_progress
            }
            Moved::Wrote { bytes, waiting } => {
                let wrote = self.wrote.saturating_add(bytes);
                let is_progress = wrote >= PROGRESS_BYTES_MIN;
                self.wrote = if is_progress || waiting == 0 {
                    0
                } else {
                    wrote
                };
                is_progress
            }
        };
        if is_progress {
            self.moved(now);
        }
        is_progress
    }

    /// Whether progress that is not entries is to be told now.
    pub(crate) fn tells(&mut self, now: Instant) -> bool {
        let due = now >= self.told.after(Duration::from_millis(PROGRESS_EVERY_MS));
        if due {
            self.told = now;
        }
        due
    }

    /// Whether a peer that says that it compares is still believed.
    pub(crate) fn may_work(&self, now: Instant) -> bool {
        now < self.moved.after(Duration::from_millis(WORKING_MAX_MS))
    }

    /// Whether this side, which compares, should say so.
    pub(crate) fn says_it_works(&self, now: Instant) -> bool {
        now >= self.spoke.after(Duration::from_millis(WORKING_EVERY_MS))
    }

    /// When an `Alive` is due.
    pub(crate) fn alive_at(&self) -> Instant {
        self.spoke.after(Duration::from_millis(ALIVE_EVERY_MS))
    }

    /// When the session is given up; silence counts only while this side reads.
    pub(crate) fn gone_at(&self, reads: bool) -> Instant {
        let stalled = self.moved.after(Duration::from_millis(PEER_STALLED_MS));
        let silent = self.heard.after(Duration::from_millis(PEER_SILENT_MS));
        if reads { stalled.min(silent) } else { stalled }
    }

    /// When to look again at the latest.
    pub(crate) fn deadline(&self, reads: bool) -> Instant {
        self.alive_at().min(self.gone_at(reads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `SES-13`: a side that only says that it is there is given up, however much it says.
    #[test]
    fn signs_of_life_are_no_progress_in_any_number() {
        let start = Instant::START;
        let mut watch = Watch::new(start);
        for ms in (0..PEER_STALLED_MS).step_by(500) {
            let now = start.after(Duration::from_millis(ms));
            for _ in 0..200 {
                let (bytes, waiting) = (7, 0);
                assert!(!watch.moved_bytes(Moved::Wrote { bytes, waiting }, now));
                watch.heard_message(true, now);
                assert!(!watch.moved_bytes(Moved::Read { partial: 6 }, now));
            }
        }
        let stalled = start.after(Duration::from_millis(PEER_STALLED_MS));
        assert_eq!(watch.gone_at(true), stalled);
    }
}
