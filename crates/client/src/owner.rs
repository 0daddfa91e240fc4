//! What a topic's owner says of it: grants, revocations, and the manifest of a space.

use bytes::Bytes;
use osier_core::{Control, EntryHash, Kind, NodeId, Role};
use osier_policy::{OwnerWords, Rank};
use osier_store::ControlRow;

use crate::{
    error::{Error, Result},
    topic::Topic,
};

impl Topic {
    /// Lets a node's word count for everybody in this topic, under this node's key as its owner.
    /// Durable when this returns; others heed it when they have it.
    ///
    /// # Errors
    /// If this node does not own the topic, or the disk did not take it.
    pub async fn grant(&self, node: NodeId, rank: Rank, role: Role) -> Result<EntryHash> {
        let rank = rank.get();
        self.decree(&Control::Grant { node, rank, role }).await
    }

    /// Takes a grant back, for everybody.
    ///
    /// # Errors
    /// As [`Topic::grant`].
    pub async fn revoke(&self, node: NodeId) -> Result<EntryHash> {
        self.decree(&Control::Revoke { node }).await
    }

    /// Says something as the owner.
    pub(crate) async fn decree(&self, control: &Control) -> Result<EntryHash> {
        let me = self.inner.id();
        if self.ticket.owner() != me {
            return Err(Error::NotOwner {
                topic: self.id(),
                owner: self.ticket.owner(),
            });
        }
        let items = vec![Bytes::from(control.to_bytes())];
        let node = self.inner.node().await?;
        let hashes = node.publish(self.id(), Kind::CONTROL, vec![items]).await?;
        hashes.first().copied().ok_or(Error::Stopped)
    }

    /// What the owner has said, as far as this node knows.
    pub(crate) fn words(&self) -> Result<OwnerWords> {
        let rows = self.inner.store()?.control(self.id())?;
        let rows = rows.iter().map(ControlRow::said);
        Ok(OwnerWords::read(rows))
    }
}
