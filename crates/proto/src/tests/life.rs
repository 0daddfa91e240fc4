//! Silence, signs of life, broken connections and stores, tokens that no longer serve.

use osier_core::{Coverage, Duration, Instant, OrderKey};

use super::*;
use crate::{
    Moved,
    fault::{Fault, Rule},
    limit::{ALIVE_EVERY_MS, PEER_SILENT_MS, PEER_STALLED_MS},
    marker::FailureReason,
    message::{Alive, Mode, Phase, RefuseReason},
    output::{ClientEnd, ProviderEnd, SessionOutput},
    session::Session,
};

fn thousand() -> Vec<Verified<Entry>> {
    let mut chain = chain(3);
    (0..1000).map(|_| chain.next(&[7; 1000])).collect()
}

/// A session whose provider goes when it sends its third batch.
fn cut_at_the_third_batch(config: PairConfig) -> Pair {
    let mut batches = 0;
    let mut pair = Pair::with_tamper(
        config,
        Box::new(move |_, message| {
            batches += usize::from(matches!(message, Message::Entries(_)));
            if batches == 3 {
                Transit::Cut
            } else {
                Transit::Deliver(vec![message])
            }
        }),
    );
    pair.run();
    assert_eq!(pair.client_end(), &ClientEnd::Lost);
    pair
}

/// What came is stored; the next session brings the rest and nothing twice.
#[test]
fn provider_dies_after_400_of_1000() {
    let theirs = thousand();
    let (client, provider) = stores(&[], &theirs);
    let config = PairConfig::new(&client, &provider);
    let pair = cut_at_the_third_batch(config.clone());
    assert_eq!(pair.provider_ends, [ProviderEnd::Lost]);
    let stored = pair.stored;
    assert!((300..500).contains(&stored), "{stored}");

    let token = pair.token.expect("it came with the entries");
    let mut pair = Pair::new(config.with_token(&token).with_nonce(2));
    pair.run();
    assert_eq!(pair.evidence().mode(), Mode::Resume);
    assert_eq!(stored + pair.stored, 1000);
    assert_equal(&client, &provider);
}

/// The provider goes half-way, and its next life has written more: the rest comes, nothing twice.
#[test]
fn provider_restarts_mid_stream() {
    let all = large_entries(3, 14);
    let (client, provider) = stores(&[], &all[..12]);
    let config = PairConfig::new(&client, &provider);
    let pair = cut_at_the_third_batch(config.clone());
    let stored = pair.stored;
    assert!((1..12).contains(&stored), "{stored}");
    all[12..].iter().for_each(|entry| provider.insert(entry));
    let token = pair.token.expect("it came with the entries");
    let mut pair = Pair::new(config.with_token(&token).with_nonce(2));
    pair.run();
    assert_eq!(stored + pair.stored, 14);
    assert_equal(&client, &provider);
}

/// A parked marker is not kept: the next session judges its own.
#[test]
fn client_restarts_with_parked_marker() {
    let theirs = large_entries(3, 6);
    let (client, provider) = stores(&[], &theirs);
    let config = PairConfig::new(&client, &provider);
    let mut pair = Pair::with_tamper(
        config.clone(),
        Box::new(|_, message| {
            let lost = matches!(message, Message::Entries(_));
            Transit::Deliver(if lost { Vec::new() } else { vec![message] })
        }),
    );
    pair.step();
    assert!(pair.sent.contains(&(Direction::ToClient, "Complete")));
    assert!(pair.client_ends.is_empty(), "it waits for what it counts");
    drop(pair);
    assert_eq!(client.hashes(topic()).len(), 0);
    let mut pair = Pair::new(config.with_nonce(2));
    pair.run();
    assert_eq!(pair.evidence().received(), 6);
}

/// Entries and the token that covers them wait for one commit; without it neither is there.
#[test]
fn client_restarts_after_marker_before_persist() {
    let (client, provider) = stores(&[], &entries(3, 20));
    let config = PairConfig::new(&client, &provider);
    let mut pair = Pair::new(config.clone());
    pair.disks_answer = false;
    pair.step();
    assert!(pair.sent.contains(&(Direction::ToClient, "Complete")));
    assert!(
        pair.client_ends.is_empty(),
        "what is not stored is not vouched for"
    );
    assert_eq!((pair.stored, pair.token.is_some()), (0, false));
    drop(pair);
    let mut pair = Pair::new(config.with_nonce(2));
    pair.run();
    assert_eq!(pair.evidence().received(), 20);
}

/// A provider that goes on after what it has announced breaks a rule.
#[test]
fn never_ending_stream() {
    let theirs = entries(3, 5);
    let more: Vec<_> = entries(4, 5).iter().map(|entry| entry.to_wire()).collect();
    let (client, provider) = stores(&[], &theirs);
    let pair = run_tampered(
        PairConfig::new(&client, &provider),
        move |message| match message {
            Message::Entries(batch) => {
                let mut on = batch.clone();
                on.entries.clone_from(&more);
                vec![Message::Entries(batch), Message::Entries(on)]
            }
            Message::Complete(_) => Vec::new(),
            other => vec![other],
        },
    );
    let rule = Fault::PeerMisbehaved(Rule::TooManyEntries);
    assert_eq!(pair.client_end(), &ClientEnd::Fault(rule));
}

