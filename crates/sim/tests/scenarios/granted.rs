//! Granted topics on the simulator (`ENT-40` to `ENT-44`): what nobody let a node write is counted,
//! served and shown nowhere, and all come to hold the same after late words.

use osier_core::{Control, EntryHash, Role, Seq};
use osier_engine::{SyncEvent, TopicPhase};
use osier_sim::{Knobs, NodeSpec, SEC, World};

use crate::support::{entries, no_violation, phase, start_all, tuned};

fn granted(specs: Vec<NodeSpec>) -> World {
    tuned(specs, |knobs: &mut Knobs| knobs.granted = 1)
}

fn grant(world: &mut World, node: usize) {
    let control = Control::Grant {
        node: world.node_id(node),
        rank: 50,
        role: Role::Peer,
    };
    world.decree(0, 0, &control).expect("the owner runs");
}

fn revoke(world: &mut World, node: usize, last: Option<(Seq, EntryHash)>) {
    let control = Control::Revoke {
        node: world.node_id(node),
        last,
    };
    world.decree(0, 0, &control).expect("the owner runs");
}

/// All of these hold so many entries, in one state, and say that they are synced.
fn agree(world: &mut World, nodes: &[usize], count: u64) {
    let agreed = world.run_while(90 * SEC, |world| {
        let states = nodes.iter().map(|node| {
            let state = world.state(*node, 0).expect("it runs");
            (state.entries, state.state_hash, state.phase)
        });
        let states: Vec<_> = states.collect();
        let whole = states.iter().all(|(entries, state, phase)| {
            *entries == count && *state == states[0].1 && *phase == TopicPhase::Synced
        });
        !whole
    });
    no_violation(world);
    let held: Vec<_> = nodes
        .iter()
        .map(|node| (entries(world, *node), phase(world, *node)))
        .collect();
    assert!(agreed, "{held:?} of {count} entries");
}

fn withdrawn(world: &World, node: usize) -> u64 {
    let told = world.told(node, 0);
    let counts = told.iter().filter_map(|(_, event)| match event {
        SyncEvent::Withdrawn { entries } => Some(*entries),
        _ => None,
    });
    counts.sum()
}

/// An outsider has the ticket and no grant: it writes, gossips and serves, and nobody counts it.
#[test]
fn an_outsider_is_counted_nowhere() {
    let specs = vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
        NodeSpec::outsider(),
    ];
    let mut world = granted(specs);
    start_all(&mut world);
    world.run_for(3 * SEC);
    world.publish(3, 0, 7);
    world.publish(0, 0, 4);
    world.run_for(10 * SEC);
    agree(&mut world, &[0, 1, 2], 4);
    assert_eq!(entries(&world, 3), 11, "it keeps what it wrote itself");
    // Also from one that knows nobody else.
    world.stop(0);
    world.stop(1);
    world.crash(2);
    world.wipe(2);
    world.start(2);
    world.run_for(30 * SEC);
    no_violation(&world);
    assert_eq!(
        entries(&world, 2),
        4,
        "the owner's own entries prove themselves"
    );
}

/// Who may not write is refused; with a grant it may, also what came before the grant was known.
#[test]
fn a_grant_lets_a_node_write() {
    let mut world = granted(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    start_all(&mut world);
    world.run_for(2 * SEC);
    world.publish(1, 0, 3);
    world.run_for(2 * SEC);
    assert_eq!(entries(&world, 1), 0, "nothing was written");
    grant(&mut world, 1);
    world.run_for(2 * SEC);
    world.publish(1, 0, 3);
    agree(&mut world, &[0, 1, 2], 4);
}

/// An entry that overtakes its grant waits, and counts when the grant comes.
#[test]
fn an_entry_that_overtakes_its_grant_waits() {
    let mut world = granted(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    start_all(&mut world);
    world.run_for(2 * SEC);
    // Node 2 hears no gossip and no owner while the grant is said.
    world.cut(0, 2);
    world.cut(2, 0);
    world.deafen(2, true);
    grant(&mut world, 1);
    world.run_for(2 * SEC);
    world.deafen(2, false);
    world.publish(1, 0, 5);
    world.run_for(2 * SEC);
    no_violation(&world);
    world.heal(0, 2);
    world.heal(2, 0);
    agree(&mut world, &[0, 1, 2], 6);
}

/// `ENT-42`: a revocation that comes late cuts off what was counted before, everywhere, and a later
/// grant gives it back.
#[test]
fn a_late_revocation_leaves_the_same_everywhere() {
    let mut world = granted(vec![
        NodeSpec::archive(),
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    start_all(&mut world);
    world.run_for(2 * SEC);
    grant(&mut world, 2);
    world.run_for(2 * SEC);
    world.publish(2, 0, 6);
    agree(&mut world, &[0, 1, 2, 3], 7);
    // Node 3 is away while the owner takes the last four back.
    world.stop(3);
    let last = world.last_but(0, world.node_id(2), 4);
    revoke(&mut world, 2, last);
    world.run_for(3 * SEC);
    world.publish(2, 0, 1);
    agree(&mut world, &[0, 1, 2], 4);
    assert_eq!(withdrawn(&world, 1), 4);
    world.start(3);
    agree(&mut world, &[0, 1, 2, 3], 4);
    assert_eq!(withdrawn(&world, 3), 4);
    grant(&mut world, 2);
    agree(&mut world, &[0, 1, 2, 3], 9);
    // The chain goes on where it was: nobody takes the writer for one who forks.
    world.publish(2, 0, 2);
    agree(&mut world, &[0, 1, 2, 3], 11);
    let forked = |event: &SyncEvent| matches!(event, SyncEvent::AuthorForked { .. });
    for node in 0..4 {
        assert!(!world.told(node, 0).iter().any(|(_, event)| forked(event)));
    }
}

/// A node that restarts after it was revoked and granted again goes on from its own last entry.
#[test]
fn a_writer_that_restarts_between_goes_on() {
    let mut world = granted(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.run_for(2 * SEC);
    grant(&mut world, 1);
    world.run_for(2 * SEC);
    world.publish(1, 0, 4);
    agree(&mut world, &[0, 1], 5);
    revoke(&mut world, 1, None);
    agree(&mut world, &[0, 1], 2);
    world.crash(1);
    world.start(1);
    grant(&mut world, 1);
    agree(&mut world, &[0, 1], 7);
    world.publish(1, 0, 1);
    agree(&mut world, &[0, 1], 8);
}

/// `ENT-34`: who knows only a ring, which has dropped what was said long ago, learns the grants.
#[test]
fn a_joiner_learns_the_grants_from_a_ring() {
    let ring = NodeSpec::replay(5);
    let joiner = NodeSpec::peer().trusting(2, 10, Role::Replay);
    let mut world = granted(vec![NodeSpec::archive(), NodeSpec::peer(), ring, joiner]);
    for node in 0..3 {
        world.start(node);
    }
    world.run_for(2 * SEC);
    grant(&mut world, 1);
    world.run_for(2 * SEC);
    for _ in 0..15 {
        world.publish(1, 0, 1);
        world.run_for(SEC);
    }
    world.stop(0);
    world.stop(1);
    world.start(3);
    world.run_for(20 * SEC);
    no_violation(&world);
    assert_eq!(phase(&world, 3), Some(TopicPhase::Synced));
    let (ring, joiner) = (world.state(2, 0), world.state(3, 0));
    let state = |state: Option<osier_engine::TopicState>| state.map(|state| state.state_hash);
    assert_eq!(state(ring), state(joiner));
    assert!(entries(&world, 3) >= 5);
}
