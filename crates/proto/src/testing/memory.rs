//! The slow and obvious store: maps, and a walk for every question.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use osier_core::{
    AuthorTips, Coverage, Entry, EntryHash, Head, NodeId, OrderKey, Seq, StateHash, TopicId,
    Verified, WireEntry, limit::AUTHOR_TIPS_MAX, state_hash,
};
use osier_reconcile::{Bound, Item, Storage, VectorStorage};

use crate::{
    message::Summary,
    view::{LogPage, Lsn, Source, StoreId, StorePoint, View, ViewError, range_item},
};

/// A store in memory, with a snapshot for who asks.
#[derive(Debug)]
pub struct MemorySource {
    topics: Mutex<BTreeMap<TopicId, Arc<Log>>>,
    store: Mutex<StoreId>,
    broken: AtomicBool,
}

#[derive(Debug, Clone)]
struct Log {
    entries: BTreeMap<Lsn, Arc<Verified<Entry>>>,
    places: BTreeMap<EntryHash, Lsn>,
    last: Lsn,
    pruned: u64,
    coverage: Coverage,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            places: BTreeMap::new(),
            last: Lsn::START,
            pruned: 0,
            coverage: Coverage::Complete,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemorySource {
    /// An empty store; `id` tells stores apart.
    pub fn new(id: u8) -> Arc<Self> {
        Arc::new(Self {
            topics: Mutex::default(),
            store: Mutex::new(StoreId::from_bytes([id; 16])),
            broken: AtomicBool::new(false),
        })
    }

    /// An empty store with these entries.
    pub fn with<'a>(id: u8, entries: impl IntoIterator<Item = &'a Verified<Entry>>) -> Arc<Self> {
        let source = Self::new(id);
        entries.into_iter().for_each(|entry| source.insert(entry));
        source
    }

    /// Stores an entry, if it is not held.
    pub fn insert(&self, entry: &Verified<Entry>) {
        let mut topics = lock(&self.topics);
        let log = Arc::make_mut(topics.entry(entry.header().topic()).or_default());
        if !log.places.contains_key(&entry.hash()) {
            log.last = Lsn::new(log.last.get() + 1);
            log.places.insert(entry.hash(), log.last);
            log.entries.insert(log.last, Arc::new(entry.clone()));
        }
    }

    /// Forgets everything; the store is another one from now on.
    pub fn wipe(&self, id: u8) {
        lock(&self.topics).clear();
        *lock(&self.store) = StoreId::from_bytes([id; 16]);
    }

    /// Drops what lies below the floor, tips excepted, and becomes a ring.
    pub fn prune(&self, topic: TopicId, floor: OrderKey) {
        let mut topics = lock(&self.topics);
        let log = Arc::make_mut(topics.entry(topic).or_default());
        let tips: BTreeSet<EntryHash> = log.heads().iter().map(|head| head.hash).collect();
        let before = log.entries.len();
        log.entries.retain(|_, entry| {
            range_item(&entry.order_key()) >= range_item(&floor) || tips.contains(&entry.hash())
        });
        let entries = &log.entries;
        log.places.retain(|_, lsn| entries.contains_key(lsn));
        log.pruned += (before - log.entries.len()) as u64;
        log.coverage = Coverage::From { floor };
    }

    /// Takes an entry out, as a revocation does: snapshots of before still have it.
    pub fn withdraw(&self, entry: &Verified<Entry>) {
        let mut topics = lock(&self.topics);
        let log = Arc::make_mut(topics.entry(entry.header().topic()).or_default());
        if let Some(lsn) = log.places.remove(&entry.hash()) {
            log.entries.remove(&lsn);
            log.pruned += 1;
        }
    }

    /// From now on no snapshot can be taken, or again.
    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
    }

    /// Hashes of all entries held, in order.
    pub fn hashes(&self, topic: TopicId) -> BTreeSet<EntryHash> {
        let topics = lock(&self.topics);
        let log = topics.get(&topic);
        log.into_iter()
            .flat_map(|log| log.places.keys().copied())
            .collect()
    }

    /// A snapshot as it is.
    pub fn snapshot(&self, topic: TopicId) -> MemoryView {
        let log = lock(&self.topics).get(&topic).cloned().unwrap_or_default();
        let items: Vec<Item> = log
            .entries
            .values()
            .map(|entry| range_item(&entry.order_key()))
            .collect();
        let holes = log.holes();
        MemoryView {
            store: *lock(&self.store),
            summary: log.summary(),
            order: Ordered(VectorStorage::new(items)),
            holes,
            log,
        }
    }
}

impl Source for MemorySource {
    fn view(&self, topic: TopicId) -> Result<Box<dyn View>, ViewError> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(ViewError {
                doing: "taking a snapshot",
                cause: "the test broke this store".to_owned(),
            });
        }
        Ok(Box::new(self.snapshot(topic)))
    }
}

impl Log {
    fn heads(&self) -> Vec<Head> {
        let mut authors: BTreeMap<NodeId, Vec<&Entry>> = BTreeMap::new();
        for entry in self.entries.values() {
            authors
                .entry(entry.header().author())
                .or_default()
                .push(entry);
        }
        let mut heads = Vec::new();
        for (author, entries) in authors {
            let named: BTreeSet<EntryHash> = entries
                .iter()
                .filter_map(|entry| entry.header().prev())
                .collect();
            let mut tips: Vec<(EntryHash, Seq)> = entries
                .iter()
                .map(|entry| (entry.hash(), entry.header().seq()))
                .filter(|(hash, _)| !named.contains(hash))
                .collect();
            tips.sort_unstable();
            tips.truncate(AUTHOR_TIPS_MAX);
            heads.extend(tips.iter().map(|&(hash, seq)| Head { author, seq, hash }));
        }
        heads.sort_unstable();
        heads
    }

