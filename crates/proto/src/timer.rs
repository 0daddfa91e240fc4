//! Signs of life (`SES-13`): when to give one, and when to give up waiting for one.

use osier_core::{Duration, Instant};

use crate::limit::{ALIVE_EVERY_MS, PEER_SILENT_MS, PEER_STALLED_MS};

/// When each side last said something, and when anything last got on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    spoke: Instant,
    heard: Instant,
    moved: Instant,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            spoke: now,
            heard: now,
            moved: now,
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
