//! Projections: indexes over the log that others keep in the same file and the same transaction.

use osier_core::{Entry, TopicId, Verified, WireEntry};
use osier_proto::Lsn;
use redb::{ReadTransaction, WriteTransaction};

use crate::{
    error::{Cause, StoreError},
    item::LogItems,
    key::TopicNo,
    schema::{ReadTables, Tables},
    store::Store,
    topic,
};

/// An index over the log, such as the Nostr event index. It is called inside the transaction that
/// changes the log, so it is never ahead of it or behind; it can be dropped and built again from
/// the log.
///
/// Its tables must not have the names of the store's own.
pub trait Projection: Send + Sync {
    /// Entries that are new, in log order.
    ///
    /// # Errors
    /// Our disk is at fault; the whole transaction is undone.
    fn stored(
        &self,
        change: &LogChange<'_>,
        entries: &[(Lsn, &Verified<Entry>)],
    ) -> Result<(), redb::Error>;

    /// Entries that retention removes, in range order, as they were held; also those of a topic
    /// that is forgotten, in log order, in several calls.
    ///
    /// # Errors
    /// Our disk is at fault; the whole transaction is undone.
    fn dropped(
        &self,
        change: &LogChange<'_>,
        entries: &[(Lsn, WireEntry)],
    ) -> Result<(), redb::Error>;

    /// A write transaction has ended: whether what it called for was kept, on disk. Called after
    /// each, before the next begins, also when it called for nothing.
    fn ended(&self, kept: bool) {
        let _ = kept;
    }

    /// Copies to a backup what the log cannot give again, if there is such a thing; how many rows.
    /// All else is built anew when the backup is used.
    ///
    /// # Errors
    /// A disk is at fault; there is no backup then.
    fn back_up(&self, from: &ReadTransaction, to: &WriteTransaction) -> Result<u64, redb::Error> {
        let _ = (from, to);
        Ok(0)
    }
}

/// The transaction that a projection is called in.
pub struct LogChange<'a> {
    txn: &'a WriteTransaction,
    items: LogItems<'a>,
    topic: TopicId,
    number: TopicNo,
}

impl<'a> LogChange<'a> {
    pub(crate) fn of(
        txn: &'a WriteTransaction,
        tables: &'a Tables<'_>,
        topic: TopicId,
        number: TopicNo,
    ) -> Self {
        let items = LogItems::of(tables);
        Self {
            txn,
            items,
            topic,
            number,
        }
    }

    /// The transaction, for the projection's own tables; those of the store are open already.
    pub fn txn(&self) -> &'a WriteTransaction {
        self.txn
    }

    /// Items of the log as it is within the transaction: new ones are there, dropped ones are not.
    pub fn items(&self) -> &LogItems<'a> {
        &self.items
    }

    /// Of which topic the entries are.
    pub fn topic(&self) -> TopicId {
        self.topic
    }

    /// The topic's number in this store.
    pub fn number(&self) -> TopicNo {
        self.number
    }
}

impl std::fmt::Debug for LogChange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LogChange(of {:?}, {:?})", self.topic, self.number)
    }
}

impl Store {
    /// Runs a projection's own write, which changes nothing of the log: one transaction, one sync,
    /// like [`Store::commit`].
    ///
    /// # Errors
    /// Our disk is at fault, or what the projection returns; nothing is changed then.
    pub fn project<T>(
        &self,
        doing: &'static str,
        run: impl FnOnce(&WriteTransaction, &LogItems<'_>) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        self.write(doing, |writing| {
            let tables = Tables::open(writing.txn)?;
            Ok(run(writing.txn, &LogItems::of(&tables))?)
        })
    }

    /// Every topic of which the store holds anything, with its number, as of a transaction.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn topic_numbers(
        &self,
        txn: &ReadTransaction,
    ) -> Result<Vec<(TopicId, TopicNo)>, StoreError> {
        let read = || topic::numbers(&ReadTables::open(txn)?.topic_number);
        read().map_err(|cause: Cause| self.error("list the topics of", cause))
    }

    /// The number of a topic, as of a transaction; none if the store has never heard of it.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn topic_number(
        &self,
        txn: &ReadTransaction,
        topic: &TopicId,
    ) -> Result<Option<TopicNo>, StoreError> {
        let read = || topic::number(&ReadTables::open(txn)?.topic_number, topic);
        read().map_err(|cause: Cause| self.error("look up a topic of", cause))
    }
}
