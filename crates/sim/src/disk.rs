//! A node's disk: what waits is merged into one transaction, as by the node's disk thread; time
//! passes between a commit and its being durable, and again until the engine knows. A crash in
//! between loses what was not durable.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use osier_core::{Entry, EntryHash, NodeId, Role, TopicId, Verified};
use osier_engine::{BatchId, Commit, DiskError, TopicReport};
use osier_eventdb::{EventDb, EventIndex};
use osier_policy::Rank;
use osier_proto::{Lsn, Source, StoreId};
use osier_store::{
    Batch, Committed, CommittedTopic, ControlRow, Fate, Store, StoreOptions,
    testing::{DiskFault, SimDisk},
};

use crate::{clock::Time, relay};

/// Pages that a store keeps in memory: far more than a run writes.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// Commits that go into one transaction at most; the node merges by size, too.
const MERGE_MAX: usize = 256;

/// What came of each commit of a transaction.
pub(crate) type Outcomes = Vec<(BatchId, Result<Vec<TopicReport>, DiskError>)>;

/// What a crash leaves.
#[derive(Debug)]
pub(crate) struct Vault {
    pub(crate) store: Store,
    /// The event index in the same file, if the node is a relay.
    pub(crate) index: Option<EventIndex>,
    image: SimDisk,
    /// The node's own trust list by topic.
    pub(crate) trust: BTreeMap<(TopicId, NodeId), Option<(Rank, Role)>>,
}

/// Writes on their way.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    waiting: VecDeque<Commit>,
    writing: Vec<Commit>,
}

impl Disk {
    /// Puts a commit behind those that wait.
    pub(crate) fn push(&mut self, commit: Commit) {
        self.waiting.push_back(commit);
    }

    /// Starts the next transaction; false when one is under way or nothing waits.
    pub(crate) fn start(&mut self) -> bool {
        if !self.writing.is_empty() || self.waiting.is_empty() {
            return false;
        }
        let merge = self.waiting.len().min(MERGE_MAX);
        self.writing.extend(self.waiting.drain(..merge));
        true
    }

    /// The transaction under way is over.
    pub(crate) fn finish(&mut self) -> Vec<Commit> {
        std::mem::take(&mut self.writing)
    }

    /// Commits that wait or are under way.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.writing.len()
    }
}

impl Vault {
    /// An empty disk.
    pub(crate) fn new(id: StoreId, is_relay: bool) -> Self {
        let image = SimDisk::new();
        let (store, index) = open(&image, id, is_relay);
        Self {
            store,
            index,
            image,
            trust: BTreeMap::new(),
        }
    }

    /// The power goes: what was synced stays, and any sectors of what came after. `torn` was being
    /// written, and got so many writes far.
    pub(crate) fn crash(&mut self, torn: &[Commit], writes: u64, seed: u64) {
        if !torn.is_empty() {
            self.image.fail_after(writes, DiskFault::Broken);
            let trust = self.trust.clone();
            self.write(torn);
            self.trust = trust;
        }
        self.image = self.image.crash(seed);
        (self.store, self.index) = open(&self.image, self.store.id(), self.index.is_some());
    }

    /// Where sessions take their snapshots.
    pub(crate) fn source(&self) -> Arc<dyn Source> {
        Arc::new(self.store.clone())
    }

    /// Writes what nobody has asked for, and what nobody is told of.
    pub(crate) fn put(&mut self, batch: &Batch) {
        self.store.commit(batch).expect("memory can be written");
    }

    /// Writes a merge in one transaction.
    pub(crate) fn write(&mut self, commits: &[Commit]) -> Outcomes {
        let mut batch = Batch::new();
        for commit in commits {
            batch.extend(commit.entries.iter().cloned());
            if let Some((provider, token)) = &commit.token {
                batch.keep_token(commit.topic, *provider, token.clone());
            }
            for word in &commit.control {
                let row = ControlRow {
                    seq: word.seq,
                    hash: word.hash,
                    bytes: word.control.to_bytes().into(),
                };
                batch.keep_control(commit.topic, row);
            }
        }
        match self.store.commit(&batch) {
            Ok(committed) => self.report(commits, committed),
            Err(error) => failed(commits, &error.to_string()),
        }
    }

