//! Peers that break rules: the session ends with the rule, and nothing of theirs is stored.

use osier_core::{EntryHash, SetSum, SignedEntry, testing::with_bad_signature};

use super::*;
use crate::{
    fault::{Fault, MalformedBytes, Rule},
    limit::UNAUTHENTIC_MAX,
    message::{Entries, Expect, Mode, Want},
    output::{ClientEnd, CutReason, ProviderEnd},
    token::Token,
};

fn client_rule(pair: &Pair) -> Rule {
    match pair.client_end() {
        ClientEnd::Fault(Fault::PeerMisbehaved(rule)) => *rule,
        other => panic!("no rule: {other:?}"),
    }
}

fn provider_rule(pair: &Pair) -> Rule {
    match pair.provider_ends.as_slice() {
        [ProviderEnd::Fault(Fault::PeerMisbehaved(rule))] => *rule,
        other => panic!("no rule: {other:?}"),
    }
}

/// A provider of five entries to an empty client, whose batches are changed.
fn with_batches(change: impl Fn(&mut Entries) + 'static) -> Pair {
    let (client, provider) = stores(&[], &entries(3, 5));
    let pair = run_tampered(PairConfig::new(&client, &provider), move |message| {
        if let Message::Entries(mut batch) = message {
            change(&mut batch);
            return vec![Message::Entries(batch)];
        }
        vec![message]
    });
    assert!(client.hashes(topic()).is_empty(), "nothing of it is stored");
    pair
}

#[test]
fn batches_that_break_a_rule_end_the_session() {
    assert_eq!(
        client_rule(&with_batches(|b| b.entries.clear())),
        Rule::BatchForm
    );
    assert_eq!(
        client_rule(&with_batches(|b| b.token = None)),
        Rule::TokenForm
    );
    let long = |b: &mut Entries| b.token = Some(Token(vec![0; 257]));
    assert_eq!(client_rule(&with_batches(long)), Rule::TokenForm);
    let foreign = Chain::new(3).next(b"another topic").to_wire();
    let pair = with_batches(move |b| b.entries.push(foreign.clone()));
    assert_eq!(client_rule(&pair), Rule::ForeignTopic);
    let pair = with_batches(|b| b.entries.extend(b.entries.clone()));
    assert_eq!(client_rule(&pair), Rule::TooManyEntries);
    let bent = |b: &mut Entries| {
        let wire = osier_core::WireEntry::from_parts(vec![1, 2, 3].into(), &[0; 64], Vec::new());
        b.entries.push(wire);
    };
    let pair = with_batches(bent);
    let malformed = Fault::Malformed(MalformedBytes::Content(
        osier_core::Malformed::Undecodable {
            what: "entry header",
        },
    ));
    assert_eq!(pair.client_end(), &ClientEnd::Fault(malformed));
}

/// The same entry twice in place of another: count and last are right, the sum is not.
#[test]
fn an_entry_sent_twice_for_another_is_cut() {
    let theirs = entries(3, 5);
    let (client, provider) = stores(&[], &theirs);
    let pair = run_tampered(
        PairConfig::new(&client, &provider),
        |message| match message {
            Message::Entries(mut batch) => {
                batch.entries[2] = batch.entries[1].clone();
                vec![Message::Entries(batch)]
            }
            other => vec![other],
        },
    );
    assert_eq!(
        pair.client_end(),
        &ClientEnd::Cut {
            reason: CutReason::Set
        }
    );
}

/// ENT-10: what its author did not sign is not stored, and who serves it is at fault.
#[test]
fn an_unsigned_entry_is_the_providers_fault() {
    let mut author = chain(3);
    let good = author.next(b"good");
    let bad = with_bad_signature(author.signed(b"bad"));
    let (client, provider) = stores(&[], &[good, bad.trust_stored()]);
    let pair = run(&client, &provider);
    assert_eq!(client_rule(&pair), Rule::Unauthentic);
    assert_eq!(client.hashes(topic()).len(), 1);
}

