//! What is in doubt stays so until there is a verdict (`CMP-33`).
//!
//! That somebody was asked since it fell behind is not held against a node yet: what audits find is
//! not told by session.

use osier_engine::SyncEvent;

/// What an application knows of a topic that has fallen behind.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// "Caught up" has been told, and not yet by whom.
    unvouched: bool,
}

impl Doubt {
    /// Takes an event in; gives what is wrong with it.
    pub(super) fn tell(&mut self, event: &SyncEvent) -> Option<&'static str> {
        match event {
            SyncEvent::HistorySynced(_) => self.unvouched = false,
            SyncEvent::HistoryTruncated { .. } => {}
            _ if self.unvouched => return Some("caught up, and nobody says so"),
            SyncEvent::CaughtUp { .. } => self.unvouched = true,
            _ => {}
        }
        None
    }
}
