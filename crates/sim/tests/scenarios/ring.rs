//! What a ring keeps (`STO-18`).

use osier_core::Role;
use osier_sim::{MS, NodeSpec, SEC, World};

use crate::support::{entries, no_violation, reaches, world};

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