    fn holes(&self) -> Vec<EntryHash> {
        let named: BTreeSet<EntryHash> = self
            .entries
            .values()
            .flat_map(|entry| entry.header().links())
            .collect();
        named
            .into_iter()
            .filter(|hash| !self.places.contains_key(hash))
            .collect()
    }

    fn summary(&self) -> Summary {
        let heads = self.heads();
        let authors: Vec<AuthorTips> = heads
            .chunk_by(|a, b| a.author == b.author)
            .map(|tips| AuthorTips {
                author: tips[0].author,
                tips: tips.iter().map(|head| (head.seq, head.hash)).collect(),
            })
            .collect();
        Summary {
            set: self.places.keys().copied().collect(),
            state: state_hash(&authors),
            authors: authors.len() as u64,
            coverage: self.coverage,
        }
    }

    fn entry(&self, hash: &EntryHash) -> Option<&Verified<Entry>> {
        self.entries
            .get(self.places.get(hash)?)
            .map(|entry| &**entry)
    }
}

/// One topic of a [`MemorySource`], frozen.
#[derive(Debug)]
pub struct MemoryView {
    log: Arc<Log>,
    store: StoreId,
    summary: Summary,
    holes: Vec<EntryHash>,
    order: Ordered,
}

impl MemoryView {
    /// The state hash.
    pub fn state(&self) -> StateHash {
        self.summary.state
    }
}

impl View for MemoryView {
    fn summary(&self) -> Summary {
        self.summary
    }

    fn point(&self) -> StorePoint {
        StorePoint {
            store: self.store,
            last: self.log.last,
            pruned: self.log.pruned,
        }
    }

    fn holds(&self, hash: &EntryHash) -> Result<bool, ViewError> {
        Ok(self.log.places.contains_key(hash))
    }

    fn entry(&self, hash: &EntryHash) -> Result<Option<WireEntry>, ViewError> {
        Ok(self.log.entry(hash).map(|entry| entry.to_wire()))
    }

    fn log(&self, after: Lsn, entries_max: usize, bytes_max: usize) -> Result<LogPage, ViewError> {
        let mut page = LogPage {
            entries: Vec::new(),
            done: true,
        };
        let mut bytes = 0;
        for (lsn, entry) in self.log.entries.range(Lsn::new(after.get() + 1)..) {
            bytes += entry.size();
            let full = page.entries.len() >= entries_max || bytes > bytes_max;
            if full && !page.entries.is_empty() {
                page.done = false;
                break;
            }
            page.entries.push((*lsn, entry.to_wire()));
        }
        Ok(page)
    }

    fn heads(&self, after: Option<NodeId>, heads_min: usize) -> Result<Vec<Head>, ViewError> {
        let all = self.log.heads();
        let mut page: Vec<Head> = Vec::new();
        for head in all.into_iter().filter(|head| Some(head.author) > after) {
            let whole = page.last().is_none_or(|last| last.author != head.author);
            if page.len() >= heads_min && whole {
                break;
            }
            page.push(head);
        }
        Ok(page)
    }

    fn chain(
        &self,
        author: &NodeId,
        after: Option<Seq>,
        max: usize,
    ) -> Result<Vec<(Seq, EntryHash)>, ViewError> {
        let mut chain: Vec<(Seq, EntryHash)> = self
            .log
            .entries
            .values()
            .filter(|entry| entry.header().author() == *author)
            .map(|entry| (entry.header().seq(), entry.hash()))
            .filter(|(seq, _)| Some(*seq) > after)
            .collect();
        chain.sort_unstable();
        chain.truncate(max);
        Ok(chain)
    }

    fn hole_count(&self) -> u64 {
        self.holes.len() as u64
    }

    fn holes(&self, after: Option<EntryHash>, max: usize) -> Result<Vec<EntryHash>, ViewError> {
        let later = self
            .holes
            .iter()
            .copied()
            .filter(|hole| Some(*hole) > after);
        Ok(later.take(max).collect())
    }

    fn linked_by(&self, hash: &EntryHash) -> Result<Option<NodeId>, ViewError> {
        let mut entries = self.log.entries.values();
        let naming = entries.find(|entry| entry.header().prev() == Some(*hash));
        Ok(naming.map(|entry| entry.header().author()))
    }

    fn links(&self, author: &NodeId, hash: &EntryHash) -> Result<bool, ViewError> {
        Ok(self.log.entries.values().any(|entry| {
            entry.header().prev() == Some(*hash) && entry.header().author() == *author
        }))
    }

    fn place(&self, hash: &EntryHash) -> Result<Option<Lsn>, ViewError> {
        Ok(self.log.places.get(hash).copied())
    }

    fn order(&self) -> &dyn Storage<Error = ViewError> {
        &self.order
    }
}

fn never(never: Infallible) -> ViewError {
    match never {}
}

/// The range order; only the error type differs from a sorted vector.
#[derive(Debug)]
struct Ordered(VectorStorage);

impl Storage for Ordered {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        self.0.len().map_err(never)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<osier_reconcile::Summary, ViewError> {
        self.0.summary(ranks).map_err(never)
    }

    fn at(&self, rank: u64) -> Result<Item, ViewError> {
        self.0.at(rank).map_err(never)
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        self.0.items(ranks, each).map_err(never)
    }

    fn rank(&self, bound: &Bound) -> Result<u64, ViewError> {
        self.0.rank(bound).map_err(never)
    }
}
