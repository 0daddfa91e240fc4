//! The machines against each other: each mode, each row of the promise's matrix that a pair of
//! sessions can show, and random pairs.

mod chaos;
mod fault;
mod life;
mod marker;
mod mode;
mod random;
mod ring;
mod table;
mod withdrawn;

use std::sync::Arc;

use osier_core::{
    Entry, KeyCache, Signed, TopicId, Verified,
    testing::{Chain, secret},
};

use crate::{
    marker::HistorySyncComplete,
    message::Message,
    testing::{Direction, MemorySource, Pair, PairConfig, Transit},
};

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

/// Entries so large that a batch holds only two or three.
fn large_entries(author: u64, count: usize) -> Vec<Verified<Entry>> {
    let mut chain = chain(author);
    (0..count)
        .map(|at| chain.next(&vec![at.to_le_bytes()[0]; 100_000]))
        .collect()
}

/// Runs a pair on a network that does this with what the provider says.
fn run_tampered(
    config: PairConfig,
    mut tamper: impl FnMut(Message) -> Vec<Message> + 'static,
) -> Pair {
    let mut pair = Pair::with_tamper(
        config,
        Box::new(move |direction, message| {
            Transit::Deliver(match direction {
                Direction::ToClient => tamper(message),
                Direction::ToProvider => vec![message],
            })
        }),
    );
    pair.run();
    pair
}

/// A marker, changed and signed again by test node `signer`.
fn changed(
    marker: Signed<HistorySyncComplete>,
    signer: u64,
    change: impl Fn(&mut HistorySyncComplete),
) -> Message {
    let verified = marker.verify(&mut KeyCache::new());
    let mut marker = verified.expect("a provider's marker holds").into_inner();
    change(&mut marker);
    Message::Complete(Signed::sign(&secret(signer), &marker))
}

/// Runs with every marker changed, and signed again by the provider.
fn run_with_marker(
    config: PairConfig,
    change: impl Fn(&mut HistorySyncComplete) + 'static,
) -> Pair {
    run_tampered(config, move |message| match message {
        Message::Complete(marker) => vec![changed(marker, 2, &change)],
        other => vec![other],
    })
}
