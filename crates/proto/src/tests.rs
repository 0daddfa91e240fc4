//! The machines against each other: each mode, each row of the promise's matrix that a pair of
//! sessions can show, and random pairs.

mod mode;

use std::sync::Arc;

use osier_core::{Entry, TopicId, Verified, testing::Chain};

use crate::testing::{MemorySource, Pair, PairConfig};

/// The topic of these tests.
fn topic() -> TopicId {
    PairConfig::topic()
}

fn chain(author: u64) -> Chain {
    Chain::in_topic(author, topic())
}

/// `count` entries of one author.
fn entries(author: u64, count: usize) -> Vec<Verified<Entry>> {
    let mut chain = chain(author);
    (0..count)
        .map(|at| chain.next(format!("{author}/{at}").as_bytes()))
        .collect()
}

/// The client's and the provider's store.
fn stores(
    client: &[Verified<Entry>],
    provider: &[Verified<Entry>],
) -> (Arc<MemorySource>, Arc<MemorySource>) {
    (
        MemorySource::with(1, client),
        MemorySource::with(2, provider),
    )
}

fn run(client: &Arc<MemorySource>, provider: &Arc<MemorySource>) -> Pair {
    let mut pair = Pair::new(PairConfig::new(client, provider));
    pair.run();
    pair
}

fn assert_equal(client: &Arc<MemorySource>, provider: &Arc<MemorySource>) {
    assert_eq!(client.hashes(topic()), provider.hashes(topic()));
}
