//! What a topic's owner says of it: grants, revocations, and the manifest of a space.

use bytes::Bytes;
use osier_core::{Control, EntryHash, KeyCache, Kind, NodeId, Role, Seq, SignedEntry, Writing};
use osier_policy::{OwnerWords, Rank};
use osier_proto::{Source, ViewError};
use osier_store::ControlRow;

use crate::{
    error::{Error, Result},
    page::{self, blocking},
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

    /// Takes a grant back, for everybody. In a granted topic what the node has written up to now
    /// counts, as far as this node has it; nothing that comes later does.
    ///
    /// # Errors
    /// As [`Topic::grant`], or if the store cannot be read.
    pub async fn revoke(&self, node: NodeId) -> Result<EntryHash> {
        let last = match self.ticket.writing() {
            Writing::Open => None,
            Writing::Granted => self.last_of(node, None).await?,
        };
        self.decree(&Control::Revoke { node, last }).await
    }

    /// Takes a grant back in a granted topic, and all that the node has written after this entry,
    /// or all of it for none: every node removes it from its history. A later grant takes that back
    /// for entries that somebody still has.
    ///
    /// # Errors
    /// As [`Topic::revoke`], or if the entry is not held here or is not the node's.
    pub async fn revoke_after(&self, node: NodeId, last: Option<EntryHash>) -> Result<EntryHash> {
        let last = match last {
            None => None,
            Some(hash) => {
                let found = self.last_of(node, Some(hash)).await?;
                let is_it = found.is_some_and(|(_, found)| found == hash);
                found
                    .filter(|_| is_it)
                    .ok_or(Error::NotItsEntry { node, entry: hash })
                    .map(Some)?
            }
        };
        self.decree(&Control::Revoke { node, last }).await
    }

    /// Whether this node may write here, as far as it knows the owner's words.
    pub(crate) async fn may_write(&self) -> Result<bool> {
        let me = self.inner.id();
        if self.ticket.writing() == Writing::Open || self.ticket.owner() == me {
            return Ok(true);
        }
        let topic = self.clone();
        blocking(move || Ok(topic.words()?.grant(me) == Some(true))).await
    }

    /// The last entry of a node's chain, or the one named, that is held here and that can be proven
    /// by its own signature: what a revocation cuts off proves nothing any more (`ENT-10`).
    async fn last_of(
        &self,
        node: NodeId,
        named: Option<EntryHash>,
    ) -> Result<Option<(Seq, EntryHash)>> {
        let (store, id) = (self.inner.store()?, self.id());
        blocking(move || {
            let unreadable = |error: ViewError| Error::Read(error.to_string());
            let view = store.view(id).map_err(unreadable)?;
            let mut at = match named {
                Some(hash) => Some(hash),
                None => page::last_of(&*view, node)?.map(|(_, hash)| hash),
            };
            let mut keys = KeyCache::new();
            while let Some(hash) = at {
                let Some(wire) = view.entry(&hash).map_err(unreadable)? else {
                    return Ok(None);
                };
                let signed = SignedEntry::parse(wire)?;
                if signed.claimed_author() != node {
                    return Ok(None);
                }
                at = signed.claimed_prev();
                if let Ok(entry) = signed.verify(&mut keys) {
                    return Ok(Some((entry.header().seq(), hash)));
                }
            }
            Ok(None)
        })
        .await
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
