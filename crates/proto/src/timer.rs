//! Signs of life (`SES-13`): when to give one, and when to give up waiting for one.

use osier_core::{Duration, Instant};

use crate::limit::{ALIVE_EVERY_MS, PEER_SILENT_MS};

/// When each side last said something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    spoke: Instant,
    heard: Instant,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            spoke: now,
            heard: now,
        }
    }

    pub(crate) fn spoke(&mut self, now: Instant) {
        self.spoke = self.spoke.max(now);
    }

    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = self.heard.max(now);
    }

    /// When an `Alive` is due.
    pub(crate) fn alive_at(&self) -> Instant {
        self.spoke.after(Duration::from_millis(ALIVE_EVERY_MS))
    }

    /// When the peer counts as silent.
    pub(crate) fn silent_at(&self) -> Instant {
        self.heard.after(Duration::from_millis(PEER_SILENT_MS))
    }
}
