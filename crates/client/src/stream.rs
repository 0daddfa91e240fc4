//! The stream of a topic: events from the node, entries from the log.
//!
//! Entries are read from the log when an event says that they are there, a page at a time, so a
//! slow watcher costs one page of memory and misses none.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{FutureExt, Stream, StreamExt};
use osier_core::TopicId;
use osier_engine::{EntryPhase, SyncEvent};
use osier_node::EventStream;
use osier_proto::Lsn;
use osier_store::Store;

use crate::{
    error::Result,
    event::Event,
    page::{self, Placed},
    position::Position,
};

/// Entries read from the log at once.
const PAGE_ENTRIES: usize = 256;

/// Stretches of the log whose phase is remembered. Over it the oldest is forgotten, and its entries
/// count as backfill.
const STRETCHES_MAX: usize = 1024;

/// What a watcher sees of a topic. The first event is the present state; then, before each event,
/// every entry that precedes it and was not shown yet.
///
/// Ends when the topic is left or the node is shut down. Dropping it stops watching.
pub struct Watch {
    events: Pin<Box<dyn Stream<Item = (Position, Event)> + Send>>,
    position: Position,
}

impl Watch {
    pub(crate) fn new(
        store: Store,
        topic: TopicId,
        from: Position,
        events: EventStream,
        entries: bool,
    ) -> Self {
        let reader = Reader {
            store,
            topic,
            events,
            entries,
            at: from,
            read: from,
            upto: from,
            page: VecDeque::new(),
            waiting: None,
            stretches: VecDeque::new(),
            broken: false,
        };
        let events = futures_util::stream::unfold(reader, |mut reader| async move {
            let told = reader.next().await?;
            Some((told, reader))
        });
        Self {
            events: Box::pin(events),
            position: from,
        }
    }

    /// The next event; none when the stream has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<Event> {
        StreamExt::next(self).await
    }

    /// Where to go on from after the last event that was returned: keep it, and a later watch from
    /// it neither repeats nor misses an entry.
    pub fn position(&self) -> Position {
        self.position
    }
}

impl Stream for Watch {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let told = std::task::ready!(self.events.as_mut().poll_next(cx));
        Poll::Ready(told.map(|(position, event)| {
            self.position = position;
            event
        }))
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch(at {})", self.position)
    }
}

struct Reader {
    store: Store,
    topic: TopicId,
    events: EventStream,
    /// Whether entries are shown.
    entries: bool,
    /// The last place that was shown, or that there is nothing to show at.
    at: Position,
    /// The last place that was read into `page`.
    read: Position,
    /// The last place that may be shown before `waiting`.
    upto: Position,
    /// Entries read and not shown.
    page: VecDeque<Placed>,
    /// The event that is shown once everything up to `upto` was.
    waiting: Option<SyncEvent>,
    /// Phases of stretches of the log, ascending: from, to.
    stretches: VecDeque<(Position, Position, EntryPhase)>,
    broken: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<(Position, Event)> {
        while !self.broken {
            if let Some(placed) = self.page.pop_front() {
                return Some(self.show(placed));
            }
            if !self.entries {
                self.read = self.upto;
            }
            self.at = self.read;
            if self.read < self.upto {
                if let Err(error) = self.read_page().await {
                    self.broken = true;
                    return Some((self.at, Event::Broken(error)));
                }
            } else if let Some(event) = self.waiting.take() {
                return Some((self.at, Event::Sync(event)));
            } else {
                let (upto, event) = self.events.next().await?;
                if let Some(state) = self.take(upto, event) {
                    return Some((self.at, Event::Sync(state)));
                }
                self.take_what_waits();
            }
        }
        None
    }

    /// Notes an event to be shown in its place; gives back one that is shown at once.
    fn take(&mut self, upto: Lsn, event: SyncEvent) -> Option<SyncEvent> {
        self.upto = self.upto.max(Position::new(upto));
        match event {
            // A state sums up and is not about what was shown.
            SyncEvent::State(_) => return Some(event),
            SyncEvent::Appended { from, upto, phase } => self.stretch(from, upto, phase),
            _ => self.waiting = Some(event),
        }
        None
    }

    /// Empties the node's queue of what only says that entries have come: they are read together,
    /// and a burst of small writes does not make this watcher too slow.
    fn take_what_waits(&mut self) {
        while self.waiting.is_none() {
            let Some(Some((upto, event))) = self.events.next().now_or_never() else {
                return;
            };
            if let Some(state) = self.take(upto, event) {
                // It comes after what was noted above: in its place, like any other event.
                self.waiting = Some(state);
            }
        }
    }

    fn stretch(&mut self, from: Lsn, upto: Lsn, phase: EntryPhase) {
        let stretch = (Position::new(from), Position::new(upto), phase);
        self.stretches.push_back(stretch);
        if self.stretches.len() > STRETCHES_MAX {
            self.stretches.pop_front();
        }
        self.upto = self.upto.max(Position::new(upto));
    }

    fn show(&mut self, (position, entry): Placed) -> (Position, Event) {
        self.at = position;
        let event = Event::Entry {
            entry,
            position,
            phase: self.phase(position),
        };
        (position, event)
    }

    /// Reads what follows, up to `upto`.
    async fn read_page(&mut self) -> Result<()> {
        let (store, topic, after) = (self.store.clone(), self.topic, self.read);
        let read = move || page::arrival(&store, topic, after, PAGE_ENTRIES);
        let read = page::blocking(read).await?;
        let before = read.entries.len();
        let fits = read
            .entries
            .into_iter()
            .filter(|(position, _)| *position <= self.upto);
        self.page.extend(fits);
        let reached_end = read.done || self.page.len() < before;
        let last = self.page.back().map(|(position, _)| *position);
        // At the end, what lies between the last entry and `upto` was pruned.
        self.read = if reached_end {
            self.upto
        } else {
            last.unwrap_or(self.upto)
        };
        Ok(())
    }

    fn phase(&mut self, position: Position) -> EntryPhase {
        while self
            .stretches
            .front()
            .is_some_and(|(_, to, _)| *to < position)
        {
            self.stretches.pop_front();
        }
        match self.stretches.front() {
            Some((from, _, phase)) if *from <= position => *phase,
            _ => EntryPhase::Backfill,
        }
    }
}
