//! Nodes that are Nostr relays: what one accepts all show, and each index is that of its log.

use osier_core::Role;
use osier_sim::{Knobs, NodeSpec, SEC, TraceMode, World, run_knobs};

use crate::support::{no_violation, reaches, sessions_begun, start_all, tuned};

fn relays(specs: Vec<NodeSpec>) -> World {
    tuned(specs, |knobs| knobs.relays = 1)
}

/// Events come to both nodes, one of which crashes between, and in a write; they show the same, and
/// neither index disagrees with its log at any start.
#[test]
fn relays_show_the_same_after_crashes() {
    let mut world = relays(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    let mut written = 0;
    for round in 0..12 {
        world.publish(round % 2, 0, 4);
        written += 4;
        world.run_for(SEC);
        if round % 3 == 2 {
            world.crash(1);
            world.start(1);
            no_violation(&world);
        }
    }
    reaches(&mut world, 0, written, 60 * SEC);
    reaches(&mut world, 1, written, 60 * SEC);
    assert_eq!(world.shows_unlike(&[0, 1]), None);
}

/// A ring drops the oldest entries, and its index what only they held; what they did to others
/// lasts. A node that joins late shows what the archive shows.
#[test]
fn a_ring_drops_events_and_a_late_relay_shows_all() {
    let ring = NodeSpec::replay(6).trusting(0, 10, Role::Archive);
    let mut world = relays(vec![NodeSpec::archive(), ring, NodeSpec::peer()]);
    world.start(0);
    world.start(1);
    for _ in 0..10 {
        world.publish(0, 0, 3);
        world.run_for(2 * SEC);
    }
    world.crash(1);
    world.start(1);
    world.start(2);
    reaches(&mut world, 2, 30, 60 * SEC);
    no_violation(&world);
    assert_eq!(world.shows_unlike(&[0, 1, 2]), None);
}

/// Bytes that it costs a relay to look six times, every 10 s, whether it has all of another's
/// history of so many entries. Some of their items are no events.
fn bytes_to_look_again(written: u64) -> u64 {
    let mut world = relays(vec![NodeSpec::archive(), NodeSpec::peer()]);
    world.start(0);
    world.publish(0, 0, written);
    world.run_for(2 * SEC);
    world.start(1);
    reaches(&mut world, 1, written, 60 * SEC);
    assert_eq!(world.shows_unlike(&[0, 1]), None);
    assert_eq!(world.entries_sent(0, 1), written);
    world.run_for(10 * SEC);
    let moved = |world: &World| world.bytes_sent(0, 1) + world.bytes_sent(1, 0);
    let (before, begun) = (moved(&world), world.now());
    for _ in 0..6 {
        world.tell_lagged(1);
        world.run_for(10 * SEC);
        reaches(&mut world, 1, written, SEC);
    }
    assert!(sessions_begun(&world, 1, begun) >= 6, "it looks");
    assert_eq!(world.entries_sent(0, 1), written, "nothing comes again");
    assert_eq!(world.entries_sent(1, 0), 0);
    moved(&world) - before
}

/// case PL-14: an item that cannot be read is passed over, holds nobody up, and is not fetched a
/// second time; and looking whether all is there costs the same, however long the history is.
#[test]
fn case_pl_14_a_bad_item_is_passed_over_and_not_fetched_again() {
    let (few, many) = (bytes_to_look_again(50), bytes_to_look_again(1_500));
    assert!(many < few + 100, "{few} and {many} bytes");
}

/// Whatever else goes wrong in a seed.
#[test]
fn seeds_with_relays_have_no_violation() {
    for seed in 1..=6 {
        let mut knobs = Knobs::draw(seed);
        knobs.relays = 1;
        let outcome = run_knobs(seed, &knobs, TraceMode::Off);
        assert_eq!(outcome.violation, None, "seed {seed}");
    }
}
