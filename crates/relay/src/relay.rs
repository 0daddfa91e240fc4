//! What every connection shares.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use osier_eventdb::EventIndex;
use osier_nostr::{ConnectionId, ScanEnd, Settings};

use crate::{
    clock::Clock,
    gathered::Gathered,
    hub::Hub,
    ingest::Ingest,
    limit,
    quota::Quota,
    scan::{Read, Reader},
    tally::Tally,
    topics::Completion,
    workers::Workers,
};

/// The relay, as its connections see it.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The time.
    pub(crate) clock: Clock,
    /// What clients are held to.
    pub(crate) settings: Arc<Settings>,
    /// Live events.
    pub(crate) hub: Arc<Hub>,
    /// Events that are published.
    pub(crate) ingest: Ingest,
    /// What clients have been told.
    pub(crate) tally: Arc<Tally>,
    /// What keys and addresses have used of their quotas.
    pub(crate) quota: Quota,
    /// Stored events.
    pub(crate) readers: Workers<Read>,
    reader: Arc<Reader>,
    next_connection: AtomicU64,
}

impl Relay {
    /// Starts the threads that work for connections.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(crate) fn start(
        clock: Clock,
        settings: Settings,
        hub: Arc<Hub>,
        index: EventIndex,
        completion: Arc<Completion>,
    ) -> io::Result<Self> {
        let reader = Arc::new(Reader {
            index,
            completion,
            clock,
            neg_items_max: settings.neg_items_max,
            gathered: Gathered::of(limit::NEG_ITEMS_HELD_MAX),
        });
        let work = Arc::clone(&reader);
        let run = move |reads: Vec<Read>| reads.into_iter().for_each(|read| work.run(read));
        let cores = cores();
        Ok(Self {
            clock,
            tally: Arc::default(),
            quota: Quota::new(&settings.quotas),
            settings: Arc::new(settings),
            hub,
            ingest: Ingest::start(cores)?,
            readers: Workers::start("osier-read", cores + limit::READERS_EXTRA, 1, run)?,
            reader,
            next_connection: AtomicU64::new(1),
        })
    }

    /// The end of a scan that reads nothing: as of what is durable now.
    pub(crate) fn mark(&self) -> ScanEnd {
        self.reader.mark()
    }

    /// A name for the next connection.
    pub(crate) fn next_connection(&self) -> ConnectionId {
        ConnectionId(self.next_connection.fetch_add(1, Ordering::Relaxed))
    }
}

/// Cores of this machine.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