    fn report(&mut self, commits: &[Commit], committed: Committed) -> Outcomes {
        let mut fates: BTreeMap<TopicId, VecDeque<(EntryHash, Fate)>> = BTreeMap::new();
        let mut topics = committed.topics;
        for (topic, of_topic) in &mut topics {
            fates.insert(*topic, std::mem::take(&mut of_topic.entries).into());
        }
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            if let Some((node, trust)) = commit.trust {
                self.trust.insert((commit.topic, node), trust);
            }
            let mut reports = Vec::new();
            if let Some(of_topic) = topics.get_mut(&commit.topic) {
                let queue = fates.get_mut(&commit.topic).expect("made with it");
                let mine: Vec<_> = queue.drain(..commit.entries.len()).collect();
                reports.push(self.topic_report(commit, of_topic, &mine));
            }
            outcomes.push((commit.batch, Ok(reports)));
        }
        outcomes
    }

    fn topic_report(
        &self,
        commit: &Commit,
        of_topic: &mut CommittedTopic,
        fates: &[(EntryHash, Fate)],
    ) -> TopicReport {
        let mut appended: Vec<(Lsn, EntryHash)> = fates
            .iter()
            .filter_map(|(hash, fate)| match fate {
                Fate::New(lsn) => Some((*lsn, *hash)),
                Fate::Duplicate | Fate::BelowFloor | Fate::Withheld => None,
            })
            .collect();
        appended.append(&mut of_topic.released);
        appended.sort_unstable();
        let withheld = fates.iter().filter(|(_, fate)| *fate == Fate::Withheld);
        let new: BTreeSet<EntryHash> = appended.iter().map(|(_, hash)| *hash).collect();
        let authors: BTreeSet<NodeId> = commit.entries.iter().map(Verified::signer).collect();
        let (forked, later) = std::mem::take(&mut of_topic.forked)
            .into_iter()
            .partition(|fork| authors.contains(&fork.author));
        of_topic.forked = later;
        let forked: Vec<osier_store::Forked> = forked;
        TopicReport {
            topic: commit.topic,
            appended,
            holes_opened: self.holes_opened(commit, &new),
            forked: forked
                .iter()
                .map(|f| (f.author, f.first, f.second))
                .collect(),
            summary: of_topic.summary,
            last: of_topic.point.last,
            holes: of_topic.hole_count,
            withheld: withheld.map(|(hash, _)| *hash).collect(),
            removed: std::mem::take(&mut of_topic.removed),
            missed: std::mem::take(&mut of_topic.missed),
        }
    }

    /// New entries that name something that is not held.
    fn holes_opened(&self, commit: &Commit, new: &BTreeSet<EntryHash>) -> u64 {
        let view = self.store.view(commit.topic).expect("memory can be read");
        let open = |entry: &&Verified<Entry>| {
            let held = |hash| view.holds(&hash).expect("memory can be read");
            new.contains(&entry.hash()) && !entry.header().links().all(held)
        };
        commit.entries.iter().filter(open).count() as u64
    }
}

/// A crash must never leave a store that does not open, or an index that cannot be brought up.
fn open(image: &SimDisk, id: StoreId, is_relay: bool) -> (Store, Option<EventIndex>) {
    let db = is_relay.then(relay::index);
    let mut options = StoreOptions::new().cache_bytes(CACHE_BYTES);
    if let Some(db) = &db {
        let projection: Arc<EventDb> = Arc::clone(db);
        options = options.projection(projection);
    }
    let store = options
        .open_backend(image.backend(), "simulated disk", id)
        .expect("whatever a crash leaves is a store");
    let attach = |db: Arc<EventDb>| db.attach(&store, &mut |_, _| {});
    let index = db.map(attach).transpose();
    (store.clone(), index.expect("memory is written"))
}

/// Every commit has failed alike.
pub(crate) fn failed(commits: &[Commit], cause: &str) -> Outcomes {
    let error = || Err(DiskError(cause.to_owned()));
    commits
        .iter()
        .map(|commit| (commit.batch, error()))
        .collect()
}

/// A disk's temper in one run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Temper {
    /// Until when every write fails.
    pub(crate) full_until: Time,
    /// When the engine learns of the last transaction.
    pub(crate) reported_at: Time,
}
