//! Stored events for a request, in chunks.

use std::sync::Arc;

use osier_nostr::{
    Event, EventId, EventKind, Filter, Page, Seconds, limit as nostr_limit,
    nip::{nip01::Version, nip17::Viewer},
};

use crate::{
    error::EventDbError,
    merge::Merge,
    plan::Plan,
    view::{EventView, Inner},
};

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
    /// 500 events, 1 MiB, 20,000 rows: a few milliseconds.
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

    /// Its canonical JSON: what a frame carries. Shared, not copied.
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
    /// Every page was read to its filter's end, and the index holds all that the log holds.
    pub drained: bool,
    /// The look-ahead found more than was given.
    pub more: bool,
}

/// A scan under way. It can be kept for as long as its reader takes, and be sent between threads.
#[derive(Debug)]
pub struct Scan {
    view: EventView,
    pages: Vec<PageScan>,
    is_over: bool,
}

/// One page of a request.
#[derive(Debug)]
struct PageScan {
    page: Page,
    viewer: Viewer,
    now: Seconds,
    merge: Option<Merge>,
    given: u64,
    last: Option<Seconds>,
    head: Head,
    more: bool,
}

/// What comes next of a page.
#[derive(Debug)]
enum Head {
    /// It is not known yet.
    Unknown,
    /// This.
    Event(Event),
    /// Nothing: the page is over.
    End,
}

impl Scan {
    pub(crate) fn new(view: EventView, pages: Vec<Page>, viewer: &Viewer, now: Seconds) -> Self {
        let page = |page| PageScan {
            page,
            viewer: viewer.clone(),
            now,
            merge: None,
            given: 0,
            last: None,
            head: Head::Unknown,
            more: false,
        };
        Self {
            view,
            pages: pages.into_iter().map(page).collect(),
            is_over: false,
        }
    }

    /// The snapshot that is read.
    pub fn view(&self) -> &EventView {
        &self.view
    }

    /// The next events. After the chunk with an end there are none.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn next(&mut self, budget: Budget) -> Result<ScanChunk, EventDbError> {
        self.read(budget)
            .map_err(|cause| EventDbError::new("scan", cause))
    }

    fn read(&mut self, budget: Budget) -> Result<ScanChunk, redb::Error> {
        let mut chunk = ScanChunk::default();
        let (mut bytes, mut rows) = (0, 0);
        while !self.is_over && chunk.events.len() < budget.events.max(1) {
            let mut first: Option<Version> = None;
            for page in &mut self.pages {
                if !page.look(self.view.inner(), budget.rows, &mut rows)? {
                    return Ok(chunk);
                }
                first = match (first, page.version()) {
                    (Some(one), Some(two)) => Some(one.min(two)),
                    (one, two) => one.or(two),
                };
            }
            let Some(first) = first else {
                self.is_over = true;
                chunk.end = Some(self.outcome());
                break;
            };
            let taken = self
                .pages
                .iter_mut()
                .filter_map(|page| page.take(&first))
                .last();
            if let Some(event) = taken {
                bytes += event.json().len();
                chunk.events.push(Hit { event });
            }
            if bytes >= budget.bytes {
                break;
            }
        }
        Ok(chunk)
    }

    fn outcome(&self) -> ScanOutcome {
        let more = self.pages.iter().any(|page| page.more);
        ScanOutcome {
            drained: !more && self.view.is_whole(),
            more,
        }
    }
}

impl PageScan {
    /// Finds out what comes next; false if that costs more rows than are left.
    fn look(&mut self, inner: &Inner, most: usize, rows: &mut usize) -> Result<bool, redb::Error> {
        if !matches!(self.head, Head::Unknown) {
            return Ok(true);
        }
        let filter = &self.page.filter;
        let merge = match &mut self.merge {
            Some(merge) => merge,
            none => {
                let plan = Plan::of(inner, filter, &self.viewer)?;
                none.insert(Merge::new(plan.cursors(inner)?))
            }
        };
        while *rows < most.max(1) {
            let Some(candidate) = merge.next(inner, rows)? else {
                self.head = Head::End;
                return Ok(true);
            };
            // Reading an event is worth several rows.
            *rows += 4;
            if candidate
                .row
                .is_some_and(|row| row.expires.is_over(self.now))
            {
                continue;
            }
            let event = inner.load(&candidate.version.id)?;
            if !is_shown(filter, &self.viewer, &event, self.now) {
                continue;
            }
            self.head = if self.has_room(event.created_at()) {
                Head::Event(event)
            } else {
                self.more = true;
                Head::End
            };
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the page holds another event of this second.
    fn has_room(&self, time: Seconds) -> bool {
        if self.given < self.page.events_max {
            return true;
        }
        self.page.whole_second
            && self.given < nostr_limit::PAGE_EVENTS_HARD_MAX
            && self.last == Some(time)
    }

    fn version(&self) -> Option<Version> {
        match &self.head {
            Head::Event(event) => Some(Version::of(event)),
            Head::Unknown | Head::End => None,
        }
    }

    /// Gives out what comes next, if it is this one.
    fn take(&mut self, version: &Version) -> Option<Event> {
        if self.version() != Some(*version) {
            return None;
        }
        match std::mem::replace(&mut self.head, Head::Unknown) {
            Head::Event(event) => {
                self.given += 1;
                self.last = Some(event.created_at());
                Some(event)
            }
            head => {
                self.head = head;
                None
            }
        }
    }
}

/// The one predicate and the one rule of visibility, for what the index has found: what others
/// have hidden is not in the index.
pub(crate) fn is_shown(filter: &Filter, viewer: &Viewer, event: &Event, now: Seconds) -> bool {
    filter.matches(event) && viewer.sees(event) && !osier_nostr::nip::nip40::is_expired(event, now)
}