/// Without the token heads do the same.
#[test]
fn a_lost_token_costs_a_round_trip_and_nothing_twice() {
    let theirs = thousand();
    let (client, provider) = stores(&theirs[..400], &theirs);
    let pair = run(&client, &provider);
    assert_eq!((pair.evidence().mode(), pair.stored), (Mode::Heads, 600));
}

#[test]
fn token_of_a_wiped_provider_is_said_to_be_unserviceable() {
    let theirs = entries(3, 20);
    let (client, provider) = stores(&[], &theirs[..10]);
    let first = run(&client, &provider);
    provider.wipe(7);
    for entry in &theirs {
        provider.insert(entry);
    }
    let config = PairConfig::new(&client, &provider)
        .with_token(first.evidence().resume())
        .with_nonce(2);
    let mut pair = Pair::new(config);
    pair.run();
    assert!(pair.started[0].token_unserviceable);
    assert_eq!(pair.evidence().mode(), Mode::Heads);
    assert_equal(&client, &provider);
}

/// A wiped provider that holds nothing gets everything back from its client.
#[test]
fn a_wiped_provider_is_filled_by_its_client() {
    let theirs = entries(3, 20);
    let (client, provider) = stores(&theirs, &theirs);
    provider.wipe(7);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().entries(), 0);
    assert_equal(&client, &provider);
}

#[test]
fn token_older_than_the_floor_is_said_to_be_unserviceable() {
    let theirs = entries(3, 20);
    let (client, provider) = stores(&[], &theirs[..10]);
    let first = run(&client, &provider);
    for entry in &theirs {
        provider.insert(entry);
    }
    let floor = theirs[15].order_key();
    provider.prune(topic(), floor);
    let config = PairConfig::new(&client, &provider)
        .with_token(first.evidence().resume())
        .with_nonce(2);
    let mut pair = Pair::new(config);
    pair.run();
    assert!(pair.started[0].token_unserviceable);
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    assert_eq!(
        pair.stored, 5,
        "what the ring still holds and the client lacks"
    );
}

/// A token that fits but whose holder has moved on is serviceable; heads are used.
#[test]
fn a_token_whose_holder_has_more_is_no_error() {
    let theirs = entries(3, 20);
    let (client, provider) = stores(&[], &theirs[..10]);
    let first = run(&client, &provider);
    client.insert(&entries(4, 1)[0]);
    let config = PairConfig::new(&client, &provider)
        .with_token(first.evidence().resume())
        .with_nonce(2);
    let mut pair = Pair::new(config);
    pair.run();
    assert!(!pair.started[0].token_unserviceable);
    assert_eq!(pair.evidence().mode(), Mode::Heads);
}

/// SES-13: a provider that falls silent is given up, and one that is slow is not.
#[test]
fn silence_ends_a_session_and_signs_of_life_keep_it() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let mut pair = Pair::with_tamper(
        PairConfig::new(&client, &provider),
        Box::new(|direction, message| {
            Transit::Deliver(match direction {
                Direction::ToClient => Vec::new(),
                Direction::ToProvider => vec![message],
            })
        }),
    );
    pair.run();
    assert_eq!(pair.client_end(), &ClientEnd::Silent);
    let waited = pair.now.since(Instant::START);
    assert!(waited >= Duration::from_millis(PEER_SILENT_MS));
    assert!(waited < Duration::from_millis(PEER_SILENT_MS + 2 * ALIVE_EVERY_MS));
}

#[test]
fn signs_of_life_alone_do_not_hold_a_session_for_ever() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let alive = Message::Alive(Alive {
        phase: Phase::Finding,
        sent: 0,
    });
    let pair = run_tampered(
        PairConfig::new(&client, &provider),
        move |message| match message {
            Message::HelloAck(_) => vec![message],
            _ => vec![alive.clone()],
        },
    );
    assert_eq!(pair.client_end(), &ClientEnd::Silent);
    let waited = pair.now.since(Instant::START);
    assert!(waited >= Duration::from_millis(PEER_STALLED_MS));
}

/// A client whose disk is behind says so by `Alive`, and blames nobody for what it does not read.
#[test]
fn a_slow_disk_is_waited_for() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let mut pair = Pair::new(PairConfig::new(&client, &provider));
    pair.disks_answer = false;
    for _ in 0..60 {
        pair.step();
        pair.pass_time();
    }
    assert!(pair.client_ends.is_empty() && pair.provider_ends.is_empty());
    assert!(pair.now.since(Instant::START) > Duration::from_millis(PEER_SILENT_MS));
    pair.store_waiting();
    pair.run();
    assert_eq!(pair.evidence().received(), 5);
}

