//! Those who follow a topic: each has a bounded queue, and is told when it was too slow.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::Stream;
use osier_core::TopicId;
use osier_engine::{SyncEvent, TopicState};
use osier_proto::Lsn;
use tokio::sync::{Notify, mpsc};

use crate::{
    arrival::Told,
    error::NodeError,
    limit::{WATCHER_EVENTS_MAX, WATCHERS_PER_TOPIC_MAX},
    metric::SharedCounters,
};

/// All watchers of a node.
#[derive(Debug)]
pub(crate) struct Watchers {
    topics: BTreeMap<TopicId, Vec<Watcher>>,
    counters: SharedCounters,
    ready: Arc<Notify>,
}

/// What a watcher sees of a topic, as [`SyncEvent`]s in order, each with the place in the log up to
/// which entries precede it. Starts with the present state; ends when the topic is closed.
///
/// Bounded: a watcher that falls behind is told `Lagged` with the number of events left out, then
/// the present state. Entries are never left out, for they are read from the log.
#[derive(Debug)]
pub struct EventStream {
    events: mpsc::Receiver<Told>,
    behind: Arc<AtomicBool>,
    ready: Arc<Notify>,
}

impl EventStream {
    /// The next event; none when the topic is closed or the node has stopped. Cancel-safe.
    pub async fn next(&mut self) -> Option<(Lsn, SyncEvent)> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for EventStream {
    type Item = (Lsn, SyncEvent);

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = this.events.poll_recv(cx);
        if this.behind.load(Ordering::SeqCst) && this.events.len() <= CAUGHT_UP {
            this.ready.notify_one();
        }
        next
    }
}

/// Events that may still wait for a watcher which counts as having caught up.
const CAUGHT_UP: usize = WATCHER_EVENTS_MAX / 2;

#[derive(Debug)]
struct Watcher {
    queue: mpsc::Sender<Told>,
    /// Events left out since the queue was last known to have room.
    missed: u64,
    /// Whether any were, for the reader.
    behind: Arc<AtomicBool>,
}

impl Watcher {
    fn has_caught_up(&self) -> bool {
        self.queue.max_capacity() - self.queue.capacity() <= CAUGHT_UP
    }
}

impl Watchers {
    /// Nobody yet.
    pub(crate) fn new(counters: SharedCounters) -> Self {
        Self {
            topics: BTreeMap::new(),
            counters,
            ready: Arc::default(),
        }
    }

    /// Wakes when a watcher that was too slow has caught up.
    pub(crate) fn ready(&self) -> Arc<Notify> {
        Arc::clone(&self.ready)
    }

    /// A new watcher, whose first item is the present state.
    pub(crate) fn add(
        &mut self,
        topic: TopicId,
        state: TopicState,
    ) -> Result<EventStream, NodeError> {
        let watchers = self.topics.entry(topic).or_default();
        watchers.retain(|watcher| !watcher.queue.is_closed());
        if watchers.len() >= WATCHERS_PER_TOPIC_MAX {
            return Err(NodeError::TooManyWatchers(topic));
        }
        let (queue, events) = mpsc::channel(WATCHER_EVENTS_MAX);
        let first = (state.upto, SyncEvent::State(Box::new(state)));
        queue.try_send(first).expect("a new queue has room");
        let behind = Arc::<AtomicBool>::default();
        watchers.push(Watcher {
            queue,
            missed: 0,
            behind: Arc::clone(&behind),
        });
        Ok(EventStream {
            events,
            behind,
            ready: Arc::clone(&self.ready),
        })
    }

    /// Tells everyone who follows the topic.
    pub(crate) fn tell(&mut self, topic: TopicId, upto: Lsn, event: &SyncEvent) {
        let Some(watchers) = self.topics.get_mut(&topic) else {
            return;
        };
        for watcher in watchers.iter_mut() {
            // Once something was left out, the rest is summed up by the state that follows.
            if watcher.missed > 0 || watcher.queue.try_send((upto, event.clone())).is_err() {
                watcher.missed += 1;
                watcher.behind.store(true, Ordering::SeqCst);
                if watcher.has_caught_up() {
                    // It emptied its queue before it could see that it is behind.
                    self.ready.notify_one();
                }
                self.counters.watcher_events_missed.one();
            }
        }
        watchers.retain(|watcher| !watcher.queue.is_closed());
    }

    /// Gives those who were too slow and have caught up a word on it, and the present state.
    pub(crate) fn catch_up(&mut self, state: impl Fn(TopicId) -> Option<TopicState>) {
        for (topic, watchers) in &mut self.topics {
            for watcher in watchers.iter_mut().filter(|watcher| watcher.missed > 0) {
                if !watcher.has_caught_up() {
                    continue;
                }
                let Some(state) = state(*topic) else { continue };
                let lagged = SyncEvent::Lagged {
                    missed: watcher.missed,
                };
                let told = watcher.queue.try_send((state.upto, lagged)).is_ok()
                    && watcher
                        .queue
                        .try_send((state.upto, SyncEvent::State(Box::new(state))))
                        .is_ok();
                if told {
                    watcher.missed = 0;
                    watcher.behind.store(false, Ordering::SeqCst);
                }
            }
        }
    }

    /// The topic is closed: its watchers' streams end.
    pub(crate) fn remove(&mut self, topic: TopicId) {
        self.topics.remove(&topic);
    }
}

#[cfg(test)]
mod tests {
    use osier_core::{Coverage, Role, StateHash, testing::topic};
    use osier_engine::{Rule, TopicPhase};

    use super::*;

    fn state(entries: u64) -> TopicState {
        TopicState {
            phase: TopicPhase::Syncing,
            role: Role::Peer,
            rule: Rule::default(),
            entries,
            authors: 0,
            holes: 0,
            state_hash: StateHash::empty(),
            coverage: Coverage::Complete,
            synced: None,
            providers: Vec::new(),
            waiting: Vec::new(),
            search_ms: None,
            behind: None,
            camps: Vec::new(),
            upto: Lsn::new(entries),
        }
    }

    #[test]
    fn a_slow_watcher_is_told_how_many_it_missed_and_then_the_state() {
        let mut watchers = Watchers::new(SharedCounters::default());
        let mut events = watchers.add(topic(), state(0)).unwrap();
        let caught_up = SyncEvent::CaughtUp {
            state_hash: StateHash::empty(),
        };
        for _ in 0..WATCHER_EVENTS_MAX + 9 {
            watchers.tell(topic(), Lsn::START, &caught_up);
        }
        watchers.catch_up(|_| Some(state(7)));
        for _ in 0..WATCHER_EVENTS_MAX {
            assert!(!matches!(
                events.events.try_recv().unwrap().1,
                SyncEvent::Lagged { .. }
            ));
        }
        assert!(
            events.events.try_recv().is_err(),
            "nothing before it has caught up"
        );
        watchers.catch_up(|_| Some(state(7)));
        assert_eq!(
            events.events.try_recv().unwrap().1,
            SyncEvent::Lagged { missed: 10 }
        );
        let (upto, last) = events.events.try_recv().unwrap();
        let summed_up = SyncEvent::State(Box::new(state(7)));
        assert_eq!((upto, last), (Lsn::new(7), summed_up));
        watchers.tell(topic(), Lsn::START, &caught_up);
        assert_eq!(events.events.try_recv().unwrap().1, caught_up);
    }
}
