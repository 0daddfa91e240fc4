//! A snapshot of the index: every answer comes from the same moment.

use osier_nostr::{
    Commit, CountAnswer, Event, EventId, Filter, Hidden, Page, Published, Seconds,
    nip::nip17::Viewer,
};

use crate::{error::EventDbError, records::Records, scan::Scan};

/// The index as of one durable batch. Clones are the same snapshot. Holds disk pages until it is
/// dropped, so the file grows while it is kept. The gate of viewers is that of
/// [`crate::Settings::gate`].
#[derive(Debug, Clone)]
pub struct EventView {}

/// Whether an event may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is not held and nothing hides it.
    New,
    /// It is held and nothing hides it from all.
    Held,
    /// It would not be shown (`NOS-32`).
    Hidden(Hidden),
}

impl Admission {
    /// What the publisher of an event that is not appended is told; none if it is to be appended.
    pub fn answer(self) -> Option<Published> {
        match self {
            Self::New => None,
            Self::Held => Some(Published::Duplicate),
            Self::Hidden(hidden) => Some(Published::Refused(hidden.reason())),
        }
    }
}

impl EventView {
    /// The last batch that the snapshot holds.
    pub fn commit(&self) -> Commit {
        todo!()
    }

    /// Whether a verified event may be appended as of this snapshot. What else waits for the same
    /// batch is not looked at.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn admit(&self, event: &Event, now: Seconds) -> Result<Admission, EventDbError> {
        let _ = (event, now);
        todo!()
    }

    /// The event with an id, if it is held and this viewer may see it.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn get(
        &self,
        id: &EventId,
        viewer: &Viewer,
        now: Seconds,
    ) -> Result<Option<Event>, EventDbError> {
        let _ = (id, viewer, now);
        todo!()
    }

    /// The stored events for a request: newest first, in one second the lowest id first (`NOS-16`),
    /// each once, each page with its own bounds. Nothing is read yet.
    pub fn scan(&self, pages: Vec<Page>, viewer: &Viewer, now: Seconds) -> Scan {
        let _ = (pages, viewer, now);
        todo!()
    }

    /// The size of the union of what filters match (`NOS-67`), and for one filter with a tag, and
    /// without a limit, a sketch.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn count(
        &self,
        filters: &[Filter],
        viewer: &Viewer,
        now: Seconds,
    ) -> Result<CountAnswer, EventDbError> {
        let _ = (filters, viewer, now);
        todo!()
    }

    /// The set that a NIP-77 session compares (`NOS-80`), to be opened with
    /// `NegSession::open(&records, cap, ..)`. More than `cap` items are not gathered: then its
    /// length is more than `cap`, and it holds nothing else that is right.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn records(
        &self,
        filter: &Filter,
        viewer: &Viewer,
        now: Seconds,
        cap: u64,
    ) -> Result<Records, EventDbError> {
        let _ = (filter, viewer, now, cap);
        todo!()
    }
}
