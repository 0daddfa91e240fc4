//! Trust that changes while a session is under way (`POL-1`, `POL-22`).

use osier_core::{Control, Role};
use osier_engine::TopicPhase;
use osier_sim::{NodeSpec, SEC, World};

use crate::{
    provider::slow,
    support::{entries, made, no_violation, phase, synced, vouchers},
};

const ENTRIES: u64 = 60;

/// Owner 0, archive 1 and joiner 2, whom the owner reaches by nobody but the archive: so it hears
/// what the owner says, and only the archive can complete it. The joiner is half-way through its
/// session with the archive.
fn half_way(granted: bool, trusted: bool) -> World {
    let archive = NodeSpec::archive().trusting(0, 10, Role::Archive);
    let mut joiner = NodeSpec::peer();
    if trusted {
        joiner = joiner.trusting(1, 5, Role::Archive);
    }
    let mut world = made(vec![NodeSpec::archive(), archive, joiner], &[0, 1], slow);
    world.start(0);
    world.start(1);
    if granted {
        let control = grant(&world);
        world.decree(0, 0, &control);
    }
    world.publish_large(0, 0, ENTRIES, 20_000);
    let full = world.run_while(60 * SEC, |world| (world.taken(1, 0) as u64) < ENTRIES);
    assert!(full);
    world.run_for(10 * SEC);
    world.part(&[0], &[2]);
    world.start(2);
    world.run_while(60 * SEC, |world| world.entries_sent(1, 2) < 20);
    let half_way = world.entries_sent(1, 2);
    assert!((20..50).contains(&half_way), "{half_way}");
    assert_eq!(synced(&world, 2), []);
    world
}

fn grant(world: &World) -> Control {
    Control::Grant {
        node: world.node_id(1),
        rank: 5,
        role: Role::Archive,
    }
}

/// The session goes on, and its marker counts.
fn counts_from_now_on(mut world: World) {
    let archive = world.node_id(1);
    let done = world.run_while(10 * SEC, |world| !vouchers(world, 2).contains(&archive));
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    assert!(entries(&world, 2) >= ENTRIES);
    assert_eq!(world.came_twice(2), 0, "nothing is asked for again");
}

/// The session goes on, what it brings stays, and its marker counts no more.
fn counts_no_more(mut world: World) {
    world.run_for(30 * SEC);
    no_violation(&world);
    assert_eq!(synced(&world, 2), []);
    assert_eq!(phase(&world, 2), Some(TopicPhase::Failed));
    assert!(
        entries(&world, 2) >= ENTRIES,
        "entries are judged by themselves"
    );
}

#[test]
fn grant_during_session() {
    let mut world = half_way(false, false);
    let control = grant(&world);
    world.decree(0, 0, &control);
    counts_from_now_on(world);
}

#[test]
fn revoke_during_session() {
    let mut world = half_way(true, false);
    let node = world.node_id(1);
    world.decree(0, 0, &Control::Revoke { node, last: None });
    counts_no_more(world);
}

#[test]
fn trust_list_edited_during_session() {
    let mut world = half_way(false, false);
    world.trust(2, 0, 1, Some((5, Role::Archive)));
    counts_from_now_on(world);
    let mut world = half_way(false, true);
    world.trust(2, 0, 1, None);
    counts_no_more(world);
}
