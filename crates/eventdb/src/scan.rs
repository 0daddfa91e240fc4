//! Stored events for a request, in chunks.

use std::sync::Arc;

use osier_nostr::{Event, EventId, EventKind, Seconds};

use crate::error::EventDbError;

/// How much one call of [`Scan::next`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Events.
    pub events: usize,
    /// Bytes of event text; the event that reaches it is the last.
    pub bytes: usize,
    /// Index rows looked at, whether they match or not: what a call costs.
    pub rows: usize,
}

impl Default for Budget {
    /// 500 events, 1 MiB, 20,000 rows: some 5 ms.
    fn default() -> Self {
        Self {
            events: 500,
            bytes: 1024 * 1024,
            rows: 20_000,
        }
    }
}

/// One event of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    event: Event,
}

impl Hit {
    /// Its id.
    pub fn id(&self) -> EventId {
        self.event.id()
    }

    /// Its time.
    pub fn created_at(&self) -> Seconds {
        self.event.created_at()
    }

    /// Its kind.
    pub fn kind(&self) -> EventKind {
        self.event.kind()
    }

    /// Its canonical JSON: what a frame carries.
    pub fn json(&self) -> Arc<str> {
        self.event.shared_json()
    }

    /// The event.
    pub fn event(&self) -> &Event {
        &self.event
    }
}

/// Some events of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScanChunk {
    /// In order, following those of the chunk before; possibly none though there are more.
    pub events: Vec<Hit>,
    /// Set in the last chunk.
    pub end: Option<ScanOutcome>,
}

/// How a scan ended: what `osier_nostr::ScanEnd` asks of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOutcome {
    /// Every page was read to its filter's end.
    pub drained: bool,
    /// The look-ahead found more than was given.
    pub more: bool,
}

/// A scan under way. It can be kept for as long as its reader takes, and be sent between threads.
#[derive(Debug)]
pub struct Scan {}

impl Scan {
    /// The next events. After the chunk with an end there are none.
    ///
    /// # Errors
    /// Our disk is at fault.
    #[expect(
        clippy::should_implement_trait,
        reason = "it takes a budget and can fail"
    )]
    pub fn next(&mut self, budget: Budget) -> Result<ScanChunk, EventDbError> {
        let _ = budget;
        todo!()
    }
}
