//! Bytes and peers that mean no good: an error each, in bounded time and memory.

use std::convert::Infallible;

use osier_reconcile::{
    Bound, Frame, FrameLimit, FrameWriter, Initiator, Misbehaved, Opening, Payload, Progress,
    ReconcileError, Responder, STALL_ROUNDS_MAX, VERSION, VectorStorage,
};
use proptest::prelude::*;

use crate::support::{Sets, cases, limit};

type Outcome = Result<Progress, ReconcileError<Infallible>>;

/// Lets a liar answer until the initiator has had enough.
fn against(
    set: &VectorStorage,
    opening: &Opening,
    mut liar: impl FnMut(u32, &[u8]) -> Vec<u8>,
) -> (u32, Outcome) {
    let (mut initiator, mut frame) = Initiator::start_with(set, opening).expect("a vector is read");
    for round in 0.. {
        let reply = liar(round, &frame);
        match initiator.reconcile(set, &reply) {
            Ok(Progress {
                next: Some(next), ..
            }) => frame = next,
            outcome => return (initiator.rounds(), outcome),
        }
    }
    unreachable!("the initiator gives up first")
}

fn broken(outcome: &Outcome) -> Option<Misbehaved> {
    match outcome {
        Err(ReconcileError::Misbehaved(rule)) => Some(*rule),
        _ => None,
    }
}

#[test]
fn a_peer_that_never_agrees_is_left() {
    let set = Sets::new(1, 10_000, 0, 0, 1_000).left;
    let mut writer = FrameWriter::new();
    writer.fingerprint(&Bound::INFINITY, &[0; 16]);
    let reply = writer.finish();
    let (rounds, outcome) = against(&set, &Opening::default(), |_, _| reply.clone());
    assert!(matches!(broken(&outcome), Some(Misbehaved::Stalled { .. })));
    assert_eq!(rounds, STALL_ROUNDS_MAX + 1);
}

#[test]
fn a_peer_that_creeps_is_left_when_the_rounds_are_used_up() {
    let set = Sets::new(1, 100, 0, 0, 1_000).left;
    let opening = Opening {
        rounds_max: 500,
        ..Opening::default()
    };
    // Settles one tick of time a round, and disagrees about all the rest.
    let creep = |round: u32, _: &[u8]| {
        let mut writer = FrameWriter::new();
        writer.skip(&Bound::at_time(u64::from(round) + 1));
        writer.fingerprint(&Bound::INFINITY, &[0; 16]);
        writer.finish()
    };
    let (rounds, outcome) = against(&set, &opening, creep);
    let rule = Misbehaved::TooManyRounds { rounds: 500 };
    assert_eq!((rounds, broken(&outcome)), (500, Some(rule)));
}

#[test]
fn a_settled_range_is_not_opened_again() {
    let set = Sets::new(1, 100, 0, 0, 1_000).left;
    let reopen = |round: u32, _: &[u8]| {
        let mut writer = FrameWriter::new();
        if round == 0 {
            writer.skip(&Bound::at_time(500));
        }
        writer.fingerprint(&Bound::INFINITY, &[0; 16]);
        writer.finish()
    };
    let (rounds, outcome) = against(&set, &Opening::default(), reopen);
    assert_eq!((rounds, broken(&outcome)), (2, Some(Misbehaved::Reopened)));
}

#[test]
fn an_id_listed_twice_in_a_reply_is_needed_once() {
    let set = Sets::new(1, 10, 0, 0, 1_000).left;
    let reply = |_: u32, _: &[u8]| {
        let mut writer = FrameWriter::new();
        writer.ids(&Bound::at_time(5), &[[1; 32], [1; 32]]);
        writer.ids(&Bound::INFINITY, &[[1; 32]]);
        writer.finish()
    };
    let (_, outcome) = against(&set, &Opening::default(), reply);
    assert_eq!(outcome.unwrap().need, [[1; 32]]);
}

