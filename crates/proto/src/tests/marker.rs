//! The rows of the matrix about markers: one short test each (`CMP-6` to `CMP-12`).

use osier_core::{EntryHash, NodeId, RequestId, SessionId};

use super::*;
use crate::{
    fault::{Fault, Rule},
    marker::Streamed,
    message::Verdict,
    output::{ClientEnd, CutReason, ProviderEnd},
};

fn empty_client(theirs: &[Verified<Entry>]) -> (PairConfig, Arc<MemorySource>) {
    let (client, provider) = stores(&[], theirs);
    (PairConfig::new(&client, &provider), client)
}

fn cut(pair: &Pair) -> CutReason {
    match pair.client_end() {
        ClientEnd::Cut { reason } => *reason,
        other => panic!("not cut: {other:?}"),
    }
}

/// The rule that the provider broke; it was told that its marker was rejected.
fn broken_rule(pair: &Pair) -> Rule {
    match pair.client_end() {
        ClientEnd::Fault(Fault::PeerMisbehaved(rule)) => *rule,
        other => panic!("no fault: {other:?}"),
    }
}

/// WI-07, first half: the marker overtakes its data, which then comes in reverse.
#[test]
fn marker_before_entries_is_parked_until_they_land() {
    let theirs = large_entries(3, 9);
    let (config, client) = empty_client(&theirs);
    let mut stash = Vec::new();
    let pair = run_tampered(config, move |message| match message {
        Message::Entries(_) => {
            stash.push(message);
            Vec::new()
        }
        Message::Complete(_) => {
            let entries = stash.drain(..).rev();
            std::iter::once(message).chain(entries).collect()
        }
        other => vec![other],
    });
    assert_eq!(pair.evidence().received(), 9);
    assert_eq!(client.hashes(topic()).len(), 9);
}

#[test]
fn marker_after_all_entries_drains() {
    let (config, client) = empty_client(&entries(3, 50));
    let mut pair = Pair::new(config);
    pair.run();
    assert_eq!(pair.evidence().entries(), 50);
    assert_eq!(client.hashes(topic()).len(), 50);
}

#[test]
fn marker_with_no_entries_states_that_nothing_was_sent() {
    let all = entries(3, 5);
    let (client, provider) = stores(&all, &all);
    let pair = run_with_marker(PairConfig::new(&client, &provider), |marker| {
        assert_eq!(marker.streamed, Streamed::Nothing);
    });
    assert_eq!(pair.evidence().received(), 0);
}

#[test]
fn marker_twice_ends_the_session_once() {
    let (config, _) = empty_client(&entries(3, 5));
    let pair = run_tampered(config, |message| match message {
        Message::Complete(_) => vec![message.clone(), message],
        other => vec![other],
    });
    assert_eq!(pair.evidence().received(), 5);
    assert_eq!(pair.provider_ends.len(), 1);
}

/// While the first is parked, a repeat changes nothing and a different one is one too many.
#[test]
fn a_second_marker_that_differs_is_a_fault() {
    for differs in [false, true] {
        let (config, _) = empty_client(&large_entries(3, 6));
        let mut dropped = false;
        let pair = run_tampered(config, move |message| match message {
            Message::Entries(_) if !dropped => {
                dropped = true;
                Vec::new()
            }
            Message::Complete(marker) => {
                let again = changed(marker.clone(), 2, |marker| {
                    marker.resume.0[0] ^= u8::from(differs);
                });
                vec![Message::Complete(marker), again]
            }
            other => vec![other],
        });
        if differs {
            assert_eq!(broken_rule(&pair), Rule::MarkerTwice);
        } else {
            assert!(matches!(cut(&pair), CutReason::Count { said: 6, .. }));
        }
    }
}

/// A flood of markers is read as far as the session's end, and ends it once.
#[test]
fn flood_of_markers() {
    let (config, _) = empty_client(&entries(3, 5));
    let pair = run_tampered(config, |message| match message {
        Message::Complete(marker) => {
            let mut all = vec![Message::Complete(marker.clone()); 200];
            all.extend(
                (0..200_u8).map(|at| changed(marker.clone(), 2, |marker| marker.resume.0[0] ^= at)),
            );
            all
        }
        other => vec![other],
    });
    assert_eq!(pair.evidence().received(), 5);
}

