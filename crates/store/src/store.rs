//! The store: one redb file, one writer, snapshots for readers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use osier_core::TopicId;
use osier_proto::{Source, StoreId, View, ViewError};
use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use crate::{
    batch::{Batch, Committed},
    commit,
    error::{Cause, StoreError},
    key::TopicNo,
    order_index::OrderIndex,
    projection::Projection,
    snapshot::Snapshot,
};

/// Topics whose chunks are kept in memory: 72 bytes for each 400 entries or so. Over it: all are
/// forgotten and read again on use.
const INDEXES_MAX: usize = 4096;

/// One node's store. Clones are the same store. Reads take snapshots and never wait for a write;
/// writes wait for each other.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    db: Database,
    path: PathBuf,
    id: StoreId,
    /// Held through a transaction and the publishing of what it made.
    writer: Mutex<()>,
    indexes: Mutex<BTreeMap<TopicNo, Versions>>,
    projections: Vec<Arc<dyn Projection>>,
}

/// The order index of a topic: of the newest version, and of the one before while a transaction is
/// under way.
type Versions = Vec<(u64, Arc<OrderIndex>)>;

impl Store {
    pub(crate) fn from_parts(
        db: Database,
        path: PathBuf,
        id: StoreId,
        projections: Vec<Arc<dyn Projection>>,
    ) -> Self {
        let inner = Inner {
            db,
            path,
            id,
            writer: Mutex::new(()),
            indexes: Mutex::new(BTreeMap::new()),
            projections,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The store's name for life; a wiped store has another.
    pub fn id(&self) -> StoreId {
        self.inner.id
    }

    /// The file, or a word in brackets for a store without one.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Writes a batch: one transaction, one sync. When it returns the batch is durable (`STO-8`);
    /// when it fails nothing of it is there.
    ///
    /// # Errors
    /// Our disk is at fault. After a failure of the disk the store must be opened again.
    pub fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        self.write("commit entries to", |writing| commit::run(writing, batch))
    }

    /// A snapshot of a topic as of the last durable batch. An unknown topic is an empty one.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn snapshot(&self, topic: TopicId) -> Result<Snapshot, StoreError> {
        self.read("read", |txn| Snapshot::take(self, txn, topic))
    }

    /// A read transaction over the whole file, for projections and backups.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn begin_read(&self) -> Result<ReadTransaction, StoreError> {
        self.read("read", |_| Ok(self.inner.db.begin_read()?))
    }

    /// Runs a read.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&ReadTransaction) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        let run = || read(&self.inner.db.begin_read()?);
        run().map_err(|cause| self.error(doing, cause))
    }

    /// Runs a write and makes it durable, or undoes it whole.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        write: impl FnOnce(&mut Writing<'_>) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        let _writer = lock(&self.inner.writer);
        let run = || {
            let mut txn = self.inner.db.begin_write()?;
            txn.set_quick_repair(true);
            let mut writing = Writing {
                store: self,
                txn: &txn,
                indexes: BTreeMap::new(),
            };
            let done = write(&mut writing)?;
            let made = writing.indexes;
            self.publish(&made);
            let committed = txn.commit();
            self.retire(&made, committed.is_ok());
            committed?;
            Ok(done)
        };
        let done = run();
        for projection in self.projections() {
            projection.ended(done.is_ok());
        }
        done.map_err(|cause| self.error(doing, cause))
    }

    pub(crate) fn error(&self, doing: &'static str, cause: Cause) -> StoreError {
        StoreError::new(doing, &self.inner.path, cause)
    }

    pub(crate) fn projections(&self) -> &[Arc<dyn Projection>] {
        &self.inner.projections
    }

    /// The index of one version of a topic, if it is in memory.
    pub(crate) fn index(&self, no: TopicNo, version: u64) -> Option<Arc<OrderIndex>> {
        let indexes = lock(&self.inner.indexes);
        let found = indexes.get(&no)?.iter().find(|(of, _)| *of == version);
        found.map(|(_, index)| Arc::clone(index))
    }

    /// Keeps an index that a reader has loaded, unless a newer one is there.
    pub(crate) fn offer_index(&self, no: TopicNo, version: u64, index: &Arc<OrderIndex>) {
        let mut indexes = lock(&self.inner.indexes);
        bound(&mut indexes);
        let versions = indexes.entry(no).or_default();
        if versions.iter().all(|(of, _)| *of < version) {
            *versions = vec![(version, Arc::clone(index))];
        }
    }

    /// Before the transaction is durable: a reader may start right after it.
    fn publish(&self, made: &BTreeMap<TopicNo, (u64, Option<Arc<OrderIndex>>)>) {
        let mut indexes = lock(&self.inner.indexes);
        bound(&mut indexes);
        for (no, (version, index)) in made {
            if let Some(index) = index {
                indexes
                    .entry(*no)
                    .or_default()
                    .push((*version, Arc::clone(index)));
            }
        }
    }

    /// After: only what is now the newest version stays.
    fn retire(&self, made: &BTreeMap<TopicNo, (u64, Option<Arc<OrderIndex>>)>, durable: bool) {
        let mut indexes = lock(&self.inner.indexes);
        for (no, (version, index)) in made {
            if let Some(versions) = indexes.get_mut(no) {
                let keep = index.is_some();
                versions.retain(|(of, _)| {
                    if durable {
                        keep && of == version
                    } else {
                        of != version
                    }
                });
            }
        }
    }
}

fn bound(indexes: &mut BTreeMap<TopicNo, Versions>) {
    if indexes.len() >= INDEXES_MAX {
        indexes.clear();
    }
}

/// A panic elsewhere leaves nothing half done that these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A write transaction under way.
pub(crate) struct Writing<'a> {
    pub(crate) store: &'a Store,
    pub(crate) txn: &'a WriteTransaction,
    /// The order indexes that it made; none for a topic that it removed.
    pub(crate) indexes: BTreeMap<TopicNo, (u64, Option<Arc<OrderIndex>>)>,
}

impl Source for Store {
    fn view(&self, topic: TopicId) -> Result<Box<dyn View>, ViewError> {
        let snapshot = self.snapshot(topic).map_err(|error| ViewError {
            doing: "taking a snapshot",
            cause: error.to_string(),
        })?;
        Ok(Box::new(snapshot))
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.inner.path.display())
    }
}
