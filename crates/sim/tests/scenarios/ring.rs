//! What a ring keeps (`STO-18`).

use osier_core::Role;
use osier_sim::{MS, NodeSpec, SEC, World};

use crate::support::{entries, joined_through, no_violation, reaches, world};

/// Writes two entries at a time, so many times.
fn write(world: &mut World, node: usize, times: usize) {
    for _ in 0..times {
        world.publish(node, 0, 2);
        world.run_for(100 * MS);
    }
}

/// A ring that is alone keeps what it has written, over a restart as well, until one that keeps
/// everything has it; then it drops what is old.
#[test]
fn what_a_ring_writes_alone_reaches_the_archive_whole() {
    let ring = NodeSpec::replay(6).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring]);
    world.start(1);
    write(&mut world, 1, 20);
    world.crash(1);
    world.start(1);
    write(&mut world, 1, 10);
    assert_eq!(entries(&world, 1), 60);
    world.start(0);
    reaches(&mut world, 0, 60, 60 * SEC);
    world.run_for(30 * SEC);
    write(&mut world, 1, 1);
    no_violation(&world);
    assert_eq!(entries(&world, 0), 62);
    let kept = entries(&world, 1);
    assert!(kept <= 12, "{kept} entries in a ring of 6");
}

/// Another ring drops, too: that it has something saves nothing.
#[test]
fn another_ring_is_not_enough() {
    let ring = || NodeSpec::replay(6).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring(), ring()]);
    world.trust(1, 0, 2, Some((5, Role::Replay)));
    world.start(0);
    world.start(1);
    world.start(2);
    world.run_for(5 * SEC);
    world.stop(0);
    write(&mut world, 1, 20);
    world.run_for(60 * SEC);
    write(&mut world, 1, 1);
    assert_eq!(entries(&world, 1), 42);
    assert!(entries(&world, 2) <= 12, "not its own: dropped");
    world.stop(2);
    world.start(0);
    reaches(&mut world, 0, 42, 120 * SEC);
    no_violation(&world);
}

/// A ring that goes on writing is heard again and again, by audits if nobody asks it, and stays as
/// small as it should be.
#[test]
fn a_ring_that_writes_on_stays_small() {
    let ring = NodeSpec::replay(6).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring]);
    world.start(0);
    world.start(1);
    world.run_for(5 * SEC);
    for round in 1..4 {
        write(&mut world, 1, 20);
        world.run_for(600 * SEC);
        write(&mut world, 1, 1);
        let kept = entries(&world, 1);
        assert!(kept <= 16, "round {round}: {kept} entries in a ring of 6");
    }
    no_violation(&world);
    assert_eq!(entries(&world, 0), 3 * 42);
}

/// Two rings that have dropped nothing yet look like archives to each other, and are none.
#[test]
fn young_rings_are_not_enough() {
    let ring = || NodeSpec::replay(30).trusting(0, 10, Role::Archive);
    let other = ring().trusting(1, 5, Role::Replay);
    let first = ring().trusting(2, 5, Role::Replay);
    let mut world = joined_through(&[0, 2], vec![NodeSpec::archive(), first, other]);
    world.start(1);
    world.start(2);
    world.run_for(5 * SEC);
    write(&mut world, 1, 5);
    world.run_for(300 * SEC);
    write(&mut world, 1, 60);
    assert_eq!(entries(&world, 1), 130);
    world.stop(2);
    world.start(0);
    reaches(&mut world, 0, 130, 120 * SEC);
    no_violation(&world);
}