#[test]
fn a_batch_that_is_not_stored_ends_the_session_as_our_own_fault() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let mut pair = Pair::new(PairConfig::new(&client, &provider));
    pair.disks_answer = false;
    pair.step();
    pair.client.durable(0, false, pair.now);
    pair.run();
    assert!(matches!(
        pair.client_end(),
        ClientEnd::Fault(Fault::Local(_))
    ));
}

#[test]
fn a_provider_whose_store_cannot_be_read_refuses() {
    let (client, provider) = stores(&[], &entries(3, 5));
    provider.set_broken(true);
    let pair = run(&client, &provider);
    let ClientEnd::Refused {
        reason,
        retry_after_ms,
    } = pair.client_end()
    else {
        panic!("{:?}", pair.client_end());
    };
    assert_eq!(*reason, RefuseReason::StoreError);
    assert!(*retry_after_ms > 0);
}

#[test]
fn a_client_without_the_secret_learns_nothing() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let mut config = PairConfig::new(&client, &provider);
    config.provider_topic = Some(osier_core::TopicKeys::derive(
        osier_core::NodeId::NOBODY,
        &osier_core::TopicSecret::from_bytes([4; 32]),
        "pair",
    ));
    let mut pair = Pair::new(config);
    pair.run();
    let refused = ClientEnd::Refused {
        reason: RefuseReason::UnknownTopic,
        retry_after_ms: 0,
    };
    assert_eq!(pair.client_end(), &refused);
}

#[test]
fn a_cancelled_provider_says_why() {
    let (client, provider) = stores(&[], &entries(3, 5));
    let mut pair = Pair::with_tamper(
        PairConfig::new(&client, &provider),
        Box::new(|_, message| {
            let kept = !matches!(message, Message::Entries(_) | Message::Complete(_));
            Transit::Deliver(if kept { vec![message] } else { Vec::new() })
        }),
    );
    // The marker is lost on the way, so the provider's word is not its last.
    pair.step();
    assert!(pair.client_ends.is_empty());
    pair.client.cancel(FailureReason::Cancelled, pair.now);
    pair.run();
    assert_eq!(
        pair.client_end(),
        &ClientEnd::Failed(FailureReason::Cancelled)
    );
    assert_eq!(pair.provider_ends, [ProviderEnd::Lost]);
}

/// Any floor is legal, also one above everything.
#[test]
fn a_ring_without_entries_is_drained_at_once() {
    let (client, provider) = stores(&[], &[]);
    let floor = OrderKey {
        time: osier_core::Timestamp::from_millis(5),
        ..OrderKey::MIN
    };
    provider.prune(topic(), floor);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    assert!(pair.client.is_over());
}

/// SES-16: bytes of a large message are progress, a drip of single bytes is not, and either tells
/// that the peer lives.
#[test]
fn bytes_that_move_are_progress() {
    let theirs = thousand();
    let (client, provider) = stores(&[], &theirs);
    let mut pair = Pair::new(PairConfig::new(&client, &provider));
    let mut at = |ms: u64, moved: Moved| {
        let now = Instant::START.after(Duration::from_millis(ms));
        pair.client.stream_moved(moved, now);
        let told = std::iter::from_fn(|| pair.client.poll());
        told.filter(|o| matches!(o, SessionOutput::Progress { .. }))
            .count()
    };
    let read = |partial| Moved::Read { partial };
    let wrote = |bytes, waiting| Moved::Wrote { bytes, waiting };
    assert_eq!(at(400, read(512)), 1);
    assert_eq!(at(450, read(1_024)), 0, "once in a tenth of a second");
    assert_eq!(at(900, read(1_124)), 0);
    assert_eq!(at(1_300, read(1_624)), 1);
    assert_eq!(at(2_000, read(400)), 0, "of another message");
    assert_eq!(at(3_000, wrote(500, 100_000)), 0);
    assert_eq!(at(4_000, wrote(500, 99_500)), 1);
    assert_eq!(at(5_000, wrote(500, 0)), 0, "all is taken");
    assert_eq!(at(9_000, wrote(500, 0)), 0);
    assert!(pair.client.deadline().is_some_and(|at| at.as_nanos() > 0));
}

/// SES-16: heads are compared in slices, and who compares says so between them.
#[test]
fn a_long_comparison_is_done_in_slices_with_signs_of_life() {
    let mut author = chain(3);
    let all: Vec<_> = (0..9_000).map(|_| author.next(b"x")).collect();
    for provider_has_more in [true, false] {
        let few = &all[..1];
        let (client, provider) = if provider_has_more {
            stores(few, &all)
        } else {
            stores(&all, few)
        };
        let mut pair = Pair::new(PairConfig::new(&client, &provider));
        pair.work_takes_ms = 300;
        pair.run();
        assert_eq!(pair.evidence().mode(), Mode::Heads);
        assert!(pair.progress.len() >= 4, "{:?}", pair.progress.len());
        let alive = pair
            .sent
            .iter()
            .filter(|(to, name)| *to == Direction::ToClient && *name == "Alive");
        assert_eq!(alive.count() >= 4, provider_has_more);
        assert_equal(&client, &provider);
    }
}
