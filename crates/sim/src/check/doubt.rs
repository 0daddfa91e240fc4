//! What is in doubt stays so until somebody has been asked again (`CMP-33`).

use std::collections::BTreeSet;

use osier_core::SessionId;
use osier_engine::SyncEvent;

/// What an application knows of a topic that has fallen behind.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// Sessions under way, and whether each began after the last reason to be behind.
    begun: BTreeSet<(SessionId, bool)>,
    behind: bool,
    /// A session that began since has drained.
    asked: bool,
    /// "Caught up" has been told, and not yet by whom.
    unvouched: bool,
}

impl Doubt {
    /// Takes an event in; gives what is wrong with it.
    pub(super) fn tell(&mut self, event: &SyncEvent) -> Option<&'static str> {
        let said = matches!(
            event,
            SyncEvent::HistorySynced(_) | SyncEvent::HistoryTruncated { .. }
        );
        if self.unvouched && !said {
            return Some("caught up, and nobody says so");
        }
        match event {
            SyncEvent::Behind { .. } => {
                let under_way = std::mem::take(&mut self.begun);
                self.begun = under_way.into_iter().map(|(it, _)| (it, false)).collect();
                (self.behind, self.asked) = (true, false);
            }
            SyncEvent::SyncStarted { session, .. } => {
                self.begun.insert((*session, true));
            }
            SyncEvent::SyncEnded {
                session, outcome, ..
            } => {
                let since = self.begun.remove(&(*session, true));
                self.begun.remove(&(*session, false));
                self.asked |= since && *outcome == "drained";
            }
            SyncEvent::CaughtUp { .. } => self.unvouched = true,
            SyncEvent::HistorySynced(synced) => {
                let alone = synced.session.is_none();
                if self.behind && !self.asked && !alone {
                    return Some("synced again, and nobody was asked since it fell behind");
                }
                (self.behind, self.unvouched) = (false, false);
            }
            _ => {}
        }
        None
    }
}