/// ENT-10: a badly signed entry waits for its successor, across batches, whatever comes first.
#[test]
fn badly_signed_entries_wait_for_their_successor() {
    for reversed in [false, true] {
        let mut author = chain(3);
        let mut all = vec![author.next(&[1; 200_000])];
        for _ in 0..4 {
            let bad = with_bad_signature(author.signed(&vec![2; 200_000]));
            author.follow(&bad);
            all.push(bad.trust_stored());
        }
        all.push(author.next(&vec![3; 200_000]));
        if reversed {
            all.reverse();
        }
        let (client, provider) = stores(&[], &all);
        let pair = run(&client, &provider);
        assert_eq!(pair.evidence().received(), 6);
        assert_equal(&client, &provider);
    }
}

/// A run of badly signed entries longer than may wait: nobody is blamed, and every further session
/// gets on, from the top of the run down, until both are equal.
#[test]
fn a_hostile_run_of_bad_signatures_is_overcome_session_by_session() {
    let mut author = chain(3);
    let mut all: Vec<Verified<Entry>> = Vec::new();
    for _ in 0..UNAUTHENTIC_MAX * 2 + 100 {
        let bad: SignedEntry = with_bad_signature(author.signed(&[2; 300]));
        author.follow(&bad);
        all.push(bad.trust_stored());
    }
    all.push(author.next(b"good"));
    all.extend(entries(4, 3));
    let (client, provider) = stores(&[], &all);
    let mut last = 0;
    for nonce in 1..6 {
        let mut pair = Pair::new(PairConfig::new(&client, &provider).with_nonce(nonce));
        pair.run();
        let held = client.hashes(topic()).len();
        assert!(held > last, "it gets on");
        last = held;
        match pair.client_end() {
            ClientEnd::Drained(_) => {
                assert_equal(&client, &provider);
                return;
            }
            end => assert_eq!(
                end,
                &ClientEnd::Cut {
                    reason: CutReason::Unauthentic
                }
            ),
        }
    }
    panic!("never drained");
}

/// SES-10: an announcement within what the summary allows.
#[test]
fn an_impossible_announcement_is_a_fault() {
    let all = entries(3, 20);
    let (client, provider) = stores(&all[..5], &all);
    let pair = run_tampered(
        PairConfig::new(&client, &provider),
        |message| match message {
            Message::Expect(_) => vec![Message::Expect(Expect { entries: 21 })],
            other => vec![other],
        },
    );
    assert_eq!(client_rule(&pair), Rule::Expect);
}

/// SES-5: a mode that the summaries rule out; SES-2: a provider without the secret.
#[test]
fn an_answer_that_contradicts_itself_is_a_fault() {
    let modes = [
        (Mode::Equal, 3),
        (Mode::Empty, 3),
        (Mode::Resume, 3),
        (Mode::Equal, 0),
    ];
    for (mode, held) in modes {
        let all = entries(3, 20);
        let (client, provider) = stores(&all[..held], &all);
        let pair = run_tampered(PairConfig::new(&client, &provider), move |message| {
            if let Message::HelloAck(mut ack) = message {
                ack.mode = mode;
                return vec![Message::HelloAck(ack)];
            }
            vec![message]
        });
        assert_eq!(client_rule(&pair), Rule::Mode);
    }
    let (client, provider) = stores(&[], &entries(3, 5));
    let pair = run_tampered(
        PairConfig::new(&client, &provider),
        |message| match message {
            Message::HelloAck(mut ack) => {
                ack.proof[0] ^= 1;
                vec![Message::HelloAck(ack)]
            }
            other => vec![other],
        },
    );
    assert_eq!(client_rule(&pair), Rule::Proof);
}

