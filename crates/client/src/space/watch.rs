//! Following a space: one stream for all of its topics.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{Kind, TopicId};
use osier_engine::{SyncEvent, TopicPhase};
use osier_policy::{
    SpaceChange, SpaceFacts, SpaceManifest, SpaceVerdict, TopicState, WithdrawReason, space_change,
    space_verdict,
};
use tokio::{sync::mpsc, task::JoinSet};

use super::Space;
use crate::{
    error::{Error, Result},
    event::Event,
    stream::Watch,
    topic::Topic,
};

/// Changes that wait to be looked at, of all topics together. At it the topics' streams wait; they
/// lose nothing, and a slow one is told as it is then.
const CHANGES_WAITING_MAX: usize = 256;

/// What a watcher of a space is told.
#[derive(Debug)]
pub enum SpaceEvent {
    /// Where the space stands; first, and whenever it moves without being synced or withdrawn.
    State(SpaceState),
    /// Every topic of the list is synced, or has settled without.
    Synced {
        /// Of which list.
        version: u64,
        /// How many topics it has.
        topics: usize,
        /// Those that settled without being synced: failed or diverged.
        degraded: Vec<TopicId>,
    },
    /// It was synced and no longer is.
    Withdrawn(WithdrawReason),
    /// The stream cannot go on. Always last.
    Broken(Error),
}

/// Where a space stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceState {
    /// The version of the list that this node knows; none until it has come.
    pub version: Option<u64>,
    /// Where the control topic stands.
    pub control: TopicState,
    /// The listed topics, by id.
    pub topics: Vec<SpaceMember>,
    /// What they add up to.
    pub verdict: SpaceVerdict,
}

impl SpaceState {
    pub(super) fn of(facts: &SpaceFacts, names: &BTreeMap<TopicId, String>) -> Self {
        let manifest = facts.manifest.as_ref();
        let listed = manifest.map(|manifest| &manifest.topics);
        let member = |id: &TopicId| SpaceMember {
            id: *id,
            name: names.get(id).cloned().unwrap_or_default(),
            state: *facts.topics.get(id).unwrap_or(&TopicState::Pending),
        };
        Self {
            version: manifest.map(|manifest| manifest.version),
            control: facts.control,
            topics: listed.into_iter().flatten().map(member).collect(),
            verdict: space_verdict(facts),
        }
    }
}

/// One topic of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceMember {
    /// Which.
    pub id: TopicId,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: TopicState,
}

/// What one of the streams had to say.
#[derive(Debug)]
enum Change {
    Moved(TopicId, TopicState),
    /// The owner said something in the control topic.
    Said,
    Broken(Error),
}

/// The stream of a space.
#[derive(Debug)]
pub struct SpaceWatch {
    space: Space,
    changes: mpsc::Receiver<Change>,
    tell: mpsc::Sender<Change>,
    streams: JoinSet<()>,
    followed: BTreeSet<TopicId>,
    names: BTreeMap<TopicId, String>,
    facts: SpaceFacts,
    told: Option<SpaceState>,
    waiting: Option<SpaceEvent>,
    broken: bool,
}

impl Space {
    /// Follows the space, and joins topics as its owner lists them.
    ///
    /// # Errors
    /// If the node is offline, or there are too many watchers.
    pub async fn watch(&self) -> Result<SpaceWatch> {
        let (tell, changes) = mpsc::channel(CHANGES_WAITING_MAX);
        let mut watch = SpaceWatch {
            space: self.clone(),
            changes,
            tell,
            streams: JoinSet::new(),
            followed: BTreeSet::new(),
            names: BTreeMap::new(),
            facts: SpaceFacts {
                control: TopicState::Pending,
                manifest: None,
                topics: BTreeMap::new(),
            },
            told: None,
            waiting: None,
            broken: false,
        };
        // In this order: a list that comes in between is read, told, or both, and not missed.
        let end = self.control.info().await?.end;
        watch.read_manifest().await?;
        watch.follow(&self.control, self.control.watch(end).await?);
        Ok(watch)
    }
}

