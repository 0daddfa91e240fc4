//! Signs of life (`SES-13`): when to give one, and when to give up waiting for one.

use osier_core::{Duration, Instant};

use crate::limit::{
    ALIVE_EVERY_MS, PEER_SILENT_MS, PEER_STALLED_MS, PROGRESS_BYTES_MIN, PROGRESS_EVERY_MS,
    WORKING_EVERY_MS, WORKING_MAX_MS,
};

/// When each side last said something, and when anything last got on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    spoke: Instant,
    heard: Instant,
    moved: Instant,
    /// Bytes of the stream that have moved and not been counted as progress.
    bytes: usize,
    /// When progress that is not entries was last told.
    told: Instant,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            spoke: now,
            heard: now,
            moved: now,
            bytes: 0,
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

    /// Bytes of the stream have moved; whether that is progress (`SES-16`).
    pub(crate) fn moved_bytes(&mut self, bytes: usize, now: Instant) -> bool {
        self.heard(now);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < PROGRESS_BYTES_MIN {
            return false;
        }
        self.bytes = 0;
        self.moved(now);
        true
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