#[test]
fn a_responder_answers_only_so_often() {
    let set = Sets::new(1, 10, 0, 0, 1_000).left;
    let mut responder = Responder::with_rounds_max(FrameLimit::NONE, 2);
    for _ in 0..2 {
        responder.answer(&set, &[VERSION]).unwrap();
    }
    let refused = responder.answer(&set, &[VERSION]);
    let rule = Misbehaved::TooManyRounds { rounds: 2 };
    assert!(matches!(refused, Err(ReconcileError::Misbehaved(broken)) if broken == rule));
}

#[test]
fn a_small_question_gets_a_small_answer() {
    let set = Sets::new(1, 100_000, 0, 0, 1_000).left;
    let mut writer = FrameWriter::new();
    writer.ids(&Bound::INFINITY, &[]);
    let mut responder = Responder::new(limit(4096));
    let reply = responder.answer(&set, &writer.finish()).unwrap();
    assert!(reply.len() <= 4096);

    // Thousands of ranges that all differ.
    let mut writer = FrameWriter::new();
    for time in 1..3_000 {
        writer.fingerprint(&Bound::at_time(time), &[0; 16]);
    }
    let reply = responder.answer(&set, &writer.finish()).unwrap();
    assert!(reply.len() <= 4096);
}

/// What a frame says, written again.
fn rewritten(frame: &Frame<'_>) -> Vec<u8> {
    let mut writer = FrameWriter::new();
    let mut ranges = frame.ranges();
    while let Some(range) = ranges.next_range().expect("the frame was checked") {
        match range.payload {
            Payload::Skip => writer.skip(&range.upper),
            Payload::Fingerprint(fingerprint) => writer.fingerprint(&range.upper, &fingerprint),
            Payload::Ids(ids) => writer.ids(&range.upper, ids),
        }
    }
    writer.finish()
}

/// Small pieces of frames in any order: far more often well formed than random bytes are.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(0_u8..4, 1..4),
        1 => prop::collection::vec(any::<u8>(), 1..3),
        2 => Just(vec![1, 0, 0]),
        2 => Just([&[1, 0, 1][..], &[9; 16]].concat()),
        2 => Just([&[1, 0, 2, 1][..], &[9; 32]].concat()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let mut frame = vec![VERSION];
        frame.extend(pieces.concat());
        frame
    })
}

/// An honest frame with a few bytes changed, cut or doubled.
fn bent() -> impl Strategy<Value = Vec<u8>> {
    let seeds = (any::<u64>(), 0_u64..300, any::<u64>(), 0_usize..3);
    seeds.prop_map(|(seed, count, place, how)| {
        let sets = Sets::new(seed, count, 3, 3, 50);
        let (_, mut frame) = Initiator::start(&sets.left, FrameLimit::NONE).expect("a vector");
        let mut responder = Responder::new(FrameLimit::NONE);
        if place % 2 == 0 {
            frame = responder.answer(&sets.right, &frame).expect("honest");
        }
        let at = usize::try_from(place % 4096).expect("small") % frame.len();
        match how {
            0 => frame[at] ^= 1 << (place % 8),
            1 => frame.truncate(at),
            _ => frame.extend_from_within(at..),
        }
        frame
    })
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn bytes_are_refused_or_are_one_frame(
        bytes in prop_oneof![pieces(), bent(), any::<Vec<u8>>()],
    ) {
        let decoded = Frame::decode(&bytes);
        if let Ok(frame) = &decoded {
            prop_assert_eq!(rewritten(frame), &bytes[..]);
        }
        let set = Sets::new(2, 40, 0, 0, 50).left;
        let answer = Responder::new(limit(4096)).answer(&set, &bytes);
        if let Ok(answer) = &answer {
            prop_assert!(answer.len() <= 4096);
        }
        let (mut initiator, _) = Initiator::start(&set, limit(4096)).unwrap();
        let progress = initiator.reconcile(&set, &bytes);
        prop_assert_eq!(progress.is_ok(), decoded.is_ok());
    }
}