impl SpaceWatch {
    /// The next event; none when the node was shut down.
    pub async fn next(&mut self) -> Option<SpaceEvent> {
        loop {
            if self.broken {
                return None;
            }
            if let Some(event) = self.waiting.take() {
                return Some(event);
            }
            let state = self.state();
            if self.told.as_ref() != Some(&state) {
                return Some(self.tell(&state));
            }
            // This end of the channel is kept, so it does not close by itself.
            let change = tokio::select! {
                change = self.changes.recv() => change?,
                Some(_) = self.streams.join_next(), if !self.streams.is_empty() => {
                    if self.streams.is_empty() {
                        return None;
                    }
                    continue;
                }
            };
            if let Err(error) = self.take(change).await {
                self.broken = true;
                return Some(SpaceEvent::Broken(error));
            }
        }
    }

    /// A state that moved: what changed by it, and then the state.
    fn tell(&mut self, state: &SpaceState) -> SpaceEvent {
        let before = self.told.replace(state.clone());
        let before = before.map_or(SpaceVerdict::ControlPending, |state| state.verdict);
        if let Some(change) = space_change(&before, &state.verdict) {
            self.waiting = Some(change.into());
        }
        SpaceEvent::State(state.clone())
    }

    async fn take(&mut self, change: Change) -> Result<()> {
        match change {
            Change::Moved(id, state) if id == self.space.id() => self.facts.control = state,
            Change::Moved(id, state) => {
                self.facts.topics.insert(id, state);
            }
            Change::Said => self.read_manifest().await?,
            Change::Broken(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes in the newest list; joins and follows what is new in it.
    async fn read_manifest(&mut self) -> Result<()> {
        let Some(manifest) = self.space.manifest()? else {
            return Ok(());
        };
        let topics = self.space.join_listed(&manifest).await?;
        self.facts.manifest = Some(SpaceManifest {
            version: manifest.version(),
            topics: topics.iter().map(Topic::id).collect(),
        });
        for topic in topics {
            self.names.insert(topic.id(), topic.name().to_owned());
            if !self.followed.contains(&topic.id()) {
                let watch = topic.watch_events().await?;
                self.follow(&topic, watch);
            }
        }
        Ok(())
    }

    fn follow(&mut self, topic: &Topic, mut watch: Watch) {
        let (id, tell) = (topic.id(), self.tell.clone());
        self.followed.insert(id);
        self.streams.spawn(async move {
            while let Some(event) = watch.next().await {
                let change = match event {
                    Event::Entry { entry, .. } if entry.header().kind() == Kind::CONTROL => {
                        Some(Change::Said)
                    }
                    Event::Entry { .. } => None,
                    Event::Sync(event) => moved(&event).map(|state| Change::Moved(id, state)),
                    Event::Broken(error) => Some(Change::Broken(error)),
                };
                if let Some(change) = change
                    && tell.send(change).await.is_err()
                {
                    return;
                }
            }
        });
    }

    fn state(&self) -> SpaceState {
        SpaceState::of(&self.facts, &self.names)
    }
}

impl From<SpaceChange> for SpaceEvent {
    fn from(change: SpaceChange) -> Self {
        match change {
            SpaceChange::Synced {
                version,
                topics,
                degraded,
            } => Self::Synced {
                version,
                topics,
                degraded,
            },
            SpaceChange::Withdrawn(reason) => Self::Withdrawn(reason),
        }
    }
}

/// Where a topic stands now; pending while the node is offline.
pub(super) async fn standing_of(topic: &Topic) -> Result<TopicState> {
    let state = topic.info().await?.state;
    Ok(state.map_or(TopicState::Pending, |state| standing(state.phase)))
}

fn standing(phase: TopicPhase) -> TopicState {
    match phase {
        TopicPhase::Synced => TopicState::Synced,
        TopicPhase::Failed | TopicPhase::Diverged => TopicState::Degraded,
        TopicPhase::Syncing | TopicPhase::Behind => TopicState::Pending,
    }
}

/// Where an event leaves its topic; none if it says nothing of that.
fn moved(event: &SyncEvent) -> Option<TopicState> {
    match event {
        SyncEvent::State(state) => Some(standing(state.phase)),
        SyncEvent::HistorySynced(_) | SyncEvent::CaughtUp { .. } => Some(TopicState::Synced),
        SyncEvent::HistorySyncFailed { .. } | SyncEvent::Diverged { .. } => {
            Some(TopicState::Degraded)
        }
        SyncEvent::Behind { .. } => Some(TopicState::Pending),
        _ => None,
    }
}