/// Without a marker nothing is drained, whatever came: silence ends the session.
#[test]
fn marker_that_never_comes() {
    let (config, client) = empty_client(&entries(3, 5));
    let pair = run_tampered(config, |message| match message {
        Message::Complete(_) => Vec::new(),
        other => vec![other],
    });
    assert!(matches!(
        pair.client_end(),
        ClientEnd::Silent | ClientEnd::Lost
    ));
    assert_eq!(client.hashes(topic()).len(), 5, "what came stays");
}

#[test]
fn marker_of_another_session_topic_requester_or_request_is_rejected() {
    type Change = fn(&mut HistorySyncComplete);
    let rows: [(Change, Rule); 4] = [
        (
            |m| m.session = SessionId::from_bytes([9; 16]),
            Rule::MarkerSession,
        ),
        (|m| m.topic = TopicId::MIN, Rule::MarkerTopic),
        (|m| m.requester = NodeId::NOBODY, Rule::MarkerRequester),
        (
            |m| m.request = RequestId::from_bytes([9; 16]),
            Rule::MarkerRequest,
        ),
    ];
    for (change, rule) in rows {
        let (config, _) = empty_client(&entries(3, 5));
        let pair = run_with_marker(config, change);
        assert_eq!(broken_rule(&pair), rule);
        assert_eq!(rule.id(), "CMP-6");
    }
}

#[test]
fn marker_by_another_signer_is_rejected() {
    let (config, _) = empty_client(&entries(3, 5));
    let pair = run_tampered(config, |message| match message {
        Message::Complete(marker) => vec![changed(marker, 4, |_| ())],
        other => vec![other],
    });
    assert_eq!(broken_rule(&pair), Rule::MarkerSigner);
}

/// It was good once, for this very client and topic: a new session gets its own marker, always.
#[test]
fn marker_replayed_after_reconnect_is_rejected() {
    let (config, client) = empty_client(&entries(3, 5));
    let kept = Arc::new(std::sync::Mutex::new(None));
    let keep = Arc::clone(&kept);
    run_tampered(config.clone(), move |message| {
        if matches!(message, Message::Complete(_)) {
            *keep.lock().unwrap() = Some(message.clone());
        }
        vec![message]
    });
    let old = kept.lock().unwrap().take().unwrap();
    assert_eq!(client.hashes(topic()).len(), 5);
    let pair = run_tampered(config.with_nonce(2), move |message| match message {
        Message::Complete(_) => vec![old.clone()],
        other => vec![other],
    });
    assert_eq!(broken_rule(&pair), Rule::MarkerSession);
}

#[test]
fn count_off_by_one_with_the_right_last_is_cut() {
    for off in [-1_i64, 1] {
        let (config, client) = empty_client(&entries(3, 5));
        let pair = run_with_marker(config, move |marker| {
            if let Streamed::Entries { count, .. } = &mut marker.streamed {
                *count = count.saturating_add_signed(off);
            }
        });
        let said = 5_u64.saturating_add_signed(off);
        assert_eq!(cut(&pair), CutReason::Count { said, received: 5 });
        assert_eq!(client.hashes(topic()).len(), 5, "what came stays");
    }
}

#[test]
fn right_count_with_the_wrong_last_is_cut() {
    let (config, _) = empty_client(&entries(3, 5));
    let pair = run_with_marker(config, |marker| {
        if let Streamed::Entries { last, .. } = &mut marker.streamed {
            *last = EntryHash::MAX;
        }
    });
    assert_eq!(cut(&pair), CutReason::Last);
}

#[test]
fn nothing_said_after_entries_came_is_cut() {
    let (config, _) = empty_client(&entries(3, 5));
    let pair = run_with_marker(config, |marker| marker.streamed = Streamed::Nothing);
    assert_eq!(
        cut(&pair),
        CutReason::Count {
            said: 0,
            received: 5
        }
    );
}

