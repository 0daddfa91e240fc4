//! The appender: what waits is judged, put into as few entries as possible, and written under the
//! node's key. `OK` goes out when that is durable, and not before (`NOS-32`).

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use osier::{Fault, Kind, TopicId};
use osier_eventdb::{EventDbError, EventIndex, EventView};
use osier_nostr::{Event, EventId, Prefix, Published, Reason, bodies};
use tokio::sync::Notify;

use super::room::Held;
use crate::{
    clock::Clock,
    limit,
    peer::{Mail, Peer},
    scan::trouble,
    target::Target,
};

/// Events that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    queue: Mutex<VecDeque<Pending>>,
    came: Notify,
}

/// A verified and admitted event, and who waits for its `OK`.
#[derive(Debug)]
pub(super) struct Pending {
    peer: Arc<Peer>,
    event: Event,
    _held: Held,
}

/// Writes what waits, batch by batch: what comes while a batch is on its way to disk goes into the
/// next.
#[derive(Debug)]
pub(crate) struct Appender {
    /// What waits.
    pub(crate) waiting: Arc<Waiting>,
    /// What is held already.
    pub(crate) index: EventIndex,
    /// Where it goes.
    pub(crate) target: Target,
    /// The time.
    pub(crate) clock: Clock,
}

/// Events of one topic, each with those who wait for it, the first of them its publisher.
type Fresh = BTreeMap<TopicId, Vec<(Event, Vec<Pending>)>>;

impl Waiting {
    pub(super) fn push(&self, peer: &Arc<Peer>, event: Event, held: Held) {
        self.lock().push_back(Pending {
            peer: Arc::clone(peer),
            event,
            _held: held,
        });
        self.came.notify_one();
    }

    /// Takes what goes into one batch; waits until there is something.
    pub(super) async fn take(&self) -> Vec<Pending> {
        loop {
            let taken = self.take_now();
            if !taken.is_empty() {
                return taken;
            }
            self.came.notified().await;
        }
    }

    fn take_now(&self) -> Vec<Pending> {
        let mut queue = self.lock();
        let mut bytes = 0;
        let fits = queue
            .iter()
            .take(limit::APPEND_EVENTS_MAX)
            .take_while(|it| {
                bytes += it.event.json().len();
                bytes <= limit::APPEND_BYTES_MAX
            });
        let count = fits.count().max(1).min(queue.len());
        let taken = queue.drain(..count).collect();
        if queue.is_empty() {
            *queue = VecDeque::new();
        }
        taken
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Appender {
    /// Runs until it is dropped.
    pub(crate) async fn run(self) {
        loop {
            let taken = self.waiting.take().await;
            // The index is on disk; other tasks go on meanwhile.
            let fresh = tokio::task::block_in_place(|| self.judge(taken));
            for (topic, events) in fresh {
                self.write(topic, events).await;
            }
        }
    }

    /// Answers what is held or hidden; what is left is new, each event once.
    fn judge(&self, taken: Vec<Pending>) -> Fresh {
        let view = match self.index.view() {
            Ok(view) => view,
            Err(error) => {
                let reason = trouble(&error);
                for it in taken {
                    it.answer(Published::Refused(reason.clone()));
                }
                return Fresh::new();
            }
        };
        let mut fresh = Fresh::new();
        let mut places: BTreeMap<EventId, (TopicId, usize)> = BTreeMap::new();
        for it in taken {
            let id = it.event.id();
            if let Some((topic, at)) = places.get(&id) {
                fresh.entry(*topic).or_default()[*at].1.push(it);
                continue;
            }
            match self.judge_one(&view, &it.event) {
                Ok(None) => {
                    let topic = self.target.of(&it.event);
                    let events = fresh.entry(topic).or_default();
                    places.insert(id, (topic, events.len()));
                    events.push((it.event.clone(), vec![it]));
                }
                Ok(Some(answer)) => it.answer(answer),
                Err(error) => it.answer(Published::Refused(trouble(&error))),
            }
        }
        fresh
    }

    fn judge_one(
        &self,
        view: &EventView,
        event: &Event,
    ) -> Result<Option<Published>, EventDbError> {
        let admission = view.admit(event, self.clock.now().wall)?;
        Ok(admission.answer())
    }

    async fn write(&self, topic: TopicId, events: Vec<(Event, Vec<Pending>)>) {
        for (event, _) in &events {
            self.index.db().vouch(event);
        }
        let entries = bodies(events.iter().map(|(event, _)| event));
        let written = match self.target.topic(topic) {
            Some(topic) => topic.publish_entries(Kind::NOSTR, entries).await,
            None => Err(osier::Error::UnknownTopic(topic)),
        };
        let outcome = match &written {
            Ok(_) => Published::Stored,
            Err(error) => Published::Refused(refusal(error)),
        };
        for (_, waiting) in events {
            let mut waiting = waiting.into_iter();
            if let Some(first) = waiting.next() {
                first.answer(outcome.clone());
            }
            let again = match &outcome {
                Published::Stored => Published::Duplicate,
                other => other.clone(),
            };
            waiting.for_each(|it| it.answer(again.clone()));
        }
    }
}

impl Pending {
    pub(super) fn event(&self) -> &Event {
        &self.event
    }

    pub(super) fn answer(self, outcome: Published) {
        let id = self.event.id();
        self.peer.post(Mail::Published { id, outcome });
    }
}

/// Our own trouble in a client's terms.
fn refusal(error: &osier::Error) -> Reason {
    if error.fault() == Fault::Busy {
        let sentence = "too much waits to be stored; try again";
        return Reason::new(Prefix::RateLimited, sentence);
    }
    tracing::error!(%error, "events cannot be stored");
    Reason::new(
        Prefix::Error,
        "the relay cannot store events now; try again",
    )
}
