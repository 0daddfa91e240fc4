//! Projections: indexes over the log that others keep in the same file and the same transaction.

use osier_core::{Entry, TopicId, Verified, WireEntry};
use osier_proto::Lsn;
use redb::WriteTransaction;

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
        txn: &WriteTransaction,
        topic: TopicId,
        entries: &[(Lsn, &Verified<Entry>)],
    ) -> Result<(), redb::Error>;

    /// Entries that retention removes, in range order, as they were held.
    ///
    /// # Errors
    /// Our disk is at fault; the whole transaction is undone.
    fn dropped(
        &self,
        txn: &WriteTransaction,
        topic: TopicId,
        entries: &[(Lsn, WireEntry)],
    ) -> Result<(), redb::Error>;
}