/// WI-07, second half: a batch is lost for good. It is asked for again, as far as it can be named,
/// and then the session is cut, with a reason, within the time that the marker may be parked.
#[test]
fn dropped_batch_in_the_middle_is_asked_for_and_then_cut() {
    let theirs = large_entries(3, 12);
    let (config, _) = empty_client(&theirs);
    let mut batches = 0;
    let pair = run_tampered(config, move |message| match message {
        Message::Entries(_) => {
            batches += 1;
            if batches == 2 {
                Vec::new()
            } else {
                vec![message]
            }
        }
        other => vec![other],
    });
    let said = 12;
    assert!(
        matches!(cut(&pair), CutReason::Count { said: s, received } if s == said && received < s)
    );
    let asked = pair
        .sent
        .iter()
        .filter(|sent| **sent == (Direction::ToProvider, "Want"));
    assert_eq!(asked.count(), 1, "asked again once");
    assert!(pair.now.as_nanos() < 2_500_000_000);
    let rejected = pair.provider_ends.as_slice();
    assert!(matches!(
        rejected,
        [ProviderEnd::Served {
            verdict: Verdict::Cut,
            ..
        }]
    ));
}

#[test]
fn one_dropped_entry_is_asked_for_and_comes() {
    let theirs = entries(3, 12);
    let lost = theirs[6].hash();
    let (config, client) = empty_client(&theirs);
    let mut dropped = false;
    let pair = run_tampered(config, move |message| match message {
        Message::Entries(mut batch) if !dropped => {
            dropped = true;
            batch.entries.retain(|entry| entry.hash() != lost);
            vec![Message::Entries(batch)]
        }
        other => vec![other],
    });
    assert_eq!(pair.evidence().received(), 12);
    assert_eq!(client.hashes(topic()).len(), 12);
}

/// A provider that keeps an entry back and counts without it: the sets do not add up.
#[test]
fn withheld_entry_is_never_drained() {
    for withheld in [0, 5, 11] {
        let theirs = [entries(3, 6), entries(4, 6)].concat();
        let hash = theirs[withheld].hash();
        let last = theirs[if withheld == 11 { 10 } else { 11 }].hash();
        let (config, client) = empty_client(&theirs);
        let pair = run_tampered(config, move |message| match message {
            Message::Entries(mut batch) => {
                batch.entries.retain(|entry| entry.hash() != hash);
                vec![Message::Entries(batch)]
            }
            Message::Complete(marker) => vec![changed(marker, 2, |marker| {
                marker.streamed = Streamed::Entries { count: 11, last };
            })],
            other => vec![other],
        });
        assert_eq!(cut(&pair), CutReason::Set);
        assert_eq!(client.hashes(topic()).len(), 11);
    }
}

/// The marker speaks for the snapshot that `HelloAck` announced, and does not contradict itself.
#[test]
fn marker_for_another_snapshot_or_with_other_digests_is_a_fault() {
    type Change = fn(&mut HistorySyncComplete);
    let rows: [(Change, Rule); 6] = [
        (
            |m| m.covers.set.insert(&EntryHash::MIN),
            Rule::MarkerSnapshot,
        ),
        (|m| m.covers.authors += 1, Rule::MarkerSnapshot),
        (|m| m.covers.heads.truncate(1), Rule::MarkerContent),
        (|m| m.covers.hole_count = 1, Rule::MarkerContent),
        (|m| m.covers.holes_digest[0] ^= 1, Rule::MarkerContent),
        (|m| m.covers.holes.push(EntryHash::MIN), Rule::MarkerContent),
    ];
    for (change, rule) in rows {
        let (config, _) = empty_client(&[entries(3, 2), entries(4, 2)].concat());
        let pair = run_with_marker(config, change);
        assert_eq!(broken_rule(&pair), rule);
        assert_eq!(rule.id(), "CMP-7");
    }
}

/// A hostile author names an entry that never was. It blocks nobody, and is counted.
#[test]
fn dep_and_prev_that_never_existed_are_dangling() {
    let mut author = chain(3);
    let first = author.next_with(b"x", vec![EntryHash::from_bytes([0xee; 32])]);
    author.next(b"never seen by anybody");
    let third = author.next(b"z");
    let theirs = [first, third];
    let (client, provider) = stores(&[], &theirs);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().dangling(), 2);
    assert_equal(&client, &provider);
}

