//! Public faults of negentropy implementations, by their case ids.

use osier_reconcile::{
    FrameLimit, FrameWriter, Initiator, Item, Opening, ReconcileError, Responder, VERSION,
    VectorStorage, rounds_enough,
};

use crate::support::{Engine, Sets, assert_difference, length, limit, reason, run, run_ours};

#[test]
fn case_ng_07_malformed_frames_are_refused_with_a_reason() {
    let set = Sets::new(7, 100, 0, 0, 10).left;
    let mut long_list = vec![VERSION, 0, 0, 2, 2];
    long_list.extend([0xbb; 32]);
    let frames: [(&str, &[u8]); 12] = [
        ("empty", &[]),
        ("not-a-version", b"GARBAGE"),
        ("not-a-version", &[0xff; 64]),
        ("truncated", &[VERSION, 0x81]),
        ("truncated", &[VERSION, 0, 0]),
        (
            "varint-overflow",
            &[
                VERSION, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
            ],
        ),
        ("bound-backwards", &[VERSION, 2, 1, 9, 0, 1, 1, 8, 0]),
        (
            "list-too-long",
            &[VERSION, 0, 0, 2, 0xc0, 0x80, 0x80, 0x80, 0x00],
        ),
        ("list-too-long", &long_list),
        ("unknown-mode", &[VERSION, 0, 0, 3]),
        ("prefix-too-long", &[VERSION, 2, 33]),
        ("after-infinity", &[VERSION, 0, 0, 0, 0, 0, 0]),
    ];
    let mut responder = Responder::new(FrameLimit::SMALLEST);
    for (expected, frame) in frames {
        let refused = responder.answer(&set, frame);
        assert_eq!(reason(&refused), Some(expected), "{frame:02x?}");
        let (mut initiator, _) = Initiator::start(&set, FrameLimit::NONE).unwrap();
        let refused = initiator.reconcile(&set, frame);
        assert_eq!(reason(&refused), Some(expected), "{frame:02x?}");
    }
    // The responder and other exchanges are none the worse.
    let (_, first) = Initiator::start(&set, FrameLimit::NONE).unwrap();
    assert_eq!(responder.answer(&set, &first).unwrap(), [VERSION]);
}

#[test]
fn case_ng_07_a_foreign_version_is_answered_with_ours() {
    let set = Sets::new(7, 100, 0, 0, 10).left;
    for version in (0x60..=0x6f).filter(|version| *version != VERSION) {
        let frame = [version, 0xff, 0xff];
        let mut responder = Responder::new(FrameLimit::NONE);
        assert_eq!(responder.answer(&set, &frame).unwrap(), [VERSION]);

        let (mut initiator, _) = Initiator::start(&set, FrameLimit::NONE).unwrap();
        match initiator.reconcile(&set, &[version]) {
            Err(ReconcileError::Incompatible { version: theirs }) => assert_eq!(theirs, version),
            other => panic!("{other:?}"),
        }
        let again = initiator.reconcile(&set, &[VERSION]);
        assert!(matches!(again, Err(ReconcileError::Ended)));
    }
}

#[test]
fn case_ng_09_equal_times_are_ordered_by_unsigned_bytes() {
    // Enough items in one second for both splits and lists, with the four first bytes that a
    // signed comparison gets wrong.
    for tail in [1_u8, 40] {
        let item = |first: u8, last: u8| {
            let mut id = [0x55; 32];
            id[0] = first;
            id[31] = last;
            Item::new(1_700_000_000, id)
        };
        let all: Vec<Item> = [0x00, 0x7f, 0x80, 0xff]
            .into_iter()
            .flat_map(|first| (0..tail).map(move |last| item(first, last)))
            .collect();
        let missing = item(0x80, 0);
        let sets = Sets {
            left: VectorStorage::new(all.clone()),
            right: all.into_iter().filter(|item| *item != missing).collect(),
        };
        for sets in [sets.clone(), sets.swapped()] {
            let ours = run_ours(&sets, FrameLimit::NONE);
            assert_difference(&sets, &ours);
            let found: Vec<_> = ours.have.iter().chain(&ours.need).collect();
            assert_eq!(found, [&missing.id]);
            let opening = Opening::default();
            let reference = run(
                &sets,
                (Engine::Crate, &opening),
                (Engine::Crate, FrameLimit::NONE),
            );
            assert_eq!(ours.frames, reference.frames);
        }
    }
}

#[test]
fn case_ng_10_a_very_large_and_a_small_set_meet_in_small_frames() {
    let sets = Sets::new(10, 5, 99_995, 5, 1 << 40);
    let limit = limit(4096);
    for sets in [sets.clone(), sets.swapped()] {
        let outcome = run_ours(&sets, limit);
        assert_difference(&sets, &outcome);
        // 100,000 ids of 32 bytes in frames of 4 KiB: 782 frames at the least.
        assert!(outcome.rounds < 4_000, "{} rounds", outcome.rounds);
        let enough = rounds_enough(length(&sets.left), length(&sets.right), limit);
        assert!(outcome.rounds < enough);
    }
}

#[test]
fn case_ng_10_equal_large_sets_end_in_one_round() {
    let sets = Sets::new(10, 100_000, 0, 0, 1 << 40);
    let outcome = run_ours(&sets, limit(4096));
    assert_eq!(outcome.rounds, 1);
    assert_difference(&sets, &outcome);
}

#[test]
fn case_ng_10_interleaved_large_sets_differ_everywhere() {
    let sets = Sets::new(11, 10_000, 10_000, 10_000, 1 << 40);
    let outcome = run_ours(&sets, limit(4096));
    assert_difference(&sets, &outcome);
}

/// A frame cut at the last range is followed by the fingerprint of the empty rest: legal, and not
/// to be taken for trailing bytes.
#[test]
fn case_ng_10_the_empty_rest_after_infinity_is_let_pass() {
    let set = Sets::new(3, 50, 0, 0, 10).left;
    let mut writer = FrameWriter::new();
    let whole = osier_reconcile::Storage::summary(&set, 0..50).unwrap();
    let infinity = osier_reconcile::Bound::INFINITY;
    writer.fingerprint(&infinity, &whole.fingerprint());
    writer.fingerprint(&infinity, &osier_reconcile::Summary::EMPTY.fingerprint());
    let mut responder = Responder::new(FrameLimit::NONE);
    assert_eq!(responder.answer(&set, &writer.finish()).unwrap(), [VERSION]);
}
