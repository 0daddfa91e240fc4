//! Restarts at bad moments, tokens that no longer serve, clocks that jump, watchers that are slow.

use osier_core::Role;
use osier_engine::SyncEvent;
use osier_proto::{Lsn, Mode};
use osier_sim::{Action, Knobs, Lie, MS, NodeSpec, SEC};

use crate::{
    provider::slow,
    support::{
        alone_with_liar, coverages, entries, modes, no_violation, reaches, start_all, synced, world,
    },
};

/// A parked marker dies with its session. The next one brings what is missing and its own marker.
#[test]
fn client_restarts_with_parked_marker() {
    let slow_disk = |knobs: &mut Knobs| {
        slow(knobs);
        knobs.disk_ms = 300;
    };
    let mut world = alone_with_liar(Lie::EarlyMarker, slow_disk);
    world.publish_large(0, 0, 60, 20_000);
    world.run_for(3 * SEC);
    world.stop(1);
    world.publish_large(0, 0, 60, 20_000);
    world.run_for(3 * SEC);
    let before = world.now();
    world.start(1);
    let held = world.taken(1, 0);
    world.run_while(20 * SEC, |world| world.taken(1, 0) == held);
    assert!(world.taken(1, 0) < 160, "the marker is parked");
    assert!(synced(&world, 1).iter().all(|(at, _)| *at < before));
    world.crash(1);
    world.run_for(SEC);
    no_violation(&world);
    world.start(1);
    reaches(&mut world, 1, 160, 60 * SEC);
}

/// A ring has gone past what a token stands for: it says so, and the client is told the floor.
#[test]
fn token_older_than_the_floor() {
    let ring = NodeSpec::replay(20).trusting(0, 10, Role::Archive);
    let joiner = NodeSpec::peer().trusting(1, 20, Role::Replay);
    let mut world = world(vec![NodeSpec::archive(), ring, joiner]);
    world.start(0);
    world.start(1);
    world.publish(0, 0, 10);
    reaches(&mut world, 1, 10, 20 * SEC);
    world.start(2);
    world.stop(0);
    let done = world.run_while(20 * SEC, |world| synced(world, 2).is_empty());
    assert!(done, "{:?}", world.state(2, 0));
    world.run_for(2 * SEC);
    world.stop(2);
    for _ in 0..60 {
        world.publish(1, 0, 1);
        world.run_for(5 * MS);
    }
    world.start(2);
    world.run_for(30 * SEC);
    no_violation(&world);
    let (mode, resumed) = modes(&world, 2).pop().expect("it asks");
    assert!(mode != Mode::Resume && !resumed, "{mode:?}");
    assert!(
        coverages(&world, 2)
            .last()
            .is_some_and(|said| !said.is_complete())
    );
    assert!(entries(&world, 2) >= 30);
}

/// case IR-09: the wall clock of either end leaps days ahead and back while they write and join.
#[test]
fn clock_jumps_both_ways() {
    let day_ms = 86_400_000_i64;
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    world.start(0);
    world.start(1);
    let mut written = 0;
    for (node, by_ms) in [
        (0, day_ms),
        (1, -3 * day_ms),
        (0, -2 * day_ms),
        (1, 5 * day_ms),
    ] {
        world.act(&Action::WallJump { node, by_ms });
        world.publish(0, 0, 2);
        world.publish(1, 0, 2);
        world.run_for(200 * MS);
        written += 4;
    }
    world.start(2);
    for node in 0..3 {
        reaches(&mut world, node, written, 20 * SEC);
    }
}

/// An application that misses events reads the log from the place it has reached: each entry once,
/// in order, and none is left out.
#[test]
fn slow_watcher() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    let mut read = Vec::new();
    let mut place = Lsn::START;
    for round in 0..20 {
        world.publish(0, 0, 3);
        world.publish(1, 0, 2);
        world.run_for(300 * MS);
        // It looks at one event in seven, and at nothing in every other round.
        let told = world.told(1, 0).into_iter().step_by(7);
        let upto = told.filter_map(|(_, event)| match event {
            SyncEvent::Appended { upto, .. } => Some(*upto),
            _ => None,
        });
        let upto = upto.max().unwrap_or(place);
        if round % 2 == 1 && upto > place {
            let new = world.read_log(1, 0, place).into_iter();
            read.extend(new.take_while(|(at, _)| *at <= upto));
            place = upto;
        }
    }
    reaches(&mut world, 1, 100, 10 * SEC);
    assert!(read.len() < 100, "it is behind");
    read.extend(world.read_log(1, 0, place));
    assert!(
        read.is_sorted_by(|one, next| one.0 < next.0),
        "each place once"
    );
    let mut hashes: Vec<_> = read.into_iter().map(|(_, hash)| hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 100);
}
