//! Reading the index for clients: stored events, counts, comparisons.
//!
//! Every piece of work is bounded, and what is left of it goes behind what others wait for: a
//! client that reads the whole history takes turns with one that asks for a profile. What nobody
//! waits for any more is given up before its next turn (`NOS-47`).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
};

use osier_eventdb::{Budget, EventDbError, EventIndex, Records, Scan, ScanChunk};
use osier_nostr::{
    Commit, CountAnswer, Filter, Generation, Page, Prefix, Reason, ScanEnd,
    nip::{
        nip17::Viewer,
        nip77::{NegEnd, NegSession},
    },
};

use crate::{
    clock::Clock,
    gathered::{Gathered, Held},
    limit,
    peer::{Mail, Peer, Rest, Scanned},
    topics::Completion,
    workers::Job,
};

/// Index rows that one turn looks at, whether they match or not.
const SCAN_ROWS: usize = 4_096;

/// One piece of work, and who waits for it.
#[derive(Debug)]
pub(crate) struct Read {
    asker: Asker,
    generation: Generation,
    work: Work,
}

/// That a request waits for what is read for it: dropped with the request.
pub(crate) type Wanted = Arc<()>;

/// Who waits for a piece of work, which counts among the connection's until it is dropped.
#[derive(Debug)]
struct Asker {
    peer: Arc<Peer>,
    wanted: Weak<()>,
}

/// What is read.
#[derive(Debug)]
pub(crate) enum Work {
    /// Stored events, from the newest.
    Open {
        /// What is asked for.
        pages: Vec<Page>,
        /// Who asks.
        viewer: Viewer,
    },
    /// More of them.
    Scan {
        /// From where.
        cursor: Box<Cursor>,
    },
    /// How many match.
    Count {
        /// Any of these.
        filters: Vec<Filter>,
        /// Who asks.
        viewer: Viewer,
    },
    /// A negentropy session opens.
    Compare {
        /// What is compared.
        filter: Filter,
        /// Who asks.
        viewer: Viewer,
        /// The first frame.
        frame: Vec<u8>,
    },
    /// It goes on.
    Answer {
        /// Which.
        session: Box<Session>,
        /// The next frame.
        frame: Vec<u8>,
    },
}

/// Where a scan stands.
#[derive(Debug)]
pub(crate) struct Cursor {
    scan: Scan,
    commit: Commit,
    synced: bool,
}

/// A negentropy session: a snapshot and what has been compared of it.
#[derive(Debug)]
pub(crate) struct Session {
    records: Records,
    responder: NegSession,
    _held: Held,
}

/// What readers share.
#[derive(Debug)]
pub(crate) struct Reader {
    /// What is read.
    pub(crate) index: EventIndex,
    /// Whether topics are complete.
    pub(crate) completion: Arc<Completion>,
    /// The time.
    pub(crate) clock: Clock,
    /// Records that are gathered for one negentropy session.
    pub(crate) neg_items_max: u64,
    /// And for all of them.
    pub(crate) gathered: Arc<Gathered>,
}

impl Read {
    /// A piece of work for a request of a connection.
    pub(crate) fn new(
        peer: &Arc<Peer>,
        generation: Generation,
        wanted: &Wanted,
        work: Work,
    ) -> Self {
        peer.read_begins();
        let asker = Asker {
            peer: Arc::clone(peer),
            wanted: Arc::downgrade(wanted),
        };
        Self {
            asker,
            generation,
            work,
        }
    }
}

impl Job for Read {
    fn owner(&self) -> u64 {
        self.asker.peer.id.0
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.peer.read_ended();
    }
}

impl Work {
    /// How it is told that the work has failed.
    fn failure(&self) -> fn(Generation, Reason) -> Mail {
        match self {
            Self::Open { .. } | Self::Scan { .. } => failed_scan,
            Self::Count { .. } => failed_count,
            Self::Compare { .. } | Self::Answer { .. } => failed_session,
        }
    }
}

impl Reader {
    /// Does a piece of work and tells who waits for it, if somebody still does.
    pub(crate) fn run(&self, read: Read) {
        let Read {
            asker,
            generation,
            work,
        } = read;
        if asker.wanted.strong_count() == 0 {
            return;
        }
        let failure = work.failure();
        // A panic is a bug, and no reason to leave a client without an answer.
        let done = catch_unwind(AssertUnwindSafe(|| self.work(generation, work)));
        asker.peer.post(done.unwrap_or_else(|_| {
            let sentence = "the relay failed at this; that is a bug";
            failure(generation, Reason::new(Prefix::Error, sentence))
        }));
    }

