//! Lies in what is served: a liar that keeps a part of its history out of its snapshot. What it
//! then signs is true of what it shows, so only other providers can tell.

use std::{collections::BTreeSet, sync::Arc};

use osier_core::{Entry, NodeId, SignedEntry, TopicId, Verified};
use osier_proto::{Lsn, Source, StoreId};
use osier_store::{Batch, Store};

use super::Lie;
use crate::disk::Vault;

impl Lie {
    /// Whether it shows clients a part of its history as if that were all.
    pub const fn omits(self) -> bool {
        matches!(self, Self::Stale | Self::HidesAuthor | Self::Equivocates)
    }
}

/// What a client is shown of a topic, as a store of its own.
pub(crate) fn shown(
    lie: Lie,
    store: &Store,
    topic: TopicId,
    client: NodeId,
    id: StoreId,
) -> Arc<dyn Source> {
    let mut shadow = Vault::new(id, false);
    let mut batch = Batch::new();
    batch.extend(part(lie, all(store, topic), client));
    shadow.put(&batch);
    shadow.source()
}

fn all(store: &Store, topic: TopicId) -> Vec<Verified<Entry>> {
    let view = store.view(topic).expect("memory can be read");
    let page = view.log(Lsn::START, usize::MAX, usize::MAX);
    let entries = page.expect("memory can be read").entries.into_iter();
    let parsed = entries.map(|(_, entry)| SignedEntry::parse(entry).expect("a stored entry"));
    parsed.map(SignedEntry::trust_stored).collect()
}

fn part(lie: Lie, mut all: Vec<Verified<Entry>>, client: NodeId) -> Vec<Verified<Entry>> {
    let authors: BTreeSet<NodeId> = all.iter().map(Verified::signer).collect();
    let hidden = match lie {
        Lie::HidesAuthor => authors.last().copied(),
        Lie::Equivocates => {
            let at = usize::from(client.as_bytes()[0]) % authors.len().max(1);
            authors.iter().nth(at).copied()
        }
        _ => {
            all.truncate(all.len() / 2);
            None
        }
    };
    all.retain(|entry| Some(entry.signer()) != hidden);
    all
}
