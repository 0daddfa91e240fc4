//! SES-5: each mode is chosen as designed, and costs the round trips that it should.

use osier_core::Coverage;

use super::*;
use crate::{
    message::{Mode, Verdict},
    output::ProviderEnd,
};

fn served(pair: &Pair) -> (u64, u64) {
    match pair.provider_ends.as_slice() {
        [
            ProviderEnd::Served {
                verdict: Verdict::Drained,
                sent,
                received,
                ..
            },
        ] => (*sent, *received),
        other => panic!("not served: {other:?}"),
    }
}

#[test]
fn an_empty_topic_ends_in_one_round_trip() {
    let (client, provider) = stores(&[], &[]);
    let pair = run(&client, &provider);
    let evidence = pair.evidence();
    assert_eq!((evidence.mode(), evidence.entries()), (Mode::Equal, 0));
    assert_eq!(pair.round_trips, 1);
    assert!(evidence.is_converged());
    assert_eq!(served(&pair), (0, 0));
}

#[test]
fn an_equal_topic_ends_in_one_round_trip_of_constant_bytes() {
    let mut bytes = Vec::new();
    for count in [1, 300] {
        let all = entries(3, count);
        let (client, provider) = stores(&all, &all);
        let pair = run(&client, &provider);
        assert_eq!(pair.evidence().mode(), Mode::Equal);
        assert_eq!(pair.round_trips, 1);
        bytes.push(pair.bytes);
    }
    assert!(bytes[1] < bytes[0] + 32, "{bytes:?}");
}

#[test]
fn an_empty_client_is_streamed_to_in_one_round_trip() {
    let all = [entries(3, 40), entries(4, 40)].concat();
    let (client, provider) = stores(&[], &all);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().mode(), Mode::Empty);
    assert_eq!(pair.evidence().coverage(), Coverage::Complete);
    assert_eq!(pair.round_trips, 1);
    assert_eq!(served(&pair), (80, 0));
    assert_equal(&client, &provider);
    assert_eq!(pair.token.as_ref(), Some(pair.evidence().resume()));
    assert_eq!(pair.progress.last(), Some(&(80, Some(80))));
}

#[test]
fn a_token_brings_only_what_is_new() {
    let all = entries(3, 100);
    let (client, provider) = stores(&[], &all[..90]);
    let first = run(&client, &provider);
    for entry in &all {
        provider.insert(entry);
    }
    let config = PairConfig::new(&client, &provider)
        .with_token(first.evidence().resume())
        .with_nonce(2);
    let mut pair = Pair::new(config);
    pair.run();
    assert_eq!(pair.evidence().mode(), Mode::Resume);
    assert_eq!((pair.round_trips, pair.stored), (1, 10));
    assert_equal(&client, &provider);
}

/// A client followed gossip after its token, was cut off, and comes back: still one round trip.
#[test]
fn a_token_older_than_what_gossip_brought_still_resumes() {
    let all = entries(3, 60);
    let (client, provider) = stores(&[], &all[..20]);
    let token = run(&client, &provider)
        .token
        .expect("a drained session leaves a token");
    for entry in &all[20..30] {
        client.insert(entry);
        provider.insert(entry);
    }
    for entry in &all[30..] {
        provider.insert(entry);
    }
    let mut pair = Pair::new(
        PairConfig::new(&client, &provider)
            .with_token(&token)
            .with_nonce(9),
    );
    pair.run();
    assert_eq!(pair.evidence().mode(), Mode::Resume);
    assert_eq!(pair.round_trips, 1);
    assert_eq!(served(&pair), (30, 0));
    assert_equal(&client, &provider);
}

#[test]
fn few_authors_exchange_heads_both_ways() {
    let (a, b) = (entries(3, 60), entries(4, 60));
    let mine = [&a[..60], &b[..10]].concat();
    let theirs = [&a[..20], &b[..60], &entries(5, 5)].concat();
    let (client, provider) = stores(&mine, &theirs);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().mode(), Mode::Heads);
    assert_eq!(pair.round_trips, 2);
    assert_eq!(served(&pair), (55, 40));
    assert_equal(&client, &provider);
}

#[test]
fn many_authors_and_few_differences_are_found_by_ranges() {
    let all: Vec<_> = (10..400).flat_map(|author| entries(author, 2)).collect();
    let (client, provider) = stores(&all[..778], &[&all[2..], &entries(3, 1)].concat());
    let pair = run(&client, &provider);
    assert_eq!(pair.started[0].mode, Mode::Ranges);
    assert_eq!(served(&pair), (3, 2));
    assert!(pair.round_trips <= 3, "{}", pair.round_trips);
    assert_equal(&client, &provider);
}

#[test]
fn a_fork_falls_through_from_heads_to_ranges() {
    let mut trunk = chain(3);
    let shared: Vec<_> = (0..5).map(|_| trunk.next(b"shared")).collect();
    let mut other = trunk.clone();
    let mine: Vec<_> = (0..3).map(|_| trunk.next(b"mine")).collect();
    let theirs: Vec<_> = (0..4).map(|_| other.next(b"theirs")).collect();
    let (client, provider) = stores(
        &[&shared[..], &mine[..]].concat(),
        &[&shared[..], &theirs[..]].concat(),
    );
    let pair = run(&client, &provider);
    assert_eq!(pair.started[0].mode, Mode::Heads);
    assert_eq!(pair.evidence().mode(), Mode::Ranges);
    assert_eq!(served(&pair), (4, 3));
    assert_equal(&client, &provider);
}
