//! Networks and peers that do anything: nothing panics, every session ends once, and a drained
//! client holds all that the provider's snapshot held.

use std::collections::BTreeSet;

use osier_core::{Duration, EntryHash, Instant};
use proptest::prelude::*;

use super::*;
use crate::{
    client::ClientSession,
    marker::FailureReason,
    output::{ClientEnd, SessionOutput},
    provider::ProviderSession,
    session::Session,
};

/// What a network does with one message.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Pass,
    Drop,
    Double,
    /// Held until the next message has passed.
    Delay,
    Cut,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Pass),
        1 => Just(Fate::Drop),
        1 => Just(Fate::Double),
        1 => Just(Fate::Delay),
        1 => Just(Fate::Cut),
    ]
}

/// Stores that meet in each mode, with batches enough to lose some.
fn scene(number: usize) -> (Arc<MemorySource>, Arc<MemorySource>) {
    let (a, b, large) = (entries(3, 9), entries(4, 6), large_entries(5, 7));
    let mut trunk = chain(6);
    let shared = [trunk.next(b"0"), trunk.next(b"1")];
    let mut other = trunk.clone();
    let (mine, theirs) = ([trunk.next(b"mine")], [other.next(b"a"), other.next(b"b")]);
    match number {
        0 => stores(&a, &a),
        1 => stores(&[], &[&a[..], &large[..]].concat()),
        2 => stores(&[&a[..3], &b[..]].concat(), &[&a[..], &large[..]].concat()),
        3 => stores(
            &[&shared[..], &mine[..]].concat(),
            &[&shared[..], &theirs[..], &large].concat(),
        ),
        _ => {
            let many: Vec<_> = (100..350).flat_map(|author| entries(author, 1)).collect();
            stores(
                &[&many[1..], &large[..2]].concat(),
                &[&many[..249], &large[3..]].concat(),
            )
        }
    }
}

fn run_chaos(scene_number: usize, fates: Vec<Fate>) {
    let (client, provider) = scene(scene_number);
    let promised: BTreeSet<EntryHash> = provider.hashes(topic());
    let mut fates = fates.into_iter();
    let mut delayed: Vec<(Direction, Message)> = Vec::new();
    let mut pair = Pair::with_tamper(
        PairConfig::new(&client, &provider),
        Box::new(move |direction, message| {
            let fate = fates.next().unwrap_or(Fate::Pass);
            let mut passing = match fate {
                Fate::Pass => vec![message],
                Fate::Drop => Vec::new(),
                Fate::Double => vec![message.clone(), message],
                Fate::Delay => {
                    delayed.push((direction, message));
                    return Transit::Deliver(Vec::new());
                }
                Fate::Cut => return Transit::Cut,
            };
            let (now, later) = delayed.drain(..).partition(|(to, _)| *to == direction);
            delayed = later;
            let now: Vec<_> = now;
            passing.extend(now.into_iter().map(|(_, message)| message));
            Transit::Deliver(passing)
        }),
    );
    pair.run();
    assert_eq!(pair.client_ends.len(), 1, "{:?}", pair.client_ends);
    assert!(pair.provider_ends.len() <= 1, "{:?}", pair.provider_ends);
    if let [ClientEnd::Drained(_)] = &pair.client_ends[..] {
        let held = client.hashes(topic());
        assert!(
            held.is_superset(&promised),
            "drained and something is missing"
        );
    }
    assert!(pair.progress.is_sorted_by(|a, b| a.0 <= b.0));
}

/// What a driver may do with a machine.
#[derive(Debug, Clone, Copy)]
enum Act {
    Give(usize),
    Bulk,
    Durable(u64, bool),
    Wait(u64),
    Closed,
    Cancel,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => any::<usize>().prop_map(Act::Give),
        6 => Just(Act::Bulk),
        4 => (0..4_u64, prop::bool::weighted(0.9)).prop_map(|(batch, ok)| Act::Durable(batch, ok)),
        2 => (0..15_000_u64).prop_map(Act::Wait),
        1 => Just(Act::Closed),
        1 => Just(Act::Cancel),
    ]
}

/// Every message of honest sessions in every mode, both ways.
fn corpus() -> Vec<Message> {
    let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
    for number in 0..5 {
        let (client, provider) = scene(number);
        let keep = Arc::clone(&kept);
        let mut pair = Pair::with_tamper(
            PairConfig::new(&client, &provider),
            Box::new(move |_, message| {
                keep.lock().unwrap().push(message.clone());
                Transit::Deliver(vec![message])
            }),
        );
        pair.run();
    }
    let corpus = kept.lock().unwrap().clone();
    assert!(corpus.len() > 30);
    corpus
}

/// Drives a machine through anything; counts its ends.
fn drive(session: &mut dyn Session, corpus: &[Message], acts: &[Act]) -> usize {
    let mut now = Instant::START;
    let mut ends = 0;
    for act in acts {
        match *act {
            Act::Give(at) => session.handle(corpus[at % corpus.len()].clone(), now),
            Act::Bulk => drop(session.poll_bulk(now)),
            Act::Durable(batch, ok) => session.durable(batch, ok, now),
            Act::Wait(ms) => {
                now = now.after(Duration::from_millis(ms));
                session.on_time(now);
            }
            Act::Closed => session.stream_closed(now),
            Act::Cancel => session.cancel(FailureReason::Cancelled, now),
        }
        while let Some(output) = session.poll() {
            let end = matches!(
                output,
                SessionOutput::ClientEnded(_) | SessionOutput::ProviderEnded(_)
            );
            ends += usize::from(end);
        }
        assert!(ends <= 1);
        assert_eq!(session.is_over(), session.deadline().is_none());
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// 04: drained means that nothing is missing, whatever the network did.
    #[test]
    fn whatever_the_network_does_drained_means_all(
        number in 0..5_usize,
        fates in prop::collection::vec(fate(), 1..25),
    ) {
        run_chaos(number, fates);
    }
}

/// 07: no sequence of messages, whoever sends it, makes a machine panic or end twice.
#[test]
fn no_sequence_of_messages_breaks_a_machine() {
    let corpus = corpus();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let inputs = (0..5_usize, prop::collection::vec(act(), 0..30));
    runner
        .run(&inputs, |(number, acts)| {
            let (client, provider) = scene(number);
            let config = PairConfig::new(&client, &provider);
            let mut asking = ClientSession::new(config.client_config(), Instant::START).unwrap();
            let Some(SessionOutput::Send(Message::Hello(hello))) = asking.poll() else {
                panic!("a client says hello");
            };
            let serving = ProviderSession::accept(config.provider_config(), hello, Instant::START);
            drive(&mut asking, &corpus, &acts);
            drive(&mut serving.expect("granted"), &corpus, &acts);
            Ok(())
        })
        .unwrap();
}