/// SES-7: heads are sorted, and are those of the announced state.
#[test]
fn heads_that_do_not_fit_are_a_fault() {
    for (reverse, rule) in [(true, Rule::HeadsForm), (false, Rule::HeadsState)] {
        let all = [entries(3, 5), entries(4, 5)].concat();
        let (client, provider) = stores(&all[..2], &all);
        let pair = run_tampered(PairConfig::new(&client, &provider), move |message| {
            if let Message::Heads(mut heads) = message {
                if reverse {
                    heads.heads.reverse();
                } else {
                    heads.heads.pop();
                }
                return vec![Message::Heads(heads)];
            }
            vec![message]
        });
        assert_eq!(client_rule(&pair), rule);
    }
}

fn client_tampered(
    config: PairConfig,
    mut tamper: impl FnMut(Message) -> Vec<Message> + 'static,
) -> Pair {
    let mut pair = Pair::with_tamper(
        config,
        Box::new(move |direction, message| {
            Transit::Deliver(match direction {
                Direction::ToProvider => tamper(message),
                Direction::ToClient => vec![message],
            })
        }),
    );
    pair.run();
    pair
}

/// SES-11: a client uploads what was found, all of it and nothing else.
#[test]
fn uploads_that_were_not_asked_for_are_a_fault() {
    let shared = entries(3, 5);
    let mine = [shared.clone(), entries(4, 5)].concat();
    let extra = entries(5, 1).remove(0).to_wire();
    let config = || {
        let (client, provider) = stores(&mine, &shared);
        PairConfig::new(&client, &provider)
    };
    let pair = client_tampered(config(), move |message| match message {
        Message::Entries(mut batch) => {
            batch.entries.push(extra.clone());
            vec![Message::Entries(batch)]
        }
        other => vec![other],
    });
    assert_eq!(provider_rule(&pair), Rule::TooManyEntries);
    let pair = client_tampered(config(), |message| match message {
        Message::Entries(mut batch) => {
            batch.entries.pop();
            vec![Message::Entries(batch)]
        }
        other => vec![other],
    });
    assert_eq!(provider_rule(&pair), Rule::Uploads);
    let pair = client_tampered(config(), |message| match message {
        Message::Heads(mut heads) => {
            heads.surplus = SetSum::from_parts(u64::MAX, [0; 32]);
            vec![Message::Heads(heads)]
        }
        other => vec![other],
    });
    assert_eq!(provider_rule(&pair), Rule::Uploads);
}

/// SES-11, by ranges: exactly the hashes that were wanted.
#[test]
fn uploads_other_than_the_wanted_are_a_fault() {
    let mut trunk = chain(3);
    let shared = trunk.next(b"shared");
    let mut fork = trunk.clone();
    let (mine, theirs) = (trunk.next(b"mine"), fork.next(b"theirs"));
    let (client, provider) = stores(&[shared.clone(), mine], &[shared.clone(), theirs]);
    let other = shared.to_wire();
    let pair = client_tampered(
        PairConfig::new(&client, &provider),
        move |message| match message {
            Message::Entries(mut batch) => {
                batch.entries = vec![other.clone()];
                vec![Message::Entries(batch)]
            }
            message => vec![message],
        },
    );
    assert_eq!(provider_rule(&pair), Rule::NotAsked);
}

/// CMP-11: a client asks again once, in order, and within bounds.
#[test]
fn a_greedy_repair_is_a_fault() {
    for (hashes, last) in [
        (vec![EntryHash::MAX, EntryHash::MIN], true),
        (vec![EntryHash::MIN], false),
        (vec![EntryHash::MIN; 9000], true),
    ] {
        let (client, provider) = stores(&[], &entries(3, 5));
        let want = Message::Want(Want { hashes, last });
        let pair = client_tampered(
            PairConfig::new(&client, &provider),
            move |message| match message {
                Message::Received(_) => vec![want.clone()],
                message => vec![message],
            },
        );
        assert_eq!(provider_rule(&pair), Rule::Want);
    }
}
