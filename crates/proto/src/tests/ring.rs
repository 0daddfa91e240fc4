//! SES-9: rings and archives move only what lies above the higher floor, and nothing twice.

use osier_core::{Coverage, testing::with_bad_signature};

use super::*;
use crate::output::ProviderEnd;

fn time_sorted() -> Vec<Verified<Entry>> {
    let mut all = [entries(3, 30), entries(4, 30), entries(5, 3)].concat();
    all.sort_by_key(|entry| entry.order_key());
    all
}

#[test]
fn an_archive_takes_from_a_ring_only_what_is_new() {
    let all = time_sorted();
    let (archive, ring) = stores(&all[..50], &all);
    let floor = all[40].order_key();
    ring.prune(topic(), floor);
    let pair = run(&archive, &ring);
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    assert_eq!((pair.stored, pair.evidence().surplus()), (13, 0));
    let again = run(&archive, &ring);
    assert_eq!((again.stored, again.evidence().surplus()), (0, 0));
}

#[test]
fn a_ring_takes_from_an_archive_only_what_it_keeps() {
    let all = time_sorted();
    let (ring, archive) = stores(&all[..50], &all);
    let floor = all[40].order_key();
    ring.prune(topic(), floor);
    let held = ring.hashes(topic()).len();
    let pair = run(&ring, &archive);
    assert_eq!(
        pair.evidence().coverage(),
        Coverage::From { floor },
        "not more than it asked"
    );
    assert_eq!((pair.stored, pair.evidence().surplus()), (13, 0));
    assert_eq!(ring.hashes(topic()).len(), held + 13);
    assert_eq!(run(&ring, &archive).stored, 0);
}

/// A tip below the floor is part of the state, and comes although ranges do not see it.
#[test]
fn tips_below_the_floor_travel() {
    let all = time_sorted();
    let (archive, ring) = stores(&entries(3, 30), &all);
    ring.prune(topic(), all[55].order_key());
    let pair = run(&archive, &ring);
    let state = pair.evidence().state();
    assert_eq!(archive.snapshot(topic()).state(), state);
    assert!(pair.evidence().is_converged());
    assert_eq!(run(&archive, &ring).stored, 0);
}

#[test]
fn two_rings_compare_above_the_higher_floor() {
    let all = time_sorted();
    let (high, low) = stores(&all, &all);
    high.prune(topic(), all[50].order_key());
    low.prune(topic(), all[20].order_key());
    let pair = run(&high, &low);
    let floor = all[50].order_key();
    assert_eq!((pair.stored, pair.evidence().surplus()), (0, 0));
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    let pair = run(&low, &high);
    assert_eq!((pair.stored, pair.evidence().surplus()), (0, 0));
}

/// One who holds nothing takes all that a ring has, and is told how deep that is.
#[test]
fn an_empty_client_takes_a_whole_ring() {
    let all = time_sorted();
    let (client, ring) = stores(&[], &all);
    let floor = all[40].order_key();
    ring.prune(topic(), floor);
    let pair = run(&client, &ring);
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    assert_equal(&client, &ring);
    assert!(
        pair.evidence().dangling() > 0,
        "the ring's border, which its marker states"
    );
}

/// Entries of one millisecond stand in hash order, so a ring keeps pieces of a chain. Who joins
/// from it alone holds just these pieces, and that is all it is told.
#[test]
fn a_ring_of_pieces_is_covered_from_its_floor() {
    let mut chain = Chain::in_topic(3, topic());
    let mut all: Vec<_> = (0..40_u8).map(|n| chain.at(1_000).next(&[n])).collect();
    all.sort_by_key(|entry| entry.order_key());
    let (client, ring) = stores(&[], &all);
    let floor = all[25].order_key();
    ring.prune(topic(), floor);
    let pair = run(&client, &ring);
    assert_eq!(pair.evidence().coverage(), Coverage::From { floor });
    assert_eq!(client.hashes(topic()), ring.hashes(topic()));
}

/// A ring can hold an entry that only its successor vouches for, and have dropped that. It is not
/// stored elsewhere on the ring's word, and nobody is blamed (`ENT-10`).
#[test]
fn an_entry_whose_voucher_a_ring_has_dropped_blames_nobody() {
    let mut chain = Chain::in_topic(3, topic());
    let bad = with_bad_signature(chain.at(9_000).signed(b"bad"));
    chain.follow(&bad);
    let voucher = chain.at(1_000).next(b"vouches");
    let (bad, last) = (bad.trust_stored(), chain.at(9_500).next(b"last"));
    let floor = bad.order_key();
    let (ring, archive) = stores(&[bad.clone(), voucher, last.clone()], &[last]);
    ring.prune(topic(), floor);
    assert_eq!(ring.hashes(topic()).len(), 2, "the voucher is gone");
    let pair = run(&ring, &archive);
    assert!(
        matches!(pair.provider_ends[..], [ProviderEnd::Served { .. }]),
        "{:?}",
        pair.provider_ends
    );
    assert!(!archive.hashes(topic()).contains(&bad.hash()));
}