    fn work(&self, generation: Generation, work: Work) -> Mail {
        match work {
            Work::Open { pages, viewer } => match self.open(pages, &viewer) {
                Ok(cursor) => go_on(generation, cursor),
                Err(error) => failed_scan(generation, trouble(&error)),
            },
            Work::Scan { cursor } => go_on(generation, cursor),
            Work::Count { filters, viewer } => self.count(generation, &filters, &viewer),
            Work::Compare {
                filter,
                viewer,
                frame,
            } => match self.compare(&filter, &viewer) {
                Ok(session) => self.answer(generation, session, &frame),
                Err(end) => neg_end(generation, end),
            },
            Work::Answer { session, frame } => self.answer(generation, session, &frame),
        }
    }

    fn open(&self, pages: Vec<Page>, viewer: &Viewer) -> Result<Box<Cursor>, EventDbError> {
        // Before the snapshot: what was complete then is in it.
        let synced = self.completion.is_complete();
        let view = self.index.view()?;
        let commit = view.commit();
        let scan = view.scan(pages, viewer, self.clock.now().wall);
        Ok(Box::new(Cursor {
            scan,
            commit,
            synced,
        }))
    }

    /// The end of a scan that reads nothing.
    pub(crate) fn mark(&self) -> ScanEnd {
        ScanEnd::Done {
            drained: true,
            more: false,
            synced: true,
            commit: self.index.commit(),
        }
    }

    fn count(&self, generation: Generation, filters: &[Filter], viewer: &Viewer) -> Mail {
        let count = || -> Result<CountAnswer, EventDbError> {
            let view = self.index.view()?;
            view.count(filters, viewer, self.clock.now().wall)
        };
        let outcome = count().map(Box::new).map_err(|error| trouble(&error));
        Mail::Counted {
            generation,
            outcome,
        }
    }

    fn compare(&self, filter: &Filter, viewer: &Viewer) -> Result<Box<Session>, NegEnd> {
        let now = self.clock.now();
        let cap = self.neg_items_max.min(self.gathered.left());
        let records = self
            .index
            .view()
            .and_then(|view| view.records(filter, viewer, now.wall, cap));
        let records = records.map_err(|error| NegEnd::because(trouble(&error)))?;
        let held = match records.gathered() {
            None if cap < self.neg_items_max => None,
            None => return Err(NegEnd::too_many(cap)),
            Some(count) => Gathered::hold(&self.gathered, count),
        };
        let held = held.ok_or_else(NegEnd::crowded)?;
        // What is not gathered may have any size (`NOS-81`).
        let responder = NegSession::open(&records, u64::MAX, now.instant)?;
        Ok(Box::new(Session {
            records,
            responder,
            _held: held,
        }))
    }

    fn answer(&self, generation: Generation, mut session: Box<Session>, frame: &[u8]) -> Mail {
        let now = self.clock.now().instant;
        match session.responder.answer(&session.records, frame, now) {
            Ok(frame) => Mail::NegAnswered {
                generation,
                outcome: Ok(frame),
                session: Some(session),
            },
            Err(end) => neg_end(generation, end),
        }
    }
}

/// A turn of a scan.
fn go_on(generation: Generation, mut cursor: Box<Cursor>) -> Mail {
    let budget = Budget {
        events: limit::SCAN_EVENTS,
        bytes: limit::SCAN_BYTES,
        rows: SCAN_ROWS,
    };
    let ScanChunk { events, end } = match cursor.scan.next(budget) {
        Ok(chunk) => chunk,
        Err(error) => return failed_scan(generation, trouble(&error)),
    };
    let rest = match end {
        None => Rest::More(cursor),
        Some(outcome) => Rest::Ended(ScanEnd::Done {
            drained: outcome.drained,
            more: outcome.more,
            synced: cursor.synced,
            commit: cursor.commit,
        }),
    };
    let events = events.iter().map(|hit| hit.event().clone()).collect();
    Mail::Scanned(Box::new(Scanned {
        generation,
        events,
        rest,
    }))
}

fn neg_end(generation: Generation, end: NegEnd) -> Mail {
    if let Some(trouble) = &end.trouble {
        tracing::error!(%trouble, "a comparison failed");
    }
    Mail::NegAnswered {
        generation,
        outcome: Err(end),
        session: None,
    }
}

fn failed_session(generation: Generation, reason: Reason) -> Mail {
    neg_end(generation, NegEnd::because(reason))
}

fn failed_count(generation: Generation, reason: Reason) -> Mail {
    Mail::Counted {
        generation,
        outcome: Err(reason),
    }
}

fn failed_scan(generation: Generation, reason: Reason) -> Mail {
    Mail::Scanned(Box::new(Scanned {
        generation,
        events: Vec::new(),
        rest: Rest::Ended(ScanEnd::Failed(reason)),
    }))
}

/// What the client is told. Our own trouble goes to our log, and no more than that to the client;
/// a question that is too much to answer is the client's.
pub(crate) fn trouble(error: &EventDbError) -> Reason {
    if !error.is_too_much() {
        tracing::error!(%error, "the event index cannot be read");
    }
    error.reason()
}
