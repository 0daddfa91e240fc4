//! What an owner says of whom to trust, on the simulator.

use osier_core::{Control, Coverage, Role};
use osier_engine::{SyncEvent, TopicPhase};
use osier_sim::{NodeSpec, SEC, World};

use crate::support::{joined_through, no_violation, phase};

fn grant(world: &World, node: usize) -> Control {
    Control::Grant {
        node: world.node_id(node),
        rank: 10,
        role: Role::Archive,
    }
}

fn revoke(world: &World, node: usize) -> Control {
    Control::Revoke {
        node: world.node_id(node),
        last: None,
    }
}

fn is_synced(world: &World, node: usize) -> bool {
    phase(world, node) == Some(TopicPhase::Synced)
}

fn covered_by(world: &World, node: usize) -> Vec<(osier_core::NodeId, Coverage)> {
    let told = world.told(node, 0);
    let synced = told.into_iter().filter_map(|(_, event)| match event {
        SyncEvent::HistorySynced(synced) => Some((synced.provider, synced.coverage)),
        _ => None,
    });
    synced.collect()
}

/// The owner, an archive that it does not know yet, and a joiner.
fn three() -> World {
    let specs = vec![NodeSpec::archive(), NodeSpec::archive(), NodeSpec::peer()];
    joined_through(&[0, 1], specs)
}

/// An archive that the owner has granted completes a joiner while the owner is away (`ENT-30`).
#[test]
fn a_granted_archive_stands_in_for_its_owner() {
    let mut world = three();
    world.start(0);
    world.start(1);
    world.publish(0, 0, 8);
    let granted = grant(&world, 1);
    world.decree(0, 0, &granted);
    world.run_for(10 * SEC);
    world.stop(0);
    world.start(2);
    let done = world.run_while(30 * SEC, |world| !is_synced(world, 2));
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    let archive = world.node_id(1);
    assert_eq!(covered_by(&world, 2), [(archive, Coverage::Complete)]);
}

/// Without the grant the same archive is a stranger, and the topic fails with a reason.
#[test]
fn an_archive_without_a_grant_is_a_stranger() {
    let mut world = three();
    world.start(0);
    world.start(1);
    world.publish(0, 0, 8);
    world.run_for(10 * SEC);
    world.stop(0);
    world.start(2);
    world.run_for(30 * SEC);
    no_violation(&world);
    let state = world.state(2, 0).expect("it runs");
    assert_eq!(state.entries, 8, "entries are judged by themselves");
    assert_eq!(covered_by(&world, 2), []);
    let failed = |event: &SyncEvent| matches!(event, SyncEvent::HistorySyncFailed { .. });
    assert!(world.told(2, 0).iter().any(|(_, event)| failed(event)));
}

/// What was taken back no longer counts, though the provider has drained (`POL-1`).
#[test]
fn a_revoked_archive_no_longer_counts() {
    let mut world = three();
    world.start(0);
    world.start(1);
    let granted = grant(&world, 1);
    world.decree(0, 0, &granted);
    world.publish(0, 0, 8);
    world.run_for(5 * SEC);
    let revoked = revoke(&world, 1);
    world.decree(0, 0, &revoked);
    world.run_for(5 * SEC);
    world.stop(0);
    world.start(2);
    world.run_for(30 * SEC);
    no_violation(&world);
    assert_eq!(covered_by(&world, 2), []);
    let shown = world.state(2, 0).expect("it runs").providers;
    let archive = world.node_id(1);
    let standing = shown.iter().find(|provider| provider.node == archive);
    assert!(standing.is_some_and(|provider| !provider.trusted));
}

/// A grant outlives the node's restart, and the ring that dropped the entry that said it
/// (`ENT-34`).
#[test]
fn a_ring_that_restarts_still_knows_the_grant() {
    let specs = vec![
        NodeSpec::archive(),
        NodeSpec::archive(),
        NodeSpec::replay(4),
    ];
    let mut world = joined_through(&[0, 1], specs);
    for node in 0..3 {
        world.start(node);
    }
    let granted = grant(&world, 1);
    world.decree(0, 0, &granted);
    for _ in 0..12 {
        world.publish(0, 0, 1);
        world.run_for(SEC);
    }
    world.stop(0);
    world.crash(2);
    world.start(2);
    let done = world.run_while(30 * SEC, |world| !is_synced(world, 2));
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    let last = covered_by(&world, 2).pop().map(|(provider, _)| provider);
    assert_eq!(last, Some(world.node_id(1)));
}