/// The same above what only the client has: the provider's marker cannot list it, so it is asked.
#[test]
fn holes_of_the_clients_own_are_asked_about_once() {
    let mut author = chain(3);
    let first = author.next(b"x");
    let dep = EntryHash::from_bytes([0xee; 32]);
    let second = author.next_with(b"y", vec![dep]);
    let (client, provider) = stores(&[first.clone(), second], &[first]);
    let pair = run(&client, &provider);
    assert_eq!(
        (pair.evidence().dangling(), pair.evidence().surplus()),
        (1, 1)
    );
    assert_equal(&client, &provider);
    let wants = pair
        .sent
        .iter()
        .filter(|sent| **sent == (Direction::ToProvider, "Want"));
    assert_eq!(wants.count(), 1);
}

/// A client with a hole of its own, whose provider's answer passes through `answer`.
fn asking(answer: impl Fn(&Arc<MemorySource>, Vec<EntryHash>) -> Vec<EntryHash> + 'static) -> Pair {
    let mut author = chain(3);
    let first = author.next(b"x");
    let dep = EntryHash::from_bytes([0xee; 32]);
    let second = author.next_with(b"y", vec![dep]);
    let (client, provider) = stores(&[first.clone(), second], &[first]);
    let config = PairConfig::new(&client, &provider);
    run_tampered(config, move |message| match message {
        Message::Holes(lacking) => vec![Message::Holes(answer(&client, lacking))],
        other => vec![other],
    })
}

/// CMP-10: what gossip names meanwhile is no matter of the session.
#[test]
fn a_hole_that_opens_after_asking_does_not_cut() {
    let pair = asking(|client, lacking| {
        let mut late = chain(4);
        late.next(b"still on its way");
        client.insert(&late.next(b"gossiped"));
        lacking
    });
    assert_eq!(pair.evidence().dangling(), 2);
}

/// CMP-11: an answer that leaves out what it was asked for explains nothing.
#[test]
fn an_answer_that_says_nothing_of_a_hole_is_cut() {
    let pair = asking(|_, _| Vec::new());
    assert_eq!(cut(&pair), CutReason::Holes { open: 1 });
}

/// A break while the answer is awaited is nobody's lie.
#[test]
fn a_break_while_the_marker_is_judged_is_a_loss() {
    let mut author = chain(3);
    let first = author.next(b"x");
    let second = author.next_with(b"y", vec![EntryHash::from_bytes([0xee; 32])]);
    let (client, provider) = stores(&[first.clone(), second], &[first]);
    let mut pair = Pair::with_tamper(
        PairConfig::new(&client, &provider),
        Box::new(|direction, message| match (direction, &message) {
            (Direction::ToProvider, Message::Want(_)) => Transit::Cut,
            _ => Transit::Deliver(vec![message]),
        }),
    );
    pair.run();
    assert_eq!(pair.client_end(), &ClientEnd::Lost);
}

/// More holes than a marker carries travel before it.
#[test]
fn many_holes_travel_before_the_marker() {
    let mut author = chain(3);
    let theirs: Vec<_> = (0..40_u8)
        .map(|at| {
            let deps = [[at; 32], [at | 0x80; 32]].map(EntryHash::from_bytes);
            author.next_with(b"x", deps.to_vec())
        })
        .collect();
    let (client, provider) = stores(&[], &theirs);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().dangling(), 80);
    assert!(pair.sent.contains(&(Direction::ToClient, "Holes")));
    assert!(!pair.sent.contains(&(Direction::ToProvider, "Want")));
}

/// 04: the marker does not speak of uploads, so the client's end does not wait for them.
#[test]
fn the_end_comes_before_the_last_upload() {
    let mine = large_entries(3, 12);
    let (client, provider) = stores(&mine, &mine[..1]);
    let pair = run(&client, &provider);
    assert_eq!(pair.evidence().surplus(), 11);
    assert!(
        !pair.evidence().is_converged(),
        "its snapshot did not hold them"
    );
    assert_equal(&client, &provider);
    let end = ProviderEnd::Served {
        verdict: Verdict::Drained,
        state: pair.evidence().own_state(),
        sent: 0,
        received: 11,
    };
    assert_eq!(pair.provider_ends, [end]);
}
