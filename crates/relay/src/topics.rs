//! The node's topics: how complete each is, and what has come into their logs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use osier::{Coverage, Lsn, Osier, SyncEvent, Synced, Topic, TopicId, TopicPhase};
use osier_nostr::nip::nip11::TopicState as Shown;
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
};

use crate::{ephemeral::Ephemeral, feed::Stretch, workers::Workers};

/// How complete the topics are. `finish` at `EOSE` needs all of them.
#[derive(Debug)]
pub(crate) struct Completion {
    topics: Mutex<BTreeMap<TopicId, Known>>,
    /// Which changes of the list of topics have been taken in.
    seen: AtomicU64,
    changes: watch::Receiver<u64>,
}

#[derive(Debug)]
struct Known {
    name: String,
    state: State,
}

/// How complete a topic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// This node is the only one that could know more.
    Sole,
    /// Somebody whose word counts vouches for it.
    Complete,
    /// The same, from a time on.
    From,
    /// Not yet, or not any more.
    Pending,
    /// Nobody can complete it.
    Failed,
    /// Those whose word counts disagree.
    Diverged,
}

impl State {
    fn of(phase: TopicPhase, synced: Option<&Synced>) -> Self {
        match (phase, synced) {
            (TopicPhase::Synced, Some(synced)) => Self::synced(synced),
            (TopicPhase::Synced, None) | (TopicPhase::Syncing | TopicPhase::Behind, _) => {
                Self::Pending
            }
            (TopicPhase::Diverged, _) => Self::Diverged,
            (TopicPhase::Failed, _) => Self::Failed,
        }
    }

    fn synced(synced: &Synced) -> Self {
        match (synced.coverage == Coverage::Complete, synced.session) {
            (false, _) => Self::From,
            (true, None) => Self::Sole,
            (true, Some(_)) => Self::Complete,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Sole => "sole",
            Self::Complete => "complete",
            Self::From => "from",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Diverged => "diverged",
        }
    }
}

impl Completion {
    fn new(changes: watch::Receiver<u64>) -> Self {
        Self {
            topics: Mutex::default(),
            // Until the list has been read once, nothing is complete.
            seen: AtomicU64::new(u64::MAX),
            changes,
        }
    }

    /// Whether every topic of the node is complete to its beginning.
    pub(crate) fn is_complete(&self) -> bool {
        let current = self.seen.load(Ordering::SeqCst) == *self.changes.borrow();
        let complete = |known: &Known| matches!(known.state, State::Sole | State::Complete);
        current && self.lock().values().all(complete)
    }

