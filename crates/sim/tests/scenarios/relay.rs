//! Nodes that are Nostr relays: what one accepts all show, and each index is that of its log.

use osier_core::Role;
use osier_sim::{Knobs, NodeSpec, SEC, TraceMode, World, run_knobs};

use crate::support::{no_violation, reaches, start_all, tuned};

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