    /// The topics as NIP-11 shows them.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let topics = self.lock();
        let shown = topics.values().map(|known| Shown {
            name: known.name.clone(),
            state: known.state.word().to_owned(),
        });
        shown.collect()
    }

    fn set(&self, topic: TopicId, state: State) {
        if let Some(known) = self.lock().get_mut(&topic) {
            known.state = state;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TopicId, Known>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the node's topics, those that it joins later too.
#[derive(Debug)]
pub(crate) struct Followed {
    osier: Osier,
    /// The topics that are served; none is all.
    served: Option<BTreeSet<TopicId>>,
    completion: Arc<Completion>,
    changes: watch::Receiver<u64>,
    feed: Feed,
    ephemeral: Arc<Ephemeral>,
    tasks: JoinSet<()>,
    watched: BTreeMap<TopicId, AbortHandle>,
}

/// Where new entries are told.
pub(crate) type Feed = Arc<Workers<Stretch>>;

impl Followed {
    /// Follows the present topics: what is appended from now on is told to `feed`.
    ///
    /// # Errors
    /// If the node's topics cannot be read.
    pub(crate) async fn start(
        osier: Osier,
        served: Option<BTreeSet<TopicId>>,
        feed: Feed,
        ephemeral: Arc<Ephemeral>,
    ) -> osier::Result<Self> {
        let changes = osier.topic_changes();
        let mut followed = Self {
            completion: Arc::new(Completion::new(changes.clone())),
            osier,
            served,
            changes,
            feed,
            ephemeral,
            tasks: JoinSet::new(),
            watched: BTreeMap::new(),
        };
        followed.look(Start::Now).await?;
        Ok(followed)
    }

    /// How complete they are.
    pub(crate) fn completion(&self) -> Arc<Completion> {
        Arc::clone(&self.completion)
    }

    /// Runs until it is dropped.
    pub(crate) async fn run(mut self) {
        while self.changes.changed().await.is_ok() {
            if let Err(error) = self.look(Start::Beginning).await {
                // Nothing is complete until the list has been read.
                tracing::error!(%error, "cannot read the node's topics");
            }
        }
    }

    /// Reads the list of topics.
    async fn look(&mut self, start: Start) -> osier::Result<()> {
        let seen = *self.changes.borrow_and_update();
        let mut topics = self.osier.topics()?;
        if let Some(served) = &self.served {
            topics.retain(|topic| served.contains(&topic.id()));
        }
        let ids: Vec<TopicId> = topics.iter().map(Topic::id).collect();
        self.forget(|id| !ids.contains(id));
        for topic in topics {
            // One that was joined again has a new stream.
            let ended = |handle: &AbortHandle| handle.is_finished();
            if self.watched.get(&topic.id()).is_none_or(ended) {
                self.follow(topic, start).await?;
            }
        }
        self.completion.seen.store(seen, Ordering::SeqCst);
        Ok(())
    }

    fn forget(&mut self, gone: impl Fn(&TopicId) -> bool) {
        self.completion.lock().retain(|id, _| !gone(id));
        self.watched.retain(|id, handle| {
            let gone = gone(id);
            if gone {
                handle.abort();
            }
            !gone
        });
    }

    async fn follow(&mut self, topic: Topic, start: Start) -> osier::Result<()> {
        let id = topic.id();
        let known = Known {
            name: topic.name().to_owned(),
            state: State::Pending,
        };
        self.completion.lock().insert(id, known);
        let mut events = topic.events().await?;
        let mut told = match (start, events.next().await) {
            (Start::Now, Some((upto, event))) => {
                note(&self.completion, id, &event);
                upto
            }
            (Start::Beginning, Some((_, event))) => {
                note(&self.completion, id, &event);
                Lsn::START
            }
            (_, None) => return Ok(()),
        };
        let mut passing = topic.ephemeral().await?;
        let (completion, feed) = (Arc::clone(&self.completion), Arc::clone(&self.feed));
        let ephemeral = Arc::clone(&self.ephemeral);
        let handle = self.tasks.spawn(async move {
            loop {
                let next = tokio::select! {
                    next = events.next() => next,
                    Some((kind, item)) = passing.next() => {
                        tokio::task::block_in_place(|| ephemeral.hear(kind, &item));
                        continue;
                    }
                };
                let Some((upto, event)) = next else { return };
                let upto = match event {
                    SyncEvent::Appended { upto: last, .. } => last.max(upto),
                    _ => upto,
                };
                if upto > told {
                    feed.submit(Stretch {
                        topic: id,
                        after: told,
                        upto,
                    });
                    told = upto;
                }
                note(&completion, id, &event);
            }
        });
        self.watched.insert(id, handle);
        Ok(())
    }
}

/// From where a topic is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// From its present end: every client that comes reads what is there.
    Now,
    /// From its beginning: clients are there already, and all of it is new to them.
    Beginning,
}

/// Takes in what an event says of completeness.
fn note(completion: &Completion, topic: TopicId, event: &SyncEvent) {
    let state = match event {
        SyncEvent::State(state) => State::of(state.phase, state.synced.as_ref()),
        SyncEvent::HistorySynced(synced) => State::synced(synced),
        SyncEvent::HistorySyncFailed { .. } => State::Failed,
        SyncEvent::Diverged { .. } => State::Diverged,
        SyncEvent::Behind { .. } => State::Pending,
        _ => return,
    };
    completion.set(topic, state);
}
